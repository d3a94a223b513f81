package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// msgEntry is what ni_msg_table says of a context.
type msgEntry struct {
	enabled     bool
	size        uint8
	first, last uint8
	count       uint16
}

// drawEntry draws one whose rings fit in a memory of so many frames.
func drawEntry(r *testbench.Rand, frames int) msgEntry {
	e := msgEntry{enabled: r.Chance(0.9), size: uint8(r.IntN(5)), count: uint16(r.Uint32())}
	rings := max(1, linkproto.RingsOf(1<<e.size)/msgPage)
	e.first = uint8(r.IntN(frames - rings + 1))
	e.last = e.first + uint8(rings-1+r.IntN(frames-rings-int(e.first)+1))
	return e
}

// place is the byte at which entry n of a ring stands, behind so many rings of sends.
func (e msgEntry) place(behind, n, of int) int {
	return int(e.first)*msgPage + linkproto.RingEntry*(behind<<e.size+n&(of<<e.size-1))
}

// msgWhat is a descriptor that is complete.
type msgWhat struct {
	tag, length    uint32
	vl, cookie     uint16
	status, number uint8 // number of its context
}

func drawWhat(r *testbench.Rand) msgWhat {
	return msgWhat{tag: r.Uint32(), length: r.Uint32(), vl: uint16(r.Uint32()), cookie: uint16(r.Uint32()), status: uint8(r.Uint32()), number: uint8(r.IntN(8))}
}

// poke puts it on a port from a bit on.
func (w msgWhat) poke(t *testing.T, b *testbench.Bench, port string, at int) {
	for _, f := range []struct {
		bits  int
		value uint64
	}{{32, uint64(w.length)}, {32, uint64(w.tag)}, {16, uint64(w.vl)}, {16, uint64(w.cookie)}, {8, uint64(w.status)}, {3, uint64(w.number)}} {
		check.Fatal(t, b.Model().Poke(fmt.Sprintf("%s[%d:%d]", port, at+f.bits-1, at), f.value))
		at += f.bits
	}
}

// msgCompleteTest is ni_msg_complete with units, slots and the host at random, and a model of it.
type msgCompleteTest struct {
	Note, Done, DoneClosed, Given, GiveReady, UValid, UOp, UDone, EEnabled, WValid, WTake, Forget, Forgotten *bool   `port:"*"`
	SValid, SReady, NSlot, DoneSlot, GivenSlot, Ctx, ESize, EFirst, ELast, ForgetContext                     *uint8  `port:"*"`
	ECompletions, WAddr                                                                                      *uint16 `port:"*"`
	WData                                                                                                    *uint32 `port:"*"`

	t       *testing.T
	b       *testbench.Bench
	r       *testbench.Rand
	entries [8]msgEntry
	what    [3]msgWhat
	noted   [8]*msgWhat // by slot
	slots   [8]slotState
	queue   []freedSlot
	now     int
	posts   float64 // chance of what is complete, by unit and clock
	notes   float64
	seen    [4]int
}

type slotState int

const (
	slotFree slotState = iota
	slotNoted
	slotFreed
)

// freedSlot is a slot that waits for its turn.
type freedSlot struct {
	slot   uint8
	closed bool
	from   int // the first clock in which it shows
}

// msgCompleteSays is what the module says in a clock; what has no meaning in it is 0.
type msgCompleteSays struct {
	ready, slot, ctx             uint8
	given, asks, adds, forgotten bool
	writes                       bool
	addr                         uint16
	data                         uint32
}

// clock lets a clock pass in which the module says what is wanted.
func (e *msgCompleteTest) clock(want func() msgCompleteSays) {
	r := e.r
	for i := range 3 {
		if *e.SValid>>i&1 == 0 && r.Chance(e.posts) {
			e.what[i] = drawWhat(r)
			e.what[i].poke(e.t, e.b, "s_what", 107*i)
			*e.SValid |= 1 << i
		}
	}
	*e.Note, *e.Done = false, false
	if slot := r.IntN(8); r.Chance(e.notes) {
		switch e.slots[slot] {
		case slotFree:
			w := drawWhat(r)
			if *e.Forget && w.number == *e.ForgetContext { // of which nothing is sent
				break
			}
			w.poke(e.t, e.b, "n_what", 0)
			*e.Note, *e.NSlot = true, uint8(slot)
			e.slots[slot], e.noted[slot] = slotNoted, &w
		case slotNoted:
			*e.Done, *e.DoneSlot, *e.DoneClosed = true, uint8(slot), r.Chance(0.3)
			e.slots[slot] = slotFreed
			e.queue = append(e.queue, freedSlot{uint8(slot), *e.DoneClosed, e.now + 2})
		}
	}
	*e.GiveReady, *e.WTake, *e.UDone = r.Chance(0.5), r.Chance(0.5), *e.UValid && r.Chance(0.3)
	if !*e.Forget && r.Chance(0.004) {
		*e.Forget, *e.ForgetContext = true, uint8(r.IntN(8))
	}
	settle(e.t, e.b)
	if *e.UValid {
		c := e.entries[*e.Ctx]
		*e.EEnabled, *e.ESize, *e.EFirst, *e.ELast, *e.ECompletions = c.enabled, c.size, c.first, c.last, c.count
	}
	*e.UDone = *e.UDone && *e.UValid
	*e.WTake = *e.WTake && *e.WValid
	settle(e.t, e.b)
	have := msgCompleteSays{ready: *e.SReady, given: *e.Given, asks: *e.UValid && !*e.UOp, adds: *e.UValid && *e.UOp, forgotten: *e.Forgotten, writes: *e.WValid}
	if *e.Given {
		have.slot = *e.GivenSlot
	}
	if *e.UValid {
		have.ctx = *e.Ctx
	}
	if *e.WValid {
		have.addr, have.data = *e.WAddr, *e.WData
	}
	if want := want(); have != want {
		e.t.Fatalf("clock %d: it says %+v, want %+v", e.now, have, want)
	}
	e.b.Step(1)
	*e.SValid &^= have.ready
	if have.forgotten {
		*e.Forget = false
	}
	e.now++
}

