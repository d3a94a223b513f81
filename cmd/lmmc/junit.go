package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/junit"
	"github.com/stafflink/lmmc/testbench/results"
)

// junitFile is the file of --junit.
type junitFile struct{ *os.File }

// openJUnit opens it now, so that a wrong path does not cost a whole run. What it holds stays until there is a report.
func openJUnit(ctx *cli.Context) junitFile {
	return junitFile{try.Get(os.OpenFile(cmp.Or(ctx.String("junit"), os.DevNull), os.O_WRONLY|os.O_CREATE, 0o666))}
}

func (f junitFile) write(report func(io.Writer) error) error {
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() {
		if err := errors.Join(err, f.Truncate(0)); err != nil {
			return err
		}
	}
	return report(f)
}

func junitCommand() *cli.Command {
	return &cli.Command{
		Name:        "junit",
		Usage:       "make a JUnit report of Go tests",
		Description: "Reads what go test -json prints: go test -json ./... | lmmc junit > report.xml. A failure's text has the seed, the command that repeats it and the wave.",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "o", Usage: "write to `FILE` instead of the terminal", TakesFile: true}},
		Action: func(ctx *cli.Context) error {
			suites, elapsed, err := junit.FromGoTest(ctx.App.Reader)
			try.OK(err)
			var text bytes.Buffer
			try.OK(junit.Write(&text, elapsed, suites...))
			if file := ctx.String("o"); file != "" {
				return results.WriteFile(file, text.Bytes())
			}
			_, err = ctx.App.Writer.Write(text.Bytes())
			return err
		},
	}
}
