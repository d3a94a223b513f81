package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Rings drives a context of messages that the NI carries out. Its frames hold the rings, and slots for messages on their way between them and the program.
type Rings struct {
	core     *Core
	number   int
	first    int // frame
	frames   int
	size     int // logarithm to base 2 of the entries of a ring
	slotted  int // bytes of a slot
	longest  int // of a message
	sends    []ringSlot
	receives []ringSlot
	tails    [2]uint16 // of sends and receives
	told     uint16    // COMPLETIONS, as far as it is known
	done     uint64    // completions that were taken
	reading  bool      // some are
	enabled  bool      // what is told is of it, and not of the one before
	closed   bool
	ended    error // why the NI has ended the context by itself
	watch    Timer
	links    []*RingLink // those whose turn comes first, first
}

// ErrEnded is wrapped by the error of a context that the NI has ended by itself.
var ErrEnded = errors.New("the network interface has ended the context by itself")

// ringSlot is room for a message.
type ringSlot struct {
	link *RingLink // of a send that is underway; nil: of none any more
	used bool
}

// RingTaker is the Taker of a RingLink, to which whole messages come, each as one MESSAGE.
type RingTaker interface {
	Taker
	// Dropped says that a message was dropped: it was too long for the context, or else a part of it is missing.
	Dropped(tooLong bool)
}

// Places of slots and of the posted and completed descriptors.
func (r *Rings) base() int    { return r.first * r.core.id.PageBytes }
func (r *Rings) entries() int { return 1 << r.size }
func (r *Rings) slotAt(receive bool, slot int) int {
	if receive {
		slot += len(r.sends)
	}
	return r.base() + linkproto.RingsOf(r.entries()) + slot*r.slotted
}

// ringsFit returns how rings and slots for messages of so many bytes, 0: of any length, are laid out in a region of so many: as many slots as there can be, or as long ones for as few as fewest.
func ringsFit(bytes, longest int) (size, slots, slot int) {
	const fewest = 2 // logarithm to base 2 of the slots each way
	if longest == 0 {
		slot = (bytes - linkproto.RingsOf(1<<fewest)) >> (fewest + 1) &^ 3
		return fewest, 1 << fewest, max(slot, 0)
	}
	slot = (longest + 3) &^ 3
	for s := range linkproto.MaxRingSize + 1 {
		if n := min(1<<s, (bytes-linkproto.RingsOf(1<<s))/(2*max(slot, 4))); n > slots {
			size, slots = s, n
		}
	}
	return size, slots, slot
}

// NewRings enables a context of the NI in so many frames, 0: a quarter of those of the NI, for messages of up to so many bytes, 0: as long as four slots each way can be.
func (c *Core) NewRings(number, frames, longest int) (*Rings, error) {
	if number >= c.offloads.contexts {
		return nil, fmt.Errorf("the network interface carries out contexts below %d: not number %d; have the driver carry it out, without Options.Engine", c.offloads.contexts, number)
	}
	if frames == 0 {
		frames = (c.id.Frames + 3) / 4
	}
	size, slots, slot := ringsFit(frames*c.id.PageBytes, longest)
	if slots == 0 || slot == 0 && longest == 0 {
		return nil, fmt.Errorf("%d frames of %d bytes are too few for rings and two messages of %d bytes: give the context more (Options.Frames), or make Options.Longest less", frames, c.id.PageBytes, longest)
	}
	first, ok := c.claimFrames(frames)
	if !ok {
		return nil, fmt.Errorf("there are no %d frames in a row that nobody has, of %d: give links fewer (NodeOptions.Frames, NodeOptions.NoPorts), or the context (Options.Frames)", frames, c.id.Frames)
	}
	r := &Rings{core: c, number: number, first: first, frames: frames, size: size, slotted: max(slot, 4), longest: max(longest, min(slot, 1<<20))}
	if longest == 0 {
		r.longest = slot
	}
	r.sends, r.receives = make([]ringSlot, slots), make([]ringSlot, slots)
	for f := range frames {
		r.write(linkproto.FrameReg(first+f), 0)
	}
	r.set(linkproto.ContextRegStatus, 0)
	r.set(linkproto.ContextRegRegion, linkproto.ContextFirst.In(uint32(first))|linkproto.ContextLast.In(uint32(first+frames-1))|linkproto.ContextSize.In(uint32(size)))
	c.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.ContextRegStatus.Reg(number), Value: linkproto.ContextEnabled.In(1)}, "it does not carry out a context",
		func(linkproto.Packet, error) { r.enabled = true })
	for i := range r.receives {
		r.postReceive(i)
	}
	c.offloads.rings[number] = r
	return r, nil
}

