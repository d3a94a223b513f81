package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// msgPostTest is ni_msg_post with the table, the memory and who takes receives at random, and a model of it.
type msgPostTest struct {
	QValid, QTake, EEnabled, EPosted, Look, Blind, PReady, Consume, Idle, Wake, Woken, DValid, DReady, Forget, Forgotten *bool `port:"*"`

	QContext, ESize, EFirst, ELast, LookContext, ConsumeContext, WakeContext, Ctx, ForgetContext *uint8   `port:"*"`
	EReceiveHead, PAddress, PLength, PCookie, DCookie                                            *uint16  `port:"*"`
	DLength                                                                                      *uint32  `port:"*"`
	U                                                                                            msgAsks  `port:"*"`
	Rd                                                                                           msgReads `port:"*"`

	t     *testing.T
	b     *testbench.Bench
	r     *testbench.Rand
	now   int
	table [4]struct {
		msgEntry
		posted   int  // that have not been fetched
		fetching bool // one has been, or the context is in the queue
		ended    int  // clock in which it has been forgotten
	}
	queue []uint8
	ready [4]*linkproto.Posted // by context, what has been read ahead
	used  [4]int               // by context, receives that have been taken, and are to be counted as used up
	wrong [4]int               // and those whose descriptors were wrong

	// The fetch that goes on.
	stage   int
	of      uint8
	entry   msgEntry
	words   []uint32
	at      int // clock of the last step
	dropped bool
	since   int

	looked   bool // in the clock before, at what is known
	found    *linkproto.Posted
	consumes float64
	seen     map[string]int
}

const (
	postIdle = iota
	postTake
	postRead
	postBad
	postSet
	postWake
)

// inputs draws what comes from outside in a clock.
func (e *msgPostTest) inputs() {
	r := e.r
	c := uint8(r.IntN(4))
	if x := &e.table[c]; x.enabled && r.Chance(0.1) && x.posted < 3 {
		if x.posted++; !x.fetching {
			x.fetching = true
			e.queue = append(e.queue, c)
		}
	} else if !x.enabled && !(*e.Forget && *e.ForgetContext == c) && e.now > x.ended+100 {
		x.msgEntry, x.posted = drawEntry(r, msgFrames), 0
		x.enabled = true
	}
	rises := !*e.Forget && r.Chance(0.01)
	if rises {
		*e.Forget, *e.ForgetContext, e.dropped = true, uint8(r.IntN(4)), false
		e.table[*e.ForgetContext].enabled = false
	}
	*e.QValid, *e.QContext = len(e.queue) > 0, uint8(r.IntN(4))
	if *e.QValid {
		*e.QContext = e.queue[0]
	}
	*e.Look, *e.LookContext = r.Chance(0.7), uint8(r.IntN(4))
	*e.Consume, *e.ConsumeContext = false, uint8(r.IntN(4))
	if rises && r.Bool() {
		*e.ConsumeContext = *e.ForgetContext
	}
	settle(e.t, e.b)
	want := r.Chance(e.consumes) || rises || e.stage == postSet && e.now == e.at+2 && r.Chance(0.5)
	if taken := *e.ConsumeContext; *e.Idle && want && e.ready[taken] != nil && (rises || !*e.Forget || *e.ForgetContext != taken) {
		*e.Consume = true
	}
	*e.DReady, *e.Woken = *e.DValid && r.Chance(0.3), *e.Wake && r.Chance(0.3)
	if *e.Rd.Done, *e.Rd.Data = *e.Rd.Valid && r.Chance(0.5), r.Uint32(); *e.Rd.Done && len(e.words) < 2 {
		addr, length := e.entry.drawBytes(r)
		if *e.Rd.Data = addr; len(e.words) == 1 {
			if *e.Rd.Data = length; !e.entry.owns(e.words[0], 0) && r.Bool() {
				*e.Rd.Data = 0
			}
		}
	}
	if *e.U.Done = *e.U.Valid && r.Chance(0.3); *e.U.Done {
		x := e.table[*e.Ctx]
		*e.EEnabled, *e.EPosted, *e.ESize, *e.EFirst, *e.ELast, *e.EReceiveHead = x.enabled, x.posted > 0, x.size, x.first, x.last, x.count
	}
	settle(e.t, e.b)
}

