package testbench_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

var everyFault = testbench.FaultRates{Symbols: 20_000, BitError: 1e-3, Drop: 1e-3, Duplicate: 1e-3, Burst: 1e-3,
	Stuck: 5e-4, Unplug: 1e-4, UnplugLength: 200, Open: 0x1FF}

func TestPlansFollowFromTheSeed(t *testing.T) {
	one := testbench.GenerateFaults(testbench.NewRand(1), everyFault)
	again := testbench.GenerateFaults(testbench.NewRand(1), everyFault)
	other := testbench.GenerateFaults(testbench.NewRand(2), everyFault)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Error("plans do not follow from the seed")
	}
	// Another kind of fault does not move the others.
	fewer := everyFault
	fewer.Drop = 0
	rest := slices.DeleteFunc(one, func(f testbench.Fault) bool { return f.Kind == testbench.FaultDrop })
	if !slices.Equal(rest, testbench.GenerateFaults(testbench.NewRand(1), fewer)) {
		t.Error("leaving out one kind changed the others")
	}
}

func TestPlansKeepTheirRates(t *testing.T) {
	rates := testbench.FaultRates{Symbols: 1_000_000, BitError: 1e-3, Drop: 2e-3}
	hits := testbench.GenerateFaults(testbench.NewRand(5), rates).Hits(rates.Symbols)
	for kind, want := range map[testbench.FaultKind]float64{testbench.FaultFlip: 9000, testbench.FaultDrop: 2000} {
		if got := float64(hits.Of(kind)); math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("%s: %v, want about %v", kind, got, want)
		}
	}
	most := testbench.GenerateFaults(testbench.NewRand(5), testbench.FaultRates{Symbols: 100_000, Drop: 0.125}).Hits(100_000)
	if n := most.Of(testbench.FaultDrop); n < 12_000 || n > 13_000 {
		t.Errorf("rate 1/8 for 100,000 symbols gave %d faults", n)
	}
}

// One fault at a time, of a length that is allowed, and every bit is hit.
func TestPlansKeepTheirBounds(t *testing.T) {
	plan := testbench.GenerateFaults(testbench.NewRand(6), everyFault)
	end, longest, flipped := uint64(0), map[testbench.FaultKind]uint64{}, uint64(0)
	for _, f := range plan {
		if f.At < end {
			t.Fatalf("%v begins before %d", f, end)
		}
		end = f.At + f.Count
		longest[f.Kind] = max(longest[f.Kind], f.Count)
		if f.Kind == testbench.FaultFlip {
			flipped |= f.Value
		}
	}
	if l := longest; l[testbench.FaultFlip] != 1 || l[testbench.FaultDrop] != 1 || l[testbench.FaultBurst] != 16 || l[testbench.FaultStuck] > 64 || l[testbench.FaultUnplug] > 256 {
		t.Errorf("faults last up to %v", longest)
	}
	check.Equal(t, "bits that flips hit", flipped, 0x1FF)
}

func TestBadRatesAreRefused(t *testing.T) {
	for want, rates := range map[string]testbench.FaultRates{
		"bit error rate of 0.36":  {BitError: 0.04},
		"drop rate of 0.2":        {Drop: 0.2},
		"unplug rate of NaN":      {Unplug: math.NaN()},
		"burst rate of -1":        {Burst: -1},
		"stuck lasts up to 40000": {StuckLength: 40000},
		"burst lasts up to -3":    {BurstLength: -3},
		"symbols of 17 bits":      {Width: 17},
	} {
		check.Fails(t, fmt.Sprintf("%+v", rates), check.Err(rates.Source(1)), nil, want)
	}
}

