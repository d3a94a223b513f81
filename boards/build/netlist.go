package build

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/testbench/synth"
	"github.com/stafflink/lmmc/verilator"
)

// The files of a netlist.
const (
	netlistJSON = "netlist.json" // for nextpnr
	netlistV    = "netlist.v"    // for simulations, with gates for look-up tables
	cellsAs     = "cells.json"
)

// Netlist is a configuration after synthesis. Its files are in the cache.
type Netlist struct {
	Cells map[string]int // by yosys's names
	dir   string
	key   string
}

// Verilog is the file of the netlist as Verilog, for simulations: each PLL is a module lmmc_pll_core or lmmc_pll_pad, and gates take the place of
// look-up tables.
func (n *Netlist) Verilog() string { return filepath.Join(n.dir, netlistV) }

// options are those of the tools for a configuration.
func options(c *boards.Config) synth.Options {
	if c.Small {
		return synth.ForArea
	}
	return synth.ForSpeed
}

// command is yosys's for a configuration.
func command(c *boards.Config) string {
	f := c.Board.FPGA
	if f.Family == "ecp5" {
		return fmt.Sprintf("synth_ecp5 -abc9 -top %s -json %s", boards.Top, netlistJSON)
	}
	kind := f.Device[:1] // "u" for up5k
	if kind != "u" {
		kind = f.Device[:2]
	}
	return options(c).Synthesis(kind, boards.Top, netlistJSON)
}

// plls turns the names of cells without a model into those of modules that package boards/sim has.
const plls = "chtype -set lmmc_pll_core t:SB_PLL40_CORE; chtype -set lmmc_pll_pad t:SB_PLL40_PAD"

// gates turns look-up tables into gates, of which Verilator makes expressions that run several times as fast. (With ABC's gates instead, the links of
// hx8k/two-link stay down in simulation.)
const gates = "simplemap; opt_clean"

// lutAs is the file of a map for techmap from the cell that is a look-up table to yosys's own.
const lutAs, lut = "lut.v", `module SB_LUT4 (output O, input I0, I1, I2, I3);
    parameter [15:0] LUT_INIT = 0;
    \$lut #(.WIDTH(4), .LUT(LUT_INIT)) _TECHMAP_REPLACE_ (.A({I3, I2, I1, I0}), .Y(O));
endmodule
`

// format changes when the same inputs give another result: another script or another file.
const format = 3

// Synthesise makes the netlist of a configuration.
func Synthesise(ctx context.Context, c *boards.Config) (n *Netlist, err error) {
	err = try.Run(func() {
		files, order, include, err := c.Verilog()
		try.OK(err)
		params, version := try.Get(c.Parameters()), try.Get(synth.Version(ctx, "yosys"))
		how := command(c)
		key := cache.Key("netlist", format, version, files, params, how)
		dir, err := cache.Folder(ctx, area, key, func(dir string) error {
			return try.Run(func() {
				for name, text := range files {
					path := filepath.Join(dir, "source", name)
					try.OK(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, text, 0o666))
				}
				d := verilator.Design{Top: boards.Top, Params: params, IncludeDirs: []string{filepath.Join("source", include)}}
				for _, name := range order {
					d.Sources = append(d.Sources, filepath.Join("source", name))
				}
				synthesise(ctx, dir, d, how)
			})
		})
		try.Wrap(err, "build: %s", c)
		n = &Netlist{readJSON[map[string]int](filepath.Join(dir, cellsAs)), dir, key}
	})
	return n, err
}

func synthesise(ctx context.Context, dir string, d verilator.Design, command string) {
	read := try.Get(synth.ReadScript(dir, d))
	try.OK(os.WriteFile(filepath.Join(dir, lutAs), []byte(lut), 0o666))
	script := fmt.Sprintf("%s; %s; %s; techmap -map %s; %s; write_verilog -noattr %s",
		read, command, plls, lutAs, gates, netlistV)
	try.Get(synth.Tool(ctx, dir, "yosys", "-q", "-p", script))
	cells := try.Get(synth.Cells(filepath.Join(dir, netlistJSON), d.Top))
	try.OK(os.WriteFile(filepath.Join(dir, cellsAs), try.Get(json.Marshal(cells)), 0o666))
}

// placement is how n is placed, but for seeds and folders, with a hash of it.
func (n *Netlist) placement(ctx context.Context, c *boards.Config) (p synth.Placement, key string) {
	version := try.Get(synth.Version(ctx, "nextpnr-ice40"))
	p = synth.Placement{
		Target:  synth.Target{Device: c.Board.FPGA.Device, Package: c.Board.FPGA.Package, MHz: margin * c.MHz},
		Netlist: filepath.Join(n.dir, netlistJSON), Options: options(c).Placement,
	}
	return p, cache.Key("placement", format, n.key, version, p.Target, pinFile(c), p.Options)
}

// checkPorts refuses pins that do not fit the ports of top.v. Errors wrap boards.ErrBoard.
func (n *Netlist) checkPorts(c *boards.Config) {
	ports := try.Get(synth.Ports(filepath.Join(n.dir, netlistJSON), boards.Top))
	pins := c.Pins()
	for _, port := range slices.Sorted(maps.Keys(pins)) {
		if ports[port] == 0 {
			try.Failf("%w: pins.%s: top.v has no port of this name; it has %s", boards.ErrBoard, port,
				strings.Join(slices.Sorted(maps.Keys(ports)), ", "))
		}
	}
	for _, port := range slices.Sorted(maps.Keys(ports)) {
		if have, want := len(pins[port]), ports[port]; have != want {
			try.Failf("%w: pins.%s has %d pins, and the port of top.v has %d bits: want a pin for each", boards.ErrBoard, port, have, want)
		}
	}
}
