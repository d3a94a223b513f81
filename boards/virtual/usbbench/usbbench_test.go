package usbbench_test

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/usbbench"
	"github.com/stafflink/lmmc/hostdrv/usb"
	"github.com/stafflink/lmmc/testbench/guest"
)

func TestMain(m *testing.M) {
	guest.Init()
	usbbench.Init()
	goleak.VerifyTestMain(m)
}

// TestMeasure looks at what the two find for whether it can be true; how fast it was is a matter of the machine.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	reads, err := usbbench.MeasureReads(t.Context())
	if errors.Is(err, usb.ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", reads)
	slices.Sort(reads.PerRead)
	// Less is impossible, since a read goes there and back.
	if n := len(reads.PerRead); n < 100 || reads.PerRead[n/10] < 2 {
		t.Errorf("request blocks of %d reads: %v", n, reads.PerRead)
	}
	rates, err := usbbench.MeasureRates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", rates)
	if len(rates.Bare) == 0 || len(rates.Driver) != len(rates.Bare) || slices.Min(rates.Bare) <= 0 || slices.Min(rates.Driver) <= 0 {
		t.Errorf("%+v", rates)
	}
}
