package netmgmt

// target is a switch that is being set up.
type target struct {
	step     *Step
	id       uint16
	needs    []*target
	phase    phase
	resume   phase // behind asking: waiting if it begins
	passable bool  // it has its Ways

	// Its number is asked for, or told.
	probing bool
	tag     uint8
	probed  uint64 // when

	// Entries are written.
	writes []Entry
	next   int       // the next one to be sent
	again  []int     // those that were sent, and are to be sent again
	sent   []pending // those without an answer, in order
	left   int       // those that are not known to be there
	serial int       // of the next request
}

// phase is how far a switch is.
type phase uint8

const (
	waiting   phase = iota // for those that it needs
	asking                 // who it is
	naming                 // its number is told
	opening                // its Ways are written
	passing                // it waits for the Ways of all others
	finishing              // the Rest is written
	finished
)

// pending is a request without an answer.
type pending struct {
	entry int
	tag   uint8
	at    uint64
}

// recheck has a switch asked whether it still knows what it was told.
func (t *target) recheck() {
	if t.phase == passing || t.phase == finished {
		t.resume, t.phase = t.phase, asking
	}
}

// begin begins to write a list.
func (t *target) begin(phase phase, list []Entry) {
	t.phase, t.writes, t.left = phase, list, len(list)
	t.next, t.again, t.sent = 0, nil, nil
}

// write is the next entry to be sent, if there is one.
func (t *target) write() (entry int, ok bool) {
	switch {
	case len(t.again) > 0:
		entry, t.again = t.again[0], t.again[1:]
	case t.next < len(t.writes):
		entry = t.next
		t.next++
	default:
		return 0, false
	}
	return entry, true
}

// repeat has the first of those without an answer sent again: a request or its answer has been lost.
func (t *target) repeat(count int) {
	for _, p := range t.sent[:count] {
		t.again = append(t.again, p.entry)
	}
	t.sent = t.sent[count:]
}
