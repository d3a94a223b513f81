package suite

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// refusal is a malformed request and the answer it must get.
type refusal struct {
	raw  []byte
	want linkproto.Packet
}

// refusable draws a request that must be refused.
func (s *siege) refusable() refusal {
	tag := uint8(s.rng.IntN(256))
	page, size := s.Params.PageBytes, s.Params.BufferBytes()
	done := func(raw []byte, status linkproto.Status, tag uint8) refusal {
		return refusal{raw, linkproto.Packet{Type: linkproto.TypeDone, Status: status, Tag: tag}}
	}
	body := func(kind linkproto.Type, via, n int) []byte {
		raw := []byte{byte(via)<<linkproto.TypeBits | byte(kind), byte(n), byte(n >> 8)}
		for i := range n {
			if i == 0 {
				raw = append(raw, tag)
			} else {
				raw = append(raw, byte(s.rng.Uint32()))
			}
		}
		return raw
	}
	switch s.rng.IntN(9) {
	case 0: // a type that is none, or that only goes the other way
		kinds := []linkproto.Type{0, 0x15, 0x17, linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeTrap, linkproto.TypeSpace, 0x1E, 0x1F}
		return done(body(kinds[s.rng.IntN(len(kinds))], s.rng.IntN(8), s.rng.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 1: // a link's packet for no link
		return done(body(linkproto.TypeWrite, 0, s.rng.IntN(page)), linkproto.StatusBadType, linkproto.TagNone)
	case 2:
		via := s.Params.Links + 1 + s.rng.IntN(linkproto.MaxVia-s.Params.Links)
		return done(body(linkproto.Type(1+s.rng.IntN(3)), via, s.rng.IntN(page)), linkproto.StatusBadLink, linkproto.TagNone)
	case 3: // any other length than the type's
		kind := linkproto.Type(int(linkproto.TypeRegRead) + s.rng.IntN(5))
		n := s.rng.IntN(12)
		if info := kind.Info(); n >= info.MinLength() {
			n = info.MinLength() - 1
			if most, bounded := info.MaxLength(); bounded && s.rng.IntN(2) == 0 {
				n = most + 1 + s.rng.IntN(page)
			}
		}
		if n == 0 {
			tag = linkproto.TagNone
		}
		return done(body(kind, s.rng.IntN(2), n), linkproto.StatusBadLength, tag)
	case 4: // registers that do not exist or cannot be written
		if s.rng.IntN(2) == 0 {
			return done(encode(linkproto.Packet{Type: linkproto.TypeRegRead, Tag: tag, Reg: linkproto.FrameReg(s.Params.Frames)}), linkproto.StatusBadAddress, tag)
		}
		return done(encode(linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: tag, Reg: linkproto.CounterReg(1, 0)}), linkproto.StatusBadAddress, tag)
	case 5: // outside the buffer, or across a page's end
		n, addr := s.across()
		if s.rng.IntN(4) == 0 {
			n, addr = page+1+s.rng.IntN(0xFFFF-page), uint32(s.rng.IntN(size))
		}
		return done(encode(linkproto.Packet{Type: linkproto.TypeBufRead, Tag: tag, Addr: addr, Count: uint16(n)}), linkproto.StatusBadAddress, tag)
	case 6:
		n, addr := s.across()
		if s.rng.IntN(4) == 0 {
			addr = 1<<(12+s.rng.IntN(20)) | uint32(s.rng.IntN(2))
		}
		return done(encode(linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: tag, Addr: addr, Data: make([]byte, n)}), linkproto.StatusBadAddress, tag)
	case 7:
		return done(encode(linkproto.Packet{Type: linkproto.TypeResume, Via: 0, Tag: tag}), linkproto.StatusBadLink, tag)
	default:
		return done(encode(linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: tag}), linkproto.StatusNotTrapped, tag)
	}
}

// across is an access across a page's end, or the buffer's.
func (s *siege) across() (n int, addr uint32) {
	page := s.Params.PageBytes
	n = 2 + s.rng.IntN(page-1)
	return n, uint32((1+s.rng.IntN(s.Params.Frames))*page - 1 - s.rng.IntN(n-1))
}

