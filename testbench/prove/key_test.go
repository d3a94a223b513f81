package prove

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// A proof's key changes with all that its success follows from, and with nothing else.
func TestKey(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		check.Fatal(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o777))
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write("a/top.v", "`include \"rules.v\"\nmodule top; endmodule\n")
	write("a/rules.v", "  `include \"widths.vh\"\n")
	write("widths.vh", "// narrow\n")
	write("a/part.v", "module part; endmodule\n")
	write("other.v", "module other; endmodule\n")
	proof := Proof{Name: "top", Dir: dir, Files: []string{"a/top.v"}, Parts: []string{"a/part.v"}, Top: "top", Params: map[string]string{"W": "3", "D": "4"}, Depth: 5}
	key := func() string {
		t.Helper()
		key, err := proof.key(t.Context())
		if err != nil || key == "" {
			t.Fatalf("key %q, %v", key, err)
		}
		return key
	}
	last := key()
	for _, test := range []struct {
		name   string
		change func()
		same   bool
	}{
		{"nothing", func() {}, true},
		{"its name", func() { proof.Name = "renamed" }, true},
		{"how long it may take", func() { proof.Timeout = 3 }, true},
		{"a file that is not read", func() { write("other.v", "") }, true},
		{"a source", func() { write("a/top.v", "`include \"rules.v\"\nmodule top; /* */ endmodule\n") }, false},
		{"a part", func() { write("a/part.v", "") }, false},
		{"an include of an include", func() { write("widths.vh", "// wide\n") }, false},
		{"a file that hides an include", func() { write("a/widths.vh", "// wide\n") }, false},
		{"a part more", func() { proof.Parts = append(proof.Parts, "other.v") }, false},
		{"a parameter", func() { proof.Params["W"] = "4" }, false},
		{"the depth", func() { proof.Depth = 6 }, false},
		{"the method", func() { proof.Method = Bounded }, false},
		{"a source that reads data", func() { write("a/part.v", "initial $readmemh(NAME, m);\n") }, false},
		{"what may be that data", func() { write("data.hex", "00\n") }, false},
	} {
		test.change()
		now := key()
		check.Equal(t, test.name+": the key is the same", now == last, test.same)
		last = now
	}
	t.Setenv("PATH", t.TempDir())
	if key, err := proof.key(t.Context()); key != "" || err != nil {
		t.Errorf("without tools: key %q, %v", key, err)
	}
}
