package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/recordings"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/testbench/timing"
)

const rtlHash = "0123456789abcdef"

func stamp() results.Stamp {
	return results.Stamp{Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), RTL: rtlHash, Commit: "fedcba9876543210", Tools: []results.Tool{{Name: "verilator", Version: "5.006"}}}
}

// full is an input with something of everything, in which all is well.
func full() Input {
	p := func(v float64) *float64 { return &v }
	return Input{
		Stamp: stamp(),
		Sim: &suite.SimDocument{Stamp: stamp(), Passed: 5, Scenarios: []suite.ScenarioDocument{
			{Name: "pair", Doc: "two NIs & a link", Seeds: 4, FirstSeed: 1, Cycles: 1234567, Packets: 3461, Again: "go run ./cmd/lmmc sim --run pair --seed 1 --seeds 4"},
			{Name: "ring", Doc: "five NIs", Seeds: 1, FirstSeed: 1, Cycles: 10, Packets: 1, Again: "go run ./cmd/lmmc sim --run ring --seed 1 --seeds 1"},
		}, Functional: []testbench.CoveragePoint{
			{Name: "WRITE size", Bins: []testbench.CoverageBin{{Name: "empty", Hits: 1234}, {Name: "a page", Hits: 7}}, Excluded: []testbench.ExcludedBin{{Name: "two pages", Reason: "crosses a page end"}}},
			{Name: "RESUME", Bins: []testbench.CoverageBin{{Name: "without trap", Hits: 2}}},
		}},
		Bench: &figures.BenchDocument{Stamp: stamp(), Quick: true, Figures: []figures.FigureDocument{
			{Name: "payload_share_1500", Value: p(0.987), Must: p(0.975), Aim: p(0.985), Better: figures.Higher, Verdict: figures.Pass, Published: figures.GigaEPM.String()},
			{Name: "write_latency_8", Value: p(57), Unit: "cycles", Must: p(64), Aim: p(40), Better: figures.Lower, Verdict: figures.AimMissed, Note: "worst of 200 writes"},
			{Name: "coroutine_rate", Value: p(7046424), Unit: "cycles/s", Must: p(2e6), Better: figures.Higher, Timed: true, Verdict: figures.Pass},
		}},
		Coverage: &suite.CoverageDocument{Stamp: stamp(), Runs: 5, Files: []suite.FileCoverage{{
			File: "link/link_rx.v", Code: suite.Tally{All: 36, Hit: 35, Explained: 1}, Toggles: suite.Tally{All: 200, Hit: 198, Explained: 1},
			Holes: []suite.Hole{
				{Kind: "else", Line: 2, Points: 1, First: 1, Source: []string{"a", "if (b < c)", "d"}, Missed: []int{}, Reason: "a reason"},
				{Kind: "toggle", Signals: "length[13]", Line: 9, Points: 1, First: 8, Source: []string{"x", "reg length;"}, Missed: []int{}},
			},
		}}},
		Prove: &prove.Document{Stamp: stamp(), Proved: 2, Seconds: 12.3, Proofs: []prove.DocumentProof{
			{Module: "fifo_sync", Properties: "order, `used` exact", Method: prove.Induction, Depth: 3, Seconds: 1.25, Result: "proved"},
			{Module: "fifo_async", Properties: "order", Method: prove.Reachability, Seconds: 18.4, Result: "proved"},
		}},
		Mutate: &mutate.Report{Stamp: stamp(), Seed: 7, Tried: 1000, Killed: 980, TimedOut: 3, Equivalent: 11, Explained: 5, Survived: 4, Share: 980.0 / 984,
			Stages:    []mutate.Stage{{Name: "module tests", Tried: 1000, Killed: 970}, {Name: "scenarios", Tried: 30, Killed: 10}},
			Modules:   []mutate.ModuleTotal{{Module: "fifo_sync", File: "rtl/common/fifo_sync.v", Tried: 40, Killed: 38, Equivalent: 1, Survived: 1}},
			Survivors: []mutate.Survivor{{Module: "fifo_sync", File: "rtl/common/fifo_sync.v", Line: 40, Source: "used <= used + 1;", Mutant: "fifo_sync/inv/3", Again: "lmmc mutate --mutant fifo_sync/inv/3"}},
			Excused:   []mutate.Survivor{{File: "rtl/common/ram_sdp.v", Source: "a", Mutant: "ram/1", Reason: "no reader looks"}},
		},
		Soak: &soak.Report{Stamp: stamp(), Runs: 3, Packets: 1002003, Rows: []soak.Row{
			{Case: soak.Case{Link: "direct", Fault: "flip", Rate: 1e-5}, Runs: 1, Packets: 46848, SymbolCycles: 1, Injected: 113, Detected: 1150, Recovered: 113, RecoverP50: 232, RecoverP99: 888, RecoverMax: 921},
			{Case: soak.Case{Link: "direct", Fault: "flip", Rate: 1e-3}, Runs: 1, Packets: 2910, SymbolCycles: 1, Injected: 10786, Recovered: 10786, RecoverP50: 5019, RecoverP99: 178951},
			{Case: soak.Case{Link: "serial", Fault: "none"}, Runs: 1, Packets: 2086, SymbolCycles: 50},
		}},
		Conform: &conformance.Report{Stamp: stamp(), Target: "rtl:?links=3&frames=8", Identity: hostdrv.Identity{Hash: 0x0123456789abcdef}, Results: []conformance.Result{
			{Name: "identity/fields", Requirement: "The identity is allowed.", Verdict: conformance.Pass},
			{Name: "performance/latency", Requirement: "The latency is told.", Verdict: conformance.Pass, Measured: []conformance.Measurement{{Name: "request, median", Value: 123.4, Unit: "symbol times"}}},
			{Name: "restart/reset", Requirement: "A reset ends all.", Verdict: conformance.Skip, Reason: "it cannot be reset"},
		}},
		Curve:  []figures.SharePoint{{Bytes: 8, Share: 0.35, Limit: 0.36}, {Bytes: 64, Share: 0.81, Limit: 0.82}, {Bytes: 2048, Share: 0.99, Limit: 0.993}},
		Stages: []recordings.Stage{{Name: "host port", To: 4}, {Name: "on the link", From: 4, To: 30}},
		Diagrams: []timing.Diagram{{Name: "remote-write", Title: "Remote write", Text: "A writes.", To: 20, Lanes: []timing.Lane{
			{Name: "A to B", Spans: []timing.Span{{From: 2, To: 12, Kind: timing.Frame, Labels: []string{"frame 0: WRITE"}}}}}}},
	}
}

