package usbbench_test

import (
	"errors"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/usbbench"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/guest"
)

func TestMain(m *testing.M) {
	guest.Init()
	usbbench.Init()
	goleak.VerifyTestMain(m)
}

// TestMeasure checks both measurements, which depend on instructions and not on the machine.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	reads, err := usbbench.MeasureReads(t.Context())
	if errors.Is(err, usb.ErrNotBuilt) {
		t.Skip(err)
	}
	check.Fatal(t, err)
	t.Logf("%+v", reads)
	slices.Sort(reads.PerRead)
	// Less is impossible, since a read goes there and back.
	if n := len(reads.PerRead); n < 100 || reads.PerRead[0] < 2 || reads.PerRead[n*9/10] > 2 {
		t.Errorf("request blocks of %d reads: %v", n, reads.PerRead)
	}
	rates := check.Must(usbbench.MeasureRates(t.Context(), true))(t)
	t.Logf("%+v", rates)
	if len(rates.Bare) == 0 || len(rates.Driver) != len(rates.Bare) || slices.Min(rates.Bare) <= 0 {
		t.Fatalf("%+v", rates)
	}
	if driver, bare := slices.Max(rates.Driver), slices.Max(rates.Bare); driver < 0.7*bare || driver > 1.1*bare {
		t.Errorf("the driver's %.2f MB/s against %.2f", driver/1e6, bare/1e6)
	}
}
