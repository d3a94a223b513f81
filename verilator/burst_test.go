package verilator_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/verilator"
)

// A run without conditions may take the short way of bursts, one with a condition never does, and a model that counts coverage is
// evaluated at every edge besides: all have to do the same, with logic between inputs and outputs and without.
func TestBurstsChangeNothing(t *testing.T) {
	for _, through := range []string{"0", "1"} {
		design := node
		design.Params = map[string]string{"THROUGH": through}
		everyEdge := design
		everyEdge.Coverage = true
		for _, threads := range []int{1, 2} {
			for _, latency := range []int{1, 2, 16} {
				for _, chunk := range []uint64{1, 23, 64} {
					want := symbolRing(t, everyEdge, threads, latency, chunk, true)
					for _, watched := range []bool{false, true} {
						if got := symbolRing(t, design, threads, latency, chunk, watched); got != want {
							t.Fatalf("through %s, %d threads, latency %d, chunks of %d, watched %v:\n%swant\n%s", through, threads, latency, chunk, watched, got, want)
						}
					}
				}
			}
		}
	}
}

func symbolRing(t *testing.T, design verilator.Design, threads, latency int, chunk uint64, watched bool) (seen string) {
	net, ports, links := ringOf(t, design, 3, threads, latency, 0)
	idle := new(uint64(0))
	sources, sinks := make([]*verilator.Source, 3), make([]*verilator.Sink, 3)
	for i, m := range net.Models() {
		sources[i] = must(m.Source(verilator.Channel{Data: "id[12:4]", Idle: idle, Depth: 64}))
		sinks[i] = must(m.Sink(verilator.Channel{Data: "through", Idle: idle, Depth: 256}))
	}
	beats := make([]verilator.Beat, 256)
	for ran := uint64(0); ran < 640; ran += chunk {
		for i, s := range sources {
			for k := range ran % 31 {
				s.Put(ran+k*uint64(i+5), k%3 == 0)
			}
		}
		if watched {
			never := verilator.At{Model: net.Models()[0], Until: verilator.AtLeast("right", 1<<10)}
			if stop, err := net.RunUntil(chunk, never); err != nil || stop.Reason == verilator.Condition {
				t.Fatal(stop, err)
			}
		} else if err := net.Run(chunk); err != nil {
			t.Fatal(err)
		}
		for i, p := range ports {
			m := net.Models()[i]
			seen += fmt.Sprintf("%d %x %x %d %d %+v %d ", i, *p.State, *p.Seen, sources[i].Pending(), sources[i].Frames(), links[i].Stats(), m.Time())
			seen += fmt.Sprintln(beats[:sinks[i].Read(beats)])
		}
	}
	return seen
}
