package flowctl_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// testMaxPacket is small, so that windows close, buffers wrap and timers run out often.
const testMaxPacket = 40

// drawConfig draws the sizes of a link whose receivers have room for delay.
func drawConfig(t *rapid.T, delay int) flowctl.Config {
	low := testMaxPacket + rapid.IntRange(0, 64).Draw(t, "low")
	high := low + rapid.IntRange(1, 64).Draw(t, "hysteresis")
	return flowctl.Config{
		MaxPacket:    testMaxPacket,
		Window:       rapid.SampledFrom([]int{1, 2, 5, 16, 128}).Draw(t, "window"),
		ReplayBytes:  rapid.IntRange(testMaxPacket, 8*testMaxPacket).Draw(t, "replay"),
		ReceiveBytes: high + 2*delay + 2*linkproto.InitSymbols + 2,
		High:         high,
		Low:          low,
		AckDelay:     rapid.IntRange(2*linkproto.InitSymbols, 100).Draw(t, "ack delay"),
		WordTimer:    rapid.IntRange(50, 300).Draw(t, "word timer"),
		Retry:        400 + 2*delay + rapid.IntRange(0, 500).Draw(t, "retry"),
		RetryLimit:   rapid.IntRange(2, 5).Draw(t, "retry limit"),
	}
}

// actions are what can happen to a link without errors.
func (w *world) actions() map[string]func(*rapid.T) {
	draw := rapid.IntRange(0, len(w.sides)-1)
	return map[string]func(*rapid.T){
		"send": func(t *rapid.T) {
			i := draw.Draw(t, "side")
			n := rapid.SampledFrom([]int{7, 8, 20, testMaxPacket}).Draw(t, "bytes")
			for range rapid.SampledFrom([]int{1, 3, 20, 200}).Draw(t, "packets") {
				w.send(i, n)
			}
		},
		"talk": func(t *rapid.T) {
			w.sides[draw.Draw(t, "side")].talk = rapid.SampledFrom([]int{0, 7, 9, testMaxPacket}).Draw(t, "bytes")
		},
		"run": func(t *rapid.T) {
			for range rapid.SampledFrom([]int{7, 100, 500, 2000}).Draw(t, "ticks") {
				w.step()
			}
		},
		"stall": func(t *rapid.T) {
			i := draw.Draw(t, "side")
			w.sides[i].stalled = !w.sides[i].stalled
		},
	}
}

// TestFaults: over a channel that loses, damages and repeats symbols, dies and comes back, with restarts of either
// end, every packet is delivered once and in order or reported lost, and the link comes to rest when the faults end.
func TestFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 150).Draw(t, "delay")
		w := newWorld(t, drawConfig(t, delay), delay, 2)
		actions := w.actions()
		side := rapid.IntRange(0, 1)
		rate := rapid.SampledFrom([]int{0, 0, 20, 200, 2000})
		actions["faults"] = func(t *rapid.T) {
			w.sides[side.Draw(t, "side")].out.faults = faults{
				lose:      rate.Draw(t, "lose"),
				corrupt:   rate.Draw(t, "corrupt"),
				duplicate: rate.Draw(t, "duplicate"),
				dead:      rapid.IntRange(0, 9).Draw(t, "dead") == 0,
			}
		}
		actions["restart"] = w.seldomRestart
		t.Repeat(actions)
		w.settle()
	})
}

// TestCables: cables are moved among four ends, with what is on its way in them or without it, at any time and without a pause; lines are
// faulty, and ends restart. Nothing comes to anybody but whom it was sent to, twice, or out of order, and nothing is lost without a report.
func TestCables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 150).Draw(t, "delay")
		w := newWorld(t, drawConfig(t, delay), delay, 4)
		actions := w.actions()
		side := rapid.IntRange(0, 3)
		actions["move"] = func(t *rapid.T) {
			keep := rapid.Bool().Draw(t, "with what is in them")
			to := rapid.IntRange(0, 3).Draw(t, "side 0 to") // 0: all are out
			for i := range w.sides {
				w.sides[i].peer = i ^ to
				if !keep {
					w.sides[i].out.queue = nil
				}
			}
		}
		actions["faults"] = func(t *rapid.T) {
			w.sides[side.Draw(t, "side")].out.faults = faults{lose: rapid.SampledFrom([]int{0, 0, 20}).Draw(t, "lose")}
		}
		actions["restart"] = w.seldomRestart
		t.Repeat(actions)
		w.settle()
	})
}