func TestPlansSurviveText(t *testing.T) {
	plan := testbench.GenerateFaults(testbench.NewRand(3), everyFault)
	read := check.Must(testbench.ParseFaultPlan(plan.String()))(t)
	check.Equal(t, "plan that went through text", read, plan)
	byHand, err := testbench.ParseFaultPlan("# made smaller\n\n@0x20 stuck 0x1bc x3  # idle\n@7 drop\n")
	want := testbench.FaultPlan{{At: 7, Kind: testbench.FaultDrop, Count: 1}, {At: 32, Kind: testbench.FaultStuck, Count: 3, Value: 0x1BC}}
	if err != nil || !slices.Equal(byHand, want) {
		t.Errorf("got %v, %v", byHand, err)
	}
}

func TestBadPlansAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"flip 1":           "line 1: want @symbol",
		"\n@x drop":        `line 2: "@x" is not @symbol`,
		"@1 melt":          `no fault "melt"; there are flip, burst`,
		"@1 flip":          "flip needs a value",
		"@1 flip y":        `"y" is not a value`,
		"@1 drop x0":       `"x0" is not xcount`,
		"@1 drop x2 again": `"again" is too much`,
	} {
		check.Fails(t, fmt.Sprintf("%q", text), check.Err(testbench.ParseFaultPlan(text)), nil, want)
	}
}

func TestFaultsOnSymbols(t *testing.T) {
	sent := []uint16{0, 1, 2, 3, 4, 5, 6, 7}
	for text, want := range map[string]string{
		"":                           "[0 1 2 3 4 5 6 7] none",
		"@2 flip 0x101":              "[0 1 259 3 4 5 6 7] 1 flip",
		"@1 flip 1 x3":               "[0 0 3 2 4 5 6 7] 3 flip",
		"@5 drop x2":                 "[0 1 2 3 4 7] 2 drop",
		"@0 duplicate\n@7 duplicate": "[0 0 1 2 3 4 5 6 7 7] 2 duplicate",
		"@3 stuck 9 x2":              "[0 1 2 9 9 5 6 7] 2 stuck",
		"@6 unplug 0x1ff x100":       "[0 1 2 3 4 5 511 511] 2 unplug",
		"@6 stuck 0\n@6 flip 1":      "[0 1 2 3 4 5 1 7] 1 flip, 1 stuck",
	} {
		plan := check.Must(testbench.ParseFaultPlan(text))(t)
		arrived, counts := plan.Apply(sent, 9)
		check.Equal(t, fmt.Sprintf("%q", text), fmt.Sprint(arrived, " ", counts), want)
		check.Equal(t, fmt.Sprintf("%q: counts", text), counts, plan.Hits(uint64(len(sent))))
	}
	burst, _ := testbench.FaultPlan{{At: 2, Kind: testbench.FaultBurst, Count: 4, Value: 1}}.Apply(sent, 9)
	for i, v := range burst {
		if inside := i >= 2 && i < 6; (v != sent[i]) != inside || v > 0x1FF {
			t.Errorf("burst: got %v", burst)
		}
	}
}

// What arrives over a link of the runtime is what arrives in Go, with idle where a symbol was dropped.
func TestALinkDoesWhatThePlanSays(t *testing.T) {
	const symbols, idle = 5000, 0x1BC
	rates := everyFault
	rates.Symbols, rates.Duplicate = symbols, 0
	plan := testbench.GenerateFaults(testbench.NewRand(8), rates)
	if hits := plan.Hits(symbols); slices.Contains([]uint64{hits[0], hits[1], hits[2], hits[4], hits[5]}, 0) {
		t.Fatalf("the plan tests too little: %s", hits)
	}
	b := quiet(t, verilator.Design{Top: "wire_end", Sources: []string{"testdata/wire.v"}}, testbench.Config{})
	clk := b.Main().Clock
	link := check.Must(verilator.Connect(verilator.LinkConfig{From: clk, To: clk, Output: "tx", Input: "rx",
		Latency: 1, Idle: idle}))(t)
	check.Fatal(t, plan.Inject(link, 9))
	tx := check.Must(b.Signal("tx"))(t)
	rx := check.Must(b.Signal("rx"))(t)
	var sent, got []uint16
	b.Observe(b.Main(), func() {
		sent = append(sent, uint16(tx.Get()))
		got = append(got, uint16(rx.Get()))
	})
	check.Fatal(t, b.Step(symbols+1))
	injector := plan.Injector(9)
	for i, s := range sent[:symbols] {
		want := injector.Pass(nil, s)
		if len(want) == 0 {
			want = []uint16{idle}
		}
		if got[i+1] != want[0] {
			t.Fatalf("symbol %d, sent %#x: got %#x, want %#x\n%s", i, s, got[i+1], want[0], plan)
		}
	}
	stats, counts := link.Stats(), injector.Counts()
	if stats.Flipped != counts.Of(testbench.FaultFlip)+counts.Of(testbench.FaultBurst) || stats.Unplugged != counts.Of(testbench.FaultUnplug) {
		t.Errorf("the link counts %+v, the plan %s", stats, counts)
	}
}

