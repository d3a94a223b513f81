package flowctl_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// smallCast has times of some words' ways, and a patience of many of them.
var smallCast = flowctl.CastConfig{MaxPacket: 24, Window: 8, AckDelay: 10, Retry: 100, Patience: 20_000, Turn: 30}

// TestCastProperties: over any network, whatever members' hosts take, each gets every packet once and in order, and the sender lets go what all have.
func TestCastProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newCasts(t, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 6).Draw(t, "members"), smallCast)
		for range rapid.IntRange(1, 12).Draw(t, "phases") {
			w.lose, w.double = rapid.SampledFrom([]int{0, 10, 300}).Draw(t, "lose"), rapid.SampledFrom([]int{0, 100}).Draw(t, "double")
			w.spread = rapid.SampledFrom([]int{1, 5, 60}).Draw(t, "spread")
			for _, m := range w.members {
				if was := m.full; was != (rapid.IntRange(0, 3).Draw(t, "full") == 0) {
					m.full = !was
					m.Room()
				}
			}
			for range rapid.IntRange(1, 400).Draw(t, "ticks") {
				w.send(w.rng.IntN(3))
				w.step()
			}
		}
		w.lose = 0
		for _, m := range w.members {
			m.full = false
			m.Room()
		}
		w.settle(100_000)
		for _, m := range w.members {
			if node, restarted, failed := w.sender.Failed(); failed {
				t.Fatalf("member %d is named, restarted %v", node, restarted)
			}
			if len(m.came) != int(w.sent) || m.streams != 1 {
				t.Fatalf("member %d took %d of %d packets", m.node, len(m.came), w.sent)
			}
		}
	})
}

// TestCastRestarts: members and the sender start again at any time: who is named has started again or was cut off, and of each stream a member takes packets once and in order.
func TestCastRestarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newCasts(t, rapid.Uint64().Draw(t, "seed"), rapid.IntRange(1, 4).Draw(t, "members"), smallCast)
		w.lose, w.spread = rapid.SampledFrom([]int{0, 100}).Draw(t, "lose"), rapid.SampledFrom([]int{1, 40}).Draw(t, "spread")
		guilty := map[uint16]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			i := rapid.IntRange(0, len(w.members)-1).Draw(t, "member")
			switch m := w.members[i]; rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				w.reset(i)
				guilty[m.node] = true
			case 1:
				m.cut = !m.cut
				guilty[m.node] = true
			case 2:
				w.sender.Restart()
			case 3:
				if end, ok := m.Close(); ok {
					guilty[m.node] = true
					w.put(underCast{from: m.node, raw: end.Append(nil)})
				}
			}
			for range rapid.IntRange(1, 3000).Draw(t, "ticks") {
				w.send(w.rng.IntN(2))
				w.step()
				if node, _, failed := w.sender.Failed(); failed {
					if !guilty[node] {
						t.Fatalf("member %d is named, which has done nothing", node)
					}
					w.sender.Restart()
				}
			}
		}
		for _, m := range w.members {
			m.cut = false
		}
		for node, _, failed := w.sender.Failed(); w.sender.Queued() > 0 || failed; node, _, failed = w.sender.Failed() {
			if failed && !guilty[node] {
				t.Fatalf("member %d is named, which has done nothing", node)
			}
			if failed {
				w.sender.Restart()
			}
			w.settle(200_000)
		}
		w.lose = 0
		first := w.sent
		w.send(3)
		w.settle(200_000)
		if node, _, failed := w.sender.Failed(); failed && guilty[node] { // only now it is noticed
			w.sender.Restart()
			first = w.sent
			w.send(3)
			w.settle(200_000)
		}
		for _, m := range w.members {
			if n := len(m.came); n < 3 || m.came[n-1] != w.sent-1 || m.came[n-3] < first {
				t.Fatalf("member %d has %v, want those from %d on up to %d", m.node, m.came, first, w.sent-1)
			}
		}
	})
}

// TestCastNames: a member that is cut off, or never there, is named within the patience, and others within none; what stops is not.
func TestCastNames(t *testing.T) {
	for _, test := range []struct {
		name  string
		do    func(*casts)
		node  uint16
		again bool
	}{
		{"never there", func(w *casts) { w.members[1].cut = true }, 11, false},
		{"cut off later", func(w *casts) { w.send(4); w.settle(1000); w.members[2].cut = true }, 12, false},
		{"its host started again", func(w *casts) { w.send(4); w.settle(1000); w.reset(0) }, 10, true},
		{"it ends", func(w *casts) {
			w.send(4)
			w.step()
			end, ok := w.members[2].Close()
			if !ok {
				for !w.members[2].Open() {
					w.step()
				}
				end, _ = w.members[2].Close()
			}
			w.put(underCast{from: 12, raw: end.Append(nil)})
		}, 12, true},
		{"stops for long", func(w *casts) { w.members[1].full = true }, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := smallCast
			c.Patience = 1000
			w := newCasts(t, 1, 3, c)
			test.do(w)
			w.send(5)
			for range c.Patience + 600 {
				w.step()
			}
			node, again, failed := w.sender.Failed()
			if node != test.node || again != test.again || failed != (test.node != 0) {
				t.Errorf("named is %d, started again %v, %v; want %d, %v", node, again, failed, test.node, test.again)
			}
		})
	}
}

