package axi

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

// A write that an exclusive access has not carried out is none that a slave has seen.
func TestCheckerPassesOverFailedExclusiveWrites(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), dut.Design("axi_rogue", nil), testbench.Config{Wave: testbench.WaveNever}))(t)
	defer b.Close()
	k := NewChecker(b)
	write := Transaction{Write: true, Len: 1, Data: []byte{7}, Begin: 10, End: 20}
	failed := write
	failed.Lock, failed.Begin, failed.End = true, 12, 18
	k.Slave(0)(&failed)
	k.Master("m")(&write)
	check.Fatal(t, b.Model().Eval())
	if err := b.Step(1); err == nil || !strings.Contains(err.Error(), "byte 0x07 at 0x0 was not written to any slave") {
		t.Errorf("got %v", err)
	}
}
