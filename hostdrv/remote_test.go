package hostdrv_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// network5 is an NI, node 7, in front of a network with one switch, node 5, which loses, repeats and mixes up what it is asked.
func network5(t *testing.T, lose func(p linkproto.Packet) bool) *fake {
	f := newFake(t, nil)
	f.link = check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxRoute(linkproto.MaxPageBytes), PeerPacket: linkproto.MaxPacket(linkproto.MaxPageBytes), Routes: true, Epoch: 9}))(t)
	f.regs[linkproto.RegFeatures], f.regs[linkproto.RegNodeID], f.regs[linkproto.RegNonce] = linkproto.FeatureRoutes.In(1), 7, 1
	var packets uint8
	var bytes uint16
	f.routed = func(f *fake, r linkproto.Route) {
		packets++
		bytes += uint16(len(r.Packet) + linkproto.RouteExtra)
		f.send(linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Packets: packets, Bytes: bytes})
		var p linkproto.Packet
		check.Error(t, p.Decode(r.Packet))
		if r.Dest != 5 || r.Src != 7 || r.State != linkproto.RouteDatagram || r.Hops != linkproto.MaxHops || r.Via != 1 {
			t.Errorf("sent: %v", &r)
		}
		if lose(p) {
			return
		}
		a := linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag}
		switch {
		case p.Reg == linkproto.RegMagic, p.Reg >= linkproto.RegBarrier:
			a.Status = linkproto.StatusBadAddress
		case p.Type == linkproto.TypeRegRead:
			a.Type, a.Reg, a.Value = linkproto.TypeRegData, p.Reg, uint32(p.Reg)+1000
		}
		f.damaged(t, 0) // of a virtual link
		other := a
		other.Tag += 100
		for _, from := range []struct {
			src uint16
			p   linkproto.Packet
		}{{6, linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: 6}}, {5, linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg + 1}}, {5, a}, {5, a}, {5, other}, {5, linkproto.Packet{Type: linkproto.TypeWrite}}} {
			route := linkproto.Route{Via: 1, Dest: 7, Src: from.src, State: linkproto.RouteDatagram, Packet: check.Must(from.p.Append(nil))(t)}
			f.raw(check.Must(route.Append(nil))(t))
		}
	}
	return f
}

// damaged sends a ROUTE with an answer and this state, whose CRC is not a datagram's.
func (f *fake) damaged(t *testing.T, state uint8) {
	answer := linkproto.Packet{Type: linkproto.TypeRegData}
	r := linkproto.Route{Via: 1, Dest: 7, Src: 5, State: state, Packet: check.Must(answer.Append(nil))(t)}
	raw := check.Must(r.Append(nil))(t)
	raw[len(raw)-1] ^= 1
	f.raw(raw)
}

// TestRemoteDamaged: an NI that gives its host a datagram with a wrong CRC is broken.
func TestRemoteDamaged(t *testing.T) {
	f := network5(t, nil)
	f.routed = func(f *fake, r linkproto.Route) { f.damaged(t, linkproto.RouteDatagram) }
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	check.Fails(t, "a damaged datagram", check.Err(n.ReadRemote(t.Context(), 1, 5, 77)), hostdrv.ErrProtocol, "CRC")
}

// TestRemote reads and writes registers of a switch, one after the other, and many together.
func TestRemote(t *testing.T) {
	seen := map[uint8]int{}
	f := network5(t, func(p linkproto.Packet) bool { // every request twice, the third time it is answered
		seen[p.Tag]++
		return p.Reg == linkproto.RegScratch && seen[p.Tag] < 3
	})
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	ctx := t.Context()
	check.Equal(t, "a register", check.Must(n.ReadRemote(ctx, 1, 5, 77))(t), 1077)
	check.Equal(t, "one that is lost", check.Must(n.ReadRemote(ctx, 1, 5, linkproto.RegScratch))(t), 1000+uint32(linkproto.RegScratch))
	check.Fatal(t, n.WriteRemote(ctx, 1, 5, 77, 1))
	var refused *hostdrv.RefusedError
	if err := n.WriteRemote(ctx, 1, 5, linkproto.RegMagic, 1); !errors.As(err, &refused) || refused.Status != linkproto.StatusBadAddress {
		t.Errorf("refused: %v", err)
	}
	values := make([]uint32, 15)
	var work sync.WaitGroup
	for i := range values {
		work.Go(func() {
			v, err := n.ReadRemote(ctx, 1, 5, linkproto.Reg(100+i))
			check.Error(t, err)
			values[i] = v
		})
	}
	work.Wait()
	for i, v := range values {
		check.Equal(t, "one of many", v, uint32(1100+i))
	}
	check.Fails(t, "another link", check.Err(n.ReadRemote(ctx, 3, 5, 77)), hostdrv.ErrRange)
}