func hostileHost(s *siege) error {
	host := s.node.Host
	var expect []linkproto.Packet
	var wrong error
	answers := 0
	host.Received = func(p linkproto.Packet) {
		switch {
		case wrong != nil:
		case len(expect) == 0:
			wrong = fmt.Errorf("answer %v, tag %d, status %v to nothing", p.Type, p.Tag, p.Status)
		case p.Type != expect[0].Type || p.Tag != expect[0].Tag || p.Status != expect[0].Status:
			wrong = fmt.Errorf("answer %d is %v, tag %d, status %v, want %v, %d, %v", answers, p.Type, p.Tag, p.Status, expect[0].Type, expect[0].Tag, expect[0].Status)
		default:
			expect = expect[1:]
			answers++
		}
	}
	before, err := s.quietTally(0)
	if err != nil {
		return err
	}
	x := s.intrude(host.Port)
	const packets = 800
	var next *refusal
	sent := 0
	err = s.Until(2_000_000, "all refusals", func() bool {
		for wrong == nil && sent < packets {
			if next == nil {
				r := s.refusable()
				next = &r
			}
			if err := host.SendRaw(next.raw); errors.Is(err, ni.ErrBusy) {
				break
			} else if err != nil {
				wrong = fmt.Errorf("% x: %w", next.raw, err)
				break
			}
			if s := next.want.Status; s == linkproto.StatusBadType || s == linkproto.StatusBadLength || s == linkproto.StatusBadLink {
				before.want[linkproto.CntBadPacket]++
			}
			expect = append(expect, next.want)
			sent, next = sent+1, nil
		}
		if len(x.insert) == 0 && s.rng.IntN(40) == 0 {
			x.insert = garbage(s.rng, 1+s.rng.IntN(60))
		}
		return wrong != nil || sent == packets && len(expect) == 0
	})
	s.run.Stats.Packets += uint64(answers)
	if err = errors.Join(wrong, err); err != nil {
		return err
	}
	host.Received, host.Mangle = nil, nil
	if err := s.Run(20_000); err != nil {
		return err
	}
	if err := before.check(linkproto.CntBadPacket, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntNoSpace); err != nil {
		return err
	}
	for range 4 { // and what is right is still carried out
		want := s.rng.Uint32()
		have, err := uint32(0), s.WriteRegister(0, linkproto.RegScratch, want)
		if err == nil {
			have, err = s.ReadRegister(0, linkproto.RegScratch)
		}
		if err != nil || have != want {
			return errors.Join(fmt.Errorf("SCRATCH holds %#x after %#x was written", have, want), err)
		}
	}
	return nil
}

// cut unplugs the cable to a peer.
func cut([]linkproto.Symbol) []linkproto.Symbol { return nil }

// giveUp cuts a link and waits until the network interface, with packets to send, has started it again.
func (s *siege) giveUp(link int, t *tally) error {
	t.want[linkproto.CntRestarts]++
	goal := t.base[linkproto.CntRestarts] + t.want[linkproto.CntRestarts]
	return s.Until(2*s.Params.Retry*s.Params.RetryLimit, "the link to be given up", func() bool {
		v, err := s.ReadRegister(0, linkproto.CounterReg(link, linkproto.CntRestarts))
		return err != nil || v == goal
	})
}

func hostFlood(s *siege) error {
	host, peer := s.node.Host, s.peer(1)
	t, err := s.quietTally(1)
	if err != nil {
		return err
	}
	var count numbered
	peer.Mangle, peer.Swallow = cut, cut
	if err := errors.Join(count.offer(s, 1, 1), s.giveUp(1, t)); err != nil {
		return err
	}
	t.want[linkproto.CntLostPackets]++
	count.got = count.next

	refused := 0
	var wrong error
	host.Received = func(p linkproto.Packet) {
		if p.Type != linkproto.TypeDone || p.Tag != linkproto.TagNone || p.Status != linkproto.StatusNoSpace {
			wrong = fmt.Errorf("answer %v, tag %d, status %v, want DONE, none, NO_SPACE", p.Type, p.Tag, p.Status)
		}
		refused++
	}
	accepted := 0
	for range 150 {
		if host.HasCredit(1) {
			was := count.next
			if err := count.offer(s, 1, 1); err != nil {
				return err
			}
			accepted += int(count.next - was)
		} else {
			raw := encode(linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Data: make([]byte, s.rng.IntN(s.Params.PageBytes+1))})
			switch err := host.SendRaw(raw); {
			case err == nil:
				t.want[linkproto.CntNoSpace]++
			case !errors.Is(err, ni.ErrBusy):
				return err
			}
		}
		if s.rng.IntN(4) == 0 {
			from := s.Cycles
			if _, err := s.ReadRegister(0, linkproto.RegMagic); err != nil {
				return err
			}
			if took := s.Cycles - from; took > uint64(20*s.Params.MaxPacket()) { // what the host has queued goes before
				return fmt.Errorf("with a dead link a register read took %d clocks", took)
			}
		}
	}
	err = s.Until(100_000, "the answers", func() bool { return wrong != nil || refused == int(t.want[linkproto.CntNoSpace]) })
	if err = errors.Join(wrong, err); err != nil {
		return err
	}
	host.Received = nil
	if err := t.check(linkproto.CntNoSpace, linkproto.CntRestarts, linkproto.CntLostPackets); err != nil {
		return err
	}
	if refused == 0 || accepted == 0 {
		return fmt.Errorf("%d refused, %d accepted", refused, accepted)
	}
	peer.Mangle, peer.Swallow = nil, nil
	if err := errors.Join(s.waitUp(1), count.drain(s, 1)); err != nil {
		return err
	}
	if count.have != accepted {
		return fmt.Errorf("%d packets arrived, %d were accepted", count.have, accepted)
	}
	return count.toPeer(s, 1, 20)
}

