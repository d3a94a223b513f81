package phy_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
	"github.com/stafflink/lmmc/verilator"
)

// pair is two models of one design whose lines are joined, each with a clock of its own.
type pair struct {
	t      *testing.T
	net    *verilator.Network
	models [2]*verilator.Model
	clocks [2]*verilator.Clock
	lines  [2]*verilator.Link // from each model
}

// newPair joins the ports out and in of two models, whose clocks have these periods; the latency is in clocks. Epochs differ if
// the design has any.
func newPair(t *testing.T, d verilator.Design, periods [2]uint64, out, in string, latency int, poke map[string]uint64) *pair {
	t.Helper()
	p := &pair{t: t}
	lib := check.Must(verilator.Build(t.Context(), d))(t)
	for i := range 2 {
		p.models[i] = check.Must(lib.New(verilator.Config{Name: string(rune('a' + i)), Seed: uint64(i + 1)}))(t)
		p.clocks[i] = check.Must(p.models[i].Clock("clk", periods[i], uint64(i)*periods[i]/3))(t)
		for port, v := range poke {
			p.must(p.models[i].Poke(port, v))
		}
	}
	for i := range 2 {
		p.lines[i] = check.Must(verilator.Connect(verilator.LinkConfig{From: p.clocks[i], To: p.clocks[1-i], Output: out, Input: in,
			Latency: latency, Idle: 1, Seed: uint64(i + 7)}))(t)
	}
	p.net = check.Must(verilator.NewNetwork(1, p.models[:]...))(t)
	t.Cleanup(func() {
		p.net.Close()
		p.models[0].Close()
		p.models[1].Close()
	})
	return p
}

func (p *pair) must(err error) {
	p.t.Helper()
	check.Fatal(p.t, err)
}

func (p *pair) reset() {
	for _, v := range []uint64{1, 0} {
		for _, m := range p.models {
			p.must(m.Poke("rst", v))
		}
		p.run(200)
	}
}

func (p *pair) run(n uint64) { p.t.Helper(); p.must(p.net.Run(n)) }

// ends is a pair of link endpoints with packets going both ways.
type ends struct {
	*pair
	from    [2]*verilator.Source
	to      [2]*verilator.Sink
	sent    [2][][]byte // by each
	arrived [2]int      // of those
	last    [2]uint64   // when the last of those arrived, in clocks of the receiver
	coming  [2][]byte   // what has come of the next
	rng     *testbench.Rand
}

func newEnds(p *pair, seed uint64) *ends {
	e := &ends{pair: p, rng: testbench.NewRand(seed)}
	for i, m := range p.models {
		e.from[i] = check.Must(m.Source(verilator.Stream("s")))(p.t)
		e.to[i] = check.Must(m.Sink(verilator.Stream("m")))(p.t)
		p.must(m.Poke("nonce", uint64(i+1)))
	}
	p.reset()
	e.to[0].Discard()
	e.to[1].Discard()
	return e
}

// send gives end i a WRITE of n random bytes.
func (e *ends) send(i, n int) {
	packet := []byte{byte(linkproto.TypeWrite), byte(n + 4), byte((n + 4) >> 8)}
	packet = binary.LittleEndian.AppendUint32(packet, uint32(len(e.sent[i])))
	packet = append(packet, e.rng.Bytes(n)...)
	if e.from[i].Send(packet) {
		e.sent[i] = append(e.sent[i], packet)
	}
}

// collect compares what has arrived with what was sent.
func (e *ends) collect() {
	e.t.Helper()
	for i := range 2 {
		for beat, ok := e.to[1-i].Get(); ok; beat, ok = e.to[1-i].Get() {
			if e.coming[i] = append(e.coming[i], byte(beat.Data)); !beat.Last {
				continue
			}
			got := e.coming[i]
			e.coming[i], e.last[i] = nil, beat.Cycle
			if n := e.arrived[i]; n >= len(e.sent[i]) || !bytes.Equal(got, e.sent[i][n]) {
				e.t.Fatalf("end %d: packet %d of %d bytes is not the one sent", 1-i, n, len(got))
			}
			e.arrived[i]++
		}
	}
}

func (e *ends) done() bool { return e.arrived[0] == len(e.sent[0]) && e.arrived[1] == len(e.sent[1]) }

