// Package lanes holds the scenario of a link of two lanes, each of which may fall silent, damage symbols, be late or lead elsewhere.
package lanes

import (
	"context"
	"encoding/binary"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/suite"
)

// link is a network interface with a link of two lanes to a peer in Go.
type link struct {
	*harness.Harness
	*loom
	sent, got uint32 // packets from the host to the peer
	first     uint32 // in this life of the link
	outs      []int  // by lane, how often it has been left out in this life of the link
	scores    []int  // at most, for what was damaged
	leaves    int    // times that either end has left out a lane: each makes trials longer
}

// Run has single lanes fall silent, damage what they carry, come late, and lead elsewhere.
func Run(ctx context.Context, r *suite.Run) error {
	c := ni.Config{Params: rtl.Params{Lanes: 2}, Nodes: 1, Seed: r.Seed, Peers: []ni.Socket{{Link: 1}}}
	return harness.OnFabric(ctx, r, c, func(f *ni.Fabric) {
		t := try.Get(ni.NewTraffic(f, r.Seed))
		x := &link{Harness: &harness.Harness{Fabric: f, Suite: r, Rand: testbench.NewRand(r.Seed).Split("lanes"), Traffic: t, Node: f.Nodes[0]}}
		port := f.Peers[ni.Socket{Link: 1}]
		x.loom = newLoom(port.End, &f.Cycles)
		port.Far = x.loom
		x.fresh()
		steps := []struct {
			name string
			do   func()
		}{
			{"strays", x.strays}, {"a silent lane", x.silent}, {"a lane that does not hear", x.deaf}, {"a damaging lane", x.damaging}, {"a foreign lane", x.misled},
			{"skew and drops", x.skewed}, {"no lane", x.cut}, {"another peer", x.moved}, {"a peer that starts again", x.restarted}, {"malformed packets", x.malformed},
		}
		for range 2 {
			for _, i := range x.Rand.Perm(len(steps)) {
				try.Wrap(try.Run(func() {
					steps[i].do()
					x.exchange(x.Rand.Between(1, 5))
				}), "%s", steps[i].name)
				if x.leaves > 1 {
					x.again()
				}
			}
		}
		x.neverHeard()
		try.OK(t.Check())
	})
}

// status is LINK_STATUS.
func (x *link) status() uint32 {
	return try.Get(x.ReadRegister(0, linkproto.LinkStatusReg(1)))
}

// open are the lanes over which the interface sends frames.
func (x *link) open() uint32 { return linkproto.StatusLanes.Of(x.status()) }

// until waits for a condition, no longer than the clocks.
func (x *link) until(clocks int, what string, done func() bool) {
	try.OK(x.Until(clocks, what, func() bool {
		try.OK(x.loom.err)
		return done()
	}))
}

// up waits for the link to be up with both lanes, and lets the host send again.
func (x *link) up() {
	x.until(100_000, "both lanes", func() bool {
		return x.open() == 3 && x.loom.Status().Up && x.loom.End.(*flowctl.Trunk).Lane(0).Open && x.loom.End.(*flowctl.Trunk).Lane(1).Open
	})
	try.Get(x.Admit(0, 1))
	for ok := true; ok; {
		_, ok = x.loom.Lost()
	}
}

// offer has both ends send packets, each with its number.
func (x *link) offer(n int) {
	for range n {
		if !x.Node.Host.Credit(1).HasRoom(x.Params.MaxPacket()) {
			return
		}
		data := binary.LittleEndian.AppendUint32(nil, x.sent)
		data = append(data, x.Rand.Bytes(x.Rand.Size(x.Params.PageBytes-4, x.Params.PageBytes))...)
		if x.Node.Host.Write(1, 0, data) == nil {
			x.sent++
		}
		if p := x.Write(1); x.loom.End.Send(p) != nil {
			try.Failf("the peer has no room")
		}
	}
}

// take has the peer take what has come.
func (x *link) take() {
	for raw, ok := x.loom.Receive(); ok; raw, ok = x.loom.Receive() {
		var p linkproto.Packet
		try.OK(p.Decode(raw))
		if number := binary.LittleEndian.Uint32(p.Data); number != x.got {
			try.Failf("packet %d has come, want %d", number, x.got)
		}
		x.got++
	}
}

// exchange sends packets both ways, all of which arrive. Nothing is missing then, or not behind another, if there was a doubt before.
func (x *link) exchange(n int) {
	x.pass(n)
	missing := func() bool { return linkproto.StatusMissing.Of(x.status()) != 0 }
	if n == 0 || !missing() {
		return
	}
	if x.pass(1); missing() {
		try.Failf("LINK_STATUS is %#x when all has come", x.status())
	}
}

func (x *link) pass(n int) {
	try.OK(x.Run(1000))
	x.offer(n)
	x.until(200_000, "the packets to arrive", func() bool {
		x.take()
		return x.got == x.sent && x.loom.Queued() == 0
	})
	try.OK(x.Traffic.Check(), x.Run(1000))
}
