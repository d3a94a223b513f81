package verilator_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// rewriteWith makes a shell script the program that rewrites designs.
func rewriteWith(t *testing.T, script string) {
	t.Helper()
	command := check.Must(json.Marshal([]string{"sh", "-ec", script}))(t)
	t.Setenv(verilator.RewriteVar, string(command))
}

// A program may put another module in the place of a source, or of one found in a folder, once for each design and its contents.
func TestRewrite(t *testing.T) {
	tree := func(constant string) fstest.MapFS {
		return fstest.MapFS{
			"top.v":      {Data: []byte("module top (output [7:0] q); part u (.q(q)); endmodule\n")},
			"lib/part.v": {Data: []byte("module part (output [7:0] q); assign q = " + constant + "; endmodule\n")},
		}
	}
	d := verilator.Design{Top: "top", FS: tree("8'd1"), Sources: []string{"top.v"}, IncludeDirs: []string{"lib"}}
	value := func() uint64 {
		t.Helper()
		lib := check.Must(verilator.Build(t.Context(), d))(t)
		m := check.Must(lib.New(verilator.Config{}))(t)
		defer m.Close()
		check.Fatal(t, m.Eval())
		v := check.Must(m.Peek("q"))(t)
		if lib.Design().Sources[0] != "top.v" {
			t.Errorf("the library says that it was built from %v", lib.Design().Sources)
		}
		return v
	}
	if v := value(); v != 1 {
		t.Fatalf("without a program q is %d", v)
	}

	runs := filepath.Join(t.TempDir(), "runs")
	rewriteWith(t, `cat > told; echo "$PWD" >> '`+runs+`'; sed "s/8'd1/8'd2/" FS/lib/part.v > part.v`)
	for range 2 {
		if v := value(); v != 2 {
			t.Fatalf("with another part q is %d", v)
		}
	}
	data := check.Must(os.ReadFile(runs))(t)
	if n := strings.Count(string(data), "\n"); n != 1 {
		t.Errorf("the program ran %d times for one design", n)
	}
	d.FS = tree("8'd1 + 8'd3")
	if v := value(); v != 5 {
		t.Errorf("when the part has changed q is %d", v)
	}

	rewriteWith(t, `cat > told; sed "s/part u/other u/" FS/top.v > top.v; echo "module other (output [7:0] q); assign q = 8'd7; endmodule" > other.v`)
	if v := value(); v != 7 {
		t.Errorf("with another top and a new part q is %d", v)
	}
	rewriteWith(t, "cat > told")
	if v := value(); v != 4 {
		t.Errorf("when the program leaves nothing q is %d", v)
	}

	rewriteWith(t, "echo no good; exit 3")
	if _, err := verilator.Build(t.Context(), d); err == nil || !strings.Contains(err.Error(), "no good") || !strings.Contains(err.Error(), "design top") {
		t.Errorf("a program that fails: %v", err)
	}
	t.Setenv(verilator.RewriteVar, "lmmc rewrite")
	if _, err := verilator.Build(t.Context(), d); err == nil || !strings.Contains(err.Error(), "want a JSON list") {
		t.Errorf("no JSON list: %v", err)
	}
}
