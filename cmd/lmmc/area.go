package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/results"
)

// areaDepth is how many instances deep lmmc build --area looks: to the modules of a link.
const areaDepth = 8

// area prints what each part of a configuration takes after synthesis.
func area(ctx *cli.Context, c *boards.Config) error {
	n := synthesise(ctx, c)
	parts := try.Get(n.Parts(areaDepth))
	t := table{names: []string{"part", ">LUT4", ">flip-flops", ">carries", ">block memories"}}
	row := func(name string, a build.Area) {
		t.add(name, fmt.Sprint(a.LUTs), fmt.Sprint(a.FlipFlops), fmt.Sprint(a.Carries), fmt.Sprint(a.Memories))
	}
	for _, p := range parts {
		row(cmp.Or(p.Name, boards.Top), p.Area)
	}
	row("all", n.Area())
	document := map[string]any{"board": c.Board.Name, "config": c.Name, "total": n.Area(), "parts": parts}
	return show(ctx, document, func(b *strings.Builder, _ map[string]any) { t.write(b) })
}

// costs prints what each parameter of a configuration costs.
func costs(ctx *cli.Context, c *boards.Config) error {
	progress := startTicker(ctx.App.ErrWriter, "synthesis")
	all, err := build.Costs(ctx.Context, c, func(done, total int) { progress.set("synthesis, %d of %d", done, total) })
	progress.stop()
	try.OK(err)
	type costs struct {
		Stamp    results.Stamp   `json:"stamp"`
		Board    string          `json:"board"`
		Config   string          `json:"config"`
		Variants []build.Variant `json:"variants"` // the first is the configuration itself
	}
	t := table{names: []string{"", ">LUT4", ">flip-flops", ">carries", ">block memories"}}
	for i, v := range all {
		name, a, form := v.Change, v.Area, "%+d"
		if i == 0 {
			name, form = c.String(), "%d"
		} else {
			a.LUTs, a.FlipFlops = a.LUTs-all[0].LUTs, a.FlipFlops-all[0].FlipFlops
			a.Carries, a.Memories = a.Carries-all[0].Carries, a.Memories-all[0].Memories
		}
		t.add(name, fmt.Sprintf(form, a.LUTs), fmt.Sprintf(form, a.FlipFlops), fmt.Sprintf(form, a.Carries), fmt.Sprintf(form, a.Memories))
	}
	document := costs{try.Get(newStamp(ctx, "", "yosys")), c.Board.Name, c.Name, all}
	return finish(ctx, true, "costs-"+c.Board.Name+"-"+c.Name, document, func(b *strings.Builder, _ costs) { t.write(b) })
}
