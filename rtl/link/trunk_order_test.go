package link_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// order is trunk_order with frames on its lanes.
type order struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Up, Restart, Lost, Stop, MValid, MReady, MLast, EvPacket, EvMalformed      *bool  `port:"*"`
		HValid, HReady, HLast, HMalformed, HDoomed, Waits, Active, Doubt, Heard, EvDup, EvGap *uint8 `port:"*"`
		Expected                                                                              *uint8 `port:"*"`
	}
	rng      *testbench.Rand
	in       []*moduletest.Beats
	out      *moduletest.Beats
	lanes    [orderLanes][]head
	sent     [orderLanes]int // bytes of each lane's first frame
	coming   []byte
	arrived  [][]byte
	dup, gap int
}

const orderLanes = 3

func newOrder(t *testing.T) *order {
	o := &order{t: t}
	o.b = moduletest.Open(t, "trunk_order", params{"LANES": orderLanes, "RX_BYTES": 1024, "MAX_PACKET": maxPacket, "HEADROOM": 256, "WIDTH": 4}, &o.pins)
	o.rng = o.b.Rand("order")
	for k := range orderLanes {
		o.in = append(o.in, moduletest.NewBeatsAt(t, o.b, "h", 4, k))
	}
	o.out = moduletest.NewBeats(t, o.b, "m", 4)
	*o.pins.Up, *o.pins.Tick, *o.pins.Heard, *o.pins.MReady = true, true, 1<<orderLanes-1, true
	return o
}

func (o *order) clock() {
	p := &o.pins
	*p.HValid, *p.HLast, *p.HMalformed, *p.HDoomed, *p.Waits = 0, 0, 0, 0, 0
	var moves [orderLanes]int
	for k, frames := range o.lanes {
		if len(frames) == 0 {
			continue
		}
		h := frames[0]
		bit := uint8(1) << k
		*p.Waits |= bit
		if o.sent[k] > 0 && o.rng.Chance(0.1) {
			continue // the next beat comes later
		}
		*p.HValid |= bit
		check.Fatal(o.t, o.b.Model().Poke(fmt.Sprintf("h_seq[%d:%d]", 8*k+7, 8*k), uint64(h.seq)))
		if moves[k] = o.in[k].Put(h.packet[o.sent[k]:]); o.sent[k]+moves[k] == len(h.packet) {
			*p.HLast |= bit
		}
		if h.doomed {
			*p.HDoomed |= bit
		}
		if h.malformed {
			*p.HMalformed |= bit
		}
	}
	check.Fatal(o.t, o.b.Model().Eval())
	for k := range orderLanes {
		o.dup += int(*p.EvDup >> k & 1)
		o.gap += int(*p.EvGap >> k & 1)
		if *p.HValid>>k&1 != 0 && *p.HReady>>k&1 != 0 {
			if o.sent[k] += moves[k]; o.sent[k] == len(o.lanes[k][0].packet) {
				o.lanes[k], o.sent[k] = o.lanes[k][1:], 0
			}
		}
	}
	if *p.MValid && *p.MReady {
		if o.coming = append(o.coming, o.out.Get()...); *p.MLast {
			o.arrived = append(o.arrived, o.coming)
			o.coming = nil
		}
	}
	o.b.Step(1)
}

