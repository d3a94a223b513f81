package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
	"github.com/stafflink/lmmc/testbench/report/chart"
)

// netBenchMessages measures messages as the papers on PM did.
func netBenchMessages(ctx *cli.Context) error {
	for _, flag := range []string{"pattern", "load", "page", "width", "slots", "sample", "samples", "links", "lanes", "latency", "threads", "routing"} {
		if ctx.IsSet(flag) {
			return usagef("--%s: net bench messages measures what the papers did; it takes --size, --seed, --svg and --json", flag)
		}
	}
	sizes := messages.Sizes
	if ctx.IsSet("size") {
		least, most := sizesOf(ctx.String("size"))
		if least < 0 || most != least || most > 1<<20 {
			return usagef("--size %s: want bytes of a message, 0 to %d", ctx.String("size"), 1<<20)
		}
		sizes = []int{least}
	}
	progress := startTicker(ctx.App.ErrWriter, "compilation")
	defer progress.stop()
	d := messages.NewDocument(ctx.Uint64("seed"))
	const trips = 21
	d.Cable = try.Get(messages.Trips(ctx.Context, messages.Cabled(), trips))[trips/2]
	d.Switch = try.Get(messages.Trips(ctx.Context, try.Get(topology.Generate("star", []int{2}, 1)), trips))[trips/2]
	d.Points = try.Get(messages.Measure(ctx.Context, cluster.RTL, sizes, d.Seed, func(what string) { progress.set("%s", what) }))
	single := slices.DeleteFunc(slices.Clone(sizes), func(size int) bool { return size > messages.MostPacket })
	for i, way := range try.Get(messages.Ways(ctx.Context, single, func(what string) { progress.set("%s", what) })) {
		d.AddWay(way, d.Points[i])
	}
	progress.stop()
	d.Stamp = try.Get(newStamp(ctx, "", "verilator"))
	if path := ctx.String("svg"); path != "" {
		try.OK(os.WriteFile(path, []byte(chart.File(720, d.RatePlot())), 0o666))
	}
	return finish(ctx, true, "net-messages", d, writeMessages)
}

func writeMessages(b *strings.Builder, d messages.Document) {
	t := table{names: []string{"whose", ">bytes", ">one way MB/s", ">both ways MB/s", ">round trip µs", ">clocks", ""}}
	rate := func(v float64) string {
		if v == 0 {
			return "-"
		}
		return fmt.Sprintf("%.1f", v)
	}
	trip := func(clocks int, note string) {
		t.add("this network", "0", "-", "-", fmt.Sprintf("%.2f", float64(clocks)/messages.Clock), thousands(uint64(clocks)), note)
	}
	trip(d.Cable, "host port to host port, one cable, hosts that answer at once")
	trip(d.Switch, "the same through a switch")
	for _, p := range d.Points {
		t.add("this network", thousands(uint64(p.Bytes)), rate(messages.Clock*p.OneWay), rate(messages.Clock*p.BothWays),
			fmt.Sprintf("%.2f", p.RoundTrip/messages.Clock), thousands(uint64(p.RoundTrip+0.5)), "")
	}
	for _, p := range d.Papers {
		size := fmt.Sprint(p.Bytes)
		if p.Bytes < 0 {
			size = "-"
		}
		t.add(p.Name, size, rate(p.Rate), "-", rate(p.RoundTrip), "-", p.Note)
	}
	t.write(b)
	writeWays(b, d.Ways)
	fmt.Fprintf(b, "\nThis network: RTL, through a switch, pages of %d bytes, a symbol a clock, 125 MHz; both ways: each direction. The drivers carry the virtual links out, and\n"+
		"see the host's cable every 32 clocks; the computers' own time is not in it. Published: GigaE PM, 5.1 and 5.2; PM/Ethernet-HXB, tables 4 and 5.\n", d.Page)
}

// writeWays writes where the time of messages goes, a row each.
func writeWays(b *strings.Builder, ways []messages.Way) {
	if len(ways) == 0 {
		return
	}
	names := []string{">clocks by stage, bytes"}
	for _, s := range ways[0].Stages {
		names = append(names, ">"+s.Name)
	}
	t := table{names: append(names, ">port to port", ">both drivers")}
	for _, w := range ways {
		row := []string{thousands(uint64(w.Bytes))}
		for _, s := range w.Stages {
			row = append(row, thousands(uint64(s.To-s.From)))
		}
		t.add(append(row, thousands(uint64(w.Clocks())), fmt.Sprintf("%.0f", w.Hosts))...)
	}
	b.WriteString("\n")
	t.write(b)
}
