package soak_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/soak"
)

// A round of ends that start again, in Verilog and in Go.
func Example() {
	waves, err := os.MkdirTemp("", "soak")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(waves)
	report, err := soak.Execute(context.Background(), soak.Options{Links: []string{"host"}, Faults: []string{"restart"}, Seed: 1, WaveDir: waves})
	if err != nil {
		log.Fatal(err)
	}
	row := report.Rows[0]
	fmt.Println(report.Failed, "runs failed;", row.Recovered == row.Injected && row.Packets > 10_000)
	// Output: 0 runs failed; true
}

func execute(t *testing.T, o soak.Options) soak.Report {
	t.Helper()
	o.WaveDir = t.TempDir()
	report := check.Must(soak.Execute(t.Context(), o))(t)
	for _, f := range report.Failures {
		t.Errorf("%v, seed %d: %s", f.Case, f.Seed, f.Error)
	}
	return report
}

// Every kind of link under every kind of fault at once: nothing is lost, faults are noticed, and all are recovered from. Kind barrier-rtl is compiled for itself, and left out.
func TestMixedFaults(t *testing.T) {
	var links []string
	for _, l := range soak.Links() {
		if l.Name != "barrier-rtl" {
			links = append(links, l.Name)
		}
	}
	report := execute(t, soak.Options{Links: links, Faults: []string{"mixed"}, Rates: []float64{1e-4}, Seed: 2})
	if len(report.Rows) != len(links) {
		t.Fatalf("%d rows, want one for each link", len(report.Rows))
	}
	for _, r := range report.Rows {
		least, faults := uint64(500), uint64(10)
		if strings.HasSuffix(r.Link, "-rtl") { // that run is short
			least, faults = 80, 1
		}
		if r.Packets < least || r.Injected < faults || r.Recovered != r.Injected || r.RecoverMax < r.RecoverP99 {
			t.Errorf("%+v: %d packets, %d of %d faults recovered from", r, r.Packets, r.Recovered, r.Injected)
		}
		if (r.Link == "barrier") != (r.Barriers > 10) {
			t.Errorf("%+v: %d barriers", r, r.Barriers)
		}
		reports := r.Reported > 0 || r.Link == "vl" || r.Link == "vl-ni" // what got lost is sent again
		if faults > 1 && (r.Detected == 0 || !reports || r.RecoverP50 == 0) {
			t.Errorf("%+v: detected %d, reported %d, recovered in %d clocks", r, r.Detected, r.Reported, r.RecoverP50)
		}
	}
}

// Every kind of fault leaves its trace in the counters that are there for it.
func TestFaultsAreNoticed(t *testing.T) {
	report := execute(t, soak.Options{Links: []string{"host"}, Seed: 3})
	traces := map[string][]string{
		"none": {}, "stall": {"stops"}, "flip": {"rx_crc", "bad_word"}, "drop": {"rx_crc", "rx_gap"}, "duplicate": {"rx_crc"}, "burst": {"rx_stray"},
		"stuck": {"rx_crc"}, "unplug": {"rx_crc", "rx_gap"}, "restart": {"restarts"}, "mixed": {"rx_crc", "restarts"},
	}
	seen := map[string][]string{}
	for _, r := range report.Rows {
		seen[r.Fault] = append(seen[r.Fault], "run")
		for name := range r.Counters {
			seen[r.Fault] = append(seen[r.Fault], name)
		}
		if quiet := r.Fault == "none" || r.Fault == "stall"; quiet && len(r.Counters) > len(traces[r.Fault]) {
			t.Errorf("%v: %v", r.Case, r.Counters)
		}
	}
	for fault, names := range traces {
		for _, name := range append(names, "run") {
			if !slices.Contains(seen[fault], name) {
				t.Errorf("%s: no %s, only %v", fault, name, seen[fault])
			}
		}
	}
}

// What a campaign finds follows from its seed, not from how many runs go on at a time.
func TestSeedDecides(t *testing.T) {
	o := soak.Options{Links: []string{"direct", "host"}, Faults: []string{"flip", "restart"}, Rates: []float64{1e-4}, Rounds: 2}
	cached := uint64(0)
	text := func(seed uint64, jobs int) string {
		o.Seed, o.Jobs = seed, jobs
		report := execute(t, o)
		if report.Rounds != 2 || report.Runs != 8 || report.Cached != cached {
			t.Errorf("%d rounds, %d runs, %d cached, want 2, 8, %d", report.Rounds, report.Runs, report.Cached, cached)
		}
		report.Seconds, report.Cached = 0, 0
		b := check.Must(json.Marshal(report))(t)
		return string(b)
	}
	one := text(5, 1)
	if again := text(5, 4); again != one {
		t.Errorf("with seed 5 once\n%s\nand once\n%s", one, again)
	}
	if text(9, 4) == one {
		t.Error("seeds 5 and 9 gave the same")
	}
	o.Store = t.TempDir()
	for _, cached = range []uint64{0, 8} {
		if kept := text(5, 2); kept != one {
			t.Errorf("without a store\n%s\nand with %d kept\n%s", one, cached, kept)
		}
	}
}

