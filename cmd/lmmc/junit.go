package main

import (
	"bytes"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/junit"
	"github.com/stafflink/lmmc/testbench/results"
)

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