// On a link, where there is no room for one more, a duplicate takes the place of its neighbour; a stretched plan hits as many samples
// for each symbol.
func TestDuplicatesAndStretchedPlansOnALink(t *testing.T) {
	b := quiet(t, verilator.Design{Top: "wire_end", Sources: []string{"testdata/wire.v"}}, testbench.Config{})
	clk := b.Main().Clock
	link := check.Must(verilator.Connect(verilator.LinkConfig{From: clk, To: clk, Output: "tx", Input: "rx", Latency: 1}))(t)
	tx, rx := check.Must(b.Signal("tx"))(t), check.Must(b.Signal("rx"))(t)
	for _, c := range []struct {
		plan    string
		samples uint64
		want    string
	}{
		{"@1 duplicate", 1, "[0 1 1 3 4 5 6 7 8]"},
		{"@1 duplicate x2", 1, "[0 1 1 3 3 5 6 7 8]"},
		{"@0 duplicate", 3, "[0 1 2 2 2 2 6 7 8]"},
		{"@1 drop", 3, "[0 1 2 0 0 0 6 7 8]"},
		{"@1 stuck 5 x2", 2, "[0 1 5 5 5 5 6 7 8]"},
		{"@1 flip 0x100", 2, "[0 1 258 259 4 5 6 7 8]"},
	} {
		plan := check.Must(testbench.ParseFaultPlan(c.plan))(t)
		check.Fatal(t, b.Step(1))
		var got []uint64
		first := tx.Get()
		check.Fatal(t, plan.InjectStretched(link, 9, c.samples))
		for range 9 {
			check.Fatal(t, b.Step(1))
			v := rx.Get()
			if nth := (v - first) & 0x1FF; nth%7 == 0 && nth < 9*7 { // as it was sent
				v = nth / 7
			} else if back := ((v ^ 0x100) - first) & 0x1FF; back%7 == 0 && back < 9*7 {
				v = back/7 | 0x100
			}
			got = append(got, v)
		}
		check.Equal(t, fmt.Sprintf("%s, %d samples a symbol", c.plan, c.samples), fmt.Sprint(got), c.want)
	}
	// A burst on a line of one bit is noise, not the line inverted.
	inverted := 0
	for seed := range uint64(100) {
		sent := make([]uint16, 16)
		got, _ := testbench.FaultPlan{{Kind: testbench.FaultBurst, Count: 16, Value: seed}}.Apply(sent, 1)
		if got[0] != 1 {
			t.Error("the first bit of a burst is right")
		}
		for _, bit := range got {
			inverted += int(bit)
		}
	}
	if inverted < 700 || inverted > 1000 {
		t.Errorf("bursts inverted %d bits of 1600", inverted)
	}
}

func BenchmarkInjector(b *testing.B) {
	injector := testbench.GenerateFaults(testbench.NewRand(1), testbench.FaultRates{Symbols: uint64(b.N), BitError: 1e-4}).Injector(9)
	var dst []uint16
	for i := 0; b.Loop(); i++ {
		dst = injector.Pass(dst[:0], uint16(i))
	}
}
