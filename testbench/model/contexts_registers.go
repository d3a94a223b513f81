package model

import (
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// at returns the context that a register belongs to, and which of its registers it is; nil if there is none.
func (w *contexts) at(r linkproto.Reg) (*messages, linkproto.ContextReg) {
	i, ok := index(r, linkproto.RegContext, linkproto.ContextStride*len(w.all))
	if !ok {
		return nil, 0
	}
	return &w.all[i/linkproto.ContextStride], linkproto.ContextReg(i % linkproto.ContextStride)
}

// readRegister returns the content of a register of contexts; ok is false if there is no such register.
func (w *contexts) readRegister(r linkproto.Reg) (value uint32, ok bool) {
	if r == linkproto.RegContexts {
		return uint32(len(w.all)), true
	}
	c, which := w.at(r)
	if c == nil {
		return 0, false
	}
	switch which {
	case linkproto.ContextRegRegion:
		value = c.region
	case linkproto.ContextRegStatus:
		value = linkproto.ContextEnabled.In(flag(c.enabled)) | linkproto.ContextFault.In(c.fault)
	case linkproto.ContextRegSendTail:
		value = uint32(c.sendTail)
	case linkproto.ContextRegReceiveTail:
		value = uint32(c.receiveTail)
	case linkproto.ContextRegSendHead:
		value = uint32(c.sendHead)
	case linkproto.ContextRegReceiveHead:
		value = uint32(c.receiveHead)
	case linkproto.ContextRegCompletions:
		value = uint32(c.completions)
	}
	return value, true
}

// writeRegister sets a register of contexts; ok is false if there is none that can be written.
func (w *contexts) writeRegister(r linkproto.Reg, value uint32) (ok bool) {
	c, which := w.at(r)
	if c == nil || int(which) >= len(linkproto.ContextRegs) || linkproto.ContextRegs[which].Access == "ro" {
		return false
	}
	switch {
	case c.number == 0:
	case which == linkproto.ContextRegStatus:
		c.control(linkproto.ContextEnabled.Of(value) != 0)
	case which == linkproto.ContextRegRegion && !c.enabled:
		c.region = linkproto.ContextFirst.In(linkproto.ContextFirst.Of(value)) | linkproto.ContextLast.In(linkproto.ContextLast.Of(value)) |
			linkproto.ContextSize.In(linkproto.ContextSize.Of(value))
	case !c.enabled:
	case which == linkproto.ContextRegSendTail:
		c.post(&c.sendTail, c.sendHead, uint16(value))
	case which == linkproto.ContextRegReceiveTail:
		c.post(&c.receiveTail, c.receiveHead, uint16(value))
	}
	return true
}

// control enables or ends the context.
func (c *messages) control(enable bool) {
	if enable == c.enabled {
		return
	}
	if !enable {
		c.stop(linkproto.FaultNone)
		return
	}
	c.sendTail, c.receiveTail, c.sendHead, c.receiveHead, c.completions = 0, 0, 0, 0, 0
	c.fault = linkproto.FaultNone
	if c.end() <= c.start() || c.end() > len(c.of.ni.buffer) || linkproto.ContextSize.Of(c.region) > linkproto.MaxRingSize ||
		linkproto.RingsOf(c.entries()) > c.end()-c.start() {
		c.fault = linkproto.FaultRegion
		return
	}
	c.enabled = true
}

// post takes a new tail, if it is at most a ring before its head, and not behind the one before.
func (c *messages) post(tail *uint16, head, value uint16) {
	if int(value-head) > c.entries() || value-head < *tail-head {
		c.stop(linkproto.FaultTail)
		return
	}
	*tail = value
}

// stop ends the context, and gives up what is underway.
func (c *messages) stop(fault uint32) {
	c.enabled, c.fault, c.send, c.ready = false, fault, nil, nil
	for i := range c.of.ni.virtuals.links {
		v := &c.of.ni.virtuals.links[i]
		v.sends = slices.DeleteFunc(v.sends, func(s *send) bool { return s.context == c })
		if v.in.of == c {
			v.in = joining{skip: true}
		}
	}
	c.of.told, c.due = slices.DeleteFunc(c.of.told, func(other *messages) bool { return other == c }), false
}