func TestLimits(t *testing.T) {
	o := soak.Options{Links: []string{"host"}, Faults: []string{"none"}}
	o.Packets = 50_000 // more than a round has, less than three
	if report := execute(t, o); report.Rounds != 2 || report.Packets < o.Packets {
		t.Errorf("%d packets in %d rounds", report.Packets, report.Rounds)
	}
	o.Packets, o.For = 0, time.Nanosecond
	if report := execute(t, o); report.Rounds > 1 || report.Runs != 0 {
		t.Errorf("%d runs in %d rounds", report.Runs, report.Rounds)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if report, err := soak.Execute(ctx, o); !errors.Is(err, context.Canceled) || report.Runs != 0 || len(report.Failures) != 0 {
		t.Errorf("cancelled: %+v, %v", report, err)
	}
}

func TestWrongOptions(t *testing.T) {
	for _, o := range []soak.Options{
		{Links: []string{"smoke"}}, {Faults: []string{"flip", "flop"}}, {Rates: []float64{0}}, {Rates: []float64{1}}, {Rounds: -1}, {Options: campaign.Options{Jobs: -1}}, {Options: campaign.Options{Slurm: &campaign.Slurm{}}, For: 1}, {For: -1},
		{Links: []string{"direct"}, Faults: []string{"jitter"}}, {RTL: "none"},
	} {
		check.Fails(t, fmt.Sprintf("%+v", o), check.Err(soak.Execute(t.Context(), o)), soak.ErrOptions)
	}
}

// Clocks that differ by more than the PHY follows are found out, those of 200 ppm are not.
func TestSerialDifference(t *testing.T) {
	best, err := soak.SerialDifference(t.Context(), 4000, 200, 60_000)
	if best != 200 || err != nil {
		t.Errorf("%d ppm, %v", best, err)
	}
}

// A network whose cables and switches are pulled loses packets, each of them counted, and only then; not if single lanes are.
func TestNetwork(t *testing.T) {
	for _, r := range execute(t, soak.Options{Links: []string{"net"}, Seed: 4, Rounds: 4}).Rows {
		outages := r.Fault == "unplug" || r.Fault == "pull"
		if r.Packets < 2000 || r.Recovered != r.Injected || (r.Reported > 0) != outages && r.Fault != "mixed" && r.Fault != "stall" || outages && r.Counters["lost"] == 0 {
			t.Errorf("%+v", r)
		}
	}
}

// Over virtual links nothing is lost but what they report, which they do only when something was out for long.
func TestVirtual(t *testing.T) {
	report := execute(t, soak.Options{Links: []string{"vl", "vl-ni"}, Faults: []string{"noise", "unplug", "stall", "mixed"}, Seed: 5, Rounds: 2})
	for _, r := range report.Rows {
		outages := r.Fault == "unplug" || r.Fault == "mixed"
		if r.Packets < 2000 || r.Recovered != r.Injected || r.Reported > 0 && !outages && r.Fault != "stall" {
			t.Errorf("%+v", r)
		}
	}
}

// Where network interfaces carry out virtual links nothing is lost, however often something is out: hosts opposite outlast it as they do.
func TestVirtualOutlasts(t *testing.T) {
	if r := execute(t, soak.Options{Links: []string{"vl-ni"}, Faults: []string{"mixed"}, Rates: []float64{1e-4}, Seed: 46}).Rows[0]; r.Packets < 2000 || r.Reported > 0 {
		t.Errorf("%+v", r)
	}
}

// When a switch dies around which there is another way, all virtual links go on within two RETRY.
func TestVirtualRecovery(t *testing.T) {
	for _, r := range check.Must(soak.VirtualRecovery(t.Context(), cluster.Model, 7))(t) {
		if r.Links != 12 || r.Clocks < linkproto.DefaultVLRetry || r.Clocks > 2*linkproto.DefaultVLRetry || r.Packets < 2000 {
			t.Errorf("%+v", r)
		}
	}
}

// TestBarrierRestarts: barriers go on though members' programs restart amid them, and their groups are made anew while packets flow.
func TestBarrierRestarts(t *testing.T) {
	report := execute(t, soak.Options{Links: []string{"barrier"}, Faults: []string{"restart"}, Seed: 4})
	check.Equal(t, "rows", len(report.Rows), 2)
	for _, r := range report.Rows {
		if r.Barriers < 10 || r.Injected < 10 || r.Recovered != r.Injected || r.Packets < 500 {
			t.Errorf("%+v: %d barriers, %d of %d restarts recovered from, %d packets", r, r.Barriers, r.Recovered, r.Injected, r.Packets)
		}
	}
}