func write(t *testing.T, in Input) string {
	t.Helper()
	var b bytes.Buffer
	check.Fatal(t, in.Write(&b))
	return b.String()
}

// words returns the text of a page, and fails unless its elements are closed in order, its ids unique, and its links led somewhere.
func words(t *testing.T, html string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var text strings.Builder
	ids, links := map[string]bool{}, []string{}
	style := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			style = token.Name.Local == "style"
			for _, a := range token.Attr {
				switch a.Name.Local {
				case "id":
					if ids[a.Value] {
						t.Errorf("two elements have the id %q", a.Value)
					}
					ids[a.Value] = true
				case "href":
					links = append(links, a.Value)
				}
			}
		case xml.EndElement:
			style = false
		case xml.CharData:
			if !style {
				text.Write(token)
				text.WriteByte(' ')
			}
		}
	}
	for _, link := range links {
		if id, local := strings.CutPrefix(link, "#"); !local || !ids[id] {
			t.Errorf("the link %q leads nowhere in the page", link)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}

func TestPage(t *testing.T) {
	in := full()
	text := words(t, write(t, in))
	for _, want := range []string{
		"Passed: scenarios, figures, cases of the protocol, coverage, proofs, mutants, fault campaign, conformance", "2 of 3 cases passed on rtl:?links=3&frames=8, 1 skipped", "identity/fields passed The identity is allowed.", "The latency is told. request, median 123.4 symbol times", "restart/reset skipped A reset ends all. it cannot be reset", "5 of 5 runs of 2 scenarios passed: 3,462 packets in 1,234,577 clock cycles",
		"pair two NIs & a link go run ./cmd/lmmc sim --run pair --seed 1 --seeds 4 passed 1–4 1,234,567 3,461",
		"3 of 3 cases covered, 1 more impossible", "WRITE size: 2 of 2, 1 impossible", "empty 1,234 a page 7 two pages impossible: crosses a page end –", "RESUME: 1 of 1",
		"payload_share_1500", "Published: 57.7 %: GigaE PM, 1500-byte messages, 72.1 of 125 MB/s.", "98.7 % pass ≥ 97.5 % ≥ 98.5 %",
		"57 cycles pass, aim missed ≤ 64 ≤ 40", "7,046,424 cycles/s pass ≥ 2,000,000 –",
		"35 of 36 blocks and branches reached, 1 more explained, 0 open", "else not reached a reason", "2 ▸ if (b < c)", "length[13] not explained",
		"2 of 2 properties proved, in 12 s", "fifo_sync order, used exact proved induction 3 1.2 s", "fifo_async order proved reachability – 18 s",
		"980 of 1,000 mutants killed, 16 equivalent, 4 survive: 99.6 % of the others killed", "module tests 970 of 1000, scenarios 10 of 30; 3 stopped by the time limit",
		"rtl/common/fifo_sync.v 40 38 1 0 1", "rtl/common/fifo_sync.v:40 survives used <= used + 1; fifo_sync/inv/3 again: lmmc mutate --mutant fifo_sync/inv/3", "no reader looks",
		"1,002,003 packets under 10,899 faults in 3 runs: recovery from 10,899; packets lost or wrong, or links wedged: 0",
		"direct, flip passed 1e-5 46,848 113 1,150 113 232 888 921 0", "serial, none passed – 2,086", "direct: 232 symbol times at 1e-05", "direct: 178951 symbol times at 1e-03",
		"Payload share", "limit set by framing", "host port: 4 clocks", "Remote write", "frame 0: WRITE", rtlHash, "fedcba987654", "verilator 5.006", "2026-11-21 12:00 UTC",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestOrder: what a reader wants to see stands first, and passed scenarios are folded behind those that failed.
func TestOrder(t *testing.T) {
	in := full()
	in.Sim.Scenarios[1].Failed = 1
	html := write(t, in)
	at := -1
	for _, mark := range []string{`<h2 id="timing">`, `<h2 id="scenarios">`, "<b>ring</b>", "<details><summary>passed scenarios: 1</summary>", "<b>pair</b>", `<h2 id="figures">`} {
		i := strings.Index(html, mark)
		if i <= at {
			t.Errorf("%s stands at %d, after %d", mark, i, at)
		}
		at = i
	}
}

// TestSelfContained holds that a page loads nothing and runs nothing.
func TestSelfContained(t *testing.T) {
	html := write(t, full())
	for _, not := range []string{"http:", "https:", "<script", "<link", "<img", "<iframe", "@import", "url(", " src=", "javascript:", "ZgotmplZ"} {
		if strings.Contains(html, not) {
			t.Errorf("the page holds %q", not)
		}
	}
}

func TestVerdict(t *testing.T) {
	other := func(s results.Stamp) results.Stamp { s.RTL = "other"; return s }
	for _, test := range []struct {
		name   string
		change func(*Input)
		state  state
		says   []string
	}{
		{"nothing was run", func(in *Input) {
			in.Sim, in.Bench, in.Coverage, in.Prove, in.Mutate, in.Soak, in.Conform = nil, nil, nil, nil, nil, nil, nil
		}, missing,
			[]string{"No check of this RTL has run", "not run yet: scenarios, figures, cases of the protocol, coverage, proofs, mutants, fault campaign", "make sim", "make bench", "make coverage"}},
		{"some was run", func(in *Input) { in.Bench = nil }, passed, []string{"Passed: scenarios, cases of the protocol, coverage, proofs, mutants, fault campaign", "not run yet: figures"}},
		{"other sources", func(in *Input) { in.Sim.Stamp = other(in.Sim.Stamp) }, passed,
			[]string{"Passed: figures, coverage, proofs, mutants, fault campaign", "from other sources: scenarios, cases of the protocol", "These results are for other sources (RTL other). To renew them: make sim"}},
		{"a run failed", func(in *Input) {
			in.Sim.Failed = 1
			in.Sim.Scenarios[0].Failed = 1
			in.Sim.Scenarios[0].Failures = []suite.FailureDocument{{Seed: 3, Error: "byte 7 <is> wrong", Log: []string{"line one"}, Wave: "build/waves/pair-3.fst", Again: "lmmc sim --run pair --seed 3 --wave"}}
		}, failed, []string{"Failed: scenarios", "pair, seed 3 byte 7 <is> wrong", "line one", "again: lmmc sim --run pair --seed 3 --wave", "wave: build/waves/pair-3.fst", "1 of 4 failed"}},
		{"a figure misses", func(in *Input) { in.Bench.Figures[1].Verdict = figures.Miss }, failed, []string{"Failed: figures", "2 of 3 figures within limits"}},
		{"a quick rate misses", func(in *Input) { in.Bench.Figures[2].Verdict = figures.Miss }, near,
			[]string{"Passed, 1 rate missed: scenarios, figures, cases", "Figures passed, 1 rate missed 2 of 3 figures within limits", "; 1 rate missed in a short run"}},
		{"a long rate misses", func(in *Input) { in.Bench.Quick, in.Bench.Figures[2].Verdict = false, figures.Miss }, failed, []string{"Failed: figures"}},
		{"slow figures are left out", func(in *Input) { in.Bench.Left = []string{"a", "b"} }, passed, []string{"within limits", "; 2 slow ones not measured"}},
		{"a figure has no value", func(in *Input) {
			f := &in.Bench.Figures[2]
			f.Verdict, f.Value, f.Error = figures.NoValue, nil, "link is down"
		}, failed, []string{"Failed: figures", "link is down", "–"}},
		{"a case has not come up", func(in *Input) { in.Sim.Functional[1].Bins[0].Hits = 0 }, passed,
			[]string{"incomplete: cases of the protocol", "2 of 3 cases covered", "without trap missing"}},
		{"cases were not counted", func(in *Input) { in.Sim.Functional = nil }, passed, []string{"not run yet: cases of the protocol"}},
		{"a hole is open", func(in *Input) { in.Coverage.Files[0].Code.Explained = 0 }, failed, []string{"Failed: coverage"}},
		{"an explanation is stale", func(in *Input) { in.Coverage.Stale = []string{"a.v | if | b"} }, failed, []string{"Failed: coverage", "a.v | if | b"}},
		{"a proof is refuted", func(in *Input) {
			p := &in.Prove.Proofs[0]
			p.Result, p.Error, p.Trace, in.Prove.Failed, in.Prove.Proved = "refuted", "fifo_sync.formal.v:40 is broken", "build/traces/fifo_sync.vcd", 1, 1
		}, failed, []string{"Failed: proofs", "1 of 2 properties proved", "fifo_sync.formal.v:40 is broken", "build/traces/fifo_sync.vcd", "refuted"}},
		{"mutants survive", func(in *Input) { in.Mutate.Share, in.Mutate.Killed, in.Mutate.Survived = 0.9, 900, 100 }, failed, []string{"Failed: mutants", "90.0 % of the others"}},
		{"a packet was lost", func(in *Input) {
			in.Soak.Failed = 1
			in.Soak.Rows[0].Lost = 1
			in.Soak.Failures = []soak.Failure{{Case: in.Soak.Rows[0].Case, Seed: 9, Error: "packet 7 is missing", Again: "lmmc soak --seed 9"}}
		}, failed, []string{"Failed: fault campaign", "direct flip 1e-05, seed 9 packet 7 is missing", "again: lmmc soak --seed 9", "lost 1, wrong 0, wedged 0"}},
		{"a case failed", func(in *Input) {
			x := &in.Conform.Results[0]
			x.Verdict, x.Reason, x.Again, x.Transcript = conformance.Fail, "PAGE_BYTES is 3", "lmmc conform --run identity", "build/transcripts/identity-fields.rec"
		}, failed, []string{"Failed: conformance", "1 of 3 cases passed", "PAGE_BYTES is 3 again: lmmc conform --run identity recording: build/transcripts/identity-fields.rec", "identity/fields failed"}},
		{"another target", func(in *Input) { in.Conform.Target, in.Conform.Identity.Hash = "model:", 0 }, passed,
			[]string{"incomplete: conformance", "2 of 3 cases passed on model:, 1 skipped; not built from this RTL"}},
		{"a recording failed", func(in *Input) { in.Diagrams, in.Curve, in.Stages, in.Unrecorded = nil, nil, nil, "no frame" }, passed, []string{"Recording for this page failed: no frame"}},
	} {
		in := full()
		test.change(&in)
		check.Equal(t, test.name+": verdict", verdict(in.sections()).State, test.state)
		text := words(t, write(t, in))
		check.Contains(t, test.name, text, test.says...)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	in, err := Load(dir)
	if err != nil || in.Sim != nil || in.Bench != nil {
		t.Errorf("from an empty folder: %+v, %v", in, err)
	}
	check.Fatal(t, results.Write(dir, "sim", full().Sim))
	if in, err = Load(dir); err != nil || in.Sim == nil || in.Sim.Passed != 5 || in.Bench != nil {
		t.Errorf("with sim alone: %+v, %v", in, err)
	}
	check.Fatal(t, results.WriteFile(dir+"/bench.json", []byte("{")))
	if _, err = Load(dir); err == nil || !regexp.MustCompile(`bench\.json is damaged`).MatchString(err.Error()) {
		t.Errorf("with a damaged bench: %v", err)
	}
}
