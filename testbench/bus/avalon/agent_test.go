package avalon_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/avalon"
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
// An agent without readdatavalid reads its target once a read, however long it lets the host wait.
// Without writeresponsevalid nothing answers a write, so one that the target refuses fails the bench.
// What an interface cannot carry is refused when it is asked for.