func hostRestart(s *siege) error {
	host := s.node.Host
	t, err := s.quietTally(0)
	if err != nil {
		return err
	}
	var count numbered
	epoch := host.Link.Status().Epoch
	for round := range 8 {
		// Requests whose answers do not depend on which of them are carried out, and writes to the peer.
		for range 10 + s.rng.IntN(20) {
			addr := s.rng.IntN(s.Params.BufferBytes())
			n := s.rng.IntN(s.Params.PageBytes - addr%s.Params.PageBytes + 1)
			ask := []linkproto.Packet{
				{Type: linkproto.TypeBufRead, Addr: uint32(addr), Count: uint16(n)},
				{Type: linkproto.TypeBufWrite, Addr: uint32(addr), Data: s.node.Image[addr : addr+n]},
				{Type: linkproto.TypeRegRead, Reg: linkproto.RegMagic},
			}[s.rng.IntN(3)]
			if err := host.Request(ask, func(linkproto.Packet) {}); err != nil && !errors.Is(err, ni.ErrBusy) {
				return err
			}
			writes := s.rng.IntN(2) * (round % 2) // without any, the new host still gets to know its credit
			if err := errors.Join(count.offer(s, 1, writes), s.Run(s.rng.IntN(300)), count.take(s.peer(1))); err != nil {
				return err
			}
		}
		for epoch++; epoch == linkproto.EpochNone; epoch++ {
		}
		host.Received = func(linkproto.Packet) {} // answers to the one before
		if err := host.Restart(epoch); err != nil {
			return err
		}
		t.want[linkproto.CntRestarts]++
		// What the old host has sent is carried out or lost; then all is empty.
		if err := errors.Join(s.Run(40_000), count.take(s.peer(1))); err != nil {
			return err
		}
		host.Received = nil
		if !host.Link.Status().Up {
			return fmt.Errorf("round %d: the host port is not up again", round)
		}
		if err := errors.Join(t.check(linkproto.CntRestarts), count.toPeer(s, 1, 5), s.traffic.Check()); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		if v, err := s.ReadRegister(0, linkproto.RegMagic); err != nil || v != linkproto.Magic {
			return fmt.Errorf("round %d: MAGIC reads %#x, %v", round, v, err)
		}
	}
	return nil
}

func peerSilent(s *siege) error {
	peer := s.peer(1)
	var count numbered
	for round := range 2 {
		if err := count.toPeer(s, 1, 10); err != nil {
			return err
		}
		t, err := s.quietTally(1)
		if err != nil {
			return err
		}
		// The cable is cut, or the peer hears and is not heard: then it has the packets that count as lost.
		peer.Mangle = cut
		hears := (s.run.Seed+uint64(round))%2 == 0
		if !hears {
			peer.Swallow = cut
		}
		before, had := count.next, count.have
		for i := 0; i < 6 && count.next-before < 8; i++ {
			if err := errors.Join(count.offer(s, 1, 1), s.Run(s.rng.IntN(1000))); err != nil {
				return err
			}
		}
		sent := count.next - before
		if err := s.giveUp(1, t); err != nil {
			return err
		}
		t.want[linkproto.CntLostPackets], t.want[linkproto.CntRetries] = sent, uint32(s.Params.RetryLimit)
		if err := t.check(linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntRetries, linkproto.CntTxPackets); err != nil {
			return err
		}
		if err := count.drain(s, 1); err != nil {
			return err
		}
		if have := count.have - had; hears && have != int(sent) || !hears && have != 0 {
			return fmt.Errorf("the peer has %d of %d packets", have, sent)
		}
		// It stays away for a while, comes back, and all is as before.
		if err := s.Run(s.rng.IntN(20_000)); err != nil {
			return err
		}
		peer.Mangle, peer.Swallow = nil, nil
		if round == 1 {
			if err := s.restartPeer(1); err != nil {
				return err
			}
		}
		if err := errors.Join(s.waitUp(1), count.toPeer(s, 1, 10), s.fromPeer(1, 10), s.traffic.Check()); err != nil {
			return err
		}
	}
	return nil
}

