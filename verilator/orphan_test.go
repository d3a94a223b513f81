package verilator_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// A Verilator that goes on when its build has been interrupted does not write into the next build of the design.
func TestAVerilatorThatOutlivesItsBuild(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "answer.v")
	write := func(answer int) {
		check.Fatal(t, os.WriteFile(source, fmt.Appendf(nil, "module answer (input clk, output [31:0] q);\n  assign q = %d;\nendmodule\n", answer), 0o666))
	}
	// The first run has made its files when the build ends; it puts them where it was told to as the second run ends.
	script := `#!/bin/sh
real=` + check.Must(exec.LookPath("verilator"))(t) + `
here=` + dir + `
case "$*" in *--cc*) ;; *) exec "$real" "$@" ;; esac
if [ -e "$here/first" ]; then
	"$real" "$@" || exit
	touch "$here/go"
	until [ -e "$here/done" ]; do sleep 0.01; done
	exit
fi
mkdir "$here/first"
for word; do
	[ "$last" = --Mdir ] && to=$word
	last=$word
done
"$real" "$@" --Mdir "$here/first" || exit
(
	until [ -e "$here/go" ]; do sleep 0.01; done
	mkdir -p "$to" && cp "$here/first/"* "$to"
	touch "$here/done"
) >"$here/said" 2>&1 &
exit 1
`
	bin := filepath.Join(dir, "bin")
	check.Fatal(t, os.Mkdir(bin, 0o777))
	check.Fatal(t, os.WriteFile(filepath.Join(bin, "verilator"), []byte(script), 0o777))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	d := verilator.Design{Top: "answer", Sources: []string{source}}
	write(1)
	check.Fails(t, "interrupted", check.Err(verilator.Build(t.Context(), d)), nil)
	write(2)
	m := check.Must(check.Must(verilator.Build(t.Context(), d))(t).New(verilator.Config{}))(t)
	defer m.Close()
	check.Fatal(t, m.Eval())
	check.Equal(t, "answer", check.Must(m.Peek("q"))(t), 2)
}

// What ends a build while the compiler links is not taken for an error of the compiler.
func TestABuildThatEndsWhileItIsLinked(t *testing.T) {
	dir := t.TempDir()
	linking, source := filepath.Join(dir, "linking"), filepath.Join(dir, "linked.v")
	compiler := filepath.Join(dir, "g++")
	check.Fatal(t, os.WriteFile(source, []byte("module linked (input clk, output reg q);\n  always @(posedge clk) q <= !q;\nendmodule\n"), 0o666))
	check.Fatal(t, os.WriteFile(compiler, fmt.Appendf(nil, `#!/bin/sh
case "$*" in *out/model.so*) >%s; exec sleep 60 ;; esac
exec g++ "$@"
`, linking), 0o777))
	t.Setenv("CXX", compiler)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(linking); err == nil {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	check.Fails(t, "cancelled", check.Err(verilator.Build(ctx, verilator.Design{Top: "linked", Sources: []string{source}})), context.Canceled)
}
