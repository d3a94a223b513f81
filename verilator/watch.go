package verilator

// #include "runtime/call.h"
import "C"

// Seen says what a Watch has seen.
type Seen int

const (
	// Moved: an item moved.
	Moved Seen = C.LM_MOVED
	// InReset: reset has begun to act.
	InReset Seen = C.LM_RESET
	// Withdrawn: valid went away before ready took the item.
	Withdrawn Seen = C.LM_WITHDRAWN
	// Altered: a field changed while the item waited for ready; Event.Data is which: 0 data, 1 last, 2 and above the parts.
	Altered Seen = C.LM_CHANGED
	// ValidInReset: valid was 1 after the first edge in reset, or at the first edge after it.
	ValidInReset Seen = C.LM_VALID_IN_RESET
	// Stalled: an item has waited for ready for as many edges as are allowed.
	Stalled Seen = C.LM_STALLED
)

// Event is what a Watch has seen at an edge; Beat's Data and Last are those of an item that Moved.
type Event struct {
	Seen Seen
	// Waited is how many edges the item has waited for ready.
	Waited uint64
	Beat
}

// Watch collects what moves on a channel that others drive, and watches its handshake. A breach of it ends RunUntil, with reason Noted, at the edge at
// which it is seen. A Watch that is full forgets what comes: whoever runs the model reads from it at least every Channel.Depth clocks.
type Watch struct {
	ring  *ring
	notes uint64 // that were read
}

// Watch watches a channel; it drives nothing. Depth, Reset, Parts and the names of ports count of the channel. An item that has waited for maxStall
// edges is an event of its own; 0 means that it may wait for any number.
func (m *Model) Watch(c Channel, maxStall uint64) (*Watch, error) {
	r, err := m.attach(c, C.lm_channel{kind: C.LM_WATCH, max_stall: C.uint64_t(maxStall)})
	if err != nil {
		return nil, err
	}
	w := &Watch{ring: r}
	m.watches = append(m.watches, w)
	return w, nil
}

// Next returns the next event; false means that there is none. The words of Channel.Parts are copied to parts when an item has moved.
func (w *Watch) Next(parts []uint64) (Event, bool) {
	if w.ring.len() == 0 {
		return Event{}, false
	}
	words := w.ring.wordsAt(0)
	n := len(words) - 1
	e := Event{Seen(words[n] & 0xFF), words[n] >> 8, w.ring.at(0)}
	if e.Seen == Moved {
		copy(parts, words[:n])
	} else if e.Seen != InReset {
		w.notes++
	}
	w.ring.c.tail++
	return e, true
}

// Len is how many events wait to be read.
func (w *Watch) Len() int { return w.ring.len() }

// Lost is how many events were forgotten because nobody read.
func (w *Watch) Lost() uint64 { return w.ring.stalls() }

// noted tells whether a watch has seen a breach that was not read.
func (m *Model) noted() bool {
	for _, w := range m.watches {
		if uint64(w.ring.c.notes) != w.notes {
			return true
		}
	}
	return false
}
