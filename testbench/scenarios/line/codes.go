package line

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/ni/code8b10b"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// serialTalk is a serial line into a network interface, and what that must make of it.
type serialTalk struct {
	*harness.Harness
	line *ni.SerialLine
	phy  serialEnd
	link *linkEnd
	left []int // pairs of a code group and a disparity that have not been sent yet
}

// right sends symbols of the code.
func (t *serialTalk) right(n int) {
	for range n {
		symbol := linkproto.Data(byte(t.Rand.IntN(256)))
		if t.Rand.IntN(6) == 0 {
			symbol = testbench.Pick(t.Rand, code8b10b.K...)
		}
		t.line.Send(symbol)
	}
}

// group sends the next code group of all at the next disparity of both.
func (t *serialTalk) group() {
	if len(t.left) == 0 {
		return
	}
	next := t.left[0]
	t.left = t.left[1:]
	for t.line.Disparity() != (next&1 != 0) {
		t.line.Send(linkproto.Data(byte(t.Rand.IntN(256))))
	}
	t.line.Code(uint(next >> 1))
}

// idle lets the lock come back.
func (t *serialTalk) idle() {
	for range 60 {
		t.line.Send(linkproto.SymIdle)
	}
}

func (t *serialTalk) random(n int) {
	for range n {
		t.line.Drive(t.Rand.Bool())
	}
}

// burst sends something that need not be right.
func (t *serialTalk) burst() {
	switch t.Rand.Weighted(1, 1, 1, 1, 1, 5) {
	case 0: // the borders move
		t.random(t.Rand.Between(1, 9))
		t.right(t.Rand.Between(10, 40))
		t.line.Send(linkproto.SymIdle)
		t.right(t.Rand.Between(5, 40))
	case 1: // no signal
		level := t.Rand.Bool()
		for range t.Rand.Between(10, 200) {
			t.line.Drive(level)
		}
		t.right(t.Rand.Between(1, 10))
		t.line.Send(linkproto.SymIdle)
		t.right(t.Rand.Between(10, 30))
	case 2:
		t.random(t.Rand.Between(10, 200))
	case 3: // about as many wrong code groups as end the lock
		for range t.Rand.Between(10, 40) {
			if t.Rand.IntN(4) == 0 {
				t.line.Code(uint(t.Rand.IntN(code8b10b.Groups)))
			} else {
				t.right(1)
			}
		}
		for range t.Rand.IntN(60) { // which alone do not make it come back
			t.line.Send(linkproto.Data(byte(t.Rand.IntN(256))))
		}
	case 4:
		t.right(t.Rand.Between(1, 40))
	default:
		for range t.Rand.Between(10, 30) {
			t.group()
			t.right(t.Rand.Between(2, 4))
		}
	}
}

// again makes the model and the network interface agree, whatever has been on the line, and begins to count.
func (t *serialTalk) again() *harness.Tally {
	t.idle()
	t.line.Send(linkproto.SymErr) // ends a frame or a word
	t.settle()
	t.link.counts, t.phy.losses = [linkproto.NumCounters]uint32{}, 0
	return t.Tally(1)
}

func (t *serialTalk) settle() {
	try.OK(t.Until(100_000, "the line to carry what was queued", func() bool { return t.line.Pending() < 10 }), t.Run(8)) // a part of an IDLE
}

func lineCodes(s *harness.Harness) {
	p := s.Peer(1)
	t := &serialTalk{Harness: s, line: p.Serial, link: newLinkEnd(s, p), left: s.Rand.Perm(2 * code8b10b.Groups)}
	t.phy.take = t.link.take
	t.line.Sent = t.phy.bit
	losses := 0
	for round := 0; round < 24 || len(t.left) > 0; round++ {
		// What is within the tolerance is received as if it were exact.
		count := t.again()
		t.line.PPM, t.line.Jitter = 0, 0
		switch round % 4 {
		case 0:
			t.line.PPM, t.line.Jitter = 5000*(2*s.Rand.Float64()-1), 0.1
			t.right(400)
		case 1:
			t.line.PPM, t.line.Jitter = rtl.EyePPM*(2*s.Rand.Float64()-1), rtl.Eye[s.Params.Oversample]
			t.right(400)
		default:
			for t.line.Pending() < 12_000 {
				t.burst()
			}
			t.idle() // before the peer speaks
		}
		t.settle()
		count.Want = t.link.counts
		losses += t.phy.losses
		try.Wrap(count.Check(linkproto.CntRxCRC, linkproto.CntBadWord, linkproto.CntRxStray, linkproto.CntRestarts, linkproto.CntLostPackets), "round %d", round)
	}
	t.line.PPM, t.line.Jitter = 0, 0
	aborts := takenBack(s, 1)
	if losses < 20 || aborts < 5 {
		try.Failf("the lock was lost %d times, %d ABORTs came: the run tests too little", losses, aborts)
	}
	s.Suite.Log("%d symbols, %d losses of the lock, %d ABORTs", t.link.symbols, losses, aborts)
}

// takenBack is traffic both ways with damaged frames of the host, whose packets are on their way over the link by then, and are taken back. All that
// comes on the peer's line is right. It returns how many ABORTs that is.
func takenBack(s *harness.Harness, link int) (aborts int) {
	p, host := s.Peer(link), s.Node.Host
	p.Swallow = func(line []linkproto.Symbol) []linkproto.Symbol {
		for _, symbol := range line {
			if symbol == linkproto.SymAbort {
				aborts++
			}
		}
		return line
	}
	var count harness.Numbered
	count.ToPeer(s, link, 40)
	at := 0 // of a symbol in its frame
	host.Mangle = func(line []linkproto.Symbol) []linkproto.Symbol {
		for i, symbol := range line {
			if at++; symbol == linkproto.SymSOP {
				at = 0
			} else if at > 20 && symbol.IsData() && s.Rand.IntN(100) == 0 {
				line[i] ^= 1
			}
		}
		return line
	}
	for range 30 {
		count.ToPeer(s, link, 1)
	}
	s.FromPeer(link, 5)
	p.Swallow, host.Mangle = nil, nil
	for _, c := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxGap, linkproto.CntRxDup, linkproto.CntBadWord, linkproto.CntRxStray, linkproto.CntRestarts} {
		if n := p.Link.Counter(c); n > 0 {
			try.Failf("the peer counts %v %d times, on a line without a fault", c, n)
		}
	}
	return aborts
}