// TestPeerReturns: an end comes up with another that has not heard so when it gets a third one for its peer. What the first one sends when
// it is back, within the time of its silence, is not taken for the third one's.
func TestPeerReturns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, flowctl.Config{MaxPacket: testMaxPacket, WordTimer: 4096}, rapid.IntRange(0, 50).Draw(t, "delay"), 4)
		until := func(what string, holds func() bool) {
			for range 4000 {
				if holds() {
					return
				}
				w.step()
			}
			t.Fatal("it never comes to this: " + what)
		}
		up := func(i int) func() bool { return func() bool { return w.sides[i].Status().Up } }
		until("1 knows 0", func() bool { return w.sides[1].Status().Peer.Known })
		w.sides[0].out.faults.dead = true
		until("0 is up", up(0))
		for i := range w.sides {
			w.sides[i].peer, w.sides[i].out.queue = i^2, nil
		}
		w.sides[2].out.faults.dead = true // nobody tells 0
		if up(1)() {
			t.Fatal("1 is up without an acknowledgement")
		}
		until("1 is up with 3", func() bool { return up(1)() && w.sides[1].Status().Peer.Node == 3 })
		if !up(0)() {
			t.Fatal("0 has noticed")
		}
		w.cable()
		w.sides[0].out.faults.dead = false
		w.send(0, 8) // with the number that 1 expects of 3
		for range 200 {
			if w.step(); w.sides[0].sent[0] == delivered && w.sides[1].Status().Peer.Node != 0 {
				t.Fatal("1 has taken a packet of 0 for one of 3")
			}
		}
		w.settle()
	})
}

// TestBackPressure: without errors nothing is dropped, sent twice or lost, however the readers stall, as long as the
// receiver has room for what is underway.
func TestBackPressure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 150).Draw(t, "delay")
		w := newWorld(t, drawConfig(t, delay), delay, 2)
		t.Repeat(w.actions())
		w.settle()
		for i := range w.sides {
			for c := range linkproto.Counter(linkproto.NumCounters) {
				switch c {
				case linkproto.CntRxPackets, linkproto.CntTxPackets, linkproto.CntStops:
					continue
				}
				check.Equal(t, fmt.Sprintf("side %d: %v", i, c), w.sides[i].total(c), 0)
			}
		}
	})
}

// TestOverrun: restarts of either end do not overrun a receiver either.
func TestOverrun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 150).Draw(t, "delay")
		w := newWorld(t, drawConfig(t, delay), delay, 2)
		actions := w.actions()
		actions["restart"] = w.seldomRestart
		t.Repeat(actions)
		w.settle()
		for i := range w.sides {
			if n := w.sides[i].total(linkproto.CntRxOverrun); n != 0 {
				t.Fatalf("side %d: %d overruns", i, n)
			}
		}
	})
}

// seldomRestart restarts a side one time in six: a link that restarts all the time carries nothing.
func (w *world) seldomRestart(t *rapid.T) {
	if rapid.IntRange(0, 5).Draw(t, "restart") == 5 {
		w.restart(rapid.IntRange(0, len(w.sides)-1).Draw(t, "side"))
	}
}

// TestProgress: with errors that never cease, packets get through all the same, and the link recovers each time.
func TestProgress(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(0, 150).Draw(t, "delay")
		w := newWorld(t, drawConfig(t, delay), delay, 2)
		errors := rapid.IntRange(0, 150).Draw(t, "errors")
		for i := range w.sides {
			w.sides[i].talk = 7 + rapid.IntRange(0, testMaxPacket-7).Draw(t, "bytes")
			w.sides[i].out.faults = faults{lose: errors, corrupt: errors, duplicate: errors}
		}
		c := w.sides[0].Config()
		patience := 4 * c.RetryLimit * (c.Retry + c.WordTimer + c.ReplayBytes)
		for range 3 {
			before := [2]int{w.sides[0].last[1], w.sides[1].last[0]}
			for range patience {
				w.step()
			}
			for i := range w.sides {
				if w.sides[i].last[1-i] == before[i] {
					t.Fatalf("side %d got nothing in %d ticks: %+v", i, patience, w.sides[i].Status())
				}
			}
		}
		w.settle()
	})
}
