package routing

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

// TestOrder adds waits in any sequence: one is refused if and only if it closes a cycle.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGraph(anyNetwork.Draw(t, "network"))
		o := newOrder(g, make([]uint16, len(g.from)))
		leads := func(from, to int32) bool {
			met := map[int32]bool{from: true}
			for queue := []int32{from}; len(queue) > 0; queue = queue[1:] {
				o.after(queue[0], func(next int32) {
					if !met[next] {
						met[next] = true
						queue = append(queue, next)
					}
				})
			}
			return met[to]
		}
		for range rapid.IntRange(1, 200).Draw(t, "waits") {
			c := rapid.Int32Range(0, int32(len(g.from))-1).Draw(t, "channel")
			if g.peer[c] < 0 {
				continue
			}
			port := rapid.Uint8Range(1, g.ports(g.peer[c])).Draw(t, "port")
			to := g.channel(g.peer[c], port)
			closes := leads(to, c)
			check.Equal(t, "added", o.add(c, port), !closes)
		}
		for c := range g.from {
			o.after(int32(c), func(next int32) {
				if o.place[c] >= o.place[next] {
					t.Errorf("channel %d waits for %d, which is not behind it", c, next)
				}
			})
		}
		if newOrder(g, o.waits) == nil {
			t.Error("no order is found from the start")
		}
	})
}