// TestCastRepeats: what one member lacks goes to it alone, what several lack goes to the group, once.
func TestCastRepeats(t *testing.T) {
	for _, test := range []struct {
		lack      int
		group, to int
	}{{0, 6, 0}, {1, 6, 5}, {4, 11, 0}} {
		w := newCasts(t, 1, 4, smallCast)
		w.send(1)
		w.settle(1000)
		for i := range test.lack {
			w.members[i].full = true // the next packet does not count
		}
		w.send(1)
		for range 4 {
			w.step()
		}
		w.send(4)
		for range 6 {
			w.step()
		}
		for _, m := range w.members {
			m.full = false
			m.Room()
		}
		w.settle(2000)
		if w.outs[0] > test.group+1 || w.outs[0] < test.group || w.outs[1] > test.to+1 || w.outs[1] < test.to {
			t.Errorf("%d members lack 5 of 6 packets: %d were sent to the group and %d to one, want %d and %d", test.lack, w.outs[0], w.outs[1], test.group, test.to)
		}
	}
}

// FuzzCastWord: a word that is decoded is what it was, and neither end is upset by any.
func FuzzCastWord(f *testing.F) {
	w := flowctl.CastWord{Kind: flowctl.CastState, Group: 77, Life: 9, Own: 8, Number: 1<<24 - 1, Open: true, Stop: true}
	f.Add(w.Append(nil))
	f.Add([]byte{0, 77, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5})
	f.Fuzz(func(t *testing.T, raw []byte) {
		word, packet, ok := flowctl.DecodeCastWord(raw)
		if !ok {
			return
		}
		if again := append(word.Append(nil), packet...); string(again) != string(raw) {
			t.Fatalf("% x becomes % x", raw, again)
		}
		world := newCasts(t, 1, 2, smallCast)
		world.send(3)
		world.members[0].full = true
		for range 20 {
			world.step()
		}
		world.sender.Feed(10, word)
		if word.Kind != flowctl.CastData {
			world.members[0].Feed(word, packet)
		}
		for range 20 {
			world.step()
		}
	})
}

func TestCastConfig(t *testing.T) {
	life := func() linkproto.Life { return 1 }
	for name, c := range map[string]flowctl.CastConfig{
		"no lives":          {Members: []uint16{1}},
		"no members":        {NewLife: life},
		"a member twice":    {NewLife: life, Members: []uint16{1, 2, 1}},
		"node 0":            {NewLife: life, Members: []uint16{0}},
		"a window too wide": {NewLife: life, Members: []uint16{1}, Window: 128},
	} {
		if _, err := flowctl.NewCastSender(c); !errors.Is(err, flowctl.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := check.Must(flowctl.NewCastSender(flowctl.CastConfig{NewLife: life, Members: []uint16{1}, MaxPacket: 20, Window: 2}))(t)
	for size, want := range map[int]error{0: flowctl.ErrLength, 21: flowctl.ErrLength} {
		if err := s.Send(make([]byte, size)); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", size, err, want)
		}
	}
	for i := range 3 {
		if err := s.Send([]byte{1}); errors.Is(err, flowctl.ErrFull) != (i == 2) {
			t.Errorf("packet %d of a window of 2: %v", i, err)
		}
	}
}

// TestCastStops: nothing is sent while a member says STOP, but to ask it, and what waited is on its way as soon as it says GO.
func TestCastStops(t *testing.T) {
	w := newCasts(t, 1, 3, smallCast)
	w.send(1)
	w.settle(1000)
	w.members[1].full = true
	w.send(1)
	for range 20 {
		w.step()
	}
	before := w.outs
	w.send(4)
	for range 1000 {
		w.step()
	}
	check.Equal(t, "packets sent while a member says STOP", w.outs, before)
	w.members[1].full = false
	w.members[1].Room()
	for range 40 {
		w.step()
	}
	check.Equal(t, "packets not acknowledged 40 ticks after GO", w.sender.Queued(), 0)
}