// Two PHYs whose clocks differ pass symbols both ways without an error.
func TestSerialPair(t *testing.T) {
	for _, periods := range [][2]uint64{{100000, 100000}, {100000, 100020}, {100000, 100100}, {100100, 100000}, {100000, 100500}} {
		p := newPair(t, moduletest.Design("phy_serial", nil), periods, "line_tx", "line_rx", 20, map[string]uint64{"tx_sym": 0x1BC})
		idle := uint64(linkproto.SymIdle)
		var in [2]*verilator.Source
		var out [2]*verilator.Sink
		for i, m := range p.models {
			in[i] = check.Must(m.Source(verilator.Channel{Data: "tx_sym", Ready: "tx_ready", Idle: &idle}))(t)
			out[i] = check.Must(m.Sink(verilator.Channel{Data: "rx_sym", Valid: "rx_valid", Idle: &idle}))(t)
		}
		p.reset()
		p.run(50 * 40)
		rng := testbench.NewRand(periods[0]*3 + periods[1])
		for i := range 2 {
			out[1-i].Discard() // what it says before the reset
			want := withoutIdle(traffic(rng, 3000))
			for _, s := range want {
				in[i].Put(uint64(s), false)
			}
			p.run(50 * 3100)
			var got []linkproto.Symbol
			for b, ok := out[1-i].Get(); ok; b, ok = out[1-i].Get() {
				got = append(got, linkproto.Symbol(b.Data))
			}
			if !slices.Equal(got, want) {
				t.Errorf("clocks of %v, from %d: %d symbols of %d arrived, or wrong ones", periods, i, len(got), len(want))
			}
		}
	}
}

// A link over serial PHYs delivers every packet once and in order, though clocks differ, bits are wrong and the line is cut.
func TestSerialLink(t *testing.T) {
	for _, c := range []struct {
		name   string
		rate   float64
		cut    bool
		rounds int
	}{{"clean", 0, false, 60}, {"wrong bits", 2e-4, false, 60}, {"cuts", 1e-5, true, 60}} {
		t.Run(c.name, func(t *testing.T) {
			d := moduletest.Design("testdata/end_serial", params{"OVERSAMPLE": "4"})
			e := newEnds(newPair(t, d, [2]uint64{100000, 100100}, "line_tx", "line_rx", 20, nil), 5)
			for _, l := range e.lines {
				e.must(l.SetBitErrorRate(c.rate))
			}
			for round := range c.rounds {
				for i := range 2 {
					for range 3 {
						e.send(i, e.rng.IntN(250))
					}
				}
				if c.cut && round%6 == 3 {
					e.must(e.lines[round/6%2].Unplug(uint64(round / 12 % 2)))
					e.run(40 * uint64(e.rng.Between(1, 400)))
					e.must(e.lines[round/6%2].Plug())
				}
				e.run(40 * 300)
				e.collect()
			}
			for _, l := range e.lines {
				e.must(l.SetBitErrorRate(0))
			}
			for n := 0; !e.done(); n++ {
				if n > 1000 {
					t.Fatalf("%d of %d and %d of %d packets arrived", e.arrived[0], len(e.sent[0]), e.arrived[1], len(e.sent[1]))
				}
				e.run(40 * 100)
				e.collect()
			}
			e.run(40 * 5000)
			e.collect()
			t.Logf("%d and %d packets, %+v", e.arrived[0], e.arrived[1], e.lines[0].Stats())
		})
	}
}

// The share of a UART's bytes that is payload, in writes of 1024 bytes.
func TestUartPayload(t *testing.T) {
	const divisor = 4
	periods := [2]uint64{100000, 100100}
	for _, c := range []struct {
		name     string
		ackDelay string
		both     bool
		must     float64
	}{{"one way", "512", false, 97.5}, {"both ways", "512", true, 97.25}, {"both ways, words half as often", "2048", true, 97.5}} {
		t.Run(c.name, func(t *testing.T) {
			d := moduletest.Design("testdata/end_uart", params{"ACK_DELAY": c.ackDelay})
			e := newEnds(newPair(t, d, periods, "txd", "rxd", 20, map[string]uint64{"divisor": divisor, "rxd": 1}), 6)
			const warm, bytes = 5000, 40000
			step := func(n int) {
				for ; n > 0; n -= 500 {
					for i := range 2 {
						for (i == 0 || c.both) && len(e.sent[i]) < e.arrived[i]+12 {
							before := len(e.sent[i])
							if e.send(i, 1024); len(e.sent[i]) == before {
								break
							}
						}
					}
					e.run(10 * divisor * 500)
					e.collect()
				}
			}
			step(warm)
			start, begin := e.arrived, e.last
			step(bytes)
			end := e.last
			for i := range 2 {
				if i == 1 && !c.both {
					break
				}
				share := 100 * 1024 * float64(e.arrived[i]-start[i]) / (float64(end[i]-begin[i]) * float64(periods[1-i]) / float64(periods[i])) * 10 * divisor
				t.Logf("from %d: %.2f %% of the bytes were payload", i, share)
				if share < c.must {
					t.Errorf("from %d: %.2f %%, want %v", i, share, c.must)
				}
			}
		})
	}
}
