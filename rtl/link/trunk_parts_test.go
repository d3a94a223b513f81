package link_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// trunk_tally gives on every event, one a clock.
func TestTrunkTally(t *testing.T) {
	var p struct {
		Rst, EventOut *bool  `port:"*"`
		Events        *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "trunk_tally", params{"N": 5}, &p)
	rng := b.Rand("events")
	in, out := 0, 0
	for range 20_000 {
		*p.Events = 0
		if rng.Chance(0.2) {
			*p.Events = uint8(rng.IntN(32))
		}
		for k := range 5 {
			in += int(*p.Events >> k & 1)
		}
		b.Step(1)
		if *p.EventOut {
			out++
		}
	}
	*p.Events = 0
	for range 300 {
		b.Step(1)
		if *p.EventOut {
			out++
		}
	}
	check.Equal(t, "events", out, in)
}

// trunk_state comes up with the peer of the lowest lane that has a word, starts again when no lane is heard, and lets one lane at a time be left out,
// but never the last.
func TestTrunkState(t *testing.T) {
	var p struct {
		Rst, Tick, GiveUp, Renew, Up, Restart, Young *bool   `port:"*"`
		Ack, Heard, Epoch, MayLeave                  *uint8  `port:"*"`
		PeerNode                                     *uint16 `port:"*"`
		PeerLife                                     *uint32 `port:"*"`
	}
	b := moduletest.Open(t, "trunk_state", params{"LANES": 3, "SILENCE": 1000}, &p)
	for k := range 3 {
		check.Fatal(t, b.Model().Poke(fmt.Sprintf("life[%d:%d]", 32*k+31, 32*k), uint64(0xA0+k)))
		check.Fatal(t, b.Model().Poke(fmt.Sprintf("node[%d:%d]", 16*k+15, 16*k), uint64(0xB0+k)))
	}
	up := func(ack uint8) {
		*p.Ack = ack
		b.Step(1)
		*p.Ack, *p.Heard = 0, 7
		b.Step(1)
		check.Equal(t, "up", *p.Up, true)
	}
	up(6)
	check.Equal(t, "peer", [2]uint32{*p.PeerLife, uint32(*p.PeerNode)}, [2]uint32{0xA1, 0xB1})
	*p.Tick = true
	b.Step(linkproto.LaneSkew - 2)
	check.Equal(t, "young", *p.Young, true)
	b.Step(4)
	check.Equal(t, "young later", *p.Young, false)
	for _, heard := range []uint8{7, 5, 4, 1} {
		*p.Heard = heard
		may := uint8(0)
		for range 3 {
			check.Fatal(t, b.Model().Eval())
			if *p.MayLeave&(*p.MayLeave-1) != 0 {
				t.Fatalf("two lanes at once: %b", *p.MayLeave)
			}
			may |= *p.MayLeave & heard
			b.Step(1)
		}
		want := heard
		if heard&(heard-1) == 0 {
			want = 0
		}
		check.Equal(t, fmt.Sprintf("lanes that may leave of %b", heard), may, want)
	}
	for what, pulse := range map[string]func(){
		"no lane heard": func() { *p.Heard = 0 }, "give_up": func() { *p.GiveUp = true }, "renew": func() { *p.Renew = true }, "silence": func() { b.Step(1000) },
	} {
		*p.Heard = 7
		if !*p.Up {
			up(1)
		}
		epoch := *p.Epoch
		pulse()
		restarts := 0
		for range 4 {
			b.Step(1)
			if *p.Restart {
				restarts++
			}
			*p.GiveUp, *p.Renew = false, false
		}
		check.Equal(t, what+": restarts, up, epoch", fmt.Sprint(restarts, *p.Up, *p.Epoch), fmt.Sprint(1, false, linkproto.NextEpoch(epoch)))
	}
}

