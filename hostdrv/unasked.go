package hostdrv

import (
	"bytes"

	"github.com/stafflink/lmmc/linkproto"
)

// notified takes a NOTIFY.
func (c *core) notified(p linkproto.Packet) {
	switch {
	case c.events == nil: // enabled by whoever had the NI before
	case int(p.Frame) >= c.id.Frames || p.First > p.Last || int(p.Last) >= c.id.PageBytes:
		c.fail(brokenf("it notified bytes %d to %d of frame %d; there are %d frames of %d bytes", p.First, p.Last, p.Frame, c.id.Frames, c.id.PageBytes))
	default:
		c.events.notify(int(p.Frame), int(p.First), int(p.Last))
	}
}

// trapped takes a TRAP.
func (c *core) trapped(p linkproto.Packet) {
	var at linkproto.Packet
	err := at.Decode(p.Data)
	switch {
	case p.Via < 1 || int(p.Via) > c.links():
		c.fail(brokenf("it reported a trap of link %d, there are %d", p.Via, c.links()))
	case err != nil:
		c.fail(brokenf("link %d trapped at % x: %w", p.Via, p.Data[:min(len(p.Data), 32)], err))
	case at.Type != linkproto.TypePage && at.Type != linkproto.TypeConnect:
		c.fail(brokenf("link %d trapped at a %v", p.Via, at.Type))
	case at.Type == linkproto.TypePage && c.id.Frames > 0 && int(at.Frame) >= c.id.Frames:
		c.fail(brokenf("link %d trapped at a PAGE for frame %d, there are %d", p.Via, at.Frame, c.id.Frames))
	case c.traps[p.Via-1] != nil:
		c.fail(brokenf("link %d trapped again before RESUME", p.Via))
	default:
		t := &Trap{Link: int(p.Via), Type: at.Type, Frame: int(at.Frame), Port: at.Port, Params: bytes.Clone(at.Data)}
		c.traps[p.Via-1] = t
		c.queues[p.Via-1].traps++
		if c.events != nil {
			c.events.trap(t)
		}
	}
}
