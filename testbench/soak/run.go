package soak

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// errorCounters are those that a link without wrong symbols leaves alone.
var errorCounters = []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
	linkproto.CntBadWord, linkproto.CntReplays, linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets}

// mild is the rate up to which faults must not make a link give up.
const mild = 1e-3

// run is one run of a case: traffic both ways, faults amid it, and an account of every packet.
type run struct {
	ctx   context.Context
	fault fault
	rate  float64
	*world
	rng   *testbench.Rand // of the traffic
	plans *testbench.Rand // of the faults
	turns int
	late  [2]uint64 // samples of each wire that jitter has been drawn for

	flows    [2]*flow   // from each end
	read     [2]uint64  // packets that each end's host has read in its present life
	accounts [2]account // of the ends at the last audit, or when they were born
	short    byte       // serial number of packets too short for one of their own
	longest  int        // bytes of a packet
	large    bool       // many packets are long
	load     float64    // share of the time in which hosts have something to send
	gone     [2]uint64  // packets in the reports of losses

	cycles, injected uint64
	before           [linkproto.NumCounters]uint64 // once the link was up
	counters         [linkproto.NumCounters]uint64
}

func newRun(ctx context.Context, c Case, l link, f fault, w *world, rng *testbench.Rand) *run {
	r := &run{ctx: ctx, fault: f, rate: c.Rate, world: w, rng: rng.Split("traffic"), plans: rng.Split("faults")}
	r.flows = [2]*flow{{recovery: histogram{}}, {recovery: histogram{}}}
	r.load = 0.2 + 0.8*r.rng.Float64()
	r.large = r.rng.Chance(0.3)
	for _, e := range w.ends {
		e.hesitate(testbench.Pick(r.rng, 0, 0, 0.3, 0.8))
	}
	r.longest = maxPacket
	if f.name == "flip" { // of longer packets next to none would get through
		r.longest = min(max(int(3/(9*r.rate))-linkproto.FrameOverhead, 24), maxPacket)
	}
	return r
}

// campaign does the run.
func (r *run) campaign() {
	r.comeUp()
	for done := 0; done < r.link.symbols; {
		n := r.rng.Between(r.link.symbols/1000, r.link.symbols/300)
		r.disturb(n)
		if r.rng.Chance(r.load) {
			r.offer(math.MaxInt)
		}
		r.step(n)
		done += n
	}
	r.rest()
	r.judge()
}

// rest brings the link to rest and does the accounts.
func (r *run) rest() {
	r.settle()
	r.audit()
}

func (r *run) comeUp() {
	both := [2]bool{true, true}
	r.restart(both, 100)
	for _, e := range r.rtl {
		e.records.Discard() // registers begin anywhere
		copy(e.last[:], e.pins.Counts)
	}
	r.gone = [2]uint64{}
	wordTimer := cmp.Or(r.link.timers["WORD_TIMER"], linkproto.DefaultWordTimer)
	words := r.fault.words
	if words > 0 {
		words += r.link.words
	}
	for i, name := range []string{"a to b", "b to a"} {
		r.flows[i] = &flow{name: name, recovery: histogram{}, limit: uint64(words * wordTimer * r.link.symbol)}
	}
	for n := 0; !r.ends[0].up() || !r.ends[1].up(); n++ {
		if n > 1000 {
			try.Failf("%w: not up after %d symbol times", ErrWedged, 100*n)
		}
		r.step(100)
	}
	r.step(100) // what the way up has caused
	r.before = r.world.counters()
	for i := range r.ends {
		r.accounts[i] = r.account(i)
	}
}

// step lets symbol times pass and takes what has arrived.
func (r *run) step(symbols int) {
	try.OK(r.ctx.Err())
	n := symbols * r.link.symbol
	r.world.run(n)
	r.cycles += uint64(n)
	r.collect()
}

func (r *run) collect() {
	for i, e := range r.ends {
		f := r.flows[i]
		e.losses(func(from, to uint64) {
			if f.dying { // acknowledged before the sender knew of the receiver's restart
				f.allowLoss(f.next, f.base+from, died)
				f.dying = false
			}
			f.allowLoss(f.base+from, f.base+to, reported)
			r.gone[i] += to - from
		})
	}
	for i, e := range r.ends {
		e.pull(func(packet []byte, first, last uint64) {
			r.read[i]++
			try.OK(r.flows[1-i].arrive(packet, first, last))
		})
	}
}

// offer hands each end as many packets as it takes, up to a number.
func (r *run) offer(most int) {
	for i, e := range r.ends {
		if r.idle(i) { // nothing has been waiting for the end of the faults
			r.flows[i].postpone(r.ends[1-i].now())
		}
		for range most {
			p := r.packet(r.flows[i].end())
			if !e.push(p) {
				break
			}
			r.flows[i].send(p)
		}
	}
}

