package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/cmd/lmmc/project"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/report"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/verilator"
)

func reportCommand(record func(*report.Input, context.Context) error) *cli.Command {
	return &cli.Command{
		Name:  "report",
		Usage: "make an HTML page of the results of the other commands",
		Description: "Reads the results in " + results.Dir + ", records timing diagrams and curves in a simulation, and writes one HTML file that\n" +
			"loads nothing else. The page marks commands that have not run, or not since the RTL changed.\n" +
			"In a Go module of one's own, as lmmc new makes it, the page shows what lmmc coverage found.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write the page to `FILE`", Value: "build/report/index.html"},
		},
		Action: func(ctx *cli.Context) error {
			in := try.Get(report.Load(results.Dir))
			in.Stamp = try.Get(newStamp(ctx, "", "verilator", "g++", "yosys", "z3"))
			var page bytes.Buffer
			var unrecorded error
			if own := ownModule(); own != "" {
				try.OK(report.WriteProject(&page, own, in.Stamp, in.Covered))
			} else {
				progress := startTicker(ctx.App.ErrWriter, "recording")
				unrecorded = record(&in, ctx.Context)
				progress.stop()
				if ctx.Err() != nil || errors.Is(unrecorded, verilator.ErrTool) {
					return unrecorded
				}
				try.OK(in.Write(&page))
			}
			out := ctx.String("out")
			try.OK(os.MkdirAll(filepath.Dir(out), 0o777))
			try.OK(results.WriteFile(out, page.Bytes()))
			fmt.Fprintf(ctx.App.Writer, "report: %s\n", out)
			return unrecorded
		},
	}
}

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)`)

// ownModule is the Go module of the present folder; "" if there is none, or if it is lmmc's.
func ownModule() string {
	text, _ := os.ReadFile("go.mod") // without it there is no module
	if m := moduleLine.FindSubmatch(text); m != nil && string(m[1]) != project.Module {
		return string(m[1])
	}
	return ""
}
