package scenarios

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

func full(err error) bool { return errors.Is(err, flowctl.ErrFull) }

// forger makes the symbols of a peer that breaks the rules, and keeps account of the counters that must go up.
type forger struct {
	*siege
	*tally
	seq  uint8 // what the network interface expects next
	line []linkproto.Symbol
}

// frame appends a good frame with the expected sequence number.
func (g *forger) frame(payload []byte) {
	g.line = linkproto.AppendFrame(g.line, g.seq, payload)
	g.seq++
}

// delivered appends a good frame whose packet reaches the network interface.
func (g *forger) delivered(payload []byte) {
	g.frame(payload)
	g.want[linkproto.CntRxPackets]++
}

// harmless is a WRITE that would be carried out if its frame were accepted: to no effect if it is not.
func (g *forger) harmless() []byte {
	data := make([]byte, 1+g.rng.IntN(60))
	for i := range data {
		data[i] = byte(g.rng.Uint32())
	}
	return encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(g.rng.IntN(g.Params.PageBytes - len(data))), Data: data})
}

// words appends link state words as they are, damaged or not.
func (g *forger) word(w linkproto.Word, damage func([]linkproto.Symbol)) {
	s := w.Symbols()
	if damage != nil {
		damage(s[:])
	}
	g.line = append(g.line, s[:]...)
}