// packet is one that differs from all others that can be under way with it.
func (r *run) packet(number uint64) []byte {
	var n int
	switch r.rng.IntN(32) {
	case 0:
		n = r.rng.Between(7, r.longest)
	case 1, 2, 3, 4, 5, 6, 7, 8:
		n = 7
		if r.large {
			n = r.rng.Between(7, r.longest)
		}
	case 9, 10:
		n = r.rng.Between(linkproto.HeaderBytes, 6)
	default:
		n = r.rng.Between(7, 24)
	}
	p := make([]byte, n, n+8)
	p[0] = byte(number)
	binary.LittleEndian.PutUint16(p[1:], uint16(n-linkproto.HeaderBytes))
	if n < 7 {
		r.short++
		p[0] = r.short
	}
	for at := linkproto.HeaderBytes; at < n; at += 8 {
		binary.LittleEndian.PutUint64(p[at:at+8], r.rng.Uint64())
	}
	return p
}

// settle ends all faults and runs until everything has arrived or been reported, and every fault been recovered from.
func (r *run) settle() {
	limit := 4*linkproto.DefaultRetry*linkproto.DefaultRetryLimit + r.link.symbols
	const turn = 200
	for n := 0; ; n += turn {
		idle := r.idle(0) && r.idle(1) && r.ends[0].up() && r.ends[1].up()
		open := len(r.flows[0].faults) + len(r.flows[1].faults)
		switch {
		case idle && open == 0:
			return
		case idle:
			r.offer(1)
		case n > limit:
			try.Failf("%w: %d symbol times after the last fault %s", ErrWedged, n, r.state())
		}
		r.step(turn)
	}
}

// idle reports whether everything sent by an end has been read at the other, or is lost.
func (r *run) idle(sender int) bool {
	f := r.flows[sender]
	return r.ends[sender].released()+f.base == f.end() && r.ends[1-sender].committed() == r.read[1-sender]
}

func (r *run) state() string {
	s := ""
	for i, f := range r.flows {
		s += fmt.Sprintf("; %s: up %v, %d packets sent, %d acknowledged or given up, %d delivered", f.name, r.ends[i].up(),
			f.end(), r.ends[i].released()+f.base, f.delivered)
	}
	return s[2:]
}

// account is what an end has counted, and what was sent and received there.
type account struct {
	acked, lost, received uint64 // counters of the link
	sent, delivered       uint64
	given                 uint64 // packets in the reports of losses
}

func (r *run) account(i int) account {
	e, out, in := r.ends[i], r.flows[i], r.flows[1-i]
	return account{e.counter(linkproto.CntTxPackets), e.counter(linkproto.CntLostPackets), e.counter(linkproto.CntRxPackets),
		out.end(), in.delivered, r.gone[i]}
}

// audit compares, on a link at rest, what has arrived with what the ends have counted since the last audit or the end's restart.
func (r *run) audit() {
	for _, f := range r.flows {
		try.OK(f.finish())
	}
	for i := range r.ends {
		then, now := r.accounts[i], r.account(i)
		r.accounts[i] = now
		sent, acked, lost := now.sent-then.sent, now.acked-then.acked, now.lost-then.lost
		if reported := now.given - then.given; acked+lost != sent || lost != reported {
			try.Failf("%w: %s: of %d packets the sender counts %d acknowledged and %d lost, and %d were reported", ErrCount,
				r.flows[i].name, sent, acked, lost, reported)
		}
		if received, read := now.received-then.received, now.delivered-then.delivered; received != read {
			try.Failf("%w: %s: %d packets were read, the receiver counts %d", ErrCount, r.flows[1-i].name, read, received)
		}
	}
}

// judge looks at the counters of the whole run.
func (r *run) judge() {
	now := r.world.counters()
	for c := range now {
		r.counters[c] = now[c] - r.before[c]
	}
	if n := r.gone[0] + r.gone[1]; n > 0 && !r.fault.restart && !r.fault.unplug && r.rate <= mild {
		try.Failf("%w: the link gave up %d packets, though it was never down", ErrLost, n)
	}
	if n := r.counters[linkproto.CntBadPacket]; n > 0 {
		try.Failf("%w: %d packets malformed", ErrCount, n)
	}
	if r.fault.clean {
		for _, c := range errorCounters {
			if n := r.counters[c]; n > 0 {
				try.Failf("%w: %v went up by %d though no symbol was wrong", ErrCount, c, n)
			}
		}
	}
}
