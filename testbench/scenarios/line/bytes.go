package line

import (
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// uartTalk is a UART's line into a network interface, and what that must make of it.
type uartTalk struct {
	*harness.Harness
	port  *ni.Port
	index int
	bit   int // clocks
	back  linkproto.Unstuffer
	link  *linkEnd
}

// talk follows what the endpoint of a port sends, too.
func talk(s *harness.Harness, p *ni.Port, index, divisor int) *uartTalk {
	t := &uartTalk{Harness: s, port: p, index: index, bit: divisor, link: newLinkEnd(s, p)}
	p.Mangle = func(line []linkproto.Symbol) []linkproto.Symbol {
		t.bytes(linkproto.AppendStuffed(nil, line)...)
		return line
	}
	return t
}

// bytes and broken are what the network interface must receive.
func (t *uartTalk) bytes(all ...byte) {
	for _, symbol := range t.back.Append(nil, all) {
		t.link.take(symbol)
	}
}

func (t *uartTalk) broken() {
	t.back = linkproto.Unstuffer{}
	t.link.take(linkproto.SymErr)
}

// levels sends a byte with boundaries between its bits where at says, in clocks; noise may turn a level over.
func (t *uartTalk) levels(b byte, stop bool, at func(bit int) int, noise func(bit, clock int) bool) {
	for bit := range 10 {
		level := bit == 9 && stop || bit > 0 && bit < 9 && b>>(bit-1)&1 != 0
		for clock := range at(bit+1) - at(bit) {
			t.port.UART.Drive(level != noise(bit, clock), 1)
		}
	}
}

func (t *uartTalk) exact(bit int) int { return bit * t.bit }

func quiet(int, int) bool { return false }

// byte draws one that means something, or nothing.
func (t *uartTalk) byte() byte {
	switch t.Rand.IntN(6) {
	case 0:
		return linkproto.ESC
	case 1:
		return byte(testbench.Pick(t.Rand, linkproto.Symbols[:]...).Symbol)
	}
	return byte(t.Rand.IntN(256))
}

// act sends something that need not be a byte.
func (t *uartTalk) act() {
	u, b := t.port.UART, t.byte()
	switch t.Rand.IntN(8) {
	case 0: // one sample of each bit is wrong
		where := t.Rand.Perm(t.bit)
		t.levels(b, true, t.exact, func(bit, clock int) bool { return bit > 0 && bit < 9 && clock == where[bit%t.bit] })
		t.bytes(b)
	case 1: // no stop bit
		t.levels(b, false, t.exact, quiet)
		u.Drive(true, t.Rand.Between(1, 3)*t.bit)
		t.broken()
	case 2: // a break
		u.Drive(false, 10*t.bit+t.Rand.IntN(30*t.bit))
		u.Drive(true, t.Rand.Between(1, 3)*t.bit)
		t.broken()
	case 3: // too short for a start bit
		u.Drive(false, t.Rand.Between(1, t.bit/2-1))
		u.Drive(true, 2*t.bit)
	case 4: // the next start bit comes as soon as it may
		t.levels(b, true, func(bit int) int { return bit*t.bit - bit/10*t.Rand.IntN(t.bit/2) }, quiet)
		t.bytes(b)
	case 5: // as fast or as slow as it may be
		share := 0.033
		if t.bit == 4 {
			share = 0.02
		}
		period, phase := float64(t.bit)*(1+share*(2*t.Rand.Float64()-1)), t.Rand.Float64()
		t.levels(b, true, func(bit int) int { return int(float64(bit)*period + phase) }, quiet)
		t.bytes(b)
	default:
		for range t.Rand.Between(1, 6) {
			_, _ = u.Write([]byte{b}) // takes all
			t.bytes(b)
			b = t.byte()
		}
	}
}

// end sends a break, which ends whatever was begun, and waits until the line is empty.
func (t *uartTalk) end() {
	t.port.UART.Drive(false, 10*t.bit)
	t.port.UART.Drive(true, 3*t.bit)
	t.broken()
	try.OK(t.Until(10_000, "the line to carry what was queued", func() bool { return t.port.UART.Pending() == 0 }), t.Run(8))
}

// compare ends a count that again has begun.
func (t *uartTalk) compare(base *harness.Tally) {
	t.end()
	base.Want = t.link.counts
	try.OK(base.Check(linkproto.CntRxCRC, linkproto.CntBadWord, linkproto.CntRxStray, linkproto.CntRestarts, linkproto.CntLostPackets))
}

func (t *uartTalk) again() *harness.Tally {
	t.end()
	t.link.counts = [linkproto.NumCounters]uint32{}
	return t.Tally(t.index)
}

// cut resets the network interface in the middle of a byte, or behind an ESC, on each line. What comes then begins anew.
func cut(s *harness.Harness, talks []*uartTalk) {
	quantum := s.Config.Quantum
	for _, t := range talks {
		u := t.port.UART
		clocks := t.Rand.IntN(9 * t.bit) // of the byte
		if t.Rand.Bool() {
			_, _ = u.Write([]byte{linkproto.ESC})
			clocks = 0
		}
		u.Drive(true, 3*quantum-u.Pending()-clocks)
		if clocks > 0 {
			u.Drive(false, clocks)
		}
	}
	for range 3 {
		try.OK(s.Run(1)) // a quantum
	}
	for _, t := range talks {
		t.back = linkproto.Unstuffer{}
		t.link.deframer.Reset()
		t.link.counts = [linkproto.NumCounters]uint32{}
	}
	s.Node.Host.Forget()
	try.OK(s.Reset())
	for _, t := range talks {
		for range t.Rand.Between(1, 20) {
			b := byte(t.Rand.IntN(linkproto.ESC))
			_, _ = t.port.UART.Write([]byte{b})
			t.bytes(b)
		}
	}
	try.OK(s.Until(20_000, "the host port to come up", func() bool { return s.Node.Host.Link.Status().Up }), s.Run(200))
	for _, t := range talks {
		have := try.Get(s.ReadRegister(0, linkproto.CounterReg(t.index, linkproto.CntRxStray)))
		if want := t.link.counts[linkproto.CntRxStray]; have != want {
			try.Failf("since reset link %d counts %d symbols outside frames, want %d", t.index, have, want)
		}
	}
	s.Node.Host.Link.Lost()
	s.Peer(1).Link.Lost()
	try.OK(s.Identify(0))
	s.WaitUp(1)
	try.OK(s.Traffic.GrantFrames(0), s.FillBuffer(0, s.Node.Image))
	for _, t := range talks {
		t.link.key(t.port)
	}
}

// spoken has the error injector of a link put symbols of every kind on its line, which carries what is none of the protocol's as ERR.
func spoken(s *harness.Harness, link int) {
	p := s.Peer(link)
	var got []linkproto.Symbol
	p.Swallow = func(line []linkproto.Symbol) []linkproto.Symbol {
		got = append(got, line...)
		return nil
	}
	symbols := []linkproto.Symbol{linkproto.ESC}
	for _, known := range linkproto.Symbols {
		symbols = append(symbols, known.Symbol)
	}
	for range 8 {
		symbols = append(symbols, linkproto.Symbol(s.Rand.IntN(256)), linkproto.SymbolK|linkproto.Symbol(s.Rand.IntN(256)))
	}
	try.OK(s.WriteRegister(0, linkproto.InjectControl.Reg(link), linkproto.InjectCut.In(1)))
	for _, symbol := range symbols {
		try.OK(s.WriteRegister(0, linkproto.InjectOpen.Reg(link), uint32(symbol)), s.Run(8))
		got = got[:0]
		try.OK(s.Run(24))
		want := symbol
		if !symbol.IsData() && !slices.ContainsFunc(linkproto.Symbols[:], func(i linkproto.SymbolInfo) bool { return i.Symbol == symbol }) {
			want = linkproto.SymErr
		}
		if symbol == linkproto.SymIdle && len(got) > 0 || symbol != linkproto.SymIdle && (len(got) < 8 || slices.ContainsFunc(got, func(s linkproto.Symbol) bool { return s != want })) {
			try.Failf("with %v for each symbol, the line carries %v", symbol, got)
		}
	}
	try.OK(s.WriteRegister(0, linkproto.InjectControl.Reg(link), 0), s.Run(50))
	p.Swallow = nil
}

func lineBytes(s *harness.Harness) {
	talks := []*uartTalk{talk(s, s.Node.Host.Port, 0, s.Params.HostDivisor), talk(s, s.Peer(1), 1, s.Params.LinkDivisor)}
	var count harness.Numbered
	for round := range 6 {
		for _, t := range talks {
			try.Wrap(try.Run(func() {
				base := t.again()
				for t.port.UART.Pending() < 12_000 {
					t.act()
				}
				t.compare(base)
			}), "round %d, link %d", round, t.index)
		}
		if round%2 == 1 {
			try.Wrap(try.Run(func() { cut(s, talks) }), "round %d", round)
		}
		s.FromPeer(1, 5)
		count.ToPeer(s, 1, 5)
	}
	spoken(s, 1)
	s.FromPeer(1, 5)
	count.ToPeer(s, 1, 5)
	for _, t := range talks {
		if c := t.link; c.symbols < 500 {
			try.Failf("only %d symbols on link %d: the run tests too little", c.symbols, t.index)
		}
	}
}
