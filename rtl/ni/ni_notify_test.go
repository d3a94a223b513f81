package ni_test

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type notifyPorts struct {
	Enable *bool `port:"*"`
	M      offer `port:"*"`
}

// writer is a link that reports its writes to the notifier.
type writer struct {
	valid, ready *testbench.Signal
	note         note
	waits        int // clocks for which its report has stood
}

// notifier is module ni_notify with links that write, a host that reads, and the ranges that the host must still hear of.
type notifier struct {
	notifyPorts
	t      *testing.T
	b      *testbench.Bench
	rng    *testbench.Rand
	links  []writer
	page   int
	ready  float64 // chance that the host takes a byte
	clocks int
	begun  int    // clock in which the packet was first seen, 0 for none
	due    []note // by frame: what the packet must say
	fresh  []note // by frame: what has been written since
	merged []note
	lost   []note // what enable made the module forget when it fell last, in clock fell
	fell   int
	got    []note
}

// none stands for a frame without news.
var none = note{first: -1}

func openNotifier(t *testing.T, top string, p params, links, frames, page int) *notifier {
	n := &notifier{t: t, ready: 1, fell: -100, page: page}
	n.b = moduletest.Open(t, top, p, &n.notifyPorts)
	n.rng = n.b.Rand("links")
	for range frames {
		n.merged, n.lost, n.due, n.fresh = append(n.merged, none), append(n.lost, none), append(n.due, none), append(n.fresh, none)
	}
	for l := range links {
		signal := func(name string) *testbench.Signal {
			if links > 1 {
				name += fmt.Sprintf("[%d]", l)
			}
			s := check.Must(n.b.Signal(name))(t)
			return s
		}
		n.links = append(n.links, writer{valid: signal("n_valid"), ready: signal("n_ready")})
	}
	return n
}

// offer reports a write by a link whose last report has been taken.
func (n *notifier) offer(link int, w note) {
	n.links[link].valid.Set(1)
	n.links[link].note = w
	width := bits.Len(uint(n.page - 1))
	set(n.t, n.b, "n_frame", 16, link, uint64(w.frame))
	set(n.t, n.b, "n_first", width, link, uint64(w.first))
	set(n.t, n.b, "n_last", width, link, uint64(w.last))
}

func (n *notifier) clock() {
	n.t.Helper()
	n.clocks++
	*n.M.Ready = n.rng.Chance(n.ready)
	settle(n.t, n.b)
	if *n.M.Valid && n.begun == 0 { // what is written from now on is not in it
		n.begun = n.clocks
		copy(n.due, n.merged)
		for f := range n.fresh {
			n.fresh[f] = none
		}
	}
	if packet := n.M.clock(n.t); packet != nil {
		n.whole(packet)
	}
	for i := range n.links {
		l := &n.links[i]
		taken := l.valid.Is() && l.ready.Is()
		switch {
		case taken && *n.Enable:
			w := l.note
			n.merged[w.frame], n.fresh[w.frame] = hull(n.merged[w.frame], w), hull(n.fresh[w.frame], w)
			l.waits = 0
		case taken || !l.valid.Is():
			l.waits = 0
		default:
			if l.waits++; l.waits > 6*len(n.links)+3 {
				n.t.Fatalf("link %d waits for %d clocks", i+1, l.waits)
			}
		}
		if taken {
			defer l.valid.Set(0)
		}
	}
	if !*n.Enable {
		for f, w := range n.merged {
			if w != none {
				n.fell = n.clocks
				n.lost[f], n.merged[f], n.fresh[f] = w, none, none
			}
		}
	}
	n.b.Step(1)
}

// hull is the smallest range that covers both.
func hull(a, b note) note {
	if a == none {
		return b
	}
	return note{a.frame, min(a.first, b.first), max(a.last, b.last)}
}

// whole checks a packet: it says of one frame what was written since its last one, no more and no less.
func (n *notifier) whole(packet []byte) {
	n.t.Helper()
	var p linkproto.Packet
	if err := p.Decode(packet); err != nil || p.Type != linkproto.TypeNotify || p.Via != 0 || int(p.Frame) >= len(n.merged) {
		n.t.Fatalf("% x: %+v, %v", packet, p, err)
	}
	have := note{int(p.Frame), int(p.First), int(p.Last)}
	due := n.due[have.frame]
	if due == none && n.begun-n.fell <= 4 {
		due = n.lost[have.frame] // it was on its way already
	} else {
		n.merged[have.frame] = n.fresh[have.frame]
	}
	if have != due {
		n.t.Fatalf("the host hears %+v, want %+v", have, due)
	}
	n.got = append(n.got, have)
	n.begun = 0
}

// rest runs until the host must have heard everything.
func (n *notifier) rest() {
	n.t.Helper()
	n.ready = 1
	for range 40*len(n.merged) + 100 {
		n.clock()
	}
	for _, w := range n.merged {
		if w != none {
			n.t.Fatalf("the host never heard of %+v", w)
		}
	}
}