// attacks are the ways to break the rules. Each appends symbols that begin and end outside frames and words.
var attacks = []struct {
	name string
	make func(*forger)
}{
	{"a legal write", func(g *forger) { g.delivered(g.write(1)) }},
	{"damaged frame", func(g *forger) {
		f := linkproto.AppendFrame(nil, g.seq, g.harmless())
		for range 1 + g.rng.IntN(3) {
			f[1+g.rng.IntN(len(f)-2)] ^= linkproto.Symbol(1 << g.rng.IntN(8))
		}
		f[1] ^= linkproto.Symbol(1 + g.rng.IntN(255)) // so that they never cancel out
		g.line = append(g.line, f...)
		g.want[linkproto.CntRxCRC]++
	}},
	{"frame cut short", func(g *forger) {
		f := linkproto.AppendFrame(nil, g.seq, g.harmless())
		g.line = append(append(g.line, f[:1+g.rng.IntN(len(f)-2)]...), linkproto.SymEOP)
		g.want[linkproto.CntRxCRC]++
	}},
	{"frame without a whole header", func(g *forger) {
		g.line = linkproto.AppendFrame(g.line, g.seq, make([]byte, g.rng.IntN(linkproto.MinPacket)))
		g.want[linkproto.CntRxCRC]++
	}},
	{"frame too long", func(g *forger) {
		more := 1 + g.rng.IntN(20)
		payload := make([]byte, g.Params.MaxPacket()+more)
		binary.LittleEndian.PutUint16(payload[1:], uint16(len(payload)-linkproto.HeaderBytes))
		g.line = linkproto.AppendFrame(g.line, g.seq, payload)
		g.want[linkproto.CntRxCRC]++
		g.want[linkproto.CntRxStray] += uint32(more) // all after the first symbol too many, EOP included
	}},
	{"unknown symbol in a frame", func(g *forger) {
		f := linkproto.AppendFrame(nil, g.seq, g.harmless())
		at := 1 + g.rng.IntN(len(f)-2)
		f[at] = linkproto.SymErr
		if g.rng.IntN(2) == 0 {
			f[at] = 0x1F7 // K23.7
		}
		g.line = append(g.line, f...)
		g.want[linkproto.CntRxCRC]++
		g.want[linkproto.CntRxStray] += uint32(len(f) - at - 1)
	}},
	{"frame within a frame", func(g *forger) {
		f := linkproto.AppendFrame(nil, g.seq, g.harmless())
		g.line = append(g.line, f[:1+g.rng.IntN(len(f)-1)]...)
		g.want[linkproto.CntRxCRC]++
		g.delivered(g.write(1))
	}},
	{"frame ahead of its turn", func(g *forger) {
		g.line = linkproto.AppendFrame(g.line, g.seq+uint8(1+g.rng.IntN(127)), g.harmless())
		g.want[linkproto.CntRxGap]++
	}},
	{"frame again", func(g *forger) {
		g.line = linkproto.AppendFrame(g.line, g.seq-uint8(1+g.rng.IntN(128)), g.harmless())
		g.want[linkproto.CntRxDup]++
	}},
	{"data outside a frame", func(g *forger) {
		for range 1 + g.rng.IntN(30) {
			s := linkproto.Symbol(g.rng.IntN(256))
			if g.rng.IntN(8) == 0 {
				s = linkproto.SymEOP
			}
			g.line = append(g.line, s)
			g.want[linkproto.CntRxStray]++
		}
	}},
	{"word with a wrong check", func(g *forger) {
		g.word(g.report(), func(s []linkproto.Symbol) { s[1+g.rng.IntN(5)] ^= linkproto.Symbol(1 << g.rng.IntN(8)) })
		g.want[linkproto.CntBadWord]++
	}},
	{"word of a reserved kind", func(g *forger) {
		w := g.report()
		w.Kind = 3
		g.word(w, nil)
		g.want[linkproto.CntBadWord]++
	}},
	{"word that is cut", func(g *forger) {
		g.word(g.report(), nil)
		g.line = g.line[:len(g.line)-1-g.rng.IntN(5)]
		g.want[linkproto.CntBadWord]++
		if g.rng.IntN(2) == 0 {
			g.word(g.report(), nil) // the next word is good
		} else {
			g.delivered(g.write(1)) // and so is a frame
		}
	}},
	{"word for an older epoch", func(g *forger) {
		w := g.report()
		w.Echo += uint8(1 + g.rng.IntN(255))
		g.word(w, nil)
		g.want[linkproto.CntBadWord]++
	}},
	{"acknowledgement of what was never sent", func(g *forger) {
		w := g.report()
		w.Value += uint8(1 + g.rng.IntN(255))
		g.word(w, nil)
		g.want[linkproto.CntBadWord]++
	}},
	{"INIT without an epoch", func(g *forger) {
		g.word(linkproto.Word{Kind: linkproto.KindInit, Echo: g.report().Echo}, nil)
		g.want[linkproto.CntBadWord]++
	}},
	{"word inside a frame", func(g *forger) {
		at := len(g.line)
		g.delivered(g.write(1))
		at += 1 + g.rng.IntN(len(g.line)-at)
		rest := append([]linkproto.Symbol(nil), g.line[at:]...)
		g.line = g.line[:at]
		g.word(g.report(), nil)
		g.line = append(g.line, rest...)
	}},
	{"packet of a wrong type", func(g *forger) {
		types := []linkproto.Type{0, linkproto.TypeMessage, linkproto.TypeBufWrite, linkproto.TypeRegWrite, linkproto.TypeResume, linkproto.TypeSpace, linkproto.TypeTrap, 0x1F}
		raw := g.harmless()
		raw[0] = byte(types[g.rng.IntN(len(types))])
		g.delivered(raw)
		g.want[linkproto.CntBadPacket]++
	}},
	{"packet with via", func(g *forger) {
		raw := g.harmless()
		raw[0] |= byte(1+g.rng.IntN(7)) << linkproto.TypeBits
		g.delivered(raw)
		g.want[linkproto.CntBadPacket]++
	}},
	{"write without a whole address", func(g *forger) {
		n := g.rng.IntN(4)
		g.delivered(append([]byte{byte(linkproto.TypeWrite), byte(n), 0}, make([]byte, n)...))
		g.want[linkproto.CntBadPacket]++
	}},
	{"packet with a wrong length", func(g *forger) {
		raw := g.harmless()
		raw[1+g.rng.IntN(2)] ^= byte(1 << g.rng.IntN(8))
		g.frame(raw) // taken in sequence, not delivered
		g.want[linkproto.CntBadPacket]++
	}},
	{"write across a page's end", func(g *forger) {
		page := g.Params.PageBytes
		n := 2 + g.rng.IntN(60)
		addr := g.rng.IntN(g.Params.Frames)*page + page - 1 - g.rng.IntN(n-1)
		g.delivered(encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: make([]byte, n)}))
		g.want[linkproto.CntDenied]++
	}},
	{"write to a frame of nobody", func(g *forger) {
		addr := uint32(g.Params.BufferBytes() - 1 - g.rng.IntN(g.Params.PageBytes))
		g.delivered(encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: make([]byte, g.rng.IntN(2))}))
		g.want[linkproto.CntDenied]++
	}},
	{"write outside the buffer", func(g *forger) {
		low := uint32(g.rng.IntN(g.Params.PageBytes - 4)) // with the upper bits cut off it would be legal
		for _, addr := range []uint32{uint32(g.Params.BufferBytes() + g.rng.IntN(5)), low | 1<<(12+g.rng.IntN(14)), low | 1<<(26+g.rng.IntN(6))} {
			g.delivered(encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: []byte{byte(g.rng.Uint32()), 0x5A, 0xA5}}))
			g.want[linkproto.CntDenied]++
		}
	}},
}

