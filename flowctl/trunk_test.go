package flowctl_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// drawTrunk draws the sizes of a link of several lanes, and by how many ticks they differ.
func drawTrunk(t *rapid.T) (flowctl.Config, func(lane int) int) {
	delay, skew := rapid.IntRange(0, 80).Draw(t, "delay"), rapid.IntRange(0, 60).Draw(t, "skew")
	lanes := rapid.SampledFrom([]int{2, 3, 4, 8}).Draw(t, "lanes")
	high := 3*testMaxPacket + rapid.IntRange(0, 200).Draw(t, "high")
	return flowctl.Config{
		Lanes:        lanes,
		MaxPacket:    testMaxPacket,
		Window:       rapid.SampledFrom([]int{5, 16, 128}).Draw(t, "window"),
		ReplayBytes:  rapid.SampledFrom([]int{2, 8, 40}).Draw(t, "replay") * testMaxPacket,
		ReceiveBytes: high + lanes*(2*(delay+skew)+2*linkproto.InitSymbols+testMaxPacket),
		High:         high,
		Low:          2 * testMaxPacket,
		AckDelay:     rapid.IntRange(2*linkproto.InitSymbols, 100).Draw(t, "ack delay"),
		WordTimer:    rapid.IntRange(150, 400).Draw(t, "word timer"),
		Retry:        1500,
		RetryLimit:   rapid.IntRange(3, 5).Draw(t, "retry limit"),
	}, func(lane int) int { return delay + lane*skew/(lanes-1) }
}

func (w *trunks) actions() map[string]func(*rapid.T) {
	side := rapid.IntRange(0, 1)
	return map[string]func(*rapid.T){
		"send": func(t *rapid.T) {
			i := side.Draw(t, "side")
			n := rapid.SampledFrom([]int{7, 8, 20, testMaxPacket}).Draw(t, "bytes")
			for range rapid.SampledFrom([]int{1, 3, 20, 200}).Draw(t, "packets") {
				w.send(i, n)
			}
		},
		"talk": func(t *rapid.T) {
			w.sides[side.Draw(t, "side")].talk = rapid.SampledFrom([]int{0, 7, 9, testMaxPacket}).Draw(t, "bytes")
		},
		"run": func(t *rapid.T) { w.run(rapid.SampledFrom([]int{7, 100, 500, 2000}).Draw(t, "ticks")) },
		"stall": func(t *rapid.T) {
			i := side.Draw(t, "side")
			w.sides[i].stalled = !w.sides[i].stalled
		},
	}
}

// TestTrunkClean: without errors nothing is dropped, sent twice or lost over lanes of different latency, however the readers stall.
func TestTrunkClean(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, delay := drawTrunk(t)
		w := newTrunks(t, rapid.Uint64().Draw(t, "seed"), c, delay)
		t.Repeat(w.actions())
		w.settle()
		for cnt := range linkproto.Counter(linkproto.NumCounters) {
			switch cnt {
			case linkproto.CntRxPackets, linkproto.CntTxPackets, linkproto.CntStops:
			default:
				check.Equal(t, cnt.String(), w.total(cnt), 0)
			}
		}
	})
}

// TestTrunkFaults: whatever lanes lose, damage and repeat, however they die and come back, one way or both, with restarts of either end: every packet
// is delivered once and in order or reported lost, and in the end all lanes are open.
func TestTrunkFaults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, delay := drawTrunk(t)
		w := newTrunks(t, rapid.Uint64().Draw(t, "seed"), c, delay)
		actions := w.actions()
		rate := rapid.SampledFrom([]int{0, 0, 20, 200, 2000})
		actions["faults"] = func(t *rapid.T) {
			f := &w.sides[rapid.IntRange(0, 1).Draw(t, "side")].out[rapid.IntRange(0, c.Lanes-1).Draw(t, "lane")].faults
			*f = faults{
				lose:      rate.Draw(t, "lose"),
				corrupt:   rate.Draw(t, "corrupt"),
				duplicate: rate.Draw(t, "duplicate"),
				dead:      rapid.IntRange(0, 2).Draw(t, "dead") == 0,
			}
		}
		actions["restart"] = func(t *rapid.T) {
			if rapid.IntRange(0, 5).Draw(t, "restart") == 5 {
				w.restart(rapid.IntRange(0, 1).Draw(t, "side"))
			}
		}
		t.Repeat(actions)
		w.settle()
	})
}

// full brings up a link with saturated hosts.
func full(t *testing.T, seed int) *trunks {
	w := newTrunks(t, uint64(seed), fullConfig, func(lane int) int { return 3 + 5*lane })
	for i := range w.sides {
		w.sides[i].talk, w.sides[i].same = fullConfig.MaxPacket, true
	}
	w.run(2000)
	return w
}

var fullConfig = flowctl.Config{Lanes: 4, MaxPacket: 264, WordTimer: 1024, ReplayBytes: 128 * 264, ReceiveBytes: 64 * 264}

// arrives is how many packets arrive at side 1 in some ticks.
func (w *trunks) arrives(ticks int) int {
	before := w.sides[1].Counter(linkproto.CntRxPackets)
	w.run(ticks)
	return int(w.sides[1].Counter(linkproto.CntRxPackets) - before)
}

// wants fails the test if not so many lanes are open at both ends.
func (w *trunks) wants(open int) {
	check.Equal(w.t, "open lanes", [2]int{w.open(0), w.open(1)}, [2]int{open, open})
}

// unharmed fails the test if the link has started again or lost anything.
func (w *trunks) unharmed() {
	w.settle()
	check.Equal(w.t, "restarts", w.total(linkproto.CntRestarts), 0)
	check.Equal(w.t, "lost", w.total(linkproto.CntLostPackets), 0)
}

