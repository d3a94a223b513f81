package link_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
	"github.com/stafflink/lmmc/verilator"
)

type injectPorts struct {
	Tick, SReady, MReady, WrEn, Running, EvHit *bool   `port:"*"`
	SSym, MSym                                 *uint16 `port:"*"`
	WrReg                                      *uint8  `port:"*"`
	WrData, Symbols, Hits                      *uint32 `port:"*"`
}

// injected is link_inject between a sender of random symbols and a PHY.
type injected struct {
	t      *testing.T
	b      *testbench.Bench
	p      injectPorts
	rng    *testbench.Rand
	phy    func() (tick, ready bool) // of the next clock
	idle   float64                   // share of IDLE
	sent   []uint16                  // symbols that counted, or would
	passed []uint16                  // all that went out, IDLE that does not count left out
	events uint32
	again  bool // the first of two is out
}

func newInjected(t *testing.T) *injected {
	j := &injected{t: t, idle: 0.2, phy: func() (bool, bool) { return true, true }}
	j.b = moduletest.Open(t, "link_inject", nil, &j.p)
	j.rng = j.b.Rand("symbols")
	*j.p.SSym = j.symbol()
	return j
}

func (j *injected) symbol() uint16 {
	if j.rng.Chance(j.idle) {
		return uint16(linkproto.SymIdle)
	}
	return uint16(j.rng.IntN(512))
}

func (j *injected) clock() {
	p := &j.p
	*p.Tick, *p.MReady = j.phy()
	check.Fatal(j.t, j.b.Model().Eval())
	counts := j.again || *p.Tick || *p.SSym != uint16(linkproto.SymIdle)
	if *p.MReady && (counts || !*p.SReady || *p.MSym != uint16(linkproto.SymIdle)) {
		j.passed = append(j.passed, *p.MSym)
	}
	taken := *p.MReady && *p.SReady
	j.again = (j.again || *p.MReady) && !*p.SReady
	if taken && counts {
		j.sent = append(j.sent, *p.SSym)
	}
	j.b.Step(1)
	if taken {
		*p.SSym = j.symbol()
	}
	if *p.EvHit {
		j.events++
	}
}

func (j *injected) write(r linkproto.InjectReg, v uint32) {
	*j.p.WrEn, *j.p.WrReg, *j.p.WrData = true, uint8(r), v
	j.clock()
	*j.p.WrEn = false
}

// program writes what makes the injector do as the source does.
func (j *injected) program(s *testbench.FaultSource, count uint32) {
	for i, chance := range s.Chances[1:7] {
		j.write(linkproto.InjectFlip+linkproto.InjectReg(i), chance)
	}
	j.write(linkproto.InjectSeedLo, uint32(s.Seed))
	j.write(linkproto.InjectSeedHi, uint32(s.Seed>>32))
	j.write(linkproto.InjectCount, count)
	j.write(linkproto.InjectLengths, linkproto.InjectBurstLength.In(uint32(s.Lengths[0]))|linkproto.InjectStuckLength.In(uint32(s.Lengths[1]))|
		linkproto.InjectUnplugLength.In(uint32(s.Lengths[2])))
	j.write(linkproto.InjectOpen, uint32(s.Open))
}

// begin starts the plan and runs up to its symbol 0.
func (j *injected) begin() {
	j.write(linkproto.InjectControl, 1)
	for !*j.p.Running {
		j.clock()
	}
	j.sent, j.passed, j.events = nil, nil, 0
}

// source draws the same as the injector will; again is another that does.
func (j *injected) source(seed uint64, rates testbench.FaultRates) (s, again *testbench.FaultSource) {
	j.t.Helper()
	s = check.Must(rates.Source(seed))(j.t)
	again, _ = rates.Source(seed)
	return s, again
}

// apply is what must go out for symbols under a plan: a dropped one leaves IDLE.
func apply(plan testbench.FaultPlan, symbols []uint16) ([]uint16, testbench.FaultCounts) {
	injector := plan.Injector(9)
	var out []uint16
	for _, s := range symbols {
		before := len(out)
		if out = injector.Pass(out, s); len(out) == before {
			out = append(out, uint16(linkproto.SymIdle))
		}
	}
	return out, injector.Counts()
}

// compare holds what went out against a plan for the first of the symbols, those behind it being as they were.
func (j *injected) compare(name string, plan testbench.FaultPlan, symbols uint32) {
	j.t.Helper()
	want, counts := apply(plan, j.sent[:symbols])
	want = append(want, j.sent[symbols:]...)
	have := j.passed[:min(len(want), len(j.passed))]
	for i := range have {
		if have[i] != want[i] {
			j.t.Fatalf("%s: symbol %d of %d that went out is %#03x, want %#03x", name, i, len(want), have[i], want[i])
		}
	}
	if len(want) != len(j.passed) || *j.p.Hits != uint32(counts.Total()) || j.events != *j.p.Hits {
		j.t.Fatalf("%s: %d symbols went out, want %d; %d hits, %d events, want %s", name, len(j.passed), len(want), *j.p.Hits, j.events, counts)
	}
}

