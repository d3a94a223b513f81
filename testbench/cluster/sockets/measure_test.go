package sockets_test

import (
	"context"
	"os"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/sockets"
)

// TestMain: hosts are this program, again.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sockets.HostCommand {
		if err := sockets.Serve(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestMeasure: each way carries each size, and opens connections.
func TestMeasure(t *testing.T) {
	sizes := []int{1024}
	o := sockets.Options{Ways: []sockets.Way{sockets.Ours, sockets.Messages}, Sizes: sizes, Rounds: 1, Opened: 2, Seed: 1, Lmmc: check.Must(os.Executable())(t),
		Progress: func(what string) { t.Log(what) }}
	if os.Geteuid() == 0 {
		o.Ways = sockets.Ways
	}
	d := check.Must(sockets.Measure(t.Context(), o))(t)
	for _, way := range o.Ways {
		for _, size := range sizes {
			p := d.Of(way, size)
			if p == nil || p.P10 <= 0 || p.P10 > p.Median || p.Median > p.P99 || p.Rate <= 0 || p.CPU <= 0 || p.Driver == 0 { // of so few turns that are measured Driver may be less than 0
				t.Errorf("%s, %d bytes: %+v", way, size, p)
			}
		}
	}
	if len(d.Opened) != len(o.Ways)-1 {
		t.Errorf("connections of %d ways", len(d.Opened))
	}
	if lines := d.Plot().Series; len(lines) != len(o.Ways)+len(d.Papers) {
		t.Errorf("%d series in the plot", len(lines))
	}
}