// report is the word that the peer would say.
func (g *forger) report() linkproto.Word {
	link := g.peer(1).Link
	return linkproto.Word{Kind: linkproto.KindAck, Value: uint8(link.Counter(linkproto.CntRxPackets)), Echo: link.Status().PeerEpoch}
}

func hostilePeer(s *siege) error {
	var count numbered
	for range 3 {
		x := s.intrude(s.peer(1))
		g := &forger{siege: s, seq: uint8(s.peer(1).Link.Counter(linkproto.CntTxPackets))}
		names := ""
		// Every attack once, in random order, in a few bursts.
		var err error
		if g.tally, err = s.quietTally(1); err != nil {
			return err
		}
		for i, at := range s.rng.Perm(len(attacks)) {
			attacks[at].make(g)
			names += ", " + attacks[at].name
			if i%5 == 4 || i == len(attacks)-1 {
				if err := s.send(x, g.line); err != nil {
					return err
				}
				if err := g.check(); err != nil {
					return fmt.Errorf("after %s: %w", names[2:], err)
				}
				g.line, names = nil, ""
				if err := s.traffic.Check(); err != nil {
					return err
				}
			}
		}

		// A peer that started again and by chance has the same epoch.
		g.word(linkproto.Word{Kind: linkproto.KindInit, Value: s.peer(1).Link.Status().Epoch}, nil)
		if err := s.send(x, g.line); err != nil {
			return err
		}
		g.line = nil
		g.want[linkproto.CntRestarts]++
		if err := errors.Join(s.waitUp(1), g.check(linkproto.CntRestarts, linkproto.CntLostPackets)); err != nil {
			return fmt.Errorf("INIT with a known epoch: %w", err)
		}

		// Words of restarted peers, in a row: the link starts again once, and comes up when they are over. None names the epoch that
		// the endpoint takes next: that one could not tell itself from the forgery.
		epoch := s.peer(1).Link.Status().Epoch
		for range 40 {
			forged := epoch + uint8(50+s.rng.IntN(150))
			g.word(linkproto.Word{Kind: linkproto.KindInit, Value: max(forged, 1)}, nil)
		}
		if err := s.send(x, g.line); err != nil {
			return err
		}
		g.want[linkproto.CntRestarts]++
		if err := errors.Join(s.waitUp(1), g.check(linkproto.CntRestarts, linkproto.CntLostPackets)); err != nil {
			return fmt.Errorf("INIT storm: %w", err)
		}

		if err := s.send(x, garbage(s.rng, 5000)); err != nil {
			return err
		}
		if err := s.restartPeer(1); err != nil {
			return err
		}
		if err := errors.Join(s.waitUp(1), s.traffic.Check()); err != nil {
			return err
		}
		if err := s.fromPeer(1, 20); err != nil {
			return err
		}
		if err := errors.Join(s.traffic.Check(), count.toPeer(s, 1, 20)); err != nil {
			return err
		}
	}
	return nil
}