// The host hears of every write, in ranges that grow no wider than what was written since the last time, however slowly it reads and however
// many links write; a link waits for a bounded time only; and nothing is said of what is written while nobody wants to know.
func TestNotify(t *testing.T) {
	for _, c := range []struct{ links, frames, page int }{{1, 1, 64}, {1, 4, 1024}, {2, 5, 64}, {3, 2, 8192}, {7, 24, 256}, {7, 256, 64}} {
		t.Run(fmt.Sprintf("%d links %dx%d", c.links, c.frames, c.page), func(t *testing.T) {
			n := openNotifier(t, "ni_notify", params{"LINKS": c.links, "FRAMES": c.frames, "PAGE_BYTES": c.page}, c.links, c.frames, c.page)
			*n.Enable = true
			heard := 0
			for range 150 {
				n.ready = testbench.Pick(n.rng, 0, 0.02, 0.3, 1)
				busy, few := testbench.Pick(n.rng, 0.02, 0.2, 1), n.rng.Bool()
				for range n.rng.IntN(300) {
					if n.rng.Chance(0.005) {
						*n.Enable = !*n.Enable
					}
					for l := range n.links {
						switch {
						case n.links[l].valid.Is(): // stands until it is taken
						case n.rng.Chance(busy):
							w := note{frame: n.rng.IntN(c.frames), first: testbench.Pick(n.rng, 0, n.rng.IntN(c.page))}
							if few {
								w.frame = w.frame % 2 % c.frames
							}
							w.last = testbench.Pick(n.rng, w.first, c.page-1, w.first+n.rng.IntN(c.page-w.first))
							n.offer(l, w)
						}
					}
					n.clock()
				}
				n.rest()
				heard += len(n.got)
				n.got = nil
				n.clock()
				if *n.Enable = n.rng.Chance(0.8); *n.M.Valid {
					t.Fatal("a packet without news")
				}
			}
			if heard < 300 {
				t.Errorf("the host heard only %d times", heard)
			}
		})
	}
}

// A range that is forgotten while a write is being merged with it is not told with the write, whenever that happens.
func TestNotifyForgets(t *testing.T) {
	for at := range 12 {
		n := openNotifier(t, "ni_notify", params{"LINKS": 1, "FRAMES": 4, "PAGE_BYTES": 64}, 1, 4, 64)
		link := &n.links[0]
		clocks := func(count int) {
			for range count {
				settle(t, n.b)
				if packet := n.M.clock(t); packet != nil {
					var p linkproto.Packet
					check.Fatal(t, p.Decode(packet))
					n.got = append(n.got, note{int(p.Frame), int(p.First), int(p.Last)})
				}
				taken := link.valid.Is() && link.ready.Is()
				n.b.Step(1)
				if taken {
					link.valid.Set(0)
				}
			}
		}
		*n.Enable, *n.M.Ready = true, false
		for _, w := range []note{{0, 3, 4}, {1, 40, 50}} { // one that waits at the host's port, and one behind it
			n.offer(0, w)
			clocks(20)
		}
		n.offer(0, note{1, 1, 2})
		clocks(at)
		*n.Enable = false
		clocks(1)
		*n.Enable, *n.M.Ready = true, true
		clocks(100)
		for _, g := range n.got {
			if g != (note{0, 3, 4}) && g != (note{1, 1, 2}) {
				t.Errorf("forgotten %d clocks behind a write: the host hears %+v", at, g)
			}
		}
	}
}

// Reset forgets what the host has not been told, the packet that waits and the range behind it.
func TestNotifyReset(t *testing.T) {
	n := openNotifier(t, "ni_notify", params{"LINKS": 1, "FRAMES": 4, "PAGE_BYTES": 64}, 1, 4, 64)
	*n.Enable, n.ready = true, 0
	for frame := range 3 {
		n.offer(0, note{frame, 1, 5})
		for range 20 {
			n.clock()
		}
	}
	n.b.Reset("rst", 1)
	*n.M.Ready = true
	for clock := range 100 {
		if n.b.Step(1); *n.M.Valid {
			t.Fatalf("a packet %d clocks after reset", clock+1)
		}
	}
}

// A frame that is written all the time does not keep the host from hearing of another.
func TestNotifyTurns(t *testing.T) {
	for frames := 2; frames <= 20; frames++ {
		n := openNotifier(t, "testdata/ni_notify_turns", nil, 1, frames, 64) // one model of them all
		check.Fatal(t, n.b.Model().Poke("frames", uint64(frames)))
		*n.Enable = true
		other, seen, waits := 1+n.rng.IntN(frames-1), 0, 0
		for n.clocks < 200 || seen < 20 {
			if n.clocks > 10_000 {
				t.Fatalf("%d frames: after %d clocks the host has heard %d times of frame %d and else of the busy one", frames, n.clocks, seen, other)
			}
			if !n.links[0].valid.Is() {
				frame := 0
				if n.rng.Chance(0.1) {
					frame = other
				}
				n.offer(0, note{frame, n.rng.IntN(8), 8 + n.rng.IntN(8)})
			}
			n.clock()
			if n.merged[other] == none {
				waits = 0
			}
			for _, g := range n.got {
				if g.frame == other {
					seen, waits = seen+1, 0
				}
				if waits += count(g.frame == 0); waits > 2 {
					t.Fatalf("%d frames: the host has heard of the busy frame three times while frame %d waited", frames, other)
				}
			}
			n.got = nil
		}
	}
}
