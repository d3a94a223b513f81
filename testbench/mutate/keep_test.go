package mutate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/try"
)

// A mutant's key changes with the modules that its checks compile and with their code, not with other modules.
func TestCheckKey(t *testing.T) {
	l := &library{root: t.TempDir(), files: map[string]string{"a": "a.v", "b": "b.v", "c": "c.v"}}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(l.root, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range l.files {
		write(file, "module "+file[:1]+"; endmodule\n")
	}
	r := &running{library: l, base: "tools"}
	m := Mutant{Module: "a", Cell: Cell{Name: "u_b"}, Port: "x", Mode: "inv"}
	tests := []*check{{name: "TestA", code: "1", command: []string{"/tmp/x", "-test.run", "TestA"}, builds: []built{{Top: "a", Modules: []string{"a", "b", "own"}}}}}
	key := func() string {
		t.Helper()
		var key string
		if err := try.Run(func() { key = r.checkKey(m, tests) }); err != nil {
			t.Fatal(err)
		}
		return key
	}
	last := key()
	for _, test := range []struct {
		name   string
		change func()
		same   bool
	}{
		{"where the program lies", func() { tests[0].command[0] = "/tmp/y" }, true},
		{"a module that is not compiled", func() { write("c.v", "") }, true},
		{"its module", func() { write("a.v", "module a; /* */ endmodule\n") }, false},
		{"a module below", func() { write("b.v", "") }, false},
		{"the test's code", func() { tests[0].code = "2" }, false},
		{"another test", func() { tests = append(tests, &check{name: "TestB", command: []string{"/tmp/y"}}) }, false},
		{"another mutant", func() { m.Mode = "const0" }, false},
		{"the tools", func() { r.base = "others" }, false},
	} {
		test.change()
		now := key()
		if (now == last) != test.same {
			t.Errorf("%s: the key is the same: %v, want %v", test.name, now == last, test.same)
		}
		last = now
	}
}

// The code of tests is all that they are made of, but for the library's modules.
func TestCodeOf(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example\n\ngo 1.26\n")
	write("kit/kit.go", "package kit\n\nimport _ \"embed\"\n\n//go:embed parts/run.cpp\nvar Run string\n")
	write("kit/parts/run.cpp", "int main() {}\n")
	write("other/other.go", "package other\n")
	write("lib/part/part.v", "module part; endmodule\n")
	write("lib/part/part_test.go", "package part\n\nimport _ \"example/kit\"\n")
	l := &library{root: "lib"}
	code := func() string {
		t.Helper()
		var code string
		if err := try.Run(func() { code = l.codeOf(t.Context(), "./lib/part") }); err != nil {
			t.Fatal(err)
		}
		return code
	}
	last := code()
	for _, test := range []struct {
		file, text string
		same       bool
	}{
		{"lib/part/part.v", "", true},
		{"other/other.go", "package other // changed\n", true},
		{"lib/part/part_test.go", "package part\n\nimport _ \"example/kit\" // changed\n", false},
		{"lib/part/words.vh", "", false},
		{"lib/part/testdata/deep/words.hex", "", false},
		{"kit/kit.go", "package kit\n\nimport _ \"embed\"\n\n//go:embed parts/run.cpp\nvar Changed string\n", false},
		{"kit/parts/run.cpp", "", false},
	} {
		write(test.file, test.text)
		now := code()
		if (now == last) != test.same {
			t.Errorf("%s: the code is the same: %v, want %v", test.file, now == last, test.same)
		}
		last = now
	}
}
