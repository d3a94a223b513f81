package lanes

import (
	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// hush is a lane on which nothing comes.
func hush(line []linkproto.Symbol) {
	for i := range line {
		line[i] = linkproto.SymIdle
	}
}

// dropping is a lane that loses a share of the frames, each whole.
func dropping(rng *testbench.Rand, share float64) func([]linkproto.Symbol) {
	var w ni.WordReader
	drops := false
	return func(line []linkproto.Symbol) {
		for i, s := range line {
			inside := w.Inside
			w.Pass(s)
			switch {
			case s == linkproto.SymLSW, inside && s.IsData():
			case s == linkproto.SymSOP:
				drops = rng.Chance(share)
				fallthrough
			default:
				if drops {
					line[i] = linkproto.SymIdle
				}
				drops = drops && s != linkproto.SymEOP
			}
		}
	}
}

// damaged are words of the peer's of which each is damaged.
func (x *link) damaged(n int) (line []linkproto.Symbol) {
	for range n {
		word := x.word(0)
		word[x.Rand.Between(2, len(word)-1)] ^= 1 << x.Rand.IntN(8)
		line = append(line, word...)
	}
	return line
}

func (x *link) word(number uint8) []linkproto.Symbol {
	return linkproto.AppendWord(nil, harness.KeyOf(x.loom), linkproto.Word{Value: number})
}

// pick chooses a lane.
func (x *link) pick() (k int, s *strand) {
	k = x.Rand.IntN(len(x.lanes))
	return k, x.lanes[k]
}

// counted is by how much counters have gone up since.
func (x *link) counted(before [linkproto.NumCounters]uint32, want map[linkproto.Counter]uint32) {
	now := try.Get(x.Counters(0, 1))
	for c, n := range want {
		if have := now[c] - before[c]; have != n {
			try.Failf("counter %v went up by %d, want %d", c, have, n)
		}
	}
}

// strays come by both lanes in the same clocks, and words that are damaged, or say less than others, or more than can be.
func (x *link) strays() {
	try.OK(x.Run(1000))
	for _, s := range x.lanes {
		if s.heard.InFrame() { // left so by a peer that started again
			s.insert = []linkproto.Symbol{linkproto.SymEOP}
		}
	}
	try.OK(x.Run(1000))
	before := try.Get(x.Counters(0, 1))
	want := map[linkproto.Counter]uint32{}
	for range x.Rand.Between(1, 3) {
		n := x.Rand.Between(1, 60)
		var line []linkproto.Symbol
		for range n {
			line = append(line, linkproto.Data(byte(x.Rand.Uint32())))
		}
		want[linkproto.CntRxStray] += uint32(2 * n)
		received := uint8(x.got - x.first)
		bad := uint32(0)
		for range x.Rand.IntN(3) {
			back := x.Rand.Between(1, 100)
			if bad++; x.Rand.Bool() {
				back, bad = -back, bad-1
			}
			line = append(line, x.word(received+uint8(back))...)
			for range 20 { // so that each is looked at
				line = append(line, linkproto.SymIdle)
			}
		}
		want[linkproto.CntBadWord] += 2 * bad
		for _, s := range x.lanes {
			s.insert = line
		}
		try.OK(x.Run(1000))
	}
	for k, s := range x.lanes {
		if x.scores[k] += linkproto.LaneFault; x.scores[k] < linkproto.LaneFaults {
			s.insert = x.damaged(1)
			want[linkproto.CntBadWord]++
		}
	}
	try.OK(x.Run(1000))
	x.counted(before, want)
}

// out waits for a lane to be left out, which is when the clocks say, and counts it.
func (x *link) out(k int, least, most int) {
	from := x.Cycles
	x.leaves++
	x.offer(x.Rand.IntN(4))
	x.until(most+300, "the lane to be left out", func() bool { x.take(); return x.open() == 3&^(1<<k) })
	if took := int(x.Cycles - from); took < least {
		try.Failf("lane %d is left out after %d clocks, want %d to %d", k, took, least, most)
	}
	if status := x.status(); linkproto.StatusUp.Of(status) == 0 {
		try.Failf("LINK_STATUS is %#x with one lane left out", status)
	}
}

// says wants words of one kind only on a lane for some time, INITs or others.
func (x *link) says(k int, inits bool) {
	try.OK(x.Run(100))
	clear(x.lanes[k].kinds)
	try.OK(x.Run(x.Params.WordTimer + 500))
	kinds := x.lanes[k].kinds
	if init := kinds[linkproto.KindInit]; init > 0 != inits || kinds[linkproto.KindAck]+kinds[linkproto.KindLost] > 0 == inits {
		try.Failf("on lane %d the interface says %v, want INITs: %v", k, kinds, inits)
	}
}

// back waits for a lane that is good again since a clock to be taken again, after a trial in which it may be damaged.
func (x *link) back(k int, from uint64) {
	timer := x.Params.WordTimer
	term := linkproto.LaneTrialTimers * timer << min(x.outs[k], linkproto.LaneTrialDoublings)
	x.outs[k]++
	x.scores[k] = 0
	if past := int(x.Cycles - from); x.Rand.Bool() && past < term-timer {
		try.OK(x.Run(x.Rand.Between(0, term-timer-past)))
		x.lanes[k].insert = x.damaged(1)
		try.OK(x.Run(100))
		from = x.Cycles - 100
	}
	x.until(term+2*timer, "the lane to be taken again", func() bool { x.take(); return x.open() == 3 })
	if took := int(x.Cycles - from); took < term {
		try.Failf("lane %d is taken again after %d clocks, want %d at least", k, took, term)
	}
}

func (x *link) silent() {
	k, s := x.pick()
	s.toNI = hush
	x.out(k, x.Params.WordTimer/2, linkproto.LaneSilentTimers*x.Params.WordTimer)
	x.says(k, true)
	x.exchange(x.Rand.IntN(4))
	s.toNI = nil
	x.back(k, x.Cycles)
	x.up()
}

func (x *link) deaf() {
	k, s := x.pick()
	s.fromNI = hush
	x.out(k, x.Params.WordTimer/2, linkproto.LaneSilentTimers*x.Params.WordTimer+x.Params.AckDelay)
	x.says(k, false)
	x.exchange(x.Rand.IntN(4))
	s.fromNI = nil
	x.up()
	x.again()
}

func (x *link) damaging() {
	k, s := x.pick()
	try.OK(x.Run(500))
	if n := (linkproto.LaneFaults - 1 - x.scores[k]) / linkproto.LaneFault; n > 0 {
		s.insert = x.damaged(n)
		x.scores[k] += n * linkproto.LaneFault
		try.OK(x.Run(1000))
		if open := x.open(); open != 3 {
			try.Failf("lanes %b are open after a score of %d at most", open, x.scores[k])
		}
	}
	s.insert = x.damaged(2 * linkproto.LaneFaults / linkproto.LaneFault)
	from := x.Cycles
	x.out(k, 0, 1000)
	x.says(k, true)
	x.back(k, from)
	x.up()
}

// fresh waits for the link to be up in another life.
func (x *link) fresh() {
	x.up()
	x.outs, x.scores, x.got, x.first = make([]int, len(x.lanes)), make([]int, len(x.lanes)), x.sent, x.sent
	clear(x.whole)
	x.next, x.base, x.leaves = 0, 0, 0
}

// stranger is another node's end.
func (x *link) stranger() flowctl.End {
	c := ni.EndConfig(x.Params, 1, x.Rand)
	c.Lanes = len(x.lanes)
	return try.Get(flowctl.NewEnd(c))
}

// misled has a lane go to another end, and be put right.
func (x *link) misled() {
	k, s := x.pick()
	x.other, s.foreign = x.stranger(), true
	x.out(k, 0, linkproto.LaneSilentTimers*x.Params.WordTimer)
	x.says(k, true)
	if status := x.status(); linkproto.StatusForeign.Of(status) == 0 {
		try.Failf("LINK_STATUS is %#x with a lane cabled elsewhere", status)
	}
	s.foreign, x.other = false, nil
	x.up()
	if status := x.status(); linkproto.StatusForeign.Of(status) != 0 {
		try.Failf("LINK_STATUS is %#x with all lanes put right", status)
	}
	x.again()
}

// moved has all lanes go to another end.
func (x *link) moved() {
	before := try.Get(x.Counters(0, 1))
	x.loom.End = x.stranger()
	x.fresh()
	x.counted(before, map[linkproto.Counter]uint32{linkproto.CntRestarts: 1})
}

// skewed has one lane take longer than the other, and then lose frames.
func (x *link) skewed() {
	_, s := x.pick()
	try.OK(x.Run(1000))
	before := try.Get(x.Counters(0, 1))
	replays := x.loom.Counter(linkproto.CntReplays)
	s.late = x.Rand.Between(1, 3)
	x.exchange(10)
	x.counted(before, map[linkproto.Counter]uint32{linkproto.CntReplays: 0, linkproto.CntRxCRC: 0, linkproto.CntRxDup: 0, linkproto.CntRxGap: 0})
	if x.loom.Counter(linkproto.CntReplays) != replays {
		try.Failf("the peer had to send again, and nothing was lost")
	}
	for _, s := range x.lanes {
		s.fromNI, s.toNI = dropping(x.Rand, 0.3), dropping(x.Rand, 0.3)
	}
	x.exchange(10)
	for _, s := range x.lanes {
		s.fromNI, s.toNI = nil, nil
	}
	s.late = 0
	try.OK(x.Run(1000))
	x.again()
}

// cut has nothing come by any lane: the link leaves UP.
func (x *link) cut() {
	before := try.Get(x.Counters(0, 1))
	for _, s := range x.lanes {
		s.toNI = hush
	}
	x.until(9*x.Params.WordTimer/2+500, "the link to leave UP", func() bool { return linkproto.StatusUp.Of(x.status()) == 0 })
	for _, s := range x.lanes {
		s.toNI = nil
	}
	x.counted(before, map[linkproto.Counter]uint32{linkproto.CntRestarts: 1})
	x.fresh()
}

// again has the peer start again.
func (x *link) again() {
	c := x.loom.End.Config()
	c.Epoch = linkproto.NextEpoch(x.loom.Status().Epoch)
	x.loom.End = try.Get(flowctl.NewEnd(c))
	x.fresh()
}

// restarted has the peer start again while frames wait for one that was lost. They change nothing: they go to no frame.
func (x *link) restarted() {
	_, s := x.pick()
	s.toNI = dropping(x.Rand, 1)
	for range x.Rand.Between(2, 8) {
		try.OK(x.loom.End.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(x.Params.BufferBytes()), Data: x.Rand.Bytes(x.Rand.IntN(100))})))
	}
	try.OK(x.Run(x.Rand.IntN(400)))
	s.toNI = nil
	x.again()
}

