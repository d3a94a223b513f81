package cluster_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/ni"
)

// way is a virtual link from one network interface to another, both of which carry it out, as the host at its beginning knows it.
type way struct {
	from, to    *cluster.NI
	vl          int      // its number at from; at to it has that of from
	packets     [][]byte // to send
	sent, freed int
	traps       int // of what comes from to
}

// mesh opens virtual links between all network interfaces of a cluster. The hosts agree without INIT, since the test is both.
func mesh(t *testing.T, c *cluster.Cluster) (ways []*way) {
	t.Helper()
	life := func(at, of int) linkproto.Life { return linkproto.Life(1 + 100*at + of) }
	for i, from := range c.NIs {
		own := map[uint16]*way{}
		for j, to := range c.NIs {
			if i == j {
				continue
			}
			w := &way{from: from, to: to, vl: 1 + j}
			ways, own[uint16(w.vl)] = append(ways, w), w
			for r, value := range []uint32{uint32(id(c, to)), uint32(1 + i), uint32(linkproto.KeyOf(life(j, i), life(i, j)))} {
				set(t, c, from, linkproto.VLReg(r).Reg(w.vl), value)
			}
			set(t, c, from, linkproto.VLRegStatus.Reg(w.vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
			set(t, c, from, linkproto.FrameReg(j), linkproto.FrameValid.In(1)|linkproto.FrameVL.In(uint32(w.vl)))
		}
		from.Received = func(p linkproto.Packet) {
			var q linkproto.Packet
			if w := own[p.VL]; p.Type == linkproto.TypeVirtual && q.Decode(p.Data) == nil {
				switch q.Type {
				case linkproto.TypeSpace:
					w.freed += int(q.Packets - uint8(w.freed))
				case linkproto.TypePage:
					w.traps++
				}
			}
		}
	}
	return ways
}

func set(t *testing.T, c *cluster.Cluster, i *cluster.NI, r linkproto.Reg, value uint32) {
	t.Helper()
	a := check.Must(c.Ask(i, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: value}))(t)
	check.Equal(t, "write of "+r.String(), a.Status, linkproto.StatusOK)
}

// virtual sends a packet of the host's for a virtual link.
func (w *way) virtual(t *testing.T, packet []byte) bool {
	t.Helper()
	err := w.from.SendRaw(check.Must((&linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(w.vl), Data: packet}).Append(nil))(t))
	if errors.Is(err, ni.ErrBusy) {
		return false
	}
	check.Fatal(t, err)
	return true
}

// TestAllTrapped has all nodes of a ring page into each other at once, and write until nothing more has room, while no host serves its traps. Other packets pass
// everywhere meanwhile, since what a virtual link does not take is not kept waiting; and when the hosts serve their traps, all arrives.
func TestAllTrapped(t *testing.T) {
	t.Run(cluster.Model, func(t *testing.T) { allTrapped(t, cluster.Model, 1) })
	t.Run(cluster.RTL, func(t *testing.T) { allTrapped(t, cluster.RTL, 8) })
}

func allTrapped(t *testing.T, rung string, width int) {
	seed := testbench.TestSeed(t)
	top := check.Must(topology.Generate("ring", []int{4}, 1))(t)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: seed, Virtual: 3, Params: rtl.Params{Width: width}}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	ways, page := mesh(t, c), c.NIs[0].Params.PageBytes
	rng := testbench.NewRand(seed)
	slots, window := int(read(t, c, c.NIs[0], linkproto.RegVLSlots)), int(read(t, c, c.NIs[0], linkproto.RegVLWindow))
	const writes = 60
	for _, w := range ways {
		frame := w.from.Node // of the addressee's buffer, its own there
		w.packets = [][]byte{check.Must((&linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: 1}).Append(nil))(t)}
		for range writes {
			p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * page), Data: rng.Bytes(page / 2)}
			w.packets = append(w.packets, check.Must(p.Append(nil))(t))
		}
	}
	held := map[*cluster.NI]int{}
	pump := func() (left int) {
		clear(held)
		for _, w := range ways {
			held[w.from] += w.sent - w.freed
		}
		for _, w := range ways {
			for w.sent < len(w.packets) && w.sent-w.freed < window && held[w.from] < slots && w.virtual(t, w.packets[w.sent]) {
				w.sent++
				held[w.from]++
			}
			left += len(w.packets) - w.freed
		}
		return left
	}
	for range 2000 { // more than there is room for, and two times RETRY
		pump()
		check.Fatal(t, c.Run(64))
	}
	for _, w := range ways {
		if w.traps != 1 || w.sent-w.freed != window {
			t.Errorf("%d to %d: %d traps, %d packets underway, want 1 and a window of %d", w.from.Node, w.to.Node, w.traps, w.sent-w.freed, window)
		}
		check.Equal(t, "TRAPPED", linkproto.StatusTrapped.Of(read(t, c, w.from, linkproto.VLRegStatus.Reg(w.vl))), 1)
	}
	const other = 8 // frame
	for i, from := range c.NIs {
		to := c.NIs[(i+2)%len(c.NIs)]
		set(t, c, to, linkproto.FrameReg(other), linkproto.FrameValid.In(1)|linkproto.FrameLink.In(1))
		data := rng.Bytes(100)
		check.Fatal(t, c.Send(from, to, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(other * page), Data: data}))
		check.Fatal(t, c.Run(5000))
		a := check.Must(c.Ask(to, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(other * page), Count: 100}))(t)
		check.Equal(t, "a datagram meanwhile", a.Data, data)
	}
	resume := check.Must((&linkproto.Packet{Type: linkproto.TypeResume, Tag: 200}).Append(nil))(t)
	for _, w := range ways {
		check.Fatal(t, c.Until(10_000, "room", func() bool { return w.virtual(t, resume) }))
	}
	check.Fatal(t, c.Until(2_000_000, "all packets", func() bool { return pump() == 0 }))
	for _, w := range ways {
		back := linkproto.VLRegExpect.Reg(1 + w.from.Node)
		check.Equal(t, "packets taken", read(t, c, w.to, back), writes+1)
		a := check.Must(c.Ask(w.to, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(w.from.Node * page), Count: uint16(page / 2)}))(t)
		check.Equal(t, "what was written last", a.Data, w.packets[writes][linkproto.HeaderBytes+4:])
	}
	for _, i := range c.NIs {
		check.Equal(t, "writes denied", read(t, c, i, linkproto.CounterReg(1, linkproto.CntDenied)), 0)
		check.Equal(t, "packets that came too late", read(t, c, i, linkproto.RouterLate.Reg(0)), 0)
	}
}
