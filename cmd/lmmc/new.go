package main

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/cmd/lmmc/project"
	"github.com/stafflink/lmmc/internal/try"
)

func newCommand() *cli.Command {
	return &cli.Command{
		Name:      "new",
		Usage:     "make a project of your own, or with --from the Go struct of a module's ports",
		ArgsUsage: "NAME|MODULE",
		Description: "Makes folder NAME with a Go module, a Verilog stream module, its test, its proof, and files for make, CI and VS Code.\n" +
			"In it make sim and make test work at once; make lists what else there is. NAME may be a path.\n" +
			"Until lmmc is published, go.mod refers to the checkout that this program was built from, or to --lmmc DIR.\n" +
			"lmmc new --from FILE.v MODULE writes a struct of the ports of any module, which go generate keeps current, and a test of it.\n" +
			"A bench refuses a struct that is stale against the module.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "module", Usage: "`PATH` of the Go module (default: NAME)"},
			&cli.StringFlag{Name: "lmmc", Usage: "the checkout of lmmc in `DIR` (default: that of this program)", TakesFile: true},
		}, fromFlags...),
		Action: newAction,
	}
}

func newAction(ctx *cli.Context) error {
	if ctx.IsSet("from") {
		return newFrom(ctx)
	}
	for _, f := range fromFlags {
		if ctx.IsSet(f.Names()[0]) {
			return usagef("--%s goes with --from FILE.v; see lmmc new --help", f.Names()[0])
		}
	}
	if ctx.NArg() != 1 {
		return usagef("new takes one NAME; see lmmc new --help")
	}
	o := project.Options{Dir: ctx.Args().First(), Module: ctx.String("module"), LMMC: ctx.String("lmmc")}
	if o.LMMC == "" {
		o.LMMC = checkout()
	}
	name := try.Get(project.Write(o))
	_, err := fmt.Fprintf(ctx.App.Writer, "%s is made; go.mod refers to lmmc in %s\n\n    cd %s\n    make sim\n\n%[1]s/README.md says what is where.\n", name, o.LMMC, o.Dir)
	return err
}

// checkout is the folder of the sources that this program was built from; "" if it does not know.
func checkout() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "..", "..")
}