// malformed packets come in good frames.
func (x *link) malformed() {
	x.again()
	before := try.Get(x.Counters(0, 1))
	_, s := x.pick()
	n := x.Rand.Between(1, 5)
	for seq := range n {
		p := stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Data: x.Rand.Bytes(x.Rand.IntN(100))})
		p[1] ^= 1 << x.Rand.IntN(8) // its length
		s.insert = linkproto.AppendFrame(s.insert, harness.KeyOf(x.loom), uint8(seq), p)
	}
	try.OK(x.Run(2000))
	x.counted(before, map[linkproto.Counter]uint32{linkproto.CntBadPacket: uint32(n), linkproto.CntRxPackets: 0})
	x.again()
}

// neverHeard has the peer hear no frame: after RETRY_LIMIT tries the link starts again.
func (x *link) neverHeard() {
	before := try.Get(x.Counters(0, 1))
	for _, s := range x.lanes {
		s.fromNI = dropping(x.Rand, 1)
	}
	try.OK(x.Node.Host.Write(1, 0, make([]byte, 8)))
	from := x.Cycles
	most := x.Params.Retry * x.Params.RetryLimit
	x.until(most+2000, "the link to start again", func() bool {
		return try.Get(x.ReadRegister(0, linkproto.CounterReg(1, linkproto.CntRestarts))) > before[linkproto.CntRestarts]
	})
	if took := int(x.Cycles - from); took < most-x.Params.Retry {
		try.Failf("the link starts again after %d clocks, want %d", took, most)
	}
	x.counted(before, map[linkproto.Counter]uint32{linkproto.CntRestarts: 1, linkproto.CntLostPackets: 1, linkproto.CntRetries: uint32(x.Params.RetryLimit)})
	for _, s := range x.lanes {
		s.fromNI = nil
	}
	x.fresh()
	x.exchange(3)
}
