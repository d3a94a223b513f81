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
		check.Equal(t, "source of the library", lib.Design().Sources[0], "top.v")
		return v
	}
	check.Equal(t, "q without a program", value(), 1)

	runs := filepath.Join(t.TempDir(), "runs")
	rewriteWith(t, `cat > told; echo "$PWD" >> '`+runs+`'; sed "s/8'd1/8'd2/" FS/lib/part.v > part.v`)
	for range 2 {
		if v := value(); v != 2 {
			t.Fatalf("with another part q is %d", v)
		}
	}
	data := check.Must(os.ReadFile(runs))(t)
	check.Equal(t, "runs of the program for one design", strings.Count(string(data), "\n"), 1)
	d.FS = tree("8'd1 + 8'd3")
	check.Equal(t, "q when the part has changed", value(), 5)

	rewriteWith(t, `cat > told; sed "s/part u/other u/" FS/top.v > top.v; echo "module other (output [7:0] q); assign q = 8'd7; endmodule" > other.v`)
	check.Equal(t, "q with another top and a new part", value(), 7)
	rewriteWith(t, "cat > told")
	check.Equal(t, "q when the program leaves nothing", value(), 4)

	rewriteWith(t, "echo no good; exit 3")
	check.Fails(t, "a program that fails", check.Err(verilator.Build(t.Context(), d)), nil, "no good", "design top")
	t.Setenv(verilator.RewriteVar, "lmmc rewrite")
	check.Fails(t, "no JSON list", check.Err(verilator.Build(t.Context(), d)), nil, "want a JSON list")
}