// Watch looks now, and each time that so many ticks have passed, whether the NI has ended the context by itself.
func (r *Rings) Watch(every uint64) {
	r.watch.Fire = func() { r.Watch(every) }
	r.core.AddTimer(&r.watch, r.core.now+every)
	r.core.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.ContextRegStatus.Reg(r.number)}, func(a linkproto.Packet, err error) {
		if err != nil || r.closed || linkproto.ContextEnabled.Of(a.Value) != 0 {
			return
		}
		r.core.RemoveTimer(&r.watch)
		why := "STATUS is 0: another program has disabled it, or the network interface was reset"
		if fault := int(linkproto.ContextFault.Of(a.Value)); fault > 0 && fault < len(linkproto.ContextFaults) {
			why = fmt.Sprintf("FAULT %s: %s", linkproto.ContextFaults[fault].Name, linkproto.ContextFaults[fault].Doc)
		}
		r.ended = fmt.Errorf("context %d: %w: %s; close it and open it again, and let no other program write its registers or frames %d to %d", r.number, ErrEnded, why, r.first, r.first+r.frames-1)
	})
}

// Ended is why the NI has ended the context by itself; nil: it has not, as far as it is known.
func (r *Rings) Ended() error { return r.ended }

// Longest is how many bytes a message can have.
func (r *Rings) Longest() int { return r.longest }

// write writes a register, set one of the context's.
func (r *Rings) write(reg linkproto.Reg, value uint32) {
	r.core.Demand(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: reg, Value: value}, "it does not carry out a context", func(linkproto.Packet, error) {})
}

func (r *Rings) set(reg linkproto.ContextReg, value uint32) { r.write(reg.Reg(r.number), value) }

// pages cuts bytes of the region so that each part is of one page.
func (r *Rings) pages(addr, bytes int, do func(addr uint32, from, to int)) {
	for from := 0; from < bytes; {
		page := r.core.id.PageBytes
		to := min(bytes, from+page-(addr+from)%page)
		do(uint32(addr+from), from, to)
		from = to
	}
}

// put writes bytes of the region. They stay as they are.
func (r *Rings) put(addr int, data []byte) {
	r.pages(addr, len(data), func(addr uint32, from, to int) {
		r.core.Demand(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: addr, Data: data[from:to]}, "it refused bytes of a context", func(linkproto.Packet, error) {})
	})
}

// get reads bytes of the region, and calls then when all are there.
func (r *Rings) get(addr int, into []byte, then func()) {
	r.pages(addr, len(into), func(addr uint32, from, to int) {
		read := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: addr, Count: uint16(to - from)}
		r.core.Demand(read, "it refused to read bytes of a context", func(a linkproto.Packet, err error) {
			if err == nil && copy(into[from:to], a.Data) == to-from && to == len(into) && !r.closed {
				then()
			}
		})
	})
}

// post puts a descriptor into a ring, of sends (0) or receives (1).
func (r *Rings) post(ring int, d linkproto.Posted) {
	at := r.base() + (ring*r.entries()+int(r.tails[ring])%r.entries())*linkproto.RingEntry
	r.put(at, d.Append(nil))
	r.tails[ring]++
	r.set(linkproto.ContextRegSendTail+linkproto.ContextReg(ring), uint32(r.tails[ring]))
}

func (r *Rings) postReceive(slot int) {
	r.receives[slot].used = true
	r.post(1, linkproto.Posted{Addr: uint32(r.slotAt(true, slot)), Length: uint32(r.longest), Cookie: uint16(slot)})
}

// completed takes a COMPLETED.
func (c *Core) completed(p linkproto.Packet) {
	switch {
	case !c.id.Has(linkproto.FeatureMessages) && c.id.Links > 0:
		c.Fail(Violation("it sent a %v", p.Type))
	case int(p.Context) < len(c.offloads.rings) && c.offloads.rings[p.Context] != nil: // else of an earlier program
		c.offloads.rings[p.Context].count(p.Count)
	}
}

// count takes what COMPLETIONS is now, or was.
func (r *Rings) count(completions uint16) {
	if !r.enabled || int16(completions-r.told) <= 0 {
		return
	}
	if n := r.ahead(completions); n > 2*r.entries() {
		r.core.Fail(Violation("context %d has completed %d descriptors of %d", r.number, n, 2*r.entries()))
		return
	}
	r.told = completions
	r.readDone()
}

// ahead is how many completions were not taken when COMPLETIONS was read.
func (r *Rings) ahead(completions uint16) int { return int(completions - uint16(r.done)) }

