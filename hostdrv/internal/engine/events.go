package engine

import (
	"bytes"

	"github.com/stafflink/lmmc/linkproto"
)

// Handler gets unsolicited packets.
type Handler interface {
	Trap(*Trap)
	Notify(frame, first, last int)
	// Restarted is called when the host's cable has started again; lost is how many packets for each link, by link - 1, the NI did not receive.
	Restarted(lost []int)
	// Lost is called when packets of a link were lost, before anything else is sent by it.
	Lost(link int)
	// Turn is called whenever time has passed or something has arrived.
	Turn()
}

// Trap says that a link has stopped receiving, at a PAGE or CONNECT of its peer, until NI.Resume.
type Trap struct {
	Link   int
	Type   linkproto.Type // TypePage or TypeConnect
	Frame  int            // of a PAGE: the frame that Port is to have from here on
	Port   uint32
	Params []byte // of a CONNECT
}

// notified takes a NOTIFY.
func (c *Core) notified(p linkproto.Packet) {
	switch {
	case c.events == nil: // enabled by an earlier program
	case int(p.Frame) >= c.id.Frames || p.First > p.Last || int(p.Last) >= c.id.PageBytes:
		c.Fail(Violation("it notified bytes %d to %d of frame %d; there are %d frames of %d bytes", p.First, p.Last, p.Frame, c.id.Frames, c.id.PageBytes))
	default:
		c.events.Notify(int(p.Frame), int(p.First), int(p.Last))
	}
}

// trapped takes a TRAP.
func (c *Core) trapped(p linkproto.Packet) {
	var at linkproto.Packet
	err := at.Decode(p.Data)
	switch {
	case p.Via < 1 || int(p.Via) > c.links():
		c.Fail(Violation("it reported a trap of link %d of %d", p.Via, c.links()))
	case err != nil:
		c.Fail(Violation("link %d trapped at % x: %w", p.Via, p.Data[:min(len(p.Data), 32)], err))
	case at.Type != linkproto.TypePage && at.Type != linkproto.TypeConnect:
		c.Fail(Violation("link %d trapped at a %v", p.Via, at.Type))
	case at.Type == linkproto.TypePage && c.id.Frames > 0 && int(at.Frame) >= c.id.Frames:
		c.Fail(Violation("link %d trapped at a PAGE for frame %d of %d", p.Via, at.Frame, c.id.Frames))
	case c.traps[p.Via-1] != nil:
		c.Fail(Violation("link %d trapped again before RESUME", p.Via))
	default:
		t := &Trap{Link: int(p.Via), Type: at.Type, Frame: int(at.Frame), Port: at.Port, Params: bytes.Clone(at.Data)}
		c.traps[p.Via-1] = t
		c.queues[p.Via-1].traps++
		if c.events != nil {
			c.events.Trap(t)
		}
	}
}
