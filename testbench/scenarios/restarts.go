package scenarios

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

func hostRestart(s *harness) error {
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
		// What the old host has sent by the link, nobody knows; the peer does not take it at once.
		s.peer(1).Swallow = cut
		if err := s.Run(s.rng.IntN(4000)); err != nil {
			return err
		}
		s.peer(1).Swallow = nil
		if err := errors.Join(s.Learn(0, 1), count.take(s.peer(1))); err != nil {
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

func peerSilent(s *harness) error {
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

func peerRestart(s *harness) error {
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
			if err := peer.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: data})); err == nil {
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
	refused := s.node.Host.Refused(1)
	if acked+lost+refused != int(count.next) || count.have < acked || lost == 0 {
		return fmt.Errorf("of %d packets %d are acknowledged, %d lost, %d refused, and %d arrived", count.next, acked, lost, refused, count.have)
	}
	if received < acknowledged || received > written {
		return fmt.Errorf("the peers wrote %d times, %d were acknowledged, %d carried out", written, acknowledged, received)
	}
	return errors.Join(count.toPeer(s, 1, 20), s.fromPeer(1, 20))
}

func niReset(s *harness) error {
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
