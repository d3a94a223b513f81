package check_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// recorder keeps what a test would report.
type recorder struct {
	reports []string
	ended   int
}

func (r *recorder) Helper()                           {}
func (r *recorder) Error(args ...any)                 { r.reports = append(r.reports, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) { r.Error(fmt.Sprintf(format, args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); r.ended++ }

func TestErrors(t *testing.T) {
	r, bad := &recorder{}, errors.New("bad")
	check.Error(r, nil)
	check.Fatal(r, nil)
	check.Equal(t, "value", check.Must(7, nil)(r), 7)
	check.Equal(t, "reports of no error", len(r.reports), 0)
	check.Error(r, bad)
	check.Equal(t, "ended", r.ended, 0)
	check.Fatal(r, bad)
	check.Must(7, bad)(r)
	check.Equal(t, "reports", r.reports, []string{"bad", "bad", "bad"})
	check.Equal(t, "ended", r.ended, 2)
}

func TestEqual(t *testing.T) {
	r := &recorder{}
	for _, equal := range []bool{
		check.Equal(r, "text", "a\n", "b"), check.Equal(r, "bytes", []byte{1, 0xAB}, nil), check.Equal(r, "register", uint16(0xAB), 1),
		check.Equal(r, "time", time.Second, 2*time.Second), check.Equal(r, "number", -1, 1),
	} {
		if equal {
			t.Error("different values are equal")
		}
	}
	if !check.Equal(r, "slices", []int{1, 2}, []int{1, 2}) || !check.Equal(r, "no bytes", nil, []byte{}) {
		t.Error("equal values are different")
	}
	check.Equal(t, "reports", r.reports, []string{
		`text: have "a\n", want "b"`, "bytes: have 01 ab, want ", "register: have 0xab, want 0x1", "time: have 1s, want 2s",
		"number: have -1, want 1",
	})
}

func TestContains(t *testing.T) {
	r := &recorder{}
	check.Contains(r, "poem", "roses are red", "roses", "red")
	check.Equal(t, "reports of parts that are there", len(r.reports), 0)
	check.Contains(r, "poem", "roses", "are", "red", "roses")
	check.Equal(t, "reports", r.reports, []string{"poem: want \"are\" in\nroses", "poem: want \"red\" in\nroses"})
}

func TestBackground(t *testing.T) {
	ended := false
	t.Run("one", func(t *testing.T) {
		check.Background(t, func(ctx context.Context) error {
			<-ctx.Done()
			ended = true
			return nil
		})
	})
	if !ended {
		t.Error("the test did not wait")
	}
	check.Fails(t, "Go", <-check.Go(func() error { return io.EOF }), io.EOF)
}

func TestXML(t *testing.T) {
	check.Equal(t, "character data", check.XML(t, `<a b="c">one<d/>two</a>`), "one\ntwo\n")
}

func TestFails(t *testing.T) {
	r, bad := &recorder{}, fmt.Errorf("reading: %w", io.ErrUnexpectedEOF)
	check.Fails(r, "read", bad, io.ErrUnexpectedEOF, "reading", "EOF")
	check.Fails(r, "read", check.Err(7, bad), nil)
	check.Equal(t, "reports of the wanted error", len(r.reports), 0)
	check.Fails(r, "read", nil, nil)
	check.Fails(r, "read", bad, io.EOF)
	check.Fails(r, "read", bad, nil, "writing")
	check.Equal(t, "reports", r.reports, []string{
		"read: have error <nil>, want any", "read: have error reading: unexpected EOF, want EOF",
		"read: want \"writing\" in\nreading: unexpected EOF",
	})
}
