// Package axiram tests a design that is an AXI4 master in front of a memory in Go: random copies, random stalls, a monitor of the bus's rules,
// and a memory that answers with errors.
package axiram

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

// size is the memory's: three pages of 4 KB, which no burst may cross.
const size = 3 << 12

type ports struct {
	Start  *bool   `port:"*"`
	From   *uint32 `port:"*"`
	To     *uint32 `port:"*"`
	Words  *uint16 `port:"*"`
	Busy   *bool   `port:"*"`
	Failed *bool   `port:"*"`
}

// open opens a bench of a copier whose memory holds what is returned.
func open(t *testing.T, respond func(*axi.Transaction) axi.Resp) (b *testbench.Bench, p *ports, m *memory.Memory, content []byte, monitor *axi.Monitor) {
	t.Helper()
	b = testbench.New(t, verilator.Design{Top: "copier", Sources: []string{"copier.v"}}, testbench.Config{})
	p = &ports{}
	b.Bind(p)
	*p.Start = false
	m = memory.New(size)
	content = b.Rand("content").Bytes(size)
	if err := m.Write(0, content); err != nil {
		t.Fatal(err)
	}
	ram, err := axi.NewRAM(b, "m_axi", m, axi.Config{Respond: respond})
	if err != nil {
		t.Fatal(err)
	}
	if monitor, err = axi.NewMonitor(b, "m_axi", axi.Config{}); err != nil {
		t.Fatal(err)
	}
	b.RandomStall("ram", ram, 20)
	b.Reset("rst", 2)
	return b, p, m, content, monitor
}

// run has the copier copy some words.
func (p *ports) run(task *testbench.Task, from, to uint32, words int) {
	*p.Start, *p.From, *p.To, *p.Words = true, from, to, uint16(words)
	task.Cycles(1)
	*p.Start = false
	task.Until(func() bool { return !*p.Busy }, 50_000)
}

func TestCopies(t *testing.T) {
	b, p, m, want, monitor := open(t, nil)
	b.Go("copy", func(task *testbench.Task) {
		random := b.Rand("copies")
		for range 60 {
			words := 1 + random.Size(300, 16)
			from := 4 * random.IntN(size/4-words)
			to := 4 * random.IntN(size/4-words)
			if from < to+4*words && to < from+4*words {
				continue // they overlap
			}
			p.run(task, uint32(from), uint32(to), words)
			copy(want[to:], want[from:from+4*words])
			got := make([]byte, size)
			if err := m.Read(0, got); err != nil || *p.Failed || !bytes.Equal(got, want) {
				task.Fatalf("copy of %d words from %#x to %#x: failed is %v, memory is wrong (%v)", words, from, to, *p.Failed, err)
			}
		}
	})
	b.Run(1_000_000)
	if monitor.Transactions() < 100 || monitor.Outstanding() > 0 {
		t.Errorf("%d transactions, %d without an end", monitor.Transactions(), monitor.Outstanding())
	}
}

// TestErrors: an answer with an error ends the copy, and the next one works.
func TestErrors(t *testing.T) {
	for name, write := range map[string]bool{"read": false, "write": true} {
		t.Run(name, func(t *testing.T) {
			b, p, _, _, _ := open(t, func(t *axi.Transaction) axi.Resp {
				if t.Write == write && t.Addr < 64 {
					return axi.SlvErr
				}
				return axi.Okay
			})
			b.Go("copy", func(task *testbench.Task) {
				for _, c := range []struct {
					from, to uint32
					failed   bool
				}{{0, 0x1000, !write}, {0x1000, 0, write}, {0x1000, 0x2000, false}} {
					if p.run(task, c.from, c.to, 40); *p.Failed != c.failed {
						task.Fatalf("copy from %#x to %#x: failed is %v", c.from, c.to, *p.Failed)
					}
				}
			})
			b.Run(100_000)
		})
	}
}
