// Package build makes bitstreams: yosys, nextpnr-ice40 and icepack on a configuration of a board.
//
// The same inputs give the same bytes: sources, parameters, pins, seeds and versions of the tools are hashed, and what was built of them
// is kept under the hash in the cache: the netlist, what each seed of the placer made of it, and the bitstream apart from each other, so
// that more seeds take no longer than the new ones.
package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cache"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/synth"
)

// Errors of this package wrap one of these.
var (
	ErrTiming = errors.New("timing missed")
	ErrNoTool = errors.New("no place-and-route tool for this family")
)

// area is the folder of the cache for what is built.
const area = "boards"

// DefaultSeeds is how many placer seeds are tried.
const DefaultSeeds = 4

// Options say how to build.
type Options struct {
	Seeds    int                                // placer seeds, First to First+Seeds-1; 0: DefaultSeeds
	First    int                                // the first of them; 0: 1
	Progress func(step string, done, total int) // called as steps begin and seeds end; nil for none
}

// Report says what was built. It is the document of lmmc build.
type Report struct {
	Board    string            `json:"board"`
	Config   string            `json:"config"`
	Device   string            `json:"device"`
	Package  string            `json:"package"`
	Hash     string            `json:"hash"` // of the RTL; 16 hexadecimal digits
	Params   map[string]string `json:"params"`
	Cells    map[string]int    `json:"cells"` // after synthesis, by yosys's names
	Logic    synth.Use         `json:"logic"`
	Memories synth.Use         `json:"memories"`
	Runs     []synth.Run       `json:"runs"` // of the placer, one for each seed
	Best     int               `json:"best"` // the run whose bitstream this is
	// NeedMHz is the clock that the configuration runs at, and that the best run must reach.
	NeedMHz float64 `json:"need_mhz"`
}

// BestRun is the run that made the bitstream.
func (r *Report) BestRun() synth.Run { return r.Runs[r.Best] }

// Met reports whether the best run reaches the clock.
func (r *Report) Met() bool { return r.BestRun().MHz >= r.NeedMHz }

// reportFormat changes when the same runs of the placer give another report.
const reportFormat = 2

// BitstreamName is the name of the file that CopyTo leaves the bitstream in.
const BitstreamName = "bitstream.bin"

const (
	asciiAs  = synth.AsciiName // the same as text
	pinsAs   = "pins.pcf"
	reportAs = "report.json"
)

// Built is a complete build. Its files are in the cache.
type Built struct {
	Report
	dir, netlist string // folders
}

// Bitstream is the file of the bitstream.
func (b *Built) Bitstream() string { return filepath.Join(b.dir, BitstreamName) }

// Build builds a configuration. A clock that no seed reaches is an error that wraps ErrTiming and comes with what was built.
func Build(ctx context.Context, c *boards.Config, o Options) (b *Built, err error) {
	if o.Seeds == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	if c.Board.FPGA.Family != "ice40" {
		return nil, fmt.Errorf("build: %s: %w: %s can be synthesised only: lmmc build --synth %[1]s, or --area", c, ErrNoTool, c.Board.FPGA.Family)
	}
	err = try.Run(func() {
		try.OK(synth.Need("yosys", "nextpnr-ice40", "icepack"))
		o.Progress("synthesis", 0, o.Seeds)
		n := try.Get(Synthesise(ctx, c))
		p, key := n.placement(ctx, c)
		dir, err := cache.Folder(ctx, area, cache.Key("place", reportFormat, key, try.Get(synth.Digest("icepack")), o.First, o.Seeds, c.Info()), func(dir string) error {
			return try.Run(func() { place(ctx, c, n, p, key, o, dir) })
		})
		try.Wrap(err, "build: %s", c)
		report := readJSON[Report](filepath.Join(dir, reportAs))
		b = &Built{report, dir, n.dir}
		if !b.Met() {
			try.Failf("build: %s: %w: %.1f MHz with the best of %d seeds, want mhz = %g", c, ErrTiming, b.BestRun().MHz, len(b.Runs), b.NeedMHz)
		}
	})
	return b, err
}

// margin is how much faster than the clock the placer's target is; the placer stops when it reaches it.
const margin = 1.05