// order is trunk_order with frames on its lanes.
type order struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Up, Restart, Lost, Stop, MValid, MReady, MLast, EvPacket, EvMalformed      *bool  `port:"*"`
		HValid, HReady, HLast, HMalformed, HDoomed, Waits, Active, Doubt, Heard, EvDup, EvGap *uint8 `port:"*"`
		Expected                                                                              *uint8 `port:"*"`
	}
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
		*p.HValid |= bit
		*p.Waits |= bit
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
	rng := o.b.Rand("order")
	var want [][]byte
	dups, gaps := 0, 0
	for n := range 600 {
		h := head{seq: uint8(n), packet: packet(n, rng.Between(3, maxPacket))}
		if h.malformed = rng.Chance(0.05); !h.malformed {
			want = append(want, h.packet)
		}
		k := rng.IntN(orderLanes)
		switch rng.IntN(12) {
		case 0:
			o.lanes[k] = append(o.lanes[k], head{seq: uint8(n - rng.Between(1, 100)), packet: packet(0, 20)})
			dups++
		case 1:
			o.lanes[k] = append(o.lanes[k], head{seq: uint8(rng.Uint32()), packet: packet(0, 20), doomed: true})
			gaps++
		}
		o.lanes[k] = append(o.lanes[k], h)
		for range rng.IntN(40) {
			*o.pins.MReady = rng.Chance(0.8)
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

// issue is trunk_issue with a replay buffer of packets of ten bytes, and two lanes.
type issue struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Up, Restart, Look, LookDone, Acked, Lost, Progress, MaySend, GiveUp, EvReplay, EvRetry *bool   `port:"*"`
		BaseSeq, LoadSeq, LookSeq, SentSeq, Ready, Give, Seq, Sends, Done                                 *uint8  `port:"*"`
		Base, LookLast, First, Last, DoneSeqs                                                             *uint16 `port:"*"`
		Seqs                                                                                              *uint32 `port:"*"`
	}
	lanes   [2]int // frames in them; -1: none
	given   []uint8
	replays int
	retries int
}

func newIssue(t *testing.T) *issue {
	m := &issue{t: t, lanes: [2]int{-1, -1}}
	m.b = moduletest.Open(t, "trunk_issue", params{"LANES": 2, "POINTER": 13, "RETRY": 2000, "RETRY_LIMIT": 3}, &m.pins)
	*m.pins.Up, *m.pins.MaySend, *m.pins.LoadSeq, *m.pins.Tick = true, true, 120, true
	return m
}

// clock lets a clock pass; the frame of a lane that is in done leaves it.
func (m *issue) clock(done uint8) {
	p := &m.pins
	*p.Done, *p.Sends, *p.Ready = 0, 0, 0
	for k, seq := range m.lanes {
		if seq < 0 {
			*p.Ready |= 1 << k
			continue
		}
		*p.Sends |= 1 << (2 * k)
		*p.Seqs = *p.Seqs&^(0xFF<<(16*k)) | uint32(seq)<<(16*k)
		*p.DoneSeqs = *p.DoneSeqs&^(0xFF<<(8*k)) | uint16(seq)<<(8*k)
		if done>>k&1 != 0 {
			*p.Done |= 1 << k
			m.lanes[k] = -1
		}
	}
	check.Fatal(m.t, m.b.Model().Eval())
	look, seq := *p.Look, *p.LookSeq
	for k := range m.lanes {
		if *p.Give>>k&1 != 0 {
			if first, last := *p.First, *p.Last; last-first != 9 || first != 10*uint16(*p.Seq)+1 {
				m.t.Fatalf("packet %d is given from %d to %d", *p.Seq, first, last)
			}
			m.lanes[k] = int(*p.Seq)
			m.given = append(m.given, *p.Seq)
		}
	}
	m.b.Step(1)
	*p.LookDone, *p.LookLast = look, 10*uint16(seq)+10
	if *p.EvReplay {
		m.replays++
	}
	if *p.EvRetry {
		m.retries++
	}
	*p.Acked, *p.Progress = false, false
}

func (m *issue) run(clocks int, done uint8) {
	for range clocks {
		m.clock(done)
	}
}