var injectRates = map[string]testbench.FaultRates{
	"bit errors, 1e-6":    {BitError: 1e-6},
	"bit errors, 1e-2":    {BitError: 1e-2},
	"drops":               {Drop: 1e-2},
	"duplicates":          {Duplicate: 2e-2},
	"bursts":              {Burst: 5e-3, BurstLength: 30},
	"stuck":               {Stuck: 5e-3, StuckLength: 1},
	"unplugged":           {Unplug: 2e-3, UnplugLength: 500, Open: 0x155},
	"everything":          {BitError: 2e-3, Drop: 3e-3, Duplicate: 3e-3, Burst: 3e-3, Stuck: 2e-3, Unplug: 1e-3, UnplugLength: 64, Open: uint64(linkproto.SymIdle)},
	"everything, at most": {BitError: 0.027, Drop: 0.125, Duplicate: 0.125, Burst: 0.125, Stuck: 0.125, Unplug: 0.125, BurstLength: 4, StuckLength: 4, UnplugLength: 4},
}

// For every kind of fault, and any PHY's way to take symbols, what goes out is what a plan of the same seed and rates makes in Go.
func TestInject(t *testing.T) {
	uart := 0
	phys := map[string]func(*testbench.Rand) (bool, bool){
		"direct": func(*testbench.Rand) (bool, bool) { return true, true },
		"serial": func(r *testbench.Rand) (bool, bool) { tick := r.Chance(0.3); return tick, tick && r.Chance(0.95) },
		"UART":   func(r *testbench.Rand) (bool, bool) { uart++; return uart%5 == 0, r.Chance(0.6) },
	}
	for phy, next := range phys {
		t.Run(phy, func(t *testing.T) {
			j := newInjected(t)
			j.phy = func() (bool, bool) { return next(j.rng) }
			for name, rates := range injectRates {
				seed := j.rng.Uint64()
				const symbols = 6000
				s, again := j.source(seed, rates)
				j.program(s, symbols)
				j.begin()
				for *j.p.Running {
					j.clock()
				}
				if int(*j.p.Symbols) != symbols || len(j.sent) != symbols {
					t.Fatalf("%s: the plan was for %d symbols, want %d", name, *j.p.Symbols, symbols)
				}
				for range 50 {
					j.clock()
				}
				j.compare(fmt.Sprintf("%s, seed %d", name, seed), again.Plan(symbols), symbols)
			}
		})
	}
}

// A fault begins if its random number is below the chance of its kind, to the bit, and lasts up to 2^15 symbols.
func TestInjectChances(t *testing.T) {
	j := newInjected(t)
	for round := range 300 {
		seed := j.rng.Uint64()
		s, again := j.source(seed, testbench.FaultRates{Open: uint64(j.rng.IntN(512))})
		for i := range s.Lengths {
			s.Lengths[i] = j.rng.IntN(16)
		}
		symbols := uint32(40)
		if round%30 == 0 {
			symbols, s.Lengths = 40_000, [3]int{15, 15, 15}
		}
		var chosen [8]bool
		for n, i := s.Seed, 0; i < 40; i++ {
			if code := max(n>>61, 1); code < 7 && !chosen[code] { // 0 means a flip, as 1 does
				chosen[code] = true
				s.Chances[code] = uint32(n>>32)&(1<<29-1) + uint32(j.rng.IntN(2)) // just not below, or just below
			}
			n ^= n << 13
			n ^= n >> 7
			n ^= n << 17
		}
		s.Chances[0] = s.Chances[1]
		again.Chances, again.Lengths = s.Chances, s.Lengths
		j.program(s, symbols)
		j.begin()
		for *j.p.Running {
			j.clock()
		}
		for range 50 {
			j.clock()
		}
		j.compare(fmt.Sprintf("round %d, seed %d", round, seed), again.Plan(uint64(symbols)), symbols)
	}
}

// Symbols and hits are counted through 17 bits and more.
func TestInjectCounts(t *testing.T) {
	j := newInjected(t)
	s, again := j.source(1, injectRates["everything, at most"])
	j.program(s, 0)
	j.begin()
	for len(j.sent) < 3<<16 {
		j.clock()
	}
	j.write(linkproto.InjectControl, 0) // takes a symbol, still of the plan
	if int(*j.p.Symbols) != len(j.sent) {
		t.Fatalf("%d symbols are counted of %d", *j.p.Symbols, len(j.sent))
	}
	for range 20 {
		j.clock()
	}
	j.compare("counts", again.Plan(uint64(*j.p.Symbols)), *j.p.Symbols)
	if *j.p.Hits < 1<<17 {
		t.Errorf("only %d hits", *j.p.Hits)
	}
}

