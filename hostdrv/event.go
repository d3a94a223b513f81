package hostdrv

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Event is something that an NI reports without being asked: a *Trap, a Notify or a Restart.
type Event interface{ event() }

// Trap says that a link has stopped receiving, at a PAGE or CONNECT of its peer, until NI.Resume.
type Trap struct {
	Link   int
	Type   linkproto.Type // TypePage or TypeConnect
	Frame  int            // of a PAGE: the frame that Port is to have from here on
	Port   uint32
	Params []byte // of a CONNECT
}

// Notify says that remote writes have changed bytes First to Last of a frame. Changes that were not asked for yet are merged, so
// the range may hold bytes that have not changed.
type Notify struct{ Frame, First, Last int }

// Restart says that the cable between host and NI started again, while the NI went on. Lost is, by link - 1, how many packets for
// that link the NI did not receive.
type Restart struct{ Lost []int }

func (*Trap) event()   {}
func (Notify) event()  {}
func (Restart) event() {}

// Events is a queue of events. It holds at most one Trap a link, one Notify a frame and one Restart.
type Events struct {
	ni    *NI
	queue eventQueue
}

// Events returns the NI's events to a program that serves them itself, with Next. Only one part of a program can have them: it
// fails if Events was called before or a Node was started.
func (n *NI) Events() (*Events, error) {
	n.lock()
	defer n.unlock()
	e := &Events{ni: n, queue: eventQueue{changed: map[int]*Notify{}}}
	return e, n.takeEvents(&e.queue)
}

// Next waits for an event. It is for one goroutine at a time.
func (e *Events) Next(ctx context.Context) (ev Event, err error) {
	if e.ni == nil {
		return nil, ErrClosed
	}
	err = e.ni.untilOthers(ctx, "an event", func() bool {
		ev = e.queue.take()
		return ev != nil
	})
	return ev, err
}

// eventQueue is the engine.Handler of Events.
type eventQueue struct {
	traps   []*Trap
	changed map[int]*Notify
	order   []int // of the frames in changed
	restart *Restart
}

func (q *eventQueue) Trap(t *engine.Trap) { q.traps = append(q.traps, (*Trap)(t)) }

func (q *eventQueue) Notify(frame, first, last int) {
	if c := q.changed[frame]; c != nil {
		c.First, c.Last = min(c.First, first), max(c.Last, last)
		return
	}
	q.changed[frame] = &Notify{frame, first, last}
	q.order = append(q.order, frame)
}

func (q *eventQueue) Restarted(lost []int) {
	if q.restart == nil {
		q.restart = &Restart{lost}
		return
	}
	for i, n := range lost {
		q.restart.Lost[i] += n
	}
}

func (q *eventQueue) Lost(int) {} // Sync returns it

func (q *eventQueue) Turn() {}

func (q *eventQueue) take() Event {
	switch {
	case q.restart != nil:
		r := *q.restart
		q.restart = nil
		return r
	case len(q.traps) > 0:
		t := q.traps[0]
		q.traps = q.traps[1:]
		return t
	case len(q.order) > 0:
		frame := q.order[0]
		q.order = q.order[1:]
		c := *q.changed[frame]
		delete(q.changed, frame)
		return c
	}
	return nil
}

func (n *NI) takeEvents(h engine.Handler) error {
	err := n.eventsFree()
	if err == nil {
		n.core.Handle(h)
	}
	return err
}

// eventsFree says why nobody can take the NI's events.
func (n *NI) eventsFree() error {
	switch {
	case n.core.Err() != nil:
		return n.core.Err()
	case n.core.Handled():
		return errors.New("the events of this network interface are taken already, by Events or by a Node")
	}
	return nil
}
