package main

import (
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/regs"
)

func regsCommand() *cli.Command {
	return &cli.Command{
		Name:      "regs",
		Usage:     "write Go code that drives a block of registers",
		ArgsUsage: "FILE",
		Description: "FILE describes the block: .toml (see go doc regs.Block), .xml (IP-XACT) or .rdl (SystemRDL, by program peakrdl if it is installed).\n" +
			"The code has typed registers and fields over any bus and imports nothing. In a Go file: //go:generate lmmc regs -o timer.go timer.toml",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "o", Usage: "write to `FILE` instead of the terminal", TakesFile: true},
			&cli.StringFlag{Name: "package", Usage: "`NAME` of the Go package (default: the folder of the file written, or the block's name)"},
		},
		Action: regsAction,
	}
}

func regsAction(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("regs takes one FILE; see lmmc regs --help")
	}
	file, out, pkg := ctx.Args().First(), ctx.String("o"), ctx.String("package")
	block := try.Get(regs.Read(file))
	if pkg == "" {
		if pkg = block.Name; out != "" {
			pkg = filepath.Base(filepath.Dir(try.Get(filepath.Abs(out))))
		}
	}
	code := try.Get(block.Generate(pkg, filepath.Base(file)))
	if out == "" {
		_, err := ctx.App.Writer.Write(code)
		return err
	}
	return os.WriteFile(out, code, 0o666)
}
