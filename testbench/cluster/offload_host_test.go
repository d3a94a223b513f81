package cluster_test

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// offload is two network interfaces that carry out virtual links, of which each host keeps what it is told.
type offload struct {
	*cluster.Cluster
	t    *testing.T
	ways []*way
	told map[*cluster.NI][]linkproto.Packet // of its virtual link: what is inside; and DONEs
}

func openOffload(t *testing.T, rung string, width int) *offload {
	t.Helper()
	top := check.Must(topology.Generate("star", []int{2}, 1))(t)
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Rung: rung, Seed: testbench.TestSeed(t), Virtual: 3, Params: rtl.Params{Width: width}}))(t)
	t.Cleanup(func() { check.Error(t, c.Close()) })
	o := &offload{Cluster: c, t: t, ways: mesh(t, c), told: map[*cluster.NI][]linkproto.Packet{}}
	for _, i := range c.NIs {
		keep := i.Received
		i.Received = func(p linkproto.Packet) {
			keep(p)
			var q linkproto.Packet
			switch {
			case p.Type == linkproto.TypeDone:
				o.told[i] = append(o.told[i], p)
			case p.Type == linkproto.TypeVirtual:
				check.Fatal(t, q.Decode(p.Data))
				q.Data = append([]byte(nil), q.Data...)
				o.told[i] = append(o.told[i], q)
			}
		}
	}
	o.run(20_000)
	clear(o.told)
	return o
}

func (o *offload) run(clocks int) {
	o.t.Helper()
	check.Fatal(o.t, o.Run(clocks))
}

// send has a host send a packet by its virtual link.
func (o *offload) send(w *way, p linkproto.Packet) {
	o.t.Helper()
	raw := check.Must(p.Append(nil))(o.t)
	check.Fatal(o.t, o.Until(10_000, "room", func() bool { return w.virtual(o.t, raw) }))
}

// next is what a host is told next of a type.
func (o *offload) next(i *cluster.NI, of linkproto.Type) (p linkproto.Packet) {
	o.t.Helper()
	check.Fatal(o.t, o.Until(100_000, of.String(), func() bool {
		for len(o.told[i]) > 0 {
			p, o.told[i] = o.told[i][0], o.told[i][1:]
			if p.Type == of {
				return true
			}
		}
		return false
	}))
	return p
}

func offloads(t *testing.T, run func(o *offload, out, back *way)) {
	one := func(rung string, width int) func(*testing.T) {
		return func(t *testing.T) {
			o := openOffload(t, rung, width)
			run(o, o.ways[0], o.ways[1])
		}
	}
	t.Run(cluster.Model, one(cluster.Model, 1))
	moduletest.EachWidth(t, func(t *testing.T, width int) { one(cluster.RTL, width)(t) })
}

// TestOffloadRefuses: what a host must not send is refused as the protocol says.
func TestOffloadRefuses(t *testing.T) {
	offloads(t, func(o *offload, out, _ *way) {
		write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 10)}).Append(nil))(o.t)
		long := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, out.from.Params.PageBytes+2)}).Append(nil))(o.t)
		for _, c := range []struct {
			what string
			vl   int
			data []byte
			want linkproto.Status
		}{
			{"nothing", out.vl, nil, linkproto.StatusBadLength},
			{"a RETRAP", out.vl, []byte{byte(linkproto.TypeRetrap), 1, 0, 5}, linkproto.StatusBadType},
			{"a byte of a RETRAP", out.vl, []byte{byte(linkproto.TypeRetrap)}, linkproto.StatusBadType},
			{"a byte of a WRITE", out.vl, write[:1], linkproto.StatusBadLength},
			{"a WRITE cut off", out.vl, write[:5], linkproto.StatusBadLength},
			{"a long WRITE", out.vl, long, linkproto.StatusBadLength},
			{"a long RESUME", out.vl, []byte{byte(linkproto.TypeResume), 2, 0, 5, 5}, linkproto.StatusBadLength},
			{"a WRITE with via", out.vl, append([]byte{write[0] | 1<<linkproto.TypeBits}, write[1:]...), linkproto.StatusBadLink},
			{"a number too high", 8, write, linkproto.StatusBadLink},
			{"a WRITE for a link that is closed", 7, write, linkproto.StatusNoSpace},
		} {
			o.told[out.from] = nil
			w := *out
			w.vl = c.vl
			check.Fatal(o.t, o.Until(10_000, "room", func() bool { return w.virtual(o.t, c.data) }))
			p := o.next(out.from, linkproto.TypeDone)
			if p.Status != c.want || p.Tag != linkproto.TagNone || p.Via != 0 {
				o.t.Errorf("%s is answered %v, tag %d via %d, want %v", c.what, p.Status, p.Tag, p.Via, c.want)
			}
		}
		check.Equal(o.t, "bad packets of the host", read(o.t, o.Cluster, out.from, linkproto.CounterReg(0, linkproto.CntBadPacket)), 9)
		o.send(out, linkproto.Packet{Type: linkproto.TypeResume, Tag: 7})
		if p := o.next(out.from, linkproto.TypeDone); p.Status != linkproto.StatusNotTrapped || p.Tag != 7 {
			o.t.Errorf("RESUME is answered %v, tag %d", p.Status, p.Tag)
		}
	})
}