// A plan ends by itself after COUNT symbols, be it one, and what follows is not changed.
func TestInjectEnds(t *testing.T) {
	for _, count := range []int{1, 2, 3, 17} {
		j := newInjected(t)
		s, again := j.source(3, injectRates["everything"])
		j.program(s, uint32(count))
		j.begin()
		for range 200 {
			j.clock()
		}
		if *j.p.Running || int(*j.p.Symbols) != count {
			t.Errorf("COUNT %d: running %v after %d symbols", count, *j.p.Running, *j.p.Symbols)
			continue
		}
		j.compare(fmt.Sprint("COUNT ", count), again.Plan(uint64(count)), uint32(count))
	}
}

// Before it runs nothing changes; a plan without COUNT runs until it is stopped, and a restarted plan starts at its symbol 0;
// CUT sends OPEN whatever the plan says.
func TestInjectControl(t *testing.T) {
	j := newInjected(t)
	for range 500 {
		j.clock()
	}
	if !slices.Equal(j.sent, j.passed) || *j.p.Hits != 0 || *j.p.Symbols != 0 {
		t.Fatal("symbols are changed before the plan begins")
	}
	rates := injectRates["everything"]
	s, _ := j.source(5, rates)
	j.program(s, 0)
	for _, n := range []int{1, 700, 5000} {
		j.begin()
		_, again := j.source(5, rates)
		for len(j.sent) < n {
			j.clock()
		}
		j.write(linkproto.InjectControl, 0) // takes a symbol, still of the plan
		if *j.p.Running {
			t.Fatal("the plan goes on")
		}
		counted := *j.p.Symbols
		for range 20 {
			j.clock()
		}
		j.compare(fmt.Sprintf("%d symbols", n), again.Plan(uint64(counted)), counted)
	}
	for _, control := range []uint32{2, 3} {
		j.write(linkproto.InjectOpen, 0x0AA)
		j.write(linkproto.InjectControl, control)
		j.passed = nil
		for range 300 {
			j.clock()
		}
		if slices.ContainsFunc(j.passed, func(v uint16) bool { return v != 0x0AA }) || len(j.passed) < 300 {
			t.Errorf("CUT: %d symbols went out, not all OPEN", len(j.passed))
		}
	}
	j.write(linkproto.InjectControl, 0)
	j.sent, j.passed = nil, nil
	for range 300 {
		j.clock()
	}
	if !slices.Equal(j.sent, j.passed) {
		t.Error("symbols are changed after the plan has ended")
	}
}

// The injector in front of a cable and a simulated cable with the faults of the same seed make the same stream of symbols.
func TestInjectIsTheCable(t *testing.T) {
	rates := injectRates["everything"]
	rates.Duplicate = 0 // a cable that carries a symbol every clock has no room for more
	j := newInjected(t)
	s, again := j.source(11, rates)
	j.program(s, 0)
	j.begin()
	const symbols = 20_000
	for len(j.sent) < symbols {
		j.clock()
	}

	var pins struct {
		Rst          *bool   `port:"*"`
		TxSym, RxSym *uint16 `port:"*"`
	}
	b := moduletest.New(t, "../phy/phy_direct", nil, &pins)
	link, err := verilator.Connect(verilator.LinkConfig{From: b.Main().Clock, To: b.Main().Clock, Output: "line_tx", Input: "line_rx", Latency: 1,
		Idle: uint64(linkproto.SymIdle)})
	check.Fatal(t, err)
	*pins.TxSym = uint16(linkproto.SymIdle)
	b.Reset("rst", 4)
	b.Step(8)
	plan := again.Plan(symbols)
	for i := range plan {
		plan[i].At++ // one symbol is underway
	}
	check.Fatal(t, plan.Inject(link, 9))
	var got []uint16
	for _, symbol := range append(slices.Clone(j.sent), 0, 0, 0) {
		*pins.TxSym = symbol
		b.Step(1)
		got = append(got, *pins.RxSym)
	}
	got = got[2:] // the PHY's registers
	for i, want := range j.passed[:symbols] {
		if got[i] != want {
			t.Fatalf("symbol %d, sent %#03x: %#03x comes over the cable, %#03x from the injector", i, j.sent[i], got[i], want)
		}
	}
	if stats := link.Stats(); stats.Flipped == 0 || stats.Dropped == 0 || stats.Stuck == 0 || stats.Unplugged == 0 {
		t.Errorf("the plan tests too little: %+v", stats)
	}
}

// A long plan runs for as many symbols as it was made for.
func TestInjectLongPlan(t *testing.T) {
	const symbols = 1<<17 + 4
	j := newInjected(t)
	j.idle = 0
	s, _ := j.source(1, testbench.FaultRates{})
	j.program(s, symbols)
	j.begin()
	for n := 0; *j.p.Running; n++ {
		if n > symbols+100 {
			t.Fatalf("still running after %d clocks", n)
		}
		j.clock()
		j.sent, j.passed = j.sent[:0], j.passed[:0]
	}
	check.Equal(t, "symbols of the plan", *j.p.Symbols, symbols)
}
