package avalon_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/avalon"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

func design(top string) verilator.Design {
	return verilator.Design{Top: top, Sources: []string{"testdata/" + top + ".v"}}
}

// Bursts and single words go through a design into a memory, and come back.
func TestBursts(t *testing.T) {
	b := testbench.New(t, design("avmm_through"), testbench.Config{})
	h := check.Must(avalon.NewHost(b, "s", avalon.Config{}))(t)
	a := check.Must(avalon.NewAgent(b, "m", avalon.Config{}, memory.New(0x200)))(t)
	check.Fatal(t, b.Reset("rst", 2))
	b.RandomStall("host", h, 20)
	b.RandomStall("agent", a, 20)
	rng := b.Rand("transfers")
	var mirror [0x200]byte
	word := func(at uint64) (v uint64) {
		for i := range uint64(4) {
			v |= uint64(mirror[at+i]) << (8 * i)
		}
		return v
	}
	b.Go("host", func(c *testbench.Task) {
		for range 200 {
			n := rng.Between(1, 8)
			at := uint64(4 * rng.IntN(0x80-n))
			var words, masks []uint64
			for i := range uint64(n) {
				words, masks = append(words, uint64(rng.Uint32())), append(masks, uint64(rng.IntN(16)))
				for k := range uint64(4) {
					if masks[i]>>k&1 != 0 {
						mirror[at+4*i+k] = byte(words[i] >> (8 * k))
					}
				}
			}
			h.Write(at, words, masks)
			reads := []*avalon.Transfer{h.Read(at, n), h.Read(0x100, 1), h.Read(0, 8)}
			for _, r := range reads {
				if err := r.Wait(c); err != nil {
					c.Fatalf("%w", err)
				}
				for i, got := range r.Words {
					if want := word(r.Addr + uint64(4*i)); got != want {
						c.Fatalf("read %#x: have %#x, want %#x", r.Addr+uint64(4*i), got, want)
					}
				}
			}
		}
		check.Fails(t, "beyond", h.Read(0x200, 1).Wait(c), avalon.ErrResponse)
	})
	check.Fatal(t, b.Run(200_000))
	check.Equal(t, "not covered", append(h.Coverage().Unhit(), a.Coverage().Unhit()...), nil)
	check.Equal(t, "words", h.Words(), a.Words())
}

func TestSimple(t *testing.T) {
	b := testbench.New(t, design("avmm_simple"), testbench.Config{})
	c := avalon.Config{WordAddress: true}
	h := check.Must(avalon.NewHost(b, "s", c))(t)
	a := check.Must(avalon.NewAgent(b, "m", c, memory.New(512)))(t)
	check.Fatal(t, b.Reset("rst", 2))
	b.RandomStall("host", h, 20)
	b.RandomStall("agent", a, 20)
	rng := b.Rand("words")
	b.Go("host", func(c *testbench.Task) {
		for i := range uint64(100) {
			v := uint64(rng.IntN(1 << 16))
			h.Write(2*i, []uint64{v}, nil)
			if r := h.Read(2*i, 1); r.Wait(c) != nil || r.Words[0] != v {
				c.Fatalf("word %d: have %#x, %v, want %#x", i, r.Words[0], r.Err, v)
			}
		}
	})
	check.Fatal(t, b.Run(20_000))
}

// found keeps the first rule that was broken.
func found(first *string) bus.Config {
	return bus.Config{Violation: func(v bus.Violation) {
		if *first == "" {
			*first = v.Rule
		}
	}}
}

