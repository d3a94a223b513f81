package conformance

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

var performanceCases = []Case{
	{"performance/writes", "Remote writes of a page: the share of the host's cable that is payload.",
		remoteWrite, "driver.md#two-kinds-of-calls", writeThroughput},
	{"performance/reads", "Reads of the receive buffer that are underway together: the share of the host's cable that is payload.",
		linkMemory, "driver.md#two-kinds-of-calls", readThroughput},
	{"performance/latency", "A request alone, and 8 bytes from one end of a port to the other and back.",
		waiting, "driver.md#lmmc", latency},
	{"performance/paging", "8 bytes to a page in its frame, and to one that is out, until the reader sees them; what the page fault costs sender and reader.",
		remotePaging, "driver.md#a-page-fault-step-by-step", pagingCost},
}

// rate reports payload that took some time.
func (b *bench) rate(name string, bytes int, run func()) {
	start := b.ni.Now()
	run()
	took := b.ni.Now() - start
	b.measure(name, float64(bytes)/b.ticks(took), "")
	b.measure("payload", float64(bytes)/took.Seconds()/1e6, "MB/s")
}

func writeThroughput(ctx context.Context, b *bench) {
	l := b.lane(ctx)
	page := b.noise(b.id.PageBytes)
	writes := max(8, b.symbols()/4/len(page))
	b.rate("share of the cable's nominal rate", writes*len(page), func() {
		for range writes {
			try.OK(b.ni.Write(ctx, l.via, 0, page))
		}
		try.OK(b.ni.Sync(ctx, l.via))
	})
}

func readThroughput(ctx context.Context, b *bench) {
	page := make([]byte, b.id.PageBytes)
	reads := max(8, b.symbols()/4/len(page))
	b.rate("share of the cable's nominal rate", reads*len(page), func() {
		batch := b.ni.Batch()
		for range reads {
			batch.ReadBuffer(page, 0)
		}
		try.OK(batch.Run(ctx))
	})
}

// spread reports ticks that something has taken, and returns the median.
func (b *bench) spread(name string, took []float64) float64 {
	slices.Sort(took)
	median := took[len(took)/2]
	b.measure(name+", median", median, "symbol times")
	b.measure(name+", 99 %", took[len(took)*99/100], "symbol times")
	b.measure(name+", median time", median/b.line.timing().TicksPerSecond*1e6, "µs")
	return median
}

// timed takes the ticks of something, some times.
func (b *bench) timed(count int, once func()) (took []float64) {
	for range count {
		start := b.ni.Now()
		once()
		took = append(took, b.ticks(b.ni.Now()-start))
	}
	return took
}

// trips is how often a case does what takes a round trip or some.
func (b *bench) trips() int { return max(20, min(200, b.symbols()/4000)) }

// requests takes the ticks of requests that are underway alone.
func (b *bench) requests(ctx context.Context) []float64 {
	return b.timed(b.trips(), func() { try.Get(b.ni.ReadRegister(ctx, linkproto.RegScratch)) })
}

// ball is 8 bytes that differ from those before.
type ball [8]byte

// throw writes the next one to a port.
func (v *ball) throw(ctx context.Context, c channel) {
	binary.LittleEndian.PutUint64(v[:], binary.LittleEndian.Uint64(v[:])+1)
	try.OK(c.send.WritePage(ctx, v[:], 0))
}

// catch waits until the reader of a port sees it.
func (v *ball) catch(ctx context.Context, c channel) {
	try.OK(c.receive.Wait(ctx, func(page []byte) bool { return bytes.Equal(page[:len(v)], v[:]) }))
}

func latency(ctx context.Context, b *bench) {
	b.spread("request", b.requests(ctx))
	ways := b.node(ctx, b.id.Frames).connectMany(ctx, 2)
	var v ball
	b.spread("8 bytes there and back", b.timed(b.trips(), func() {
		for _, c := range ways {
			v.throw(ctx, c)
			v.catch(ctx, c)
		}
	}))
}

// pagingCost writes two ports that share a frame, each twice: the first write finds the page out, the second in its frame.
func pagingCost(ctx context.Context, b *bench) {
	took := b.requests(ctx)
	slices.Sort(took)
	roundTrip := took[len(took)/2]
	n := b.node(ctx, 1)
	ports := n.connectMany(ctx, 2)
	var v ball
	var waited float64
	var seen [2][]float64                                                   // of a page in its frame, and of one that is out
	for i := range max(10, min(b.trips(), b.symbols()/16/b.id.PageBytes)) { // each carries two pages over the host's cable
		for k, c := range []channel{ports[i%2], ports[i%2]} {
			faults, start := n.Stats().PageOuts, b.ni.Now()
			v.throw(ctx, c)
			wait := b.ticks(b.ni.Now() - start)
			v.catch(ctx, c)
			fault := int(n.Stats().PageOuts - faults)
			if i > 0 && fault != 1-k {
				try.Failf("write %d to one of two ports that share a frame made %d page faults, want %d", k+1, fault, 1-k)
			}
			waited += wait * float64(fault)
			seen[fault] = append(seen[fault], b.ticks(b.ni.Now()-start))
		}
	}
	faults := float64(len(seen[1]))
	in := b.spread("8 bytes to a page in its frame", seen[0])
	out := b.spread("8 bytes to a page that is out", seen[1])
	b.measure("page fault, the sender's wait", waited/faults/roundTrip, "round trips")
	b.measure("page fault, the reader's", (out-in)/roundTrip, "round trips")
}
