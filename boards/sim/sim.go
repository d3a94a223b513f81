// Package sim is the transport to boards that are simulated as what was built for them, by their pins.
//
// Importing it makes two kinds of target known to hostdrv.Open: "gates:hx8k", the netlist after synthesis of a board's configuration, and
// "bits:hx8k", its bitstream turned back into logic; "bits:FILE.bin" is any bitstream that lmmc build made. Their links are cabled to each
// other, 1 to 2, 3 to 4 and so on, an odd last one to itself. Options are latency (clocks of a cable), seed and record, as rtl: has them.
//
// The simulation's clock is that which the PLL makes; the PLL itself is taken to be locked. What is built is built first, which takes minutes
// unless it is in the cache.
package sim

import (
	"context"
	"embed"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/testbench/rtlsim"
	"github.com/stafflink/lmmc/testbench/synth"
	"github.com/stafflink/lmmc/verilator"
)

func init() {
	hostdrv.Register("gates", openGates)
	hostdrv.Register("bits", openBits)
}

func openGates(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	c, o, err := parse(target)
	if err != nil {
		return nil, err
	}
	d, err := Gates(ctx, c)
	if err != nil {
		return nil, err
	}
	return o.open(ctx, c, d)
}

func openBits(ctx context.Context, target *url.URL) (hostdrv.Transport, error) {
	if name := target.Opaque + target.Path; strings.HasSuffix(name, ".bin") {
		return openFile(ctx, target, name)
	}
	c, o, err := parse(target)
	if err != nil {
		return nil, err
	}
	b, err := build.Build(ctx, c, build.Options{})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(b.Bitstream())
	if err != nil {
		return nil, err
	}
	d, err := Bits(ctx, c, data)
	if err != nil {
		return nil, err
	}
	return o.open(ctx, c, d)
}

// openFile takes the pins and parameters from the board that the bitstream names.
func openFile(ctx context.Context, target *url.URL, name string) (hostdrv.Transport, error) {
	o, err := parseOptions(target)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	file, err := bitstream.Read(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if file.Info == nil {
		return nil, fmt.Errorf("%s: it names no board: not made by lmmc build", name)
	}
	if file.Info.Own() {
		return openOwn(ctx, name, data, file.Info, o)
	}
	c, err := boards.Named(file.Info.Board + "/" + file.Info.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	// The hash may differ: a driver says so better.
	if want := c.Info(); !maps.Equal(want.Params, file.Info.Params) || bitstream.Die(want.Device) != file.Device {
		return nil, fmt.Errorf("%s: built for %s with other parameters: build it again", name, c)
	}
	d, err := Bits(ctx, c, data)
	if err != nil {
		return nil, err
	}
	return o.open(ctx, c, d)
}

// openOwn simulates the bits of a project's own design, by the pins that the bitstream says.
func openOwn(ctx context.Context, name string, data []byte, info *bitstream.Info, o options) (hostdrv.Transport, error) {
	c, err := boards.FromInfo(info)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d, err := Bits(ctx, c, data)
	if err != nil {
		return nil, err
	}
	return rtlsim.Open(ctx, rtlsim.Chip{Design: d, Hz: c.MHz * 1e6}, c.Divisor(), uint64(o.seed))
}

// options are those of a target.
type options struct{ latency, seed, record int }

func parseOptions(target *url.URL) (o options, err error) {
	o = options{latency: 1, seed: 1}
	return o, hostdrv.Ints(target, map[string]*int{"latency": &o.latency, "seed": &o.seed, "record": &o.record})
}

func parse(target *url.URL) (*boards.Config, options, error) {
	o, err := parseOptions(target)
	if err != nil {
		return nil, o, err
	}
	if target.Opaque == "" {
		return nil, o, fmt.Errorf("%w: after %s: want BOARD or BOARD/CONFIG, as in %[2]s:hx8k", hostdrv.ErrTarget, target.Scheme)
	}
	c, err := boards.Named(target.Opaque)
	return c, o, err
}

func (o options) open(ctx context.Context, c *boards.Config, d verilator.Design) (hostdrv.Transport, error) {
	network := rtlsim.Loop(c.Params(), o.latency)
	if c.Loop {
		network.Cables = nil
	}
	network.Seed, network.Record = uint64(o.seed), uint64(o.record)
	network.Chip = &rtlsim.Chip{Design: d, Hz: c.MHz * 1e6}
	n, err := rtlsim.New(ctx, network)
	if err != nil {
		return nil, err
	}
	return rtlsim.NewTarget(n)
}

// Gates is the netlist of a configuration as a design. It builds it.
func Gates(ctx context.Context, c *boards.Config) (verilator.Design, error) {
	if c.Board.FPGA.Family != "ice40" {
		return verilator.Design{}, fmt.Errorf("%w: the cells of %s cannot be simulated, only those of ice40", boards.ErrUnknown, c.Board.FPGA.Family)
	}
	n, err := build.Synthesise(ctx, c)
	if err != nil {
		return verilator.Design{}, err
	}
	return design(n.Verilog())
}

// Bits is a bitstream for a configuration as a design, made of nothing but its bits.
func Bits(ctx context.Context, c *boards.Config, data []byte) (verilator.Design, error) {
	logic, err := build.Logic(ctx, c, data)
	if err != nil {
		return verilator.Design{}, err
	}
	return design(logic)
}

//go:embed cells/*.v
var cells embed.FS

// design is the module top in a file of cells.
func design(netlist string) (verilator.Design, error) {
	top, err := os.ReadFile(netlist)
	if err != nil {
		return verilator.Design{}, err
	}
	models, err := synth.CellModels("ice40")
	if err != nil {
		return verilator.Design{}, err
	}
	tree := fstest.MapFS{}
	put := func(name string, text []byte) { tree[name] = &fstest.MapFile{Data: text, Mode: 0o666} }
	put(boards.Top+".v", top)
	put("cells_sim.v", models)
	plls, err := cells.ReadDir("cells")
	if err != nil {
		return verilator.Design{}, err
	}
	for _, f := range plls {
		text, err := cells.ReadFile("cells/" + f.Name())
		if err != nil {
			return verilator.Design{}, err
		}
		put(f.Name(), text)
	}
	return verilator.Design{
		Top: boards.Top, FS: tree, Sources: slices.Sorted(maps.Keys(tree)),
		Defines:  map[string]string{"NO_ICE40_DEFAULT_ASSIGNMENTS": ""}, // inputs with default values, which Verilator does not read
		Optimize: verilator.Full,                                        // it runs for much longer than it compiles
	}, nil
}
