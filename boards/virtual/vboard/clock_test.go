package vboard_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// TestTime holds a driver's time against the NI's: what USB does is not in it, nor what happens while nobody waits.
func TestTime(t *testing.T) {
	n := check.Must(hostdrv.Open(t.Context(), "vboard:hx8k?frames=1&fault=delay=5ms", hostdrv.Options{Seed: 1}))(t)
	defer n.Close()
	if !n.VirtualTime() {
		t.Error("the time of a simulation does not stand still")
	}
	const turn = 32 * time.Second / 125e6 // of the simulation
	for range 10 {
		limit, cancel := n.WithTimeout(t.Context(), 300*turn) // 77 us, of which USB takes 5 ms each way
		if _, err := n.LinkStatus(limit, 1); err != nil {
			t.Error(err)
		}
		cancel()
	}
	start := n.Now()
	time.Sleep(50 * time.Millisecond)
	if passed := n.Now() - start; passed > 0 {
		t.Errorf("%v passed while nobody waited", passed)
	}
	events := check.Must(n.Events())(t)
	const most = 1000 * turn
	limit, cancel := n.WithTimeout(t.Context(), most)
	defer cancel()
	start = n.Now()
	if _, err := events.Next(limit); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if passed := n.Now() - start; passed < most || passed > most+300*turn {
		t.Errorf("a wait of %v took %v", most, passed)
	}
}
