package wishbone_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
)

var kinds = []wishbone.Burst{wishbone.Linear, wishbone.Wrap4, wishbone.Wrap8, wishbone.Wrap16, wishbone.Constant}

// most is how many words a burst of the tests has.
func most(k wishbone.Burst) int {
	return map[wishbone.Burst]int{wishbone.Linear: 20, wishbone.Wrap4: 4, wishbone.Wrap8: 8, wishbone.Wrap16: 16, wishbone.Constant: 6}[k]
}

// around returns the words of a burst, counted from 0, by the table of section 4.4.4 and not by the package.
func around(k wishbone.Burst, first, n int) (words []int) {
	for i := range n {
		size := most(k)
		switch k {
		case wishbone.Linear:
			words = append(words, first+i)
		case wishbone.Constant:
			words = append(words, first)
		default:
			words = append(words, first/size*size+(first+i)%size)
		}
	}
	return words
}

// Random bursts of a master, between single accesses, give what a slice says.
func TestBursts(t *testing.T) {
	b := open(t, "wb_burst_ram", false, 0)
	check.Fatal(t, b.Model().Poke("hold", 1))
	m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true}))(t)
	check.Fatal(t, b.Reset("rst", 3))
	b.RandomStall("wb", m, 30)
	rng, mirror := b.Rand("bursts"), make([]uint64, 256)
	b.Go("cpu", func(c *testbench.Task) {
		check.Error(t, m.WriteBurst(c, wishbone.Linear, 0, mirror...))
		for range 200 {
			kind := kinds[rng.IntN(len(kinds))]
			first, n := rng.IntN(230), rng.Between(1, most(kind))
			if rng.Chance(0.2) {
				v := uint64(rng.Uint32())
				check.Error(t, m.Write(c, uint64(4*first), v))
				mirror[first] = v
			}
			words := around(kind, first, n)
			if rng.Bool() {
				var data []uint64
				for _, w := range words {
					mirror[w] = uint64(rng.Uint32())
					data = append(data, mirror[w])
				}
				check.Error(t, m.WriteBurst(c, kind, uint64(4*first), data...))
				continue
			}
			got, err := m.ReadBurst(c, kind, uint64(4*first), n)
			check.Error(t, err)
			for i, w := range words {
				if got[i] != mirror[w] {
					c.Fatalf("%s burst from word %d: word %d is %#x, want %#x", kind, first, w, got[i], mirror[w])
				}
			}
		}
	})
	check.Fatal(t, b.Run(100_000))
	check.Equal(t, "not covered", m.Coverage().Unhit(), []string{"bytes: some", "bytes: none"})
}

// A design copies lines by bursts of each kind; without stalls a slave ends a word each clock.
func TestBurstsOfADesign(t *testing.T) {
	for _, kind := range kinds {
		for _, slow := range []bool{false, true} {
			t.Run(fmt.Sprint(kind, ", slow ", slow), func(t *testing.T) {
				b := open(t, "wb_burst_copy", false, 0)
				var store memory.Memory
				rng := b.Rand("memory")
				for i := range uint64(64) {
					check.Fatal(t, store.PutUint(4*i, 4, uint64(rng.Uint32())))
				}
				var edges []uint64
				s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{WordAddress: true, Item: func(a bus.Access) { edges = append(edges, a.Edge) }}, &store))(t)
				check.Fatal(t, b.Model().Poke("kind", uint64(kind)))
				check.Fatal(t, b.Model().Poke("pause", bus.Bit(slow)))
				if slow {
					s.SetThrottle(0.4)
				}
				done := check.Must(b.Signal("done"))(t)
				check.Fatal(t, b.Reset("rst", 3))
				b.Go("wait", func(c *testbench.Task) { c.Until(done.Is, 5000) })
				check.Fatal(t, b.Run(5000))
				n, first := min(most(kind), 16), 5
				if kind == wishbone.Constant {
					n = 8
				} else if kind == wishbone.Linear {
					first = 0
				}
				for line := range 4 {
					for _, w := range around(kind, 16*line+first, n) {
						from, _ := store.Uint(uint64(4*w), 4)
						to, _ := store.Uint(uint64(4*(128+w)), 4)
						check.Equal(t, fmt.Sprint("word ", w), to, (from+1)&0xFFFFFFFF)
					}
				}
				if !slow {
					check.Equal(t, "clocks from the first word of a burst to the last", edges[n-1]-edges[0], uint64(n-1))
				}
			})
		}
	}
}

