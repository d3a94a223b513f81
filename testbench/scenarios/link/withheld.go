package link

import (
	"cmp"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// withholding is a peer that takes what comes, and whose acknowledgements are held back on the way.
type withholding struct {
	*harness.Harness
	count  harness.Numbered
	words  ni.WordReader // from the peer
	frames int           // whole ones of the network interface
	since  uint64        // clock from which on its retry timer runs
	quiet  bool          // the host sends nothing more
}

func withheld(s *harness.Harness) {
	x := &withholding{Harness: s}
	ways := []func(){x.slowly, x.stopped, x.lost, x.idle, x.restarted, x.forEver, x.full}
	for _, i := range append(s.Rand.Perm(len(ways)), s.Rand.IntN(len(ways))) {
		x.count.Most = 1 // byte: the window fills before the replay buffer does
		if s.Rand.Bool() {
			x.count.Most = 0
		}
		x.quiet = x.Rand.Bool()
		x.attach()
		ways[i]()
		x.release()
		x.count.ToPeer(s, 1, 5)
		s.FromPeer(1, 3)
	}
}

// attach puts x between the peer and the network interface.
func (x *withholding) attach() {
	p := x.Peer(1)
	x.words = ni.WordReader{}
	p.Mangle = x.words.PassAll
	p.Swallow = func(line []linkproto.Symbol) []linkproto.Symbol {
		for _, symbol := range line {
			if symbol == linkproto.SymEOP {
				x.frames++
			}
		}
		return line
	}
}

// release lets all acknowledgements through, and the host send again if packets have been lost.
func (x *withholding) release() {
	x.words.Hold = nil
	try.OK(x.Run(x.Params.WordTimer))
	x.WaitUp(1)
	x.count.Drain(x.Harness, 1)
}

// hold holds back what the peer says from now on, with packets on their way to it.
func (x *withholding) hold(w linkproto.Word) {
	try.OK(x.Run(x.Params.WordTimer + 2*x.Params.AckDelay))
	w.Value = x.words.Number
	x.words.Hold = &w
	before := x.frames
	x.count.Offer(x.Harness, 1, 1+x.Rand.IntN(40))
	x.until("a frame", func() bool { return x.frames > before })
	x.since = x.Cycles
}

// until waits for something that the next WORD_TIMERs bring, while the peer takes what comes.
func (x *withholding) until(what string, done func() bool) {
	try.OK(x.Until(2*x.Params.WordTimer, what, func() bool {
		x.count.Take(x.Peer(1))
		return done()
	}))
}

// wait lets the retry timer run out a number of times since it began, and half of another time pass. The host goes on sending, also when the timer is about to run out.
func (x *withholding) wait(times int) {
	retry := uint64(x.Params.Retry)
	end := x.since + uint64(times)*retry + retry/2
	for x.Cycles < end {
		if left := (end - x.Cycles + retry/2) % retry; !x.quiet && (left < 400 || x.Rand.Chance(0.01)) {
			x.count.Offer(x.Harness, 1, 1+x.Rand.IntN(30))
		}
		x.count.Take(x.Peer(1))
		try.OK(x.Run(1 + x.Rand.IntN(200)))
	}
}

// slowly lets some of what was sent be acknowledged when the timer has run out a few times, more often in sum than the link would wait.
func (x *withholding) slowly() {
	limit := x.Params.RetryLimit
	t := x.QuietTally(1)
	x.hold(linkproto.Word{Kind: linkproto.KindAck})
	for t.Want[linkproto.CntRetries] <= uint32(limit) {
		times := 1 + x.Rand.IntN(limit-1)
		x.wait(times)
		t.Want[linkproto.CntRetries] += uint32(times)
		behind := x.words.Number - x.words.Hold.Value
		if behind < 2 {
			break
		}
		x.until("the end of a word of the peer", func() bool { return !x.words.Inside })
		x.words.Hold.Value += 1 + uint8(x.Rand.IntN(int(behind)-1))
		words := x.words.Words
		x.until("the next one", func() bool { return x.words.Words > words })
		x.since = x.Cycles
	}
	try.OK(t.Check(linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets))
}

// stopped has the peer say STOP for longer than the link waits for an acknowledgement: the timer stands.
func (x *withholding) stopped() {
	t := x.QuietTally(1)
	x.hold(linkproto.Word{Kind: linkproto.KindAck, Stop: true})
	x.wait(x.Params.RetryLimit + 1)
	try.OK(t.Check(linkproto.CntRetries, linkproto.CntReplays, linkproto.CntRestarts, linkproto.CntLostPackets))
}

// restarted has the peer start again when the timer has run out a few times. What happened before does not count then.
func (x *withholding) restarted() {
	x.hold(linkproto.Word{Kind: linkproto.KindAck})
	x.wait(1 + x.Rand.IntN(x.Params.RetryLimit-1))
	x.RestartPeer(1)
	x.WaitUp(1)
	x.attach()
	t := x.QuietTally(1)
	x.hold(linkproto.Word{Kind: linkproto.KindAck})
	x.wait(x.Params.RetryLimit - 1)
	t.Want[linkproto.CntRetries] = uint32(x.Params.RetryLimit - 1)
	try.OK(t.Check(linkproto.CntRetries, linkproto.CntRestarts))
}

// lost has the peer ask for the same frame over and over, though for no longer than the link waits.
func (x *withholding) lost() {
	t := x.QuietTally(1)
	x.hold(linkproto.Word{Kind: linkproto.KindLost})
	times := 1 + x.Rand.IntN(x.Params.RetryLimit-1)
	x.wait(times)
	t.Want[linkproto.CntRetries] = uint32(times)
	try.OK(t.Check(linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets))
}

// idle has the peer ask for a frame that has not been sent: there is nothing to send again.
func (x *withholding) idle() {
	t := x.QuietTally(1)
	x.words.Hold = &linkproto.Word{Kind: linkproto.KindLost, Value: x.words.Number}
	try.OK(x.Run(x.Params.Retry + x.Rand.IntN(2*x.Params.Retry)))
	try.OK(t.Check(linkproto.CntRetries, linkproto.CntReplays, linkproto.CntRestarts))
}

// forEver holds acknowledgements back until the link starts again.
func (x *withholding) forEver() {
	t := x.QuietTally(1)
	kind := []linkproto.Kind{linkproto.KindAck, linkproto.KindLost}[x.Rand.IntN(2)]
	x.hold(linkproto.Word{Kind: kind})
	x.wait(x.Params.RetryLimit - 1)
	try.OK(t.Check(linkproto.CntRestarts))
	x.wait(x.Params.RetryLimit)
	t.Want[linkproto.CntRetries], t.Want[linkproto.CntRestarts] = uint32(x.Params.RetryLimit), 1
	names := []linkproto.Counter{linkproto.CntRetries, linkproto.CntRestarts}
	if kind == linkproto.KindAck && x.quiet { // all had been sent whenever the timer ran out
		t.Want[linkproto.CntReplays] = uint32(x.Params.RetryLimit - 1)
		names = append(names, linkproto.CntReplays)
	}
	try.OK(t.Check(names...))
}

// full fills the link's queue, to the last packet or byte that it takes, or with one more.
func (x *withholding) full() {
	for i := range 4 {
		x.count.Most = i % 2
		x.fill(i / 2)
		x.release()
	}
}

// fill fills the link's queue with packets that the peer does not acknowledge. The last packet is over by none or one.
func (x *withholding) fill(over int) {
	t := x.QuietTally(1)
	x.hold(linkproto.Word{Kind: linkproto.KindAck})
	host, credit := x.Node.Host, x.Node.Host.Credit(1)
	push := func(bytes int) {
		p := x.count.Packet(x.Harness, 1, bytes)
		try.OK(x.Until(100_000, "the host's line", func() bool { return !errors.Is(host.Push(p), ni.ErrBusy) }))
	}
	least := (&linkproto.Packet{Type: linkproto.TypeWrite, Via: 1}).Size()
	window := func() int { return linkproto.MaxWindow - int(credit.SentPackets-credit.FreedPackets) }
	left := func() int { return x.Params.ReplayBytes - credit.Outstanding() - least }
	refused := credit.Refused
	for window() > 0 && left() > x.Params.PageBytes {
		push(4 + x.Rand.IntN(min(cmp.Or(x.count.Most, x.Params.PageBytes-4), left()-least-7)))
	}
	if window() > 0 {
		push(left() + over)
	} else if over > 0 {
		push(4)
	}
	t.Want[linkproto.CntNoSpace] = uint32(over)
	try.OK(x.Run(4 * x.Params.MaxPacket()))
	try.OK(t.Check(linkproto.CntNoSpace, linkproto.CntRestarts))
	if credit.Refused != refused+over {
		try.Failf("%d packets refused, want %d", credit.Refused-refused, over)
	}
}
