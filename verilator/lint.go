package verilator

import (
	"context"
	"os"

	"github.com/stafflink/lmmc/internal/try"
)

// Lint checks the design with all of Verilator's warnings and returns what it finds; none is nil. It neither needs a
// C++ compiler nor uses the cache. A design that is not valid Verilog is a *CompileError.
func Lint(ctx context.Context, d Design) (found []Diagnostic, err error) {
	err = try.Run(func() {
		try.OK(d.check())
		tools, root := findTools(ctx, openCache()), ""
		if d.FS != nil {
			root = try.Get(os.MkdirTemp("", "lint"))
			defer os.RemoveAll(root)
			try.OK(d.extract(root))
		}
		out, err := command(ctx, root, tools.verilator, append([]string{"--lint-only", "-Wall", "-Wno-fatal"}, d.arguments()...)...)
		try.OK(d.toolError(ctx, out, err))
		found = parseDiagnostics(out)
	})
	return found, err
}
