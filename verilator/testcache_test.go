package verilator_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// A test of a module that builds Verilog outside of it: from files, and from a file system that is a folder.
const outsider = `package outsider

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/stafflink/lmmc/verilator"
)

const dir = %q

func TestOutside(t *testing.T) {
	include := dir + "/include"
	for _, d := range []verilator.Design{
		{Top: "inc", Sources: []string{dir + "/inc.v"}, IncludeDirs: []string{include}},
		{Top: "alone", Sources: []string{"alone.v"}, FS: os.DirFS(dir)},
	} {
		lib, err := verilator.Build(context.Background(), d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := lib.New(verilator.Config{Output: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Eval(); err != nil {
			t.Fatal(err)
		}
		m.Close()
	}
}
`

// The go command repeats no test whose files have not changed, and looks at files of the module only.
func TestGoTestSeesVerilogOutsideTheModule(t *testing.T) {
	shareRuntime(t)
	here := check.Must(filepath.Abs(".."))(t)
	verilog, module := t.TempDir(), t.TempDir()
	age := 1000
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(verilog, name)
		check.Fatal(t, os.MkdirAll(filepath.Dir(path), 0o777))
		write(t, path, text)
		age-- // what is younger than two seconds is never taken from the cache
		then := time.Now().Add(-time.Duration(age) * time.Minute)
		check.Fatal(t, os.Chtimes(path, then, then))
		check.Fatal(t, os.Chtimes(filepath.Dir(path), then, then))
	}
	source := strings.Replace(includer, "assign v", fmt.Sprintf("reg [7:0] memory [0:0];\ninitial $readmemh(%q, memory);\nassign v", verilog+"/memory.hex"), 1)
	put("inc.v", source)
	put("include/value.vh", value("1"))
	put("memory.hex", "11\n")
	const alone = "module alone (output v);\nassign v = 0;\nendmodule\n"
	put("alone.v", alone)
	write(t, filepath.Join(module, "go.mod"), "module outsider\n\ngo 1.26\n\nrequire github.com/stafflink/lmmc v0.0.0\n\nreplace github.com/stafflink/lmmc => "+here+"\n")
	write(t, filepath.Join(module, "go.sum"), string(check.Must(os.ReadFile("../go.sum"))(t)))
	write(t, filepath.Join(module, "outside_test.go"), fmt.Sprintf(outsider, verilog))
	cached := func() bool {
		t.Helper()
		cmd := exec.Command("go", "test", ".")
		cmd.Dir = module
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GOPROXY=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.Contains(string(out), "(cached)")
	}
	if cached() {
		t.Fatal("cached before the first run")
	}
	if !cached() {
		t.Error("ran again though nothing had changed")
	}
	for _, c := range []struct{ name, text string }{ // the time of a change is enough, and takes no compilation
		{"inc.v", "// changed\n" + source},
		{"include/value.vh", value("1")},
		{"memory.hex", "11\n"},
		{"include/unused.vh", "\n"},
		{"alone.v", alone},
	} {
		put(c.name, c.text)
		if cached() {
			t.Errorf("after the change of %s: cached", c.name)
		}
	}
}