// clock lets one pass.
func (e *msgPostTest) clock() {
	t := e.t
	e.inputs()
	if e.looked {
		have := (*linkproto.Posted)(nil)
		if *e.PReady {
			have = &linkproto.Posted{Addr: uint32(*e.PAddress), Length: uint32(*e.PLength), Cookie: *e.PCookie}
		}
		check.Equal(t, "the receive that was looked at", have, e.found)
	}
	sets := e.stage == postSet && e.now >= e.at+2
	check.Equal(t, "blind", *e.Blind, *e.Consume || sets || *e.Forgotten)
	if e.looked = *e.Look && !*e.Blind; e.looked {
		e.found = e.ready[*e.LookContext]
		e.seen["looks at one"] += count(e.found != nil)
	}
	wakes := e.stage == postWake && e.now >= e.at+9
	check.Equal(t, "what it asks for", [4]bool{*e.U.Valid && !*e.U.Op, *e.Rd.Valid, *e.DValid, *e.Wake},
		[4]bool{e.stage == postTake, e.stage == postRead, e.stage == postBad && e.now >= e.at+2, wakes})
	used := 0
	for _, n := range e.used {
		used += n
	}
	check.Equal(t, "idle", *e.Idle, used == 0)
	if e.since++; !*e.Forget && used == 0 && !*e.QValid {
		e.since = 0
	} else if e.since > 400 {
		t.Fatalf("clock %d: nothing goes on", e.now)
	}
	consumed := *e.Consume
	if *e.QTake {
		check.Equal(t, "a context may be taken", *e.QValid && e.stage == postIdle && used == 0 && !*e.Forget, true)
		e.of, e.queue, e.stage = e.queue[0], e.queue[1:], postTake
	} else {
		e.step(sets)
	}
	if *e.U.Valid && *e.U.Op {
		e.uses()
	}
	if *e.Forgotten {
		c := *e.ForgetContext
		check.Equal(t, "a context is forgotten while none is fetched, and its receive is used up", *e.Forget && e.stage == postIdle && (e.ready[c] == nil || e.dropped), true)
		e.ready[c], e.table[c].ended, e.since = nil, e.now, 0
		e.seen["forgets one"] += count(e.dropped)
	}
	if consumed {
		e.ready[*e.ConsumeContext] = nil
		e.used[*e.ConsumeContext]++
		e.seen["takes while another is set"] += count(sets)
		e.seen["takes as its context ends"] += count(*e.Forget && *e.ForgetContext == *e.ConsumeContext)
	}
	if t.Failed() {
		t.Fatalf("clock %d, stage %d", e.now, e.stage)
	}
	over := *e.Forgotten
	e.b.Step(1)
	*e.Forget = *e.Forget && !over
	e.now++
}

// step is a step of the fetch.
func (e *msgPostTest) step(sets bool) {
	x := &e.table[e.of]
	next := func(stage int) { e.stage, e.at, e.since = stage, e.now, 0 }
	switch {
	case e.stage == postTake && *e.U.Done:
		check.Equal(e.t, "context", *e.Ctx, e.of)
		if e.entry, e.words = x.msgEntry, nil; x.enabled && x.posted > 0 {
			x.posted--
			x.count++
			next(postRead)
		} else {
			x.fetching = false
			next(postIdle)
		}
	case e.stage == postRead:
		check.Equal(e.t, "address", int(*e.Rd.Addr), e.entry.place(linkproto.RingReceives, int(e.entry.count), 1)/4+len(e.words))
		if *e.Rd.Done {
			if e.words = append(e.words, *e.Rd.Data); len(e.words) == 4 {
				if next(postBad); e.entry.owns(e.words[0], e.words[1]) {
					e.stage = postSet
				}
			}
		}
	case e.stage == postBad && *e.DValid:
		have := [3]uint32{uint32(*e.Ctx), *e.DLength, uint32(*e.DCookie)}
		check.Equal(e.t, "what is completed", have, [3]uint32{uint32(e.of), e.words[1], e.words[3] >> 16})
		if *e.DReady {
			e.wrong[e.of]++
			e.seen["wrong ones"]++
			next(postIdle)
		}
	case sets && !*e.Consume:
		e.ready[e.of] = &linkproto.Posted{Addr: e.words[0] % msgMemory, Length: e.words[1], Cookie: uint16(e.words[3] >> 16)}
		next(postWake)
	case e.stage == postWake && *e.Wake:
		if check.Equal(e.t, "context", *e.WakeContext, e.of); *e.Woken {
			next(postIdle)
		}
	}
}

// uses is a receive that is counted as used up.
func (e *msgPostTest) uses() {
	c := *e.Ctx
	if !*e.U.Done {
		return
	}
	e.since = 0
	switch {
	case e.wrong[c] != 0:
		e.wrong[c]--
	case e.used[c] != 0:
		e.used[c]--
	case *e.Forget && c == *e.ForgetContext && e.ready[c] != nil && !e.dropped:
		e.dropped = true
	default:
		e.t.Errorf("a receive of context %d is used up, which has none", c)
	}
	if x := &e.table[c]; x.enabled && x.posted > 0 {
		e.queue = append(e.queue, c)
	} else {
		x.fetching = false
	}
}

// TestPost: of each context its next receive is read ahead, if its bytes are the context's own, and shows until it is taken or the context ends; one that is wrong is
// completed as such. Links are woken eight clocks later.
func TestPost(t *testing.T) {
	e := &msgPostTest{t: t, seen: map[string]int{}}
	e.b = moduletest.Open(t, "ni_msg_post", params{"CONTEXTS": 2, "PAGE_BYTES": msgPage, "ADDR_WIDTH": 11}, e)
	e.r = e.b.Rand("others")
	e.b.Step(4) // it forgets what it has read ahead
	for i := range e.table {
		e.table[i].ended = -1000
	}
	for e.now < 40_000 {
		if e.now%500 == 0 {
			e.consumes = testbench.Pick(e.r, 0, 0.05, 0.5, 1)
		}
		e.clock()
	}
	enough(t, e.seen, 10, "looks at one", "wrong ones", "forgets one", "takes while another is set", "takes as its context ends")
}
