// Package check fails tests. Fatal and Error stand for an if statement that calls the method of the same name.
package check

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TB is what *testing.T, *testing.B and *rapid.T have in common.
type TB interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// Error reports err unless it is nil, and the test goes on.
func Error(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Error(err)
	}
}

// Fatal ends the test with err unless it is nil.
func Fatal(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatal(err)
	}
}

// Must takes the results of a call: check.Must(os.ReadFile(name))(t) returns the content, or ends the test.
func Must[V any](v V, err error) func(TB) V {
	return func(t TB) V {
		t.Helper()
		Fatal(t, err)
		return v
	}
}

// Equal reports a value that is not the wanted one, and the test goes on. Empty and nil slices are equal, and maps too. It returns whether the
// values are equal.
func Equal[V any](t TB, what string, have, want V) bool {
	if reflect.DeepEqual(have, want) {
		return true
	}
	diff := cmp.Diff(want, have, cmpopts.EquateEmpty(), cmp.Exporter(func(reflect.Type) bool { return true }))
	if diff == "" {
		return true
	}
	t.Helper()
	verb := "%+v"
	switch any(have).(type) {
	case fmt.Stringer:
		verb = "%v"
	case string, []string:
		verb = "%q"
	case []byte:
		verb = "% x"
	case uint8, uint16, uint32, uint64:
		verb = "%#x"
	}
	text := fmt.Sprintf("have "+verb+", want "+verb, have, want)
	if len(text) > 200 {
		text = "(-want +have)\n" + diff
	}
	t.Errorf("%s: %s", what, text)
	return false
}

// Contains reports each part that a text lacks.
func Contains(t TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: want %q in\n%s", what, part, text)
		}
	}
}

// Background runs something until the test ends, and then waits for it and reports its error.
func Background(t testing.TB, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		Error(t, <-ended)
	})
}

// Go runs something in a goroutine, and returns where its error comes.
func Go(run func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- run() }()
	return ended
}

// XML ends the test unless a text is well-formed, and returns its character data, with a newline behind each piece.
func XML(t testing.TB, text string) string {
	t.Helper()
	var words strings.Builder
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return words.String()
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, text)
		}
		if c, ok := token.(xml.CharData); ok {
			words.Write(c)
			words.WriteByte('\n')
		}
	}
}

// Err returns the error of a call with two results.
func Err[V any](_ V, err error) error { return err }

// Fails reports an error that is nil, does not wrap want, unless that is nil, or lacks a part in its text.
func Fails(t TB, what string, err, want error, parts ...string) {
	t.Helper()
	if err == nil || want != nil && !errors.Is(err, want) {
		wanted := any(want)
		if want == nil {
			wanted = "any"
		}
		t.Errorf("%s: have error %v, want %v", what, err, wanted)
		return
	}
	Contains(t, what, err.Error(), parts...)
}
