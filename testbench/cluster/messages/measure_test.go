package messages_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
)

// TestMeasure: what is measured can be.
func TestMeasure(t *testing.T) {
	points := check.Must(messages.Measure(t.Context(), cluster.Model, []int{0, 1500, 8192}, 1, func(what string) { t.Log(what) }))(t)
	for _, p := range points {
		t.Logf("%+v", p)
		if p.BothWays > 1 || p.OneWay > 1 || p.RoundTrip < 100+2*float64(p.Bytes) || p.Bytes == 1500 && p.BothWays < 0.9 {
			t.Error("that cannot be")
		}
	}
}

// TestTrips: a switch on the way costs something, and not much.
func TestTrips(t *testing.T) {
	cable := check.Must(messages.Trips(t.Context(), messages.Cabled(), 5))(t)
	star := check.Must(messages.Trips(t.Context(), check.Must(topology.Generate("star", []int{2}, 1))(t), 5))(t)
	t.Log(cable, star)
	if cable[0] < 100 || star[0] <= cable[4] || star[4] > cable[0]+100 {
		t.Error("that cannot be")
	}
}
