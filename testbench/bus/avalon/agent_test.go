package avalon_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/avalon"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// The first data of a read come in the cycle after the request, not with it.
func TestReadDataWithTheRequest(t *testing.T) {
	b := testbench.New(t, design("avmm_quick"), testbench.Config{})
	var first string
	h := check.Must(avalon.NewHost(b, "s", avalon.Config{Config: found(&first)}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	h.Read(0, 1)
	check.Fatal(t, b.Step(10))
	check.Equal(t, "rule", first, avalon.RulePipeline)
}

// counted counts reads, which may do something to a register.
type counted struct {
	memory.Memory
	reads int
}

func (m *counted) Read(address uint64, p []byte) error {
	m.reads++
	return m.Memory.Read(address, p)
}

// An agent without readdatavalid reads its target once a read, however long it lets the host wait.
func TestAReadThatWaitsIsDoneOnce(t *testing.T) {
	b := testbench.New(t, design("avmm_simple"), testbench.Config{})
	var target counted
	h := check.Must(avalon.NewHost(b, "s", avalon.Config{}))(t)
	a := check.Must(avalon.NewAgent(b, "m", avalon.Config{}, &target))(t)
	check.Fatal(t, b.Reset("rst", 2))
	a.SetThrottle(0.8)
	b.Go("host", func(c *testbench.Task) {
		for range 20 {
			check.Error(t, h.Read(0, 1).Wait(c))
		}
	})
	check.Fatal(t, b.Run(5000))
	check.Equal(t, "reads", target.reads, 20)
}

// Without writeresponsevalid nothing answers a write, so one that the target refuses fails the bench.
func TestAWriteThatIsRefused(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), design("avmm_through"), testbench.Config{Wave: testbench.WaveNever}))(t)
	defer b.Close()
	h := check.Must(avalon.NewHost(b, "s", avalon.Config{}))(t)
	check.Must(avalon.NewAgent(b, "m", avalon.Config{}, memory.New(0x100)))(t)
	check.Fatal(t, b.Reset("rst", 2))
	h.Write(0x200, []uint64{1}, nil)
	check.Fails(t, "write", b.Step(50), memory.ErrBounds, "avalon-mm m: ", "a write has no response")
}

// What an interface cannot carry is refused when it is asked for.
func TestTransfersThatAreRefused(t *testing.T) {
	for name, start := range map[string]func(*avalon.Host) *avalon.Transfer{
		"2 words with masks for 1":           func(h *avalon.Host) *avalon.Transfer { return h.Write(0, []uint64{1, 2}, []uint64{15}) },
		"a transfer of 9 words: want 1 to 8": func(h *avalon.Host) *avalon.Transfer { return h.Read(0, 9) },
	} {
		b := check.Must(testbench.Open(t.Context(), design("avmm_through"), testbench.Config{Wave: testbench.WaveNever}))(t)
		h := check.Must(avalon.NewHost(b, "s", avalon.Config{}))(t)
		check.Fatal(t, b.Reset("rst", 2))
		p := start(h)
		check.Fails(t, name, b.Err(), nil, "avalon-mm s: ", name)
		if !p.Done() || p.Err == nil {
			t.Errorf("%s: it is not over: %v", name, p.Err)
		}
		check.Error(t, errors.Join(b.Close()))
	}
}