func (e *msgCompleteTest) quiet(clocks int) {
	for range clocks {
		e.clock(func() (s msgCompleteSays) { return s })
	}
}

// turn is a completion, a slot that is freed, or a context that is forgotten.
func (e *msgCompleteTest) turn() {
	const none, unit, forget, slot = 0, 1, 2, 3
	next, from := none, 0
	e.clock(func() (s msgCompleteSays) {
		switch {
		case *e.SValid != 0:
			for next = unit; *e.SValid>>from&1 == 0; from++ {
			}
			s.ready = 1 << from
		case *e.Forget:
			next = forget
		case len(e.queue) > 0 && e.now >= e.queue[0].from:
			next = slot
		}
		return s
	})
	switch next {
	case unit:
		e.completes(e.what[from])
	case forget:
		for i := range e.noted {
			e.strike(i)
		}
		e.clock(func() msgCompleteSays { return msgCompleteSays{forgotten: true} })
	case slot:
		f := e.queue[0]
		e.queue = e.queue[1:]
		e.quiet(2)
		for given := false; !given; {
			e.clock(func() msgCompleteSays {
				given = *e.GiveReady
				return msgCompleteSays{given: true, slot: f.slot}
			})
		}
		e.slots[f.slot] = slotFree
		if w := e.noted[f.slot]; w != nil {
			if f.closed {
				w.status = w.status&0x80 | uint8(linkproto.CompletionClosed)
			}
			e.seen[1]++
			e.completes(*w)
		} else {
			e.seen[2]++
		}
	}
}

// strike looks at a slot, anew when another is noted meanwhile.
func (e *msgCompleteTest) strike(slot int) {
	for {
		noted := false
		look := func() (s msgCompleteSays) {
			noted = *e.Note
			return s
		}
		if e.clock(look); noted {
			continue
		}
		if e.clock(look); !noted {
			break
		}
	}
	if w := e.noted[slot]; w != nil && w.number == *e.ForgetContext {
		e.noted[slot] = nil
		e.seen[3]++
	}
}

// completes is a completion: an entry of the ring, if the context is enabled, and one more.
func (e *msgCompleteTest) completes(w msgWhat) {
	var entry msgEntry
	asks := func(adds bool) {
		for done := false; !done; {
			e.clock(func() msgCompleteSays {
				done, entry = *e.UDone, e.entries[w.number]
				return msgCompleteSays{asks: !adds, adds: adds, ctx: w.number}
			})
		}
	}
	if asks(false); !entry.enabled {
		e.entries[w.number] = drawEntry(e.r, msgFrames)
		return
	}
	at := entry.place(linkproto.RingCompletions, int(entry.count), 2)
	for i, word := range []uint32{w.length, w.tag, uint32(w.vl) | uint32(w.cookie)<<16, uint32(w.status)} {
		for taken := false; !taken; {
			e.clock(func() msgCompleteSays {
				taken = *e.WTake
				return msgCompleteSays{writes: true, addr: uint16(at/4 + i), data: word}
			})
		}
	}
	e.entries[w.number] = drawEntry(e.r, msgFrames) // which does not count for this one any more
	asks(true)
	e.seen[0]++
}

// TestComplete: what is complete is written to its context's ring, once, whole and in order, if that is enabled, and then counted; a send when its last packet is
// freed, if its context has not ended since.
func TestComplete(t *testing.T) {
	e := &msgCompleteTest{t: t}
	e.b = moduletest.Open(t, "ni_msg_complete", params{"CONTEXTS": 3, "SLOTS": 8, "PAGE_BYTES": msgPage, "ADDR_WIDTH": 11}, e)
	e.r = e.b.Rand("others")
	for i := range e.entries {
		e.entries[i] = drawEntry(e.r, msgFrames)
	}
	for range 8 {
		e.quiet(1) // the records are cleared
	}
	for e.now < 60_000 {
		e.posts, e.notes = testbench.Pick(e.r, 0, 0.02), testbench.Pick(e.r, 0.05, 0.3, 1)
		for end := e.now + 500; e.now < end; {
			e.turn()
		}
	}
	t.Logf("completions, of sends, sends that were forgotten, and records: %v", e.seen)
	for i, n := range e.seen {
		if n < 50 {
			t.Errorf("%d of kind %d: too few", n, i)
		}
	}
}

// TestCompletePlace: entries of the longest ring of completions.
func TestCompletePlace(t *testing.T) {
	e := &msgCompleteTest{t: t}
	e.b = moduletest.Open(t, "ni_msg_complete", params{"CONTEXTS": 3, "SLOTS": 8, "PAGE_BYTES": 1024, "ADDR_WIDTH": 18}, e)
	r := e.b.Rand("entries")
	e.b.Step(16) // the records are cleared
	*e.EEnabled, *e.ELast, *e.UDone, *e.WTake = true, 255, true, true
	for range 200 {
		size, n := r.IntN(13), r.IntN(1<<16)
		*e.SValid, *e.ESize, *e.ECompletions = 1, uint8(size), uint16(n)
		words := 0
		for range 12 {
			settle(t, e.b)
			if *e.WValid {
				check.Equal(t, "address of an entry", int(*e.WAddr), 4*(linkproto.RingCompletions<<size+n&(2<<size-1))+words)
				words++
			}
			ready := *e.SReady
			e.b.Step(1)
			*e.SValid &^= ready
		}
		check.Equal(t, "words", words, 4)
	}
}