// quietTally waits for the link to be quiet before it reads the counters.
func (s *siege) quietTally(link int) (*tally, error) {
	if err := s.Run(2000); err != nil {
		return nil, err
	}
	return s.tally(link)
}

// sayGo is a cable on which a STOP never arrives: it rewrites the link state words.
func sayGo() func([]linkproto.Symbol) []linkproto.Symbol {
	var word []linkproto.Symbol // of which the rest has not come yet
	var out []linkproto.Symbol
	return func(line []linkproto.Symbol) []linkproto.Symbol {
		out = out[:0]
		for _, sym := range line {
			switch {
			case sym == linkproto.SymLSW:
				word = append(word[:0], sym)
				continue
			case len(word) == 0:
				out = append(out, sym)
				continue
			}
			word = append(word, sym)
			if len(word) < linkproto.WordSymbols {
				continue
			}
			var b [linkproto.WordSymbols - 1]byte
			for i := range b {
				b[i] = byte(word[1+i])
			}
			if w, reason := linkproto.DecodeWord(b); reason == linkproto.ReasonNone {
				w.Stop = false
				word = linkproto.AppendWord(word[:0], w)
			}
			out = append(out, word...)
			word = word[:0]
		}
		return out
	}
}

func hostileFlood(s *siege) error {
	page := s.Params.PageBytes
	var ports []*ni.Port
	for l := 1; l <= s.Params.Links; l++ {
		s.peer(l).Swallow = sayGo()
		ports = append(ports, s.peer(l))
	}
	const each = 60
	sent := make([]int, len(ports))
	slowest, asked := uint64(0), s.Cycles
	err := s.Until(2_000_000, "the floods to be acknowledged", func() bool {
		quiet := true
		for i, p := range ports {
			for sent[i] < each {
				// Whole pages: seven links bring more words than the write port takes.
				frame := i + s.Params.Links*(sent[i]%2)
				data := make([]byte, page)
				for k := range data {
					data[k] = byte(s.rng.Uint32())
				}
				if full(p.Link.Send(encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * page), Data: data}))) {
					break
				}
				copy(s.node.Image[frame*page:], data)
				sent[i]++
				s.run.Stats.Packets++
				s.run.Stats.Bytes += uint64(page)
			}
			quiet = quiet && sent[i] == each && p.Link.Queued() == 0
		}
		asked = s.Cycles
		if _, err := s.ReadRegister(0, linkproto.RegMagic); err != nil {
			return true
		}
		slowest = max(slowest, s.Cycles-asked)
		return quiet
	})
	if err != nil {
		return err
	}
	if slowest > 2000 {
		return fmt.Errorf("during the flood a register read took %d clocks", slowest)
	}
	if err := s.Run(4 * s.Params.RxBytes); err != nil {
		return err
	}
	overruns, stops := uint32(0), uint32(0)
	for l := range ports {
		c, err := s.Counters(0, l+1)
		if err != nil {
			return err
		}
		overruns, stops = overruns+c[linkproto.CntRxOverrun], stops+c[linkproto.CntStops]
		if c[linkproto.CntRxPackets] != each || c[linkproto.CntDenied]+c[linkproto.CntBadPacket] != 0 {
			return fmt.Errorf("link %d: %d packets, %d denied, %d bad, want %d, 0, 0", l+1, c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntBadPacket], each)
		}
	}
	if overruns == 0 || stops == 0 {
		return fmt.Errorf("the flood did nothing: %d overruns, %d stops", overruns, stops)
	}
	s.run.Log("%d overruns, %d stops, register reads within %d clocks", overruns, stops, slowest)
	return nil
}