// TestOffloadMessages: a host gets a window of MESSAGEs, and more as it frees them; what is malformed is dropped and counted.
func TestOffloadMessages(t *testing.T) {
	offloads(t, func(o *offload, out, back *way) {
		window := int(read(o.t, o.Cluster, out.to, linkproto.RegVLWindow))
		message := func(n int) {
			o.send(out, linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(n), Rest: 3, Data: []byte{1, 2, byte(n)}})
		}
		for n := range window + 1 {
			message(n)
			o.run(4000)
			if n < window {
				p := o.next(out.to, linkproto.TypeMessage)
				check.Equal(o.t, "message", int(p.MsgTag), n)
				check.Equal(o.t, "its data", p.Data, []byte{1, 2, byte(n)})
			}
		}
		o.run(20_000)
		check.Equal(o.t, "told beyond the window", len(o.told[out.to]), 0)
		check.Equal(o.t, "PEER_STOP", linkproto.StatusPeerStop.Of(read(o.t, o.Cluster, out.from, linkproto.VLRegStatus.Reg(out.vl))), 1)
		check.Equal(o.t, "OWN_STOP and not TRAPPED", read(o.t, o.Cluster, out.to, linkproto.VLRegStatus.Reg(back.vl))&0xC, linkproto.StatusOwnStop.In(1))
		o.send(back, linkproto.Packet{Type: linkproto.TypeSpace, Packets: 1})
		check.Equal(o.t, "message behind the window", int(o.next(out.to, linkproto.TypeMessage).MsgTag), window)

		before := read(o.t, o.Cluster, out.to, linkproto.CounterReg(1, linkproto.CntBadPacket))
		o.send(back, linkproto.Packet{Type: linkproto.TypeSpace, Packets: uint8(window + 1)})
		o.send(out, linkproto.Packet{Type: linkproto.TypePage, Frame: 60000, Port: 1})
		raw := []byte{byte(linkproto.TypeMessage), 2, 0, 1, 2}
		check.Fatal(o.t, o.Until(10_000, "room", func() bool { return out.virtual(o.t, raw) }))
		message(99)
		check.Equal(o.t, "message behind malformed packets", int(o.next(out.to, linkproto.TypeMessage).MsgTag), 99)
		check.Equal(o.t, "bad packets", read(o.t, o.Cluster, out.to, linkproto.CounterReg(1, linkproto.CntBadPacket))-before, 2)
		check.Equal(o.t, "EXPECT", int(read(o.t, o.Cluster, out.to, linkproto.VLRegExpect.Reg(back.vl))), window+4)
	})
}

// TestOffloadCloses: a host is told that its virtual link is closed, and what it has freed since reset.
func TestOffloadCloses(t *testing.T) {
	offloads(t, func(o *offload, out, back *way) {
		status := linkproto.VLRegStatus.Reg(out.vl)
		set(o.t, o.Cluster, out.to, linkproto.VLRegStatus.Reg(back.vl), 0)
		o.run(1000)
		for range 3 {
			o.send(out, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1, Data: []byte{5}})
		}
		o.run(1000)
		for range 2 {
			o.told[out.from] = nil
			set(o.t, o.Cluster, out.from, status, 0)
			p := o.next(out.from, linkproto.TypeSpace)
			check.Equal(o.t, "packets freed", p.Packets, 3)
			check.Equal(o.t, "status", p.Bytes, 0)
		}
		check.Equal(o.t, "STATUS", read(o.t, o.Cluster, out.from, status), linkproto.StatusFreed.In(3))
		set(o.t, o.Cluster, out.from, status, linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
		set(o.t, o.Cluster, out.to, linkproto.VLRegStatus.Reg(back.vl), linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
		o.send(out, linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 4})
		check.Equal(o.t, "message of the next life", int(o.next(out.to, linkproto.TypeMessage).MsgTag), 4)
		check.Fatal(o.t, o.Until(100_000, "its acknowledgement", func() bool {
			return len(o.told[out.from]) > 0 && o.told[out.from][len(o.told[out.from])-1].Packets == 4
		}))
	})
}

// TestOffloadTooMuch: virtual links that RTL cannot carry out are refused, and those that hosts carry out are not.
func TestOffloadTooMuch(t *testing.T) {
	const cannot = "node n0 is to carry out"
	for _, c := range []struct {
		rung    string
		virtual int
		hosts   []string
		want    string
	}{
		{cluster.RTL, 11, nil, cannot},
		{cluster.Model, 11, nil, ""},
		{cluster.RTL, 11, []string{"n0", "n1"}, ""},
	} {
		n, err := cluster.Open(t.Context(), cluster.Config{
			Topology: check.Must(topology.Generate("star", []int{2}, 1))(t), Rung: c.rung, Virtual: c.virtual, InSoftware: c.hosts,
		})
		if err == nil {
			check.Error(t, n.Close())
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s with 2^%d virtual links: %v, want %q", c.rung, c.virtual, err, c.want)
		}
	}
}
