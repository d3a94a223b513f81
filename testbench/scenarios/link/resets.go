package link

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Resets is the scenario of a network interface that is reset.
var Resets = []suite.Scenario{
	{Name: "ni-reset", Doc: "the network interface is reset in the middle of traffic: the peer sees it, nothing is delivered twice, traffic passes again", Seeds: 2,
		Run: harness.WithPeers(rtl.Params{}, []int{1}, niReset)},
}

func niReset(s *harness.Harness) {
	peer, host := s.Peer(1), s.Node.Host
	var count harness.Numbered
	for range 4 {
		for range 1 + s.Rand.IntN(20) {
			count.Offer(s, 1, 3)
			try.OK(s.Run(s.Rand.IntN(400)))
			count.Take(peer)
			if err := peer.Link.Send(s.Write(1)); err != nil && !harness.Full(err) {
				try.OK(err)
			}
		}
		*s.Node.Rst = true
		host.Received = func(linkproto.Packet) {} // requests and answers are lost, and none is waited for
		host.Forget()
		try.OK(s.Run(64 + s.Rand.IntN(100)))
		*s.Node.Rst = false
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
		s.WaitUp(1)
		count.Take(peer)
		// The frame table is empty: nothing is written. Then all goes on as before.
		old := try.Get(s.ReadBuffer(0))
		peer.Link.Lost()
		s.FromPeer(1, 5)
		if now, err := s.ReadBuffer(0); err != nil || !bytes.Equal(old, now) {
			try.Failf("without a frame table the buffer changed, %v", err)
		}
		for frame := range s.Params.Frames {
			if v, err := s.ReadRegister(0, linkproto.FrameReg(frame)); err != nil || v != 0 {
				try.Failf("after reset frame %d reads %#x, %v", frame, v, err)
			}
		}
		try.OK(s.Traffic.GrantFrames(0), s.FillBuffer(0, s.Node.Image))
		s.FromPeer(1, 20)
		try.OK(s.Traffic.Check())
		count.ToPeer(s, 1, 20)
		c := try.Get(s.Counters(0, 1))
		if c[linkproto.CntRxPackets] != 25 || c[linkproto.CntDenied] != 5 || c[linkproto.CntTxPackets] != 20 {
			try.Failf("since reset %d packets came in, %d denied, %d went out; want 25, 5, 20", c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntTxPackets])
		}
	}
}
