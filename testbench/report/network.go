package report

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/figures"
)

// judgeNetwork says what is known of networks; it is no check, so the verdict does not hang on it.
func (in Input) judgeNetwork() finding {
	switch {
	case in.Network != nil:
		d := in.Network
		return finding{stamp: &d.Stamp, good: true, headline: fmt.Sprintf("%s, %d network interfaces: %s of a link accepted at most, %s traffic, messages of %s",
			d.Network, d.NIs, percent(d.Best()), d.Pattern, d.Sizes())}
	case in.HXB != nil:
		return finding{stamp: &in.HXB.Stamp, good: true, headline: "beside PM/Ethernet-HXB"}
	case in.Messages != nil:
		return finding{stamp: &in.Messages.Stamp, good: true, headline: "messages beside PM"}
	case in.Sockets != nil:
		return finding{stamp: &in.Sockets.Stamp, good: true, headline: "sockets beside TCP"}
	}
	for _, d := range in.barrierViews() {
		return finding{stamp: &d.Stamp, good: true, headline: "barriers by messages beside MCD"}
	}
	return finding{}
}

// comparison is a published figure beside ours.
type comparison struct{ Measure, Published, Ours, Aim string }

// published are others' figures of networks, with ours of the bench that there is. A clock is 8 ns: 125 MHz, and so Gigabit Ethernet's rate.
func (in Input) published() (rows []comparison) {
	add := func(name, measure, published, aim string, write func(float64) string) {
		if in.Bench == nil {
			return
		}
		i := slices.IndexFunc(in.Bench.Figures, func(f figures.FigureDocument) bool { return f.Name == name && f.Value != nil })
		if i >= 0 {
			rows = append(rows, comparison{measure, published, write(*in.Bench.Figures[i].Value), aim})
		}
	}
	clocks := func(v float64) string { return fmt.Sprintf("%.2f µs, %.0f clocks", v/125, v) }
	add("switch_saturation", "uniform traffic at saturation, 16-port switch", "58.6 % for FIFO queues", "95 %", percent)
	add("hop_clocks_1500", "one more router, one way", "14 µs PM/Ethernet-HXB, 0.2 µs queues of Switchboard", "0.16 µs, 20 clocks", clocks)
	for _, r := range in.hxbRows() {
		if r.Table == 5 {
			rows = append(rows, comparison{"round trip of the smallest message, NI to NI", "35.4 µs GigaE PM, 30.1 µs PM/Ethernet-HXB, 8.3 µs PM/Myrinet", clocks(r.Clocks), "less than 1 µs"})
		}
	}
	return rows
}

func (in Input) hxbRows() []cluster.HXBRow {
	if in.HXB == nil {
		return nil
	}
	return in.HXB.Rows
}

// hxbMeasure names a row.
func hxbMeasure(r cluster.HXBRow) string {
	what := "bandwidth"
	if r.RoundTrip {
		what = "round trip"
	}
	return fmt.Sprintf("%s, %d-dimensional, links: %d", what, r.Dimensions, r.Links)
}

func hxbNumber(r cluster.HXBRow, v float64) string {
	switch {
	case v == 0:
		return "–"
	case r.RoundTrip:
		return fmt.Sprintf("%.2f µs", v)
	}
	return fmt.Sprintf("%.1f MB/s", v)
}
