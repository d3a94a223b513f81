package main

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/synth"
)

// buildDir is where lmmc build leaves what it built, in a folder for each board and configuration.
const buildDir = "build"

func buildCommand() *cli.Command {
	return completed(&cli.Command{
		Name:      "build",
		Usage:     "build the bitstream of a board",
		ArgsUsage: "BOARD[/CONFIG]",
		Description: "Synthesises, places and routes with several seeds, and keeps the fastest: bitstream, netlist, pins and reports in\n" +
			buildDir + "/BOARD/CONFIG. It fails when no seed reaches the clock of the configuration; it leaves the bitstream, which\n" +
			"lmmc flash refuses. The same sources, tools and seeds give the same bytes, from the cache if they were built before.\n" +
			"Without CONFIG it builds the board's default; --list lists boards and configurations.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "seeds", Usage: "try `N` seeds of the placer", Value: build.DefaultSeeds},
			&cli.BoolFlag{Name: "synth", Usage: "synthesise only, and count cells"},
			&cli.BoolFlag{Name: "area", Usage: "synthesise only, and count cells by part of the design"},
			&cli.BoolFlag{Name: "costs", Usage: "synthesise only, with each parameter changed in turn (minutes), and report the difference"},
			&cli.BoolFlag{Name: "list", Usage: "list boards and their configurations and do nothing else"},
			jsonFlag,
		},
		Action: buildAction,
	}, boardNames(func(*boards.Board) bool { return true })...)
}

func buildAction(ctx *cli.Context) error {
	all := try.Get(allBoards())
	if ctx.Bool("list") {
		return listConfigs(ctx, all)
	}
	if ctx.NArg() != 1 {
		return usagef("build takes one BOARD or BOARD/CONFIG; lmmc build --list lists them")
	}
	c := try.Get(boards.Find(all, ctx.Args().First()))
	if only := slices.DeleteFunc([]string{"synth", "area", "costs"}, func(flag string) bool { return !ctx.Bool(flag) }); len(only) > 1 {
		return usagef("--%s exclude each other", strings.Join(only, ", --"))
	}
	switch {
	case ctx.Bool("synth"):
		return cells(ctx, c)
	case ctx.Bool("area"):
		return area(ctx, c)
	case ctx.Bool("costs"):
		return costs(ctx, c)
	}
	progress := startTicker(ctx.App.ErrWriter, "synthesis")
	built, err := build.Build(ctx.Context, c, build.Options{Seeds: ctx.Int("seeds"), Progress: func(step string, done, total int) {
		progress.set("%s, %d of %d seeds", step, done, total)
	}})
	progress.stop()
	if built == nil {
		return err
	}
	dir := filepath.Join(buildDir, c.Board.Name, c.Name)
	if copyErr := built.CopyTo(dir); copyErr != nil {
		return errors.Join(err, copyErr)
	}
	type document struct {
		Stamp results.Stamp `json:"stamp"`
		build.Report
	}
	stamped := document{try.Get(newStamp(ctx, "", "yosys", "nextpnr-ice40")), built.Report}
	write := func(b *strings.Builder, d document) { writeBuild(b, &d.Report, dir) }
	return errors.Join(err, finish(ctx, true, "build-"+c.Board.Name+"-"+c.Name, stamped, write))
}

func synthesise(ctx *cli.Context, c *boards.Config) *build.Netlist {
	progress := startTicker(ctx.App.ErrWriter, "synthesis")
	defer progress.stop()
	return try.Get(build.Synthesise(ctx.Context, c))
}

// cells prints how many cells of each kind a configuration takes after synthesis.
func cells(ctx *cli.Context, c *boards.Config) error {
	n := synthesise(ctx, c)
	return show(ctx, map[string]any{"board": c.Board.Name, "config": c.Name, "cells": n.Cells}, func(b *strings.Builder, _ map[string]any) {
		t := table{names: []string{"cell", ">number"}}
		for _, name := range slices.Sorted(maps.Keys(n.Cells)) {
			t.add(name, fmt.Sprint(n.Cells[name]))
		}
		t.write(b)
	})
}

func listConfigs(ctx *cli.Context, all []*boards.Board) error {
	type row struct {
		Name  string  `json:"name"`
		Board string  `json:"board"`
		About string  `json:"about"`
		MHz   float64 `json:"mhz"`
		Baud  int     `json:"baud"`
		Links int     `json:"links"`
	}
	var configs []*boards.Config
	for _, b := range all {
		configs = append(configs, b.Configs()...)
	}
	return list(ctx, configs, []string{"build", ">MHz", ">baud", ">links", "what it is"}, func(c *boards.Config) (row, []string) {
		return row{c.String(), c.Board.Title, c.About, c.MHz, c.Baud, c.Links},
			[]string{c.String(), number(c.MHz), thousands(uint64(c.Baud)), fmt.Sprint(c.Links), c.Board.Title + ": " + c.About}
	})
}

func writeBuild(b *strings.Builder, r *build.Report, dir string) {
	fmt.Fprintf(b, "%s/%s on %s-%s, rtl %s\n\n", r.Board, r.Config, r.Device, r.Package, r.Hash)
	used := table{names: []string{"", ">used", ">of", ">share"}}
	for _, u := range []struct {
		name string
		synth.Use
	}{{"logic cells", r.Logic}, {"block memories", r.Memories}} {
		used.add(u.name, fmt.Sprint(u.Used), fmt.Sprint(u.Of), fmt.Sprintf("%.0f %%", 100*float64(u.Used)/float64(u.Of)))
	}
	used.write(b)
	b.WriteString("\n")
	runs := table{names: []string{">seed", ">MHz", ""}}
	for i, run := range r.Runs {
		note := ""
		if i == r.Best {
			note = fmt.Sprintf("kept; %g are needed", r.NeedMHz)
		}
		runs.add(fmt.Sprint(run.Seed), fmt.Sprintf("%.1f", run.MHz), note)
	}
	runs.write(b)
	fmt.Fprintf(b, "\nslowest path, %.2f ns:\n", 1000/r.BestRun().MHz)
	path := table{names: []string{">ns in cells", ">in wires", ">cells", "named for"}}
	for _, s := range stretches(r.BestRun().Critical) {
		path.add(fmt.Sprintf("%.2f", s.cells), fmt.Sprintf("%.2f", s.wires), fmt.Sprint(s.count), s.signal)
	}
	path.write(b)
	fmt.Fprintf(b, "\nbitstream, netlist and reports are in %s\n", dir)
}

// stretch is a part of a path whose cells and wires are all named for one signal of the RTL.
type stretch struct {
	signal       string
	cells, wires float64 // ns
	count        int     // of cells
}

// stretches puts hops together by signal. What the placer made on the way, as within a chain of carries, goes with what leads to it.
func stretches(path []synth.Hop) (list []stretch) {
	for _, hop := range path {
		if len(list) == 0 || hop.Signal != "" && hop.Signal != list[len(list)-1].signal {
			list = append(list, stretch{signal: hop.Signal})
		}
		s := &list[len(list)-1]
		if hop.Kind == "routing" {
			s.wires += hop.Nanoseconds
		} else {
			s.cells += hop.Nanoseconds
			s.count++
		}
	}
	return list
}
