package scenarios

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

func niReset(s *harness) {
	peer, host := s.peer(1), s.node.Host
	var count numbered
	for range 4 {
		for range 1 + s.rng.IntN(20) {
			count.offer(s, 1, 3)
			try.OK(s.Run(s.rng.IntN(400)))
			count.take(peer)
			if err := peer.Link.Send(s.write(1)); err != nil && !full(err) {
				try.OK(err)
			}
		}
		*s.node.Rst = true
		host.Received = func(linkproto.Packet) {} // requests and answers are lost, and none is waited for
		host.Forget()
		try.OK(s.Run(64 + s.rng.IntN(100)))
		*s.node.Rst = false
		try.OK(s.Until(20_000, "the host port to come up", func() bool { return host.Link.Status().Up && host.Link.Status().Epoch != 0 }))
		try.OK(s.Run(6000))
		host.Link.Lost()
		host.Received = nil
		host.Forget()
		// Nobody has said who this is: the link is down, and stays so.
		for _, r := range []linkproto.Reg{linkproto.RegNodeID, linkproto.RegNonce, linkproto.RegScratch} {
			if v := try.Get(s.ReadRegister(0, r)); v != 0 {
				try.Failf("after reset register %#x is %#x", r, v)
			}
		}
		try.OK(s.Run(6000))
		if v := try.Get(s.ReadRegister(0, linkproto.LinkStatusReg(1))); linkproto.StatusUp.Of(v) != 0 || peer.Link.Status().Up {
			try.Failf("without a nonce LINK_STATUS is %#x, and the peer has %+v", v, peer.Link.Status())
		}
		try.OK(s.Identify(0))
		s.waitUp(1)
		count.take(peer)
		// The frame table is empty: nothing is written. Then all goes on as before.
		old := try.Get(s.ReadBuffer(0))
		peer.Link.Lost()
		s.fromPeer(1, 5)
		if now, err := s.ReadBuffer(0); err != nil || !bytes.Equal(old, now) {
			try.Failf("without a frame table the buffer changed, %v", err)
		}
		for frame := range s.Params.Frames {
			if v, err := s.ReadRegister(0, linkproto.FrameReg(frame)); err != nil || v != 0 {
				try.Failf("after reset frame %d reads %#x, %v", frame, v, err)
			}
		}
		try.OK(s.traffic.GrantFrames(0), s.FillBuffer(0, s.node.Image))
		s.fromPeer(1, 20)
		try.OK(s.traffic.Check())
		count.toPeer(s, 1, 20)
		c := try.Get(s.Counters(0, 1))
		if c[linkproto.CntRxPackets] != 25 || c[linkproto.CntDenied] != 5 || c[linkproto.CntTxPackets] != 20 {
			try.Failf("since reset %d packets came in, %d denied, %d went out; want 25, 5, 20", c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntTxPackets])
		}
	}
}
