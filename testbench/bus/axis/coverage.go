package axis

import (
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// coverage is what a Monitor counts.
type coverage struct {
	stall, gap, length, bytes, streams *testbench.Point
	edge                               uint64 // of the transfer before
	count                              map[stream]int64
}

func newCoverage(c *testbench.Coverage, l *layout) *coverage {
	point := func(name string, bins ...testbench.Bin) *testbench.Point {
		return c.Point(l.Port.String()+" "+name, bins...)
	}
	one, two, more := testbench.Value("1", 1), testbench.Value("2", 2), testbench.Range("more", 3, 1<<62)
	v := &coverage{count: map[stream]int64{}}
	v.stall = point("cycles waited for TREADY", testbench.Value("0", 0), one, two, more)
	v.gap = point("cycles between transfers", testbench.Value("0", 0), one, two, more)
	if l.channel.Ready == "" {
		v.stall.Without("the stream has no TREADY", "1", "2", "more")
	}
	if l.channel.Last != "" {
		v.length = point("transfers of a frame", one, two, more)
		v.streams = point("transfer after one of another frame that has not ended", testbench.Value("no", 0), testbench.Value("yes", 1))
		if l.id.width+l.dest.width == 0 {
			v.streams.Without("the stream has neither TID nor TDEST", "yes")
		}
	}
	v.bytes = point("bytes of a transfer", testbench.Value("all", 0), testbench.Value("low ones", 1), testbench.Value("some", 2), testbench.Value("none", 3),
		testbench.Value("with position bytes", 4))
	if l.strb.width == 0 {
		v.bytes.Without("the stream has no TSTRB", "with position bytes")
	}
	if l.keep.width == 0 {
		v.bytes.Without("the stream has no TKEEP", "low ones", "some", "none")
	} else if l.lanes == 1 {
		v.bytes.Without("a transfer has one byte", "low ones", "some")
	}
	return v
}

func (v *coverage) transfer(m *Monitor, e verilator.Event) {
	v.stall.Sample(int64(e.Waited))
	if v.edge != 0 {
		v.gap.Sample(int64(e.Cycle - e.Waited - v.edge - 1))
	}
	v.edge = e.Cycle
	v.bytes.Sample(m.shape())
	if v.length == nil {
		return
	}
	key := stream{m.value(m.id), m.value(m.dest)}
	other := int64(0)
	if len(m.open) > 1 || len(m.open) == 1 && m.open[key] == nil {
		other = 1
	}
	v.streams.Sample(other)
	if v.count[key]++; e.Last {
		v.length.Sample(v.count[key])
		delete(v.count, key)
	}
}

// shape returns the bin of the bytes of the transfer in the row.
func (m *Monitor) shape() int64 {
	if m.full(m.keep) && m.full(m.strb) {
		return 0
	}
	kept, ends, position := 0, 0, false
	for i := range m.lanes {
		if m.bit(m.keep, i) {
			kept, ends = kept+1, i+1
			position = position || !m.bit(m.strb, i)
		}
	}
	switch {
	case position:
		return 4
	case kept == 0:
		return 3
	case kept == ends:
		return 1
	}
	return 2
}
