package verilator

import (
	"context"
	"os"
)

// Lint checks the design with all of Verilator's warnings and returns what it finds; none is nil. It neither needs a
// C++ compiler nor uses the cache. A design that is not valid Verilog is a *CompileError.
func Lint(ctx context.Context, d Design) ([]Diagnostic, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	c, err := openCache()
	if err != nil {
		return nil, err
	}
	tools, err := findTools(ctx, c)
	if err != nil {
		return nil, err
	}
	root := ""
	if d.FS != nil {
		if root, err = os.MkdirTemp("", "lint"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(root)
		if err := d.extract(root); err != nil {
			return nil, err
		}
	}
	out, err := command(ctx, root, tools.verilator, append([]string{"--lint-only", "-Wall", "-Wno-fatal"}, d.arguments()...)...)
	if err != nil {
		return nil, toolError(ctx, d.Top, out, err)
	}
	return parseDiagnostics(out), nil
}