// trunk_order delivers what lanes bring in the order of numbers, and drops what was delivered before, what is doomed and what is malformed.
func TestTrunkOrder(t *testing.T) {
	o := newOrder(t)
	var want [][]byte
	dups, gaps := 0, 0
	for n := range 600 {
		h := head{seq: uint8(n), packet: packet(n, o.rng.Between(3, maxPacket))}
		if h.malformed = o.rng.Chance(0.05); !h.malformed {
			want = append(want, h.packet)
		}
		k := o.rng.IntN(orderLanes)
		switch o.rng.IntN(12) {
		case 0:
			o.lanes[k] = append(o.lanes[k], head{seq: *o.pins.Expected - uint8(o.rng.Between(1, 100)), packet: packet(0, 20)})
			dups++
		case 1:
			o.lanes[k] = append(o.lanes[k], head{seq: uint8(o.rng.Uint32()), packet: packet(0, 20), doomed: true})
			gaps++
		}
		o.lanes[k] = append(o.lanes[k], h)
		for range o.rng.IntN(50) {
			*o.pins.MReady = o.rng.Chance(0.8)
			o.clock()
		}
	}
	*o.pins.MReady = true
	for range 60_000 {
		o.clock()
	}
	check.Equal(t, "lost", *o.pins.Lost, false)
	check.Equal(t, "delivered, dropped", fmt.Sprint(len(o.arrived), o.dup, o.gap), fmt.Sprint(len(want), dups, gaps))
	for i := range want {
		if !bytes.Equal(o.arrived[i], want[i]) {
			t.Fatalf("packet %d is % x, want % x", i, o.arrived[i], want[i])
		}
	}
}

// A gap is a loss when every lane that is heard shows a later frame or has been quiet for SKEW, and not before.
func TestTrunkOrderLost(t *testing.T) {
	for name, test := range map[string]struct {
		lanes  int    // that show a later frame
		heard  uint8  // lanes
		active bool   // a frame comes by the last lane all the time
		clocks [2]int // in which LOST is said; 0: never
	}{
		"all show later frames": {3, 7, false, [2]int{1, 8}},
		"one is quiet":          {2, 7, false, [2]int{linkproto.LaneSkew, linkproto.LaneSkew + 8}},
		"one is busy":           {2, 7, true, [2]int{}},
		"one is not heard":      {2, 3, false, [2]int{1, 8}},
	} {
		o := newOrder(t)
		*o.pins.Heard = test.heard
		for k := range test.lanes {
			o.lanes[k] = []head{{seq: uint8(1 + k), packet: packet(1+k, 20)}}
		}
		at := 0
		for n := range 1000 {
			if *o.pins.Active = 0; test.active {
				*o.pins.Active = 4
			}
			if o.clock(); *o.pins.Lost && at == 0 {
				at = n
			}
		}
		if at < test.clocks[0] || at > test.clocks[1] {
			t.Errorf("%s: LOST after %d clocks, want %v", name, at, test.clocks)
		}
		o.lanes[2] = append([]head{{seq: 0, packet: packet(0, 20)}}, o.lanes[2]...)
		o.sent[2] = 0
		for range 200 {
			o.clock()
		}
		check.Equal(t, name+": packets, lost", fmt.Sprint(len(o.arrived), *o.pins.Lost), fmt.Sprint(1+test.lanes, false))
	}
}

// The lane that is quiet may be any, and LOST is said SKEW symbol times later, whatever clocks they take.
func TestTrunkOrderQuiet(t *testing.T) {
	for quiet := range orderLanes {
		o := newOrder(t)
		ticks := o.b.Rand("ticks")
		for round := range 5 {
			next := 3 * round
			at := next
			for k := range orderLanes {
				if k != quiet {
					at++
					o.lanes[k] = []head{{seq: uint8(at), packet: packet(at, 20)}}
				}
			}
			n := 0
			for !*o.pins.Lost && n < 3*linkproto.LaneSkew {
				if *o.pins.Tick = ticks.Chance(0.5); *o.pins.Tick {
					n++
				}
				o.clock()
			}
			if n < linkproto.LaneSkew || n > linkproto.LaneSkew+8 {
				t.Errorf("lane %d is quiet, round %d: LOST after %d symbol times", quiet, round, n)
			}
			o.lanes[quiet] = []head{{seq: uint8(next), packet: packet(next, 20)}}
			for range 200 {
				o.clock()
			}
			check.Equal(t, "packets, lost", fmt.Sprint(len(o.arrived), *o.pins.Lost), fmt.Sprint(3*round+3, false))
		}
	}
}