func peerRestart(s *siege) error {
	peer := s.peer(1)
	t, err := s.quietTally(1)
	if err != nil {
		return err
	}
	var count numbered
	const rounds = 12
	written, acknowledged := 0, 0
	for range rounds {
		if err := s.waitUp(1); err != nil {
			return err
		}
		for range 1 + s.rng.IntN(30) {
			if err := errors.Join(count.offer(s, 1, 1+s.rng.IntN(3)), s.Run(s.rng.IntN(300)), count.take(peer)); err != nil {
				return err
			}
			// What the peer had not been told of may be carried out or not, so that it writes what is there already.
			addr := s.rng.IntN(s.Params.PageBytes)
			data := s.node.Image[addr : addr+s.rng.IntN(s.Params.PageBytes-addr+1)]
			if err := peer.Link.Send(encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})); err == nil {
				written++
			} else if !full(err) {
				return err
			}
		}
		acknowledged += int(peer.Link.Counter(linkproto.CntTxPackets))
		if err := s.restartPeer(1); err != nil {
			return err
		}
		t.want[linkproto.CntRestarts]++
	}
	if err := errors.Join(s.waitUp(1), count.drain(s, 1), t.check(linkproto.CntRestarts), s.traffic.Check()); err != nil {
		return err
	}
	now, err := s.Counters(0, 1)
	if err != nil {
		return err
	}
	acked, lost, received := int(now[linkproto.CntTxPackets]), int(now[linkproto.CntLostPackets]), int(now[linkproto.CntRxPackets])
	if acked+lost != int(count.next) || count.have < acked || lost == 0 {
		return fmt.Errorf("of %d packets %d are acknowledged, %d lost, and %d arrived", count.next, acked, lost, count.have)
	}
	if received < acknowledged || received > written {
		return fmt.Errorf("the peers wrote %d times, %d were acknowledged, %d carried out", written, acknowledged, received)
	}
	return errors.Join(count.toPeer(s, 1, 20), s.fromPeer(1, 20))
}

func niReset(s *siege) error {
	peer, host := s.peer(1), s.node.Host
	var count numbered
	for range 4 {
		for range 1 + s.rng.IntN(20) {
			if err := errors.Join(count.offer(s, 1, 3), s.Run(s.rng.IntN(400)), count.take(peer)); err != nil {
				return err
			}
			if err := peer.Link.Send(s.write(1)); err != nil && !full(err) {
				return err
			}
		}
		*s.node.Rst = true
		host.Received = func(linkproto.Packet) {} // requests and answers are lost, and none is waited for
		host.Forget()
		if err := s.Run(64 + s.rng.IntN(100)); err != nil {
			return err
		}
		*s.node.Rst = false
		if err := s.Until(20_000, "the host port to come up", func() bool { return host.Link.Status().Up && host.Link.Status().Epoch != 0 }); err != nil {
			return err
		}
		if err := s.Run(6000); err != nil {
			return err
		}
		host.Link.Lost()
		host.Received = nil
		host.Forget()
		if err := errors.Join(s.waitUp(1), count.take(peer)); err != nil {
			return err
		}
		// The frame table is empty: nothing is written. Then all goes on as before.
		old, err := s.ReadBuffer(0)
		if err != nil {
			return err
		}
		peer.Link.Lost()
		if err := s.fromPeer(1, 5); err != nil {
			return err
		}
		if now, err := s.ReadBuffer(0); err != nil || !bytes.Equal(old, now) {
			return fmt.Errorf("without a frame table the buffer changed, %v", err)
		}
		for frame := range s.Params.Frames {
			if v, err := s.ReadRegister(0, linkproto.FrameReg(frame)); err != nil || v != 0 {
				return fmt.Errorf("after reset frame %d reads %#x, %v", frame, v, err)
			}
		}
		if err := errors.Join(s.traffic.GrantFrames(0), s.FillBuffer(0, s.node.Image), s.fromPeer(1, 20), s.traffic.Check(), count.toPeer(s, 1, 20)); err != nil {
			return err
		}
		c, err := s.Counters(0, 1)
		if err != nil {
			return err
		}
		if c[linkproto.CntRxPackets] != 25 || c[linkproto.CntDenied] != 5 || c[linkproto.CntTxPackets] != 20 {
			return fmt.Errorf("since reset %d packets came in, %d denied, %d went out; want 25, 5, 20", c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntTxPackets])
		}
	}
	return nil
}