// place places n by p with each seed, and keeps the best as a bitstream in dir. key stands for n and p.
func place(ctx context.Context, c *boards.Config, n *Netlist, p synth.Placement, key string, o Options, dir string) {
	n.checkPorts(c)
	p.Pins = filepath.Join(dir, pinsAs)
	try.OK(os.WriteFile(p.Pins, pinFile(c), 0o666))
	p.Folder = func(ctx context.Context, seed int, run func(string) error) (string, error) {
		return cache.Folder(ctx, area, cache.Key("seed", key, seed), run)
	}
	seeds := make([]int, o.Seeds)
	for i := range seeds {
		seeds[i] = max(o.First, 1) + i
	}
	done := 0
	o.Progress("place and route", 0, o.Seeds)
	placed, err := p.Run(ctx, seeds, func(synth.Placed) {
		done++
		o.Progress("place and route", done, o.Seeds)
	})
	if errors.Is(err, synth.ErrDesign) && strings.Contains(err.Error(), "PCF") {
		err = fmt.Errorf("%w: nextpnr-ice40 refuses its pins: %w", boards.ErrBoard, err)
	}
	try.OK(err)
	info := c.Info()
	r := Report{Board: c.Board.Name, Config: c.Name, Device: c.Board.FPGA.Device, Package: c.Board.FPGA.Package, Hash: fmt.Sprintf("%016x", info.Hash),
		Params: maps.Clone(info.Params), Cells: n.Cells, NeedMHz: c.MHz}
	for i, one := range placed {
		r.Runs = append(r.Runs, one.Run)
		r.Logic, r.Memories = one.Logic, one.Memories
		if one.MHz > placed[r.Best].MHz {
			r.Best = i
		}
	}
	best := placed[r.Best]
	if !r.Met() {
		info.Params[bitstream.Reached] = strconv.FormatFloat(best.MHz, 'f', 1, 64)
	}
	describe(filepath.Join(best.Dir, synth.AsciiName), filepath.Join(dir, asciiAs), info.Comment())
	try.Get(synth.Tool(ctx, dir, "icepack", asciiAs, BitstreamName))
	log := try.Get(os.ReadFile(filepath.Join(best.Dir, synth.LogName)))
	text := try.Get(json.MarshalIndent(r, "", "  "))
	try.OK(os.WriteFile(filepath.Join(dir, synth.LogName), log, 0o666), os.WriteFile(filepath.Join(dir, reportAs), append(text, '\n'), 0o666))
}

// pinFile tells nextpnr-ice40 which ball each port is.
func pinFile(c *boards.Config) []byte {
	var text strings.Builder
	wiring := c.Wiring()
	for _, port := range slices.Sorted(maps.Keys(wiring)) {
		fmt.Fprintf(&text, "set_io %s %s\n", port, wiring[port])
	}
	return []byte(text.String())
}

// describe copies an .asc file with a comment of these lines in place of its own.
func describe(from, to string, lines []string) {
	_, rest, found := strings.Cut(string(try.Get(os.ReadFile(from))), "\n.device ")
	if !found {
		try.Failf("%s is not a bitstream in text form: no device", from)
	}
	try.OK(os.WriteFile(to, []byte(".comment\n"+strings.Join(lines, "\n")+"\n.device "+rest), 0o666))
}

func readJSON[V any](path string) (v V) {
	data, err := os.ReadFile(path)
	try.Wrap(err, "build")
	try.Wrap(json.Unmarshal(data, &v), "build: %s is damaged, delete it", path)
	return v
}

// CopyTo copies the files of a build, with those of its netlist, to a folder, which it makes.
func (b *Built) CopyTo(dir string) error {
	err := try.Run(func() {
		try.OK(os.MkdirAll(dir, 0o777))
		for _, from := range []string{b.dir, b.netlist} {
			for _, f := range try.Get(os.ReadDir(from)) {
				if !f.IsDir() && f.Name() != cellsAs {
					try.OK(results.WriteFile(filepath.Join(dir, f.Name()), try.Get(os.ReadFile(filepath.Join(from, f.Name())))))
				}
			}
		}
	})
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	return nil
}
