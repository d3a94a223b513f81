package figures

import (
	"context"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/soak"
)

var faultFigures = []Figure{
	{Name: "serial_ppm", Doc: "difference between two clocks at which phy_serial links run both ways without an error, edges late by a fifth of a bit at random",
		Unit: "ppm", Must: new(200.0), Aim: new(1000.0), Long: true, Measure: steps(serialPPM)},
	{Name: "soak_ci", Doc: "packets delivered under faults of every kind on links of every kind, but those of soak_vl in network interfaces, with none lost or wrong",
		Unit: "packets", Must: new(1e6), Aim: new(1e8), Long: true, Measure: steps(soakCI)},
	{Name: "soak_vl", Doc: "packets over virtual links, carried out by hosts and by network interfaces that are models and RTL, under faults of every kind, none lost unreported, doubled or out of order",
		Unit: "packets", Must: new(1e6), Aim: new(1e8), Long: true, Measure: steps(soakVL)},
	{Name: "vl_recover", Doc: "a switch dies around which there is another way, all virtual links of network interfaces in RTL busy: until each has delivered a packet that was sent since, none lost, doubled or out of order",
		Unit: "cycles", Aim: new(2.0 * linkproto.DefaultVLRetry), Better: Lower, Long: true, Measure: steps(vlRecover)},
}

// serialPPM tries differences upwards.
func serialPPM(ctx context.Context) Measurement {
	symbols, tried := 20_000, []int{200, 500, 1000, 2000, 5000, 7500, 10_000, 15_000}
	if Quick(ctx) {
		symbols, tried = 10_000, []int{200, 1000, 5000}
	}
	best := try.Get(soak.SerialDifference(ctx, symbols, tried...))
	note := fmt.Sprintf("%d symbols each way without an error", symbols)
	if i := slices.Index(tried, best); i+1 < len(tried) {
		note += fmt.Sprintf(", and errors at %d ppm", tried[i+1])
	} else {
		note += ", more was not tried"
	}
	return Measurement{Value: float64(best), Note: note + "; five clocks a bit, half of the edges a clock late"}
}

// soakCI runs whole rounds until there are as many packets as must be. Virtual links of network interfaces take longer, and are left to soakVL.
func soakCI(ctx context.Context) Measurement {
	o := soak.Options{Seed: 1, Packets: 1e6}
	for _, k := range soak.Links() {
		if !slices.Contains(offloaded, k.Name) {
			o.Links = append(o.Links, k.Name)
		}
	}
	return soakFor(ctx, o, "lmmc soak --packets 1e8")
}

// offloaded are the kinds of link of which network interfaces carry out the virtual links.
var offloaded = []string{"vl-ni", "vl-rtl"}

func soakVL(ctx context.Context) Measurement {
	return soakFor(ctx, soak.Options{Links: append([]string{"vl"}, offloaded...), Seed: 1, Packets: 1e6}, "lmmc soak --links vl,vl-ni,vl-rtl --packets 1e8")
}

// vlRecover is the worst of all switches.
func vlRecover(ctx context.Context) (m Measurement) {
	for _, r := range try.Get(soak.VirtualRecovery(ctx, cluster.RTL, 1)) {
		if float64(r.Clocks) > m.Value {
			m = Measurement{Value: float64(r.Clocks), Note: fmt.Sprintf("switch %s, %d virtual links both ways; %d packets in all, 0 lost or doubled", r.Switch, r.Links/2, r.Packets)}
		}
	}
	return m
}

func soakFor(ctx context.Context, o soak.Options, more string) Measurement {
	report := try.Get(soak.Execute(ctx, o))
	if report.Failed > 0 {
		f := report.Failures[0]
		try.Failf("%d of %d runs failed, the first %v: %s\nagain: %s", report.Failed, report.Runs, f.Case, f.Error, f.Again)
	}
	return Measurement{Value: float64(report.Packets), Note: fmt.Sprintf("%d runs of %d rounds, 0 packets lost or wrong; %s goes on to the aim",
		report.Runs, report.Rounds, more)}
}
