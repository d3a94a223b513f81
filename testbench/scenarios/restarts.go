package scenarios

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

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