// readDone reads completions, those that are in one page together.
func (r *Rings) readDone() {
	left := r.ahead(r.told)
	if r.reading || left == 0 || r.closed {
		return
	}
	r.reading = true
	of := 2 * r.entries()
	at := r.base() + linkproto.RingCompletions*linkproto.RingEntry*r.entries() + int(r.done)%of*linkproto.RingEntry
	page := r.core.id.PageBytes
	n := min(left, of-int(r.done)%of, (page-at%page)/linkproto.RingEntry)
	entries := make([]byte, n*linkproto.RingEntry)
	r.get(at, entries, func() {
		r.reading = false
		for ; len(entries) > 0 && !r.closed && r.core.err == nil; entries = entries[linkproto.RingEntry:] {
			done, ok := linkproto.DecodeCompletion(entries)
			number := r.done
			r.done++
			if !ok || !r.take(number, done) {
				r.core.Fail(Violation("context %d: completion % x", r.number, entries[:linkproto.RingEntry]))
			}
		}
		r.readDone()
	})
}

// take takes a completion; false if it says what cannot be.
func (r *Rings) take(number uint64, done linkproto.Completion) bool {
	slots := r.sends
	if done.Receive {
		slots = r.receives
	}
	slot := int(done.Cookie)
	if slot >= len(slots) || !slots[slot].used || done.Status == linkproto.CompletionBadDescriptor {
		return false
	}
	if done.Receive {
		return r.received(number, slot, done)
	}
	link := slots[slot].link
	slots[slot] = ringSlot{}
	if link != nil && done.Status == linkproto.CompletionOK {
		link.freed++
	}
	r.turn()
	return true
}

// received takes that a message has come, or was dropped.
func (r *Rings) received(number uint64, slot int, done linkproto.Completion) bool {
	i := slices.IndexFunc(r.links, func(l *RingLink) bool { return l.Number() == int(done.VL) })
	if i < 0 || !r.links[i].has(number) { // of one that has ended
		r.postReceive(slot)
		return true
	}
	l := r.links[i]
	switch done.Status {
	case linkproto.CompletionOK:
	case linkproto.CompletionTooLong, linkproto.CompletionBroken:
		r.postReceive(slot)
		l.taker.Dropped(done.Status == linkproto.CompletionTooLong)
		return true
	default:
		return false
	}
	if int64(done.Length) > int64(r.longest) {
		return false
	}
	data := make([]byte, done.Length)
	came := func() {
		l.inbox = append(l.inbox, ringMessage{slot, linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: done.Tag, Rest: done.Length, Data: data}})
		l.deliver()
	}
	if len(data) == 0 { // behind those that are read
		r.core.Demand(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.RegScratch}, "it refused to read a register", func(_ linkproto.Packet, err error) {
			if err == nil && !r.closed {
				came()
			}
		})
		return true
	}
	r.get(r.slotAt(true, slot), data, came)
	return true
}

// turn has links offer messages, each in turn, while there are slots.
func (r *Rings) turn() {
	for range len(r.links) {
		if !slices.ContainsFunc(r.sends, func(s ringSlot) bool { return !s.used }) {
			return
		}
		l := r.links[0]
		r.links = append(r.links[1:], l)
		l.taker.Turn()
	}
}

// Close disables the context: what is underway is given up.
func (r *Rings) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.core.RemoveTimer(&r.watch)
	r.set(linkproto.ContextRegStatus, 0)
	r.core.offloads.rings[r.number] = nil
	for f := range r.frames {
		r.core.claimed[r.first+f] = false
	}
}

// restartRings asks what contexts have completed, since the host's cable has started again.
func (c *Core) restartRings() {
	for _, r := range c.offloads.rings {
		if r != nil {
			c.Request(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.ContextRegCompletions.Reg(r.number)}, func(a linkproto.Packet, err error) {
				if err == nil && !r.closed {
					r.count(uint16(a.Value))
				}
			})
		}
	}
}

// UseFrames says that the first frames of the receive buffer are others', not contexts'.
func (c *Core) UseFrames(frames int) {
	c.claimed = make([]bool, c.id.Frames)
	for i := range frames {
		c.claimed[i] = true
	}
}

// claimFrames takes the first of so many frames in a row that nobody has.
func (c *Core) claimFrames(n int) (first int, ok bool) {
	if c.claimed == nil {
		c.claimed = make([]bool, c.id.Frames)
	}
	for first = 0; first+n <= min(len(c.claimed), 1<<linkproto.ContextLast.Bits); first++ {
		if run := c.claimed[first : first+n]; !slices.Contains(run, true) {
			for i := range run {
				run[i] = true
			}
			return first, true
		}
	}
	return 0, false
}
