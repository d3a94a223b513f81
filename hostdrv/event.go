package hostdrv

import (
	"context"

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

// Events returns the NI's events to a program that serves them itself, with Next. Only one part of a program can have them: it
// fails if Events was called before or a Node was started.
func (n *NI) Events() (*Events, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := &Events{ni: n, changed: map[int]*Notify{}}
	return e, n.takeEvents(e)
}

// Events is a queue of events. It holds at most one Trap a link, one Notify a frame and one Restart.
type Events struct {
	ni      *NI
	traps   []*Trap
	changed map[int]*Notify
	order   []int // of the frames in changed
	restart *Restart
}

func (e *Events) trap(t *Trap) {
	e.traps = append(e.traps, t)
}

func (e *Events) notify(frame, first, last int) {
	if c := e.changed[frame]; c != nil {
		c.First, c.Last = min(c.First, first), max(c.Last, last)
		return
	}
	e.changed[frame] = &Notify{frame, first, last}
	e.order = append(e.order, frame)
}

func (e *Events) restarted(r Restart) {
	if e.restart == nil {
		e.restart = &r
	} else {
		for i, n := range r.Lost {
			e.restart.Lost[i] += n
		}
	}
}

func (e *Events) lost(int) {} // Sync tells

func (e *Events) turn() {}

func (e *Events) take() Event {
	switch {
	case e.restart != nil:
		r := *e.restart
		e.restart = nil
		return r
	case len(e.traps) > 0:
		t := e.traps[0]
		e.traps = e.traps[1:]
		return t
	case len(e.order) > 0:
		frame := e.order[0]
		e.order = e.order[1:]
		c := *e.changed[frame]
		delete(e.changed, frame)
		return c
	}
	return nil
}

// Next waits for an event. It is for one goroutine at a time.
func (e *Events) Next(ctx context.Context) (ev Event, err error) {
	err = e.ni.until(ctx, "an event", func() bool {
		ev = e.take()
		return ev != nil
	})
	return ev, err
}