func TestViolationsOfBursts(t *testing.T) {
	for _, test := range []struct {
		broken int
		kind   wishbone.Burst
		rule   string
	}{
		{1, wishbone.Wrap4, wishbone.RuleEnd}, {8, wishbone.Linear, wishbone.RuleEnd}, {2, wishbone.Linear, wishbone.RuleEnd}, {2, wishbone.Constant, wishbone.RuleEnd},
		{3, wishbone.Linear, wishbone.RuleIncrease}, {3, wishbone.Wrap8, wishbone.RuleIncrease}, {3, wishbone.Constant, wishbone.RuleConstant},
		{4, wishbone.Linear, wishbone.RuleIncrease}, {4, wishbone.Constant, wishbone.RuleConstant},
		{5, wishbone.Wrap16, wishbone.RuleIncrease}, {5, wishbone.Constant, wishbone.RuleConstant},
		{6, wishbone.Linear, wishbone.RuleCycles}, {7, wishbone.Wrap8, wishbone.RuleIncrease}, {9, wishbone.Linear, wishbone.RuleQualify},
	} {
		t.Run(fmt.Sprint(test.broken, " ", test.kind, " ", test.rule), func(t *testing.T) {
			b := open(t, "wb_burst_copy", false, test.broken)
			var first bus.Violation
			s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{WordAddress: true, Config: bus.Config{Violation: func(v bus.Violation) {
				if first.Rule == "" {
					first = v
				}
			}}}, &memory.Memory{}))(t)
			s.SetThrottle(0.5)
			check.Fatal(t, b.Model().Poke("kind", uint64(test.kind)))
			check.Fatal(t, b.Reset("rst", 3))
			check.Fatal(t, b.Step(300))
			check.Equal(t, "rule", first.Rule, test.rule)
		})
	}
	t.Run("slave", func(t *testing.T) {
		b := open(t, "wb_burst_ram", false, 1)
		found := map[string]int{}
		m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true, Config: bus.Config{Violation: func(v bus.Violation) { found[v.Rule]++ }}}))(t)
		check.Fatal(t, b.Reset("rst", 3))
		m.SetThrottle(0.5)
		for range 16 {
			m.StartBurst(wishbone.Wrap4, 0, 4, nil)
		}
		check.Fatal(t, b.Step(300))
		delete(found, wishbone.RuleNoCycle) // the last one may come after CYC
		if found[wishbone.RuleAnswer] == 0 || len(found) != 1 {
			t.Errorf("found %v", found)
		}
	})
}

// A burst that runs out of the memory ends with an error; one that the bus or its kind does not allow is refused.
func TestBurstsThatFail(t *testing.T) {
	b := open(t, "wb_burst_copy", false, 0)
	s := check.Must(wishbone.NewSlave(b, "", wishbone.Config{WordAddress: true}, memory.New(4*(128+16))))(t)
	check.Fatal(t, b.Reset("rst", 3))
	check.Fatal(t, b.Step(200))
	unhit := s.Coverage().Unhit()
	for _, name := range []string{"end: err", "access x end: write x err"} {
		for _, u := range unhit {
			if u == name {
				t.Errorf("not covered: %s", name)
			}
		}
	}
	for _, test := range []struct {
		top  string
		kind wishbone.Burst
		want string
	}{{"wb_ram", wishbone.Linear, "the design lacks CTI or BTE"}, {"wb_burst_ram", wishbone.Wrap4, "of 5 words: want 1 or more, and 4 at most"}} {
		b := check.Must(testbench.Open(t.Context(), design(test.top), testbench.Config{Wave: testbench.WaveNever}))(t)
		m := check.Must(wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true}))(t)
		b.Go("cpu", func(c *testbench.Task) { m.StartBurst(test.kind, 0, 5, nil) })
		check.Fails(t, test.top, b.Run(10), nil, test.want)
		check.Fatal(t, b.Close())
	}
}
