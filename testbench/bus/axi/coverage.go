package axi

import (
	"strings"

	"github.com/stafflink/lmmc/testbench"
)

// coverage is what a Monitor counts.
type coverage struct {
	stall                                          [5]*testbench.Point
	kind, burst, length, size, aligned, resp, lock *testbench.Point
	kinds, outstanding                             *testbench.Point
}

func newCoverage(c *testbench.Coverage, l *layout) *coverage {
	point := func(name string, bins ...testbench.Bin) *testbench.Point {
		return c.Point(l.Port.String()+" "+name, bins...)
	}
	value := testbench.Value
	v := &coverage{}
	for i, name := range channelNames {
		v.stall[i] = point("cycles waited for "+strings.ToUpper(name)+"READY", value("0", 0), value("1", 1), testbench.Range("more", 2, 1<<62))
	}
	v.kind = point("kind", value("read", 0), value("write", 1))
	v.resp = point("response", value("OKAY", 0), value("EXOKAY", 1), value("SLVERR", 2), value("DECERR", 3))
	v.outstanding = point("others under way", value("0", 0), value("1", 1), testbench.Range("more", 2, 1<<62))
	if l.lite {
		v.resp.Without("AXI4-Lite has no exclusive accesses", "EXOKAY")
		return v
	}
	v.burst = point("burst", value("INCR", 0), value("FIXED", 1), value("WRAP", 2))
	v.kinds = c.Cross(l.Port.String()+" kind and burst", v.kind, v.burst)
	v.length = point("transfers", value("1", 1), testbench.Range("2 to 16", 2, 16), testbench.Range("17 to 255", 17, 255), value("256", 256))
	v.size = point("bytes of a transfer", value("all of the bus", 0), testbench.Range("fewer", 1, 7))
	if l.bytes == 1 {
		v.size.Without("the bus has one byte", "fewer")
	}
	v.aligned = point("first address", value("aligned", 0), testbench.Range("not aligned", 1, 127))
	v.lock = point("exclusive", value("no", 0), value("yes", 1))
	if !l.channels[aw].has(lock) {
		v.lock.Without("the bus has no AxLOCK", "yes")
		v.resp.Without("the bus has no AxLOCK", "EXOKAY")
	}
	return v
}

func (v *coverage) address(t *Transaction, m *Monitor) {
	v.kind.Sample(int64(truth(t.Write)))
	v.outstanding.Sample(int64(m.open - 1))
	if m.lite {
		return
	}
	v.burst.Sample(int64(t.Burst))
	v.kinds.SampleCross()
	v.length.Sample(int64(t.Len))
	v.size.Sample(int64(m.size - t.Size))
	v.aligned.Sample(int64(t.below(0)))
	v.lock.Sample(int64(truth(t.Lock)))
}

func (v *coverage) response(t *Transaction) { v.resp.Sample(int64(t.Resp)) }
