package engine

import (
	"bytes"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// deliver carries out packets that have come, until one traps, or too much waits. Nobody is there for them until there is a Handler.
func (v *Virtual) deliver() {
	c := v.core
	if v.delivering {
		return
	}
	v.delivering = true
	defer func() { v.delivering = false }()
	for !v.trapped && !v.closed && c.err == nil && c.events != nil && v.vl.Readable() > 0 {
		if v.taker != nil {
			if !v.offer() {
				return
			}
			continue
		}
		if len(c.backlog) >= virtualBacklog {
			if !v.held {
				v.held = true
				c.virtuals.held = append(c.virtuals.held, v)
			}
			return
		}
		raw, _ := v.vl.Receive()
		v.carryOut(raw)
	}
}

func (v *Virtual) carryOut(raw []byte) {
	var p linkproto.Packet
	if err := p.Decode(raw); err != nil {
		v.bad++
		return
	}
	switch p.Type {
	case linkproto.TypeWrite:
		v.write(p)
	case linkproto.TypePage, linkproto.TypeConnect:
		v.trap(p)
	default:
		v.bad++
	}
}

// write carries out a remote write as an NI does: all of it, or nothing.
func (v *Virtual) write(p linkproto.Packet) {
	c, page := v.core, uint32(v.core.id.PageBytes)
	frame, first := int(p.Addr/page), p.Addr%page
	switch {
	case frame >= c.id.Frames || first+uint32(len(p.Data)) > page || v.Allowed == nil || !v.Allowed(frame):
		v.denied++
	case len(p.Data) > 0:
		c.Demand(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: p.Addr, Data: bytes.Clone(p.Data)},
			fmt.Sprintf("it refused a write of virtual link %d into its buffer", v.link), func(linkproto.Packet, error) {})
		c.events.Notify(frame, int(first), int(first)+len(p.Data)-1)
	}
}

// trap stops at a PAGE or CONNECT, which is the Handler's.
func (v *Virtual) trap(p linkproto.Packet) {
	if p.Type == linkproto.TypePage && int(p.Frame) >= v.core.id.Frames {
		v.bad++
		return
	}
	v.trapped = true
	v.core.events.Trap(&Trap{Link: v.link, Type: p.Type, Frame: int(p.Frame), Port: p.Port, Params: bytes.Clone(p.Data)})
}
