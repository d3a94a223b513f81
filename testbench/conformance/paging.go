package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var pagingCases = []Case{
	{"paging/pressure", "With sixteen times as many ports as frames, written at random, every page holds what was written to it, and no reader sees it go back.",
		remotePaging, "driver.md#a-page-fault-step-by-step", pressure},
	{"paging/out", "While a port's page is out of its frame, its reader sees it, without anything on the host's cable.",
		remotePaging, "driver.md#a-page-fault-step-by-step", pageOut},
	{"paging/tables", "Sender and receiver agree about which port has which frame, and no frame has two ports.",
		pageFrames, "driver.md#a-page-fault-step-by-step", pagingTables},
	{"paging/goes-on", "A sender that faults goes on at once: it does not wait for the receiver to change the page.",
		remotePaging, "driver.md#a-page-fault-step-by-step", goesOn},
}

// crowd is ports that share few frames.
type crowd struct {
	*node
	ports []channel
	pages [][]byte // what they must show
	seen  []uint32 // the count at the beginning of each that a reader has seen
}

// crowd makes so many ports a frame, as far as there is time.
func (b *bench) crowd(ctx context.Context, frames, perFrame int) *crowd {
	n := b.node(ctx, frames)
	c := &crowd{node: n}
	c.ports = n.connectMany(ctx, max(2*n.frames, min(perFrame*n.frames, b.symbols()/8/b.id.PageBytes)))
	for range c.ports {
		c.pages = append(c.pages, make([]byte, b.id.PageBytes))
	}
	c.seen = make([]uint32, len(c.ports))
	return c
}

// write counts the first word of a port up, and writes something else to its page.
func (c *crowd) write(ctx context.Context, i int) error {
	b, page := c.bench, c.pages[i]
	binary.LittleEndian.PutUint32(page, binary.LittleEndian.Uint32(page)+1)
	off := 4 + b.rng.IntN(len(page)-4)
	data := b.noise(1 + b.rng.IntN(min(len(page)-off, 64)))
	copy(page[off:], data)
	return errors.Join(c.ports[i].send.WritePage(ctx, data, off), c.ports[i].send.WritePage(ctx, page[:4], 0))
}

// look reads the count of a port.
func (c *crowd) look(ctx context.Context, i int) {
	v := try.Get(c.ports[i].receive.LoadUint32(ctx, 0))
	if written := binary.LittleEndian.Uint32(c.pages[i]); v < c.seen[i] || v > written {
		try.Failf("a reader of port %d sees %d after %d, when %d were written", c.ports[i].send.Port().ID(), v, c.seen[i], written)
	}
	c.seen[i] = v
}

// end compares all pages and tables.
func (c *crowd) end(ctx context.Context) {
	try.OK(c.ports[0].send.Sync(ctx))
	for i, p := range c.ports {
		c.shows(ctx, p, c.pages[i])
	}
	for _, node := range c.nodes() {
		if s := node.Stats(); s.Malformed+s.Discarded+s.Restarted > 0 {
			try.Failf("the node counts %+v", s)
		}
	}
	c.agree()
}

func pressure(ctx context.Context, b *bench) {
	c := b.crowd(ctx, 4, 16)
	for range max(20, b.symbols()/(3*b.id.PageBytes)) {
		try.OK(c.write(ctx, b.rng.IntN(len(c.ports))))
		c.look(ctx, b.rng.IntN(len(c.ports)))
	}
	c.end(ctx)
}

func pageOut(ctx context.Context, b *bench) {
	if b.line.pair != nil {
		skipf("needs the reader's driver in this program, to see what goes over its cable")
	}
	c := b.crowd(ctx, 2, 3)
	for i := range c.ports {
		try.OK(c.write(ctx, i))
	}
	c.end(ctx)
	for _, e := range c.far.Tables().Ports {
		if e.Direction != hostdrv.Receive.String() || e.Frame >= 0 {
			continue
		}
		for i, p := range c.ports {
			if p.receive.Port().ID() != e.Port {
				continue
			}
			before := c.far.NI().CableCounters()[linkproto.CntTxPackets]
			const reads = 50
			for range reads {
				have := make([]byte, b.id.PageBytes)
				try.OK(p.receive.ReadPage(ctx, have, 0))
				if !bytes.Equal(have, c.pages[i]) {
					try.Failf("port %d, which is out: %w", e.Port, differ(have, c.pages[i]))
				}
			}
			// The driver looks at the counters of losses by itself from time to time.
			if sent := c.far.NI().CableCounters()[linkproto.CntTxPackets] - before; sent > reads/5 {
				try.Failf("%d reads of a page that is out made the driver send %d packets", reads, sent)
			}
			return
		}
	}
	try.Failf("%d ports share 2 frames, and none is out: %+v", len(c.ports), c.ends())
}

func pagingTables(ctx context.Context, b *bench) {
	c := b.crowd(ctx, 3, 4)
	for range max(3, min(20, b.symbols()/40/b.id.PageBytes)) {
		for range 6 {
			try.OK(c.write(ctx, b.rng.IntN(len(c.ports))))
		}
		c.end(ctx)
		t := c.far.Tables()
		holder := map[int]uint32{}
		for _, p := range t.Ports {
			if p.Frame < 0 || p.Direction != hostdrv.Receive.String() {
				continue
			}
			if other, ok := holder[p.Frame]; ok {
				try.Failf("frame %d has port %d and port %d", p.Frame, other, p.Port)
			}
			holder[p.Frame] = p.Port
			if t.Frames[p.Frame].Port != p.Port {
				try.Failf("port %d has frame %d, which has port %d", p.Port, p.Frame, t.Frames[p.Frame].Port)
			}
		}
	}
}

func goesOn(ctx context.Context, b *bench) {
	if !b.line.timing().VirtualTime || b.line.network != nil { // there the other driver waits
		skipf("needs a target whose time stands still while the sender does not wait for it, so that a wait can be told from being slow")
	}
	c := b.crowd(ctx, 1, 4)
	for range 10 {
		c.end(ctx) // so that there is room
		faults, start := c.Stats().PageOuts, b.ni.Now()
		for i := range c.ports {
			try.OK(c.write(ctx, i))
		}
		waited := b.ni.Now() - start
		if faults = c.Stats().PageOuts - faults; faults < uint64(len(c.ports)-1) {
			try.Failf("%d ports that share a frame were written, with %d faults", len(c.ports), faults)
		}
		if waited > 0 {
			try.Failf("with %d page faults a sender waited for %.0f symbol times", faults, b.ticks(waited))
		}
	}
	c.end(ctx)
}