// TestTrunkFailover: a lane that dies, one way or both, is left out by both ends within 3 WORD_TIMER; the others carry their full rate then,
// nothing is lost, and when the lane is good again for long enough it carries its share.
func TestTrunkFailover(t *testing.T) {
	const span = 8000
	for ways := 1; ways <= 3; ways++ {
		for lane := range fullConfig.Lanes {
			w := full(t, 4*ways+lane)
			before := w.arrives(span)
			dead := func(dead bool) {
				for i := range w.sides {
					w.sides[i].out[lane].dead = dead && ways>>i&1 != 0
				}
			}
			dead(true)
			w.run(3 * fullConfig.WordTimer)
			w.wants(3)
			if n := w.arrives(span); n < before*3/4*98/100 {
				t.Errorf("lane %d dead, ways %b: %d packets in %d ticks over three lanes, %d over four", lane, ways, n, span, before)
			}
			dead(false)
			w.run((linkproto.LaneTrialTimers + 1) * fullConfig.WordTimer)
			w.wants(4)
			if n := w.arrives(span); n < before*98/100 {
				t.Errorf("lane %d back, ways %b: %d packets in %d ticks, %d before", lane, ways, n, span, before)
			}
			w.unharmed()
		}
	}
}

// TestTrunkCrossed: ends that hear each other on different lanes only, so that none is open, do not wait for a lane to be good for long.
func TestTrunkCrossed(t *testing.T) {
	w := full(t, 1)
	dead := func(dead bool) {
		for i, lanes := range [][]int{{0, 1}, {2, 3}} {
			for _, k := range lanes {
				w.sides[i].out[k].dead = dead
			}
		}
	}
	dead(true)
	w.run(3 * fullConfig.WordTimer)
	w.wants(0)
	dead(false)
	w.run(fullConfig.WordTimer)
	w.wants(1)
	w.run(linkproto.LaneTrialTimers * fullConfig.WordTimer)
	w.wants(4)
	w.unharmed()
}

// TestTrunkHalfDead: a lane that damages every other frame counts as dead most of the time.
func TestTrunkHalfDead(t *testing.T) {
	w := full(t, 1)
	before := w.arrives(8000)
	w.sides[0].out[2].corrupt = 150 // of 65536 symbols
	w.run(4 * fullConfig.WordTimer)
	if n := w.arrives(48 * fullConfig.WordTimer); n < before*48*fullConfig.WordTimer/8000*3/4*85/100 {
		t.Errorf("%d packets in %d ticks with a lane that is half dead, %d in 8000 before", n, 48*fullConfig.WordTimer, before)
	}
	w.unharmed()
}

// TestTrunkNoise: a link whose lanes damage two in three of its longest frames, and leave each other out for that, goes on by LOSTs, and does not start
// again.
func TestTrunkNoise(t *testing.T) {
	for seed := range 4 {
		w := newTrunks(t, uint64(seed), flowctl.Config{Lanes: 2, MaxPacket: 1032, ReplayBytes: 4 * 1032, ReceiveBytes: 4 * 1032}, func(int) int { return 20 })
		for i := range w.sides {
			w.sides[i].talk, w.sides[i].same = 1032, true
			for k := range w.sides[i].out {
				w.sides[i].out[k].corrupt = 66 // of 65536 symbols
			}
		}
		w.run(150_000)
		if good, bad := w.total(linkproto.CntRxPackets), w.total(linkproto.CntRxCRC); good < 40 || bad < 2*good {
			t.Errorf("seed %d: %d packets have arrived, and %d frames were damaged", seed, good, bad)
		}
		w.unharmed()
	}
}

// TestTrunkFlaps: nothing is lost over a lane that comes and goes.
func TestTrunkFlaps(t *testing.T) {
	w := full(t, 1)
	for range 20 {
		lane := &w.sides[w.rng.IntN(2)].out[1]
		lane.dead = true
		w.run(1 + w.rng.IntN(3*fullConfig.WordTimer))
		lane.dead = false
		w.run(1 + w.rng.IntN(fullConfig.WordTimer))
	}
	w.unharmed()
}

// TestTrunkLoss: what single symbols that are lost cost is that the sender goes back once.
func TestTrunkLoss(t *testing.T) {
	for seed := range 24 {
		w := full(t, seed)
		lane := &w.sides[0].out[seed%fullConfig.Lanes]
		lane.lose = 1 << 16
		w.run(1 + seed/4)
		lane.lose = 0
		w.run(4000)
		if n := w.sides[0].Counter(linkproto.CntReplays); n > 1 {
			t.Errorf("seed %d: went back %d times", seed, n)
		}
		w.unharmed()
	}
}

// TestTrunkCables: lanes may be crossed. One whose other end is another link's is refused and reported, and the others carry on.
func TestTrunkCables(t *testing.T) {
	w := newTrunks(t, 1, fullConfig, func(int) int { return 5 })
	for i := range w.sides {
		w.sides[i].to = []int{2, 1, 0, 3}
		w.sides[i].talk = 100
	}
	w.run(4000)
	w.wants(4)
	// Lane 3 of side 0 hears a stranger, which does not hear it.
	stranger := fullConfig
	stranger.Node, stranger.Nonce, stranger.Port = 9, 12345, 1
	other := check.Must(flowctl.NewTrunk(stranger))(t)
	w.sides[1].out[3].dead, w.sides[0].out[3].dead = true, true
	for range 4 * fullConfig.WordTimer {
		var s [1]linkproto.Symbol
		w.sides[0].Feed(3, s[:other.Emit(0, s[:])])
		other.Tick(1)
		w.step()
	}
	check.Equal(t, "lane 3", w.sides[0].Lane(3), flowctl.LaneStatus{Foreign: true})
	w.wants(3)
	w.unharmed()
}
