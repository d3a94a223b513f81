package figures

import (
	"context"
	"fmt"
	"strconv"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/synth"
	"github.com/stafflink/lmmc/verilator"
)

var barrierCellFigures = []Figure{
	{Name: "barrier_cells_ni", Doc: "barriers of a network interface with one link on iCE40: the unit, and what its link and its router's registers have more",
		Unit: "LUT4", Must: new(250.0), Aim: new(120.0), Better: Lower, Long: true, Measure: steps(func(ctx context.Context) Measurement {
			unit, link := luts(ctx, "net_barrier", params{"PORTS": 1}), linkOfBarriers(ctx)
			regs := more(ctx, "net_regs", params{"PORTS": 1})
			return Measurement{Value: float64(unit + link + regs), Note: fmt.Sprintf("net_barrier %d, the link %d, registers %d", unit, link, regs)}
		})},
	{Name: "barrier_cells_port", Doc: "the same of a port of a switch of 16: its share of the unit, and what its link has more",
		Unit: "LUT4", Must: new(60.0), Aim: new(30.0), Better: Lower, Long: true, Measure: steps(func(ctx context.Context) Measurement {
			const ports = 16
			unit, link := luts(ctx, "net_barrier", params{"PORTS": ports}), linkOfBarriers(ctx)
			return Measurement{Value: float64(unit)/ports + float64(link), Note: fmt.Sprintf("net_barrier %d of %d ports, each link %d", unit, ports, link)}
		})},
	{Name: "vl_cells_ni", Doc: "a network interface with 1,024 virtual links, 64 slots, 256 contexts of messages, a router of two links and 4 pages of 1 KB on an ECP5",
		Unit: "LUT4", Better: Lower, Long: true, Measure: steps(func(ctx context.Context) Measurement {
			all := func(c map[string]int) string {
				return fmt.Sprintf("%d LUT4, %d flip-flops and %d block memories", c[lutECP5], c["TRELLIS_FF"], c["DP16KD"])
			}
			without, links := ecp5(ctx, params{"ROUTER": 2}), ecp5(ctx, params{"ROUTER": 2, "VIRTUAL": 10})
			both := ecp5(ctx, params{"ROUTER": 2, "VIRTUAL": 10, "CONTEXTS": 8})
			return Measurement{Value: float64(both[lutECP5]), Note: all(both) + "; without contexts " + all(links) + "; without virtual links " + all(without)}
		})},
	{Name: "vl_cells_none", Doc: "a network interface with such a router and without virtual links, over the same before there were any: 8,793 LUT4",
		Must: new(1.02), Better: Lower, Long: true, Measure: steps(func(ctx context.Context) Measurement {
			const before = 8793
			now := ecp5(ctx, params{"ROUTER": 2})[lutECP5]
			return Measurement{Value: float64(now) / before, Note: fmt.Sprintf("%d LUT4", now)}
		})},
}

const lutECP5 = "LUT4"

type params map[string]int

// linkOfBarriers is the median of several links, as a difference of two large syntheses moves by ten LUT4 and more with how these happen to be mapped.
func linkOfBarriers(ctx context.Context) int {
	var all []float64
	for _, p := range []params{{"ROUTES": 1}, {"ROUTES": 1, "EARLY": 1}, {"ROUTES": 1, "WIDTH": 4}} {
		all = append(all, float64(more(ctx, "link_endpoint", p)))
	}
	return int(Median(all))
}

// more is how many LUT4 a module has more with barriers than without.
func more(ctx context.Context, module string, p params) int {
	p["BARRIER"] = 0
	without := luts(ctx, module, p)
	p["BARRIER"] = 1
	return luts(ctx, module, p) - without
}

// luts is how many LUT4 a module of the RTL has.
func luts(ctx context.Context, module string, p params) int {
	return try.Get(synth.Count(ctx, moduleDesign(module, p)))["SB_LUT4"]
}

// ecp5 counts the cells of a network interface on an ECP5.
func ecp5(ctx context.Context, p params) map[string]int {
	return try.Get(synth.CountECP5(ctx, moduleDesign("ni_direct", p)))
}

func moduleDesign(module string, p params) verilator.Design {
	d := verilator.Design{Top: module, Sources: rtl.Sources(), FS: rtl.FS, IncludeDirs: rtl.IncludeDirs, Params: map[string]string{}}
	for name, value := range p {
		d.Params[name] = strconv.Itoa(value)
	}
	return d
}