// TestRemoteLate: an answer to a write that comes late, a second time, does not answer a read that has the write's tag by now.
func TestRemoteLate(t *testing.T) {
	var f *fake
	f = network5(t, func(p linkproto.Packet) bool {
		if p.Type == linkproto.TypeRegRead {
			late := linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag}
			r := linkproto.Route{Via: 1, Dest: 7, Src: 5, State: linkproto.RouteDatagram, Packet: check.Must(late.Append(nil))(t)}
			f.raw(check.Must(r.Append(nil))(t))
		}
		return false
	})
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	check.Equal(t, "a register", check.Must(n.ReadRemote(t.Context(), 1, 5, 77))(t), 1077)
}

// TestRemoteManyAtOnce: more requests to a node than there are tags wait for one.
func TestRemoteManyAtOnce(t *testing.T) {
	f := network5(t, nil)
	heard, seen := 0, map[uint8]int{}
	f.routed = func(f *fake, r linkproto.Route) { // every eighth time a request is answered: its last
		heard++
		f.send(linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Packets: uint8(heard), Bytes: uint16(heard * (len(r.Packet) + linkproto.RouteExtra))})
		var p linkproto.Packet
		check.Error(t, p.Decode(r.Packet))
		if seen[p.Tag]++; seen[p.Tag]%8 != 0 {
			return
		}
		a := linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: uint32(p.Reg) + 1000}
		route := linkproto.Route{Via: 1, Dest: 7, Src: 5, State: linkproto.RouteDatagram, Packet: check.Must(a.Append(nil))(t)}
		f.raw(check.Must(route.Append(nil))(t))
	}
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	var work sync.WaitGroup
	for i := range 400 {
		work.Go(func() {
			check.Equal(t, "one of many", check.Must(n.ReadRemote(t.Context(), 1, 5, linkproto.Reg(100+i)))(t), uint32(1100+i))
		})
	}
	work.Wait()
}

// TestRemoteSilent: a node that does not answer is given up, and so is one that a context ends for.
func TestRemoteSilent(t *testing.T) {
	var asked []linkproto.Reg
	f := network5(t, func(p linkproto.Packet) bool {
		asked = append(asked, p.Reg)
		return true
	})
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	check.Fails(t, "silence", check.Err(n.ReadRemote(t.Context(), 1, 5, 77)), hostdrv.ErrNoAnswer, "node 5", "8 requests")
	check.Equal(t, "requests", asked, slices.Repeat([]linkproto.Reg{77}, 8))
	limit, cancel := n.WithTimeout(t.Context(), 1e6) // 1 ms
	defer cancel()
	check.Fails(t, "a limit", check.Err(n.ReadRemote(limit, 1, 5, 77)), context.DeadlineExceeded)
}

// TestBarrierSwitch: a switch that carries out no barriers is named, and so is a network interface; one that answers nothing too.
func TestBarrierSwitch(t *testing.T) {
	f := network5(t, func(p linkproto.Packet) bool { return p.Reg == linkproto.BarrierRegMembers.Reg(7) })
	f.regs[linkproto.RegFeatures] |= linkproto.FeatureBarriers.In(1)
	f.regs[linkproto.BarrierRegMembers.Reg(0)] = linkproto.BarrierPorts.In(3) // what the group below writes
	n := check.Must(openFake(t.Context(), t, f, hostdrv.Options{}))(t)
	node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
	free := func(among uint32) error {
		_, _, err := node.FreeBarriers(t.Context(), among, []uint16{5})
		return err
	}
	check.Fails(t, "a switch without barriers", free(1), hostdrv.ErrNoBarriers, "switch 5")
	check.Fails(t, "a switch that does not answer", free(1<<7), hostdrv.ErrNoAnswer, "switch 5")
	g := hostdrv.BarrierGroup{Ports: 3, Switches: []hostdrv.BarrierSwitch{{Node: 5, Ports: 6}}, Make: true}
	check.Fails(t, "a group of it", check.Err(node.OpenBarrier(t.Context(), g)), hostdrv.ErrNoBarriers, "barrier group 0", "switch 5")
}
