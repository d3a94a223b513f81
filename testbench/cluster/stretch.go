package cluster

import (
	"bytes"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Carried is what has arrived under a load.
type Carried struct {
	Messages int
	Bytes    int
	Offered  float64 // while messages were made, as of Point
}

// Begin offers a load from now on, until End. Between the two is Pass.
func (b *Bench) Begin(load float64) error {
	return try.Run(func() {
		b.begin(load)
		b.run.samples = []*sample{newSample()}
		b.since = b.run.Cycles
	})
}

// Fill begins a load that the network cannot carry, each host with messages at once and two packets on its cable at most, and runs until as much arrives in three
// windows of 512 clocks, within a tenth of their mean, or for 8,192 clocks. It returns the clocks that this took, and what arrived in these windows as a share of
// a link, as of Point; in the second half of 8,192 clocks where they do not agree, as in networks in which few messages arrive. progress is told after each window.
func (b *Bench) Fill(load float64, progress func(clocks int, accepted float64)) (clocks int, accepted float64, err error) {
	const window, most = 512, 16
	return clocks, accepted, try.Run(func() {
		b.run.few = true
		try.OK(b.Begin(load))
		for _, s := range b.sources {
			s.due = float64(s.clock.Cycles() + 2)
		}
		start, all := b.run.Cycles, []float64{}
		for range most {
			b.run.samples = []*sample{newSample()}
			b.pass(window)
			clocks = int(b.run.Cycles - start)
			all = append(all, b.run.sample().came/float64(window*b.Senders*b.run.lanes(0)))
			last := all[max(0, len(all)-agreeing):]
			accepted = mean(last)
			if progress(clocks, accepted); len(all) >= agreeing && accepted > 0 && near(last, latencyApart) {
				return
			}
		}
		accepted = mean(all[most/2:])
	})
}

// Pass runs at least so many clocks.
func (b *Bench) Pass(clocks int) error { return try.Run(func() { b.pass(clocks) }) }

// End has no more messages made, and runs until all that have been sent have arrived: each packet was at the right network interface, once. Then it compares
// what stands in their receive buffers with what was sent.
func (b *Bench) End() (c Carried, err error) {
	return c, try.Run(func() {
		s := b.run.sample()
		c.Offered = s.made / float64(int(b.run.Cycles-b.since)*b.Senders)
		b.settle()
		c.Messages, c.Bytes = s.messages, s.payload
		b.compare()
	})
}

// compare compares the receive buffers with the data that all packets have behind their tags.
func (b *Bench) compare() {
	r := b.run
	answers := try.Get(r.AskEach(func(i *NI) (reads []linkproto.Packet) {
		if most := b.source(i).most; most > tagBytes {
			reads = append(reads, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: tagBytes, Count: uint16(most - tagBytes)})
		}
		return reads
	}))
	for k, answer := range answers {
		for _, a := range answer {
			want := r.payload[tagBytes:][:len(a.Data)]
			if at := differ(a.Data, want); at < len(want) {
				try.Failf("cluster: byte %d of the receive buffer of %s is %#02x, want %#02x", tagBytes+at, r.name(r.NIs[k]), a.Data[at], want[at])
			}
			if !bytes.Equal(a.Data, want) || len(want) != b.sources[k].most-tagBytes {
				try.Failf("cluster: %s has answered with %d bytes of its receive buffer, want %d", r.name(r.NIs[k]), len(a.Data), b.sources[k].most-tagBytes)
			}
		}
	}
}

// source is that of a network interface.
func (b *Bench) source(i *NI) *source { return i.Far.(*source) }