func TestViolations(t *testing.T) {
	for i, rule := range []string{avalon.RuleRoles, avalon.RuleWait, avalon.RuleBurst, avalon.RuleBurst, avalon.RulePipeline} {
		t.Run(fmt.Sprint(i+1, " ", rule), func(t *testing.T) {
			b := testbench.New(t, design("avmm_through"), testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", uint64(i+1)))
			var first string
			h := check.Must(avalon.NewHost(b, "s", avalon.Config{Config: found(&first)}))(t)
			a := check.Must(avalon.NewAgent(b, "m", avalon.Config{Config: found(&first)}, &memory.Memory{}))(t)
			a.SetThrottle(0.6)
			check.Fatal(t, b.Reset("rst", 2))
			for range 5 {
				h.Write(0, make([]uint64, 4), nil)
			}
			check.Fatal(t, b.Step(200))
			check.Equal(t, "rule", first, rule)
		})
	}
}

func TestStreams(t *testing.T) {
	for late := range 2 {
		t.Run(fmt.Sprint("ready latency ", late), func(t *testing.T) {
			b := testbench.New(t, design("avst_fifo"), testbench.Config{})
			check.Fatal(t, b.Model().Poke("late", uint64(late)))
			c := avalon.StreamConfig{ReadyLatency: late}
			source := check.Must(avalon.NewSource(b, "in", c))(t)
			sink := check.Must(avalon.NewSink(b, "out", c))(t)
			check.Fatal(t, b.Reset("rst", 2))
			b.RandomStall("source", source, 30)
			b.RandomStall("sink", sink, 30)
			rng := b.Rand("packets")
			var sent []avalon.Packet
			for range 200 {
				sent = append(sent, avalon.Packet{Data: rng.Bytes(rng.Between(1, 30)), Channel: uint64(rng.IntN(16)), Error: uint64(rng.IntN(2))})
			}
			source.Put(sent...)
			b.Go("receive", func(c *testbench.Task) {
				for i, want := range sent {
					if got := sink.Get(c); !check.Equal(t, fmt.Sprint("packet ", i), got, want) {
						return
					}
				}
			})
			check.Fatal(t, b.Run(50_000))
			check.Equal(t, "not covered", append(source.Coverage().Unhit(), sink.Coverage().Unhit()...), nil)
		})
	}
}

func TestStreamViolations(t *testing.T) {
	for i, test := range []struct {
		rule string
		late uint64
	}{{avalon.RuleReady, 0}, {avalon.RulePacket, 0}, {avalon.RulePacket, 0}, {avalon.RuleReady, 1}} {
		t.Run(fmt.Sprint(i+1, " ", test.rule), func(t *testing.T) {
			b := testbench.New(t, design("avst_fifo"), testbench.Config{})
			check.Fatal(t, b.Model().Poke("broken", uint64(i+1)))
			check.Fatal(t, b.Model().Poke("late", test.late))
			var first string
			source := check.Must(avalon.NewSource(b, "in", avalon.StreamConfig{ReadyLatency: int(test.late)}))(t)
			sink := check.Must(avalon.NewSink(b, "out", avalon.StreamConfig{ReadyLatency: int(test.late), Config: found(&first)}))(t)
			sink.SetThrottle(0.7)
			check.Fatal(t, b.Reset("rst", 2))
			source.Put(avalon.Packet{Data: make([]byte, 30)}, avalon.Packet{Data: make([]byte, 9)})
			check.Fatal(t, b.Step(200))
			check.Equal(t, "rule", first, test.rule)
		})
	}
}

func TestPorts(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("avst_fifo"), testbench.Config{}))(t)
	defer b.Close()
	check.Fails(t, "side", check.Err(avalon.NewSink(b, "in", avalon.StreamConfig{})), verilator.ErrPort, "avst_fifo has no output for ")
	check.Fails(t, "latency", check.Err(avalon.NewSource(b, "in", avalon.StreamConfig{ReadyLatency: 9})), nil, "ReadyLatency is 9: want 0 to 8")
	none := bus.Config{Names: map[string]string{"empty": "-"}}
	check.Fails(t, "empty", check.Err(avalon.NewSource(b, "in", avalon.StreamConfig{Config: none})), verilator.ErrPort, "4 bytes a word, and there is no empty")
}