// acked acknowledges the frames before n.
func (m *issue) acked(n uint8, lost bool) {
	p := &m.pins
	*p.Progress = *p.BaseSeq != n
	*p.BaseSeq, *p.Base, *p.Lost = n, 10*uint16(n), lost
	m.clock(0)
	m.clock(0)
	*p.Acked = true
	m.clock(0)
}

// trunk_issue gives packets to the lanes in their order, each once.
func TestTrunkIssue(t *testing.T) {
	m := newIssue(t)
	m.run(1200, 3)
	check.Equal(t, "packets given", len(m.given), 120)
	for i, seq := range m.given {
		check.Equal(t, "number", seq, uint8(i))
	}
	check.Equal(t, "sent_seq", *m.pins.SentSeq, 120)
}

// While a frame is in a lane no other begins that is half the numbers ahead, however far the acknowledgements are; and not for SKEW behind it.
func TestTrunkIssueWindow(t *testing.T) {
	m := newIssue(t)
	m.run(1200, 1) // lane 1 keeps packet 0
	check.Equal(t, "packets given", len(m.given), 120)
	m.acked(100, false)
	*m.pins.LoadSeq = 220
	m.run(2000, 1)
	check.Equal(t, "packets given, one of before still in a lane", len(m.given), linkproto.MaxWindow-1)
	m.clock(2)
	m.run(linkproto.LaneSkew-10, 3)
	check.Equal(t, "just behind it", len(m.given), linkproto.MaxWindow-1)
	m.run(1000, 3)
	check.Equal(t, "packets given in the end", len(m.given), 220)
}

// LOST has it go back unless the oldest frame is in a lane, has just left, or has not begun again.
func TestTrunkIssueLost(t *testing.T) {
	m := newIssue(t)
	m.run(60, 1) // lane 1 keeps packet 0
	m.acked(0, true)
	m.run(20, 1)
	check.Equal(t, "went back for a frame that is being sent", m.replays, 0)
	m.clock(2)
	m.run(20, 3)
	m.acked(0, true)
	m.run(20, 3)
	check.Equal(t, "went back for a frame that has just left", m.replays, 0)
	m.run(linkproto.LaneSkew, 3)
	m.lanes = [2]int{-1, -1}
	m.acked(0, true)
	at := len(m.given)
	m.run(10, 0)
	check.Equal(t, "went back", m.replays, 1)
	check.Equal(t, "first one again", slices.Contains(m.given[at:], 0), true)
}

// Without an acknowledgement it goes back when all has been sent, and gives up the third time.
func TestTrunkIssueRetry(t *testing.T) {
	m := newIssue(t)
	*m.pins.LoadSeq = 5
	gaveUp := false
	for range 6500 {
		m.clock(3)
		gaveUp = gaveUp || *m.pins.GiveUp
	}
	check.Equal(t, "retries, replays, gave up", fmt.Sprint(m.retries, m.replays, gaveUp), fmt.Sprint(3, 2, true))
}

// lane_end: each lane says its number, and how many there are.
func TestLaneEnd(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.offer = 0
	heard := make([]linkproto.Init, 4)
	words := make([]*linkproto.Deframer, 4)
	for k := range words {
		words[k] = linkproto.NewDeframer(maxPacket)
	}
	for range 100 {
		for k := range words {
			s := check.Must(m.b.Model().Peek(fmt.Sprintf("tx_sym[%d:%d]", 9*k+8, 9*k)))(t)
			if ev, _ := words[k].Next([]linkproto.Symbol{linkproto.Symbol(s)}); ev.Kind == linkproto.EventInit {
				heard[k] = ev.Init
			}
		}
		m.clock()
	}
	for k, w := range heard {
		check.Equal(t, "lanes and lane", [2]uint8{w.Lanes, w.Lane}, [2]uint8{4, uint8(k)})
	}
}

// link_lanes with one lane is link_endpoint: it speaks to an end of one lane.
func TestLanesOne(t *testing.T) {
	m := newMixedOf(t, "link_lanes", 1, 3)
	m.clocks(10_000)
	m.settle()
	check.Equal(t, "replays", m.seen[linkproto.CntReplays], 0)
}
