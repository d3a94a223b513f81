package soak

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/probe"
	"github.com/stafflink/lmmc/verilator"
)

// maxPacket is the longest packet of the campaign, in bytes: that of a network interface with 256-byte pages.
const maxPacket = 264

// backlog is how many bytes wait in front of an end, where a symbol takes a clock.
const backlog = 4096

// world is a link in a simulation: two ends, and a wire from each to the other.
type world struct {
	ends  [2]end
	rtl   []*rtlEnd
	host  *goEnd // the second end, if it is in Go
	net   *verilator.Network
	wires [2]*verilator.Link // from each end; nil with host
	link  link
	rates [2]float64 // clocks of the receiver for one of the sender, by wire
}

// open builds a world in reset, the second end's clock slower by so many ppm. All that is random in it follows from rng.
func open(ctx context.Context, l link, ppm int, tree fs.FS, rng *testbench.Rand, record uint64, wave string) (*world, error) {
	params := map[string]int{"PHY": l.phy, "BIT_CLOCKS": l.bit, "MAX_PACKET": maxPacket}
	for name, v := range l.timers {
		params[name] = v
	}
	if l.host {
		params["PORT"] = 0
	}
	if tree == nil {
		tree = rtl.FS
	}
	d, err := probe.DesignFrom(tree, "link_end", params)
	if err != nil {
		return nil, err
	}
	d.Optimize, d.Trace = verilator.Full, record > 0 || wave != ""
	d.Checkpoint = d.Trace // with a wave too, so that a failure and its repetition share one compilation
	lib, err := verilator.Build(ctx, d)
	if err != nil {
		return nil, err
	}
	w := &world{link: l}
	if err := try.Run(func() { w.build(lib, ppm, rng, record, wave) }); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) build(lib *verilator.Library, ppm int, rng *testbench.Rand, record uint64, wave string) {
	const period = 1_000_000
	periods := [2]uint64{period, uint64(period + ppm*period/1_000_000)}
	for i := range 2 {
		w.rates[i] = float64(periods[i]) / float64(periods[1-i])
		if i == 1 && w.link.host {
			break
		}
		m := try.Get(lib.New(verilator.Config{Name: string(rune('a' + i)), Seed: rng.Uint64(), Record: record}))
		e := &rtlEnd{model: m, backlog: backlog / max(w.link.symbol/10, 1)}
		w.rtl, w.ends[i] = append(w.rtl, e), e
		e.attach(periods[i])
		if !w.link.host {
			*e.pins.Nonce = ni.Nonce(rng)
		}
		if wave != "" {
			try.OK(e.model.Trace(wavePath(wave, e.model.Name())))
		}
	}
	if w.link.host {
		w.host = newGoEnd(w.rtl[0], uint8(rng.Between(1, 255)))
		w.ends[1] = w.host
		return
	}
	w.cable(rng)
}

func (w *world) cable(rng *testbench.Rand) {
	field := ""
	if w.link.width == 1 {
		field = "[0]"
	}
	latency := rng.Between(w.link.latency[0], w.link.latency[1])
	for i, e := range w.rtl {
		w.wires[i] = try.Get(verilator.Connect(verilator.LinkConfig{From: e.clock, To: w.rtl[1-i].clock, Output: "line_tx" + field, Input: "line_rx" + field,
			Latency: latency, Idle: w.link.idle}))
	}
	w.net = try.Get(verilator.NewNetwork(1, w.rtl[0].model, w.rtl[1].model))
}

func (w *world) close() error {
	var errs []error
	if w.net != nil {
		errs = append(errs, w.net.Close())
	}
	for _, e := range w.rtl {
		errs = append(errs, e.model.Close())
	}
	return errors.Join(errs...)
}

// run runs n clocks of the first end.
func (w *world) run(n int) {
	if w.host == nil {
		try.OK(w.net.Run(uint64(n)))
		return
	}
	const turn = 32 // clocks between two looks of the host at its line
	for ; n > 0; n -= turn {
		w.host.turn(w.rtl[0].model, min(n, turn))
	}
}

// inject lets a plan happen to a wire, in bits of a line and symbols elsewhere, from now on; it returns the clocks of the receiver at which
// its faults end.
func (w *world) inject(wire int, plan testbench.FaultPlan) []uint64 {
	ends := make([]uint64, len(plan))
	for i, f := range plan {
		ends[i] = w.ends[1-wire].now() + uint64(float64((f.At+max(f.Count, 1))*uint64(w.link.bit))*w.rates[wire])
	}
	if w.host != nil {
		w.host.cables[wire].faults = plan.Injector(w.link.width)
		return ends
	}
	try.OK(plan.InjectStretched(w.wires[wire], w.link.width, uint64(w.link.bit)))
	return ends
}

func (w *world) unplug(wire int, open uint64) {
	if w.host != nil {
		w.host.cables[wire].unplugged, w.host.cables[wire].open = true, open
		return
	}
	try.OK(w.wires[wire].Unplug(open))
}

func (w *world) plug(wire int) {
	if w.host != nil {
		w.host.cables[wire].unplugged = false
		return
	}
	try.OK(w.wires[wire].Plug())
}

// counters are those of both ends together.
func (w *world) counters() (sum [linkproto.NumCounters]uint64) {
	for c := range sum {
		for _, e := range w.ends {
			sum[c] += e.counter(linkproto.Counter(c))
		}
	}
	return sum
}

// dump writes the last clocks of every model and returns the first one's file.
func (w *world) dump(path string) (string, error) {
	for _, e := range w.rtl {
		if _, err := e.model.DumpWave(wavePath(path, e.model.Name())); err != nil {
			return "", fmt.Errorf("soak: wave: %w", err)
		}
	}
	return wavePath(path, w.rtl[0].model.Name()), nil
}

func wavePath(path, end string) string {
	suffix := filepath.Ext(path)
	return strings.TrimSuffix(path, suffix) + "-" + end + suffix
}
