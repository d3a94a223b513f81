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

// TestWays: stages follow each other, and are as long as half a round trip is. What does not hold a packet adds the same to each length; what does adds the packet's time.
func TestWays(t *testing.T) {
	trips := check.Must(messages.Trips(t.Context(), check.Must(topology.Generate("star", []int{2}, 1))(t), 11))(t)
	ways := check.Must(messages.Ways(t.Context(), []int{0, 512}, func(string) {}))(t)
	for _, w := range ways {
		t.Logf("%+v", w)
		at := 0
		for _, s := range w.Stages {
			if s.From != at || s.To <= s.From {
				t.Errorf("%s is from %d to %d", s.Name, s.From, s.To)
			}
			at = s.To
		}
	}
	short, long := ways[0], ways[1]
	if half := trips[5] / 2; short.Clocks() < half-8 || short.Clocks() > half {
		t.Errorf("without bytes it takes %d clocks, half a round trip %d", short.Clocks(), half)
	}
	length := func(w messages.Way, stage int) int { return w.Stages[stage].To - w.Stages[stage].From }
	if d := length(long, 5) - length(short, 5); d < 512 || d > 520 {
		t.Errorf("512 bytes take %d clocks more on the host's cable", d)
	}
	if d := length(long, 2) - length(short, 2); d < 0 || d > 8 {
		t.Errorf("512 bytes take %d clocks more in the switch", d)
	}
}
