package hostdrv

import (
	"bytes"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// inFrame is a frame of the own receive buffer. All is under the NI's lock.
type inFrame struct {
	link  *nodeLink // whose peer writes it, nil if nobody does
	index int
	port  *localPort // whose page it holds, nil if none or while pages change
	ring  *ring      // that it is, or nil

	reading     bool // a refresh is underway
	dirty       bool // and another is to follow, of
	first, last int
}

func (f *inFrame) addr(offset int) uint32 {
	return uint32(f.index*f.link.node.identity.PageBytes + offset)
}

// changed takes a range that the NI reports as written. One refresh is underway at a time; ranges that come meanwhile are merged.
func (f *inFrame) changed(first, last int) {
	switch {
	case f.ring != nil:
		f.ring.look()
	case f.port == nil: // of a page that has been saved as a whole, or of nobody's
	case !f.reading:
		f.link.node.stats.Refreshes++
		f.reading = true
		f.read(first, last, f.refreshed)
	case f.dirty:
		f.first, f.last = min(f.first, first), max(f.last, last)
	default:
		f.dirty, f.first, f.last = true, first, last
	}
}

func (f *inFrame) refreshed() {
	f.reading = false
	if f.dirty {
		f.dirty = false
		f.changed(f.first, f.last)
	}
}

// read brings bytes of the frame to the page of the port that has it now, unless that port has left it when the answer comes: its page was saved
// as a whole then, and the answer may be of after that, since reads that the host's cable loses are sent again.
func (f *inFrame) read(first, last int, then func()) {
	p := f.port
	read := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: f.addr(first), Count: uint16(last - first + 1)}
	f.link.node.core.Demand(read, "it refused to read a page", func(a linkproto.Packet, err error) {
		if err == nil && f.port == p {
			p.arrived(first, a.Data)
		}
		then()
	})
}

// page serves the trap at a PAGE: the frame's page is saved, the port's restored, and the link goes on. The old page is safe before the
// new one is written over it, so the trap can be served again from where it was if the host's cable fails.
func (l *nodeLink) page(t *engine.Trap) {
	n := l.node
	f := n.frames[t.Frame]
	if f.link != l || f.ring != nil {
		n.stats.Malformed++
		l.carrier.Resume()
		return
	}
	p := l.port(Receive, t.Port)
	if p != nil && p.in != nil && p.in != f { // the peer has lost its tables and begins anew
		p.in.leave(func() { l.page(t) })
		return
	}
	if p != nil && p.in == f {
		l.carrier.Resume()
		return
	}
	f.leave(func() {
		// The port may have ended meanwhile.
		if p = l.port(Receive, t.Port); p != nil {
			f.port = p
			p.enter(f)
			n.release()                 // who waits for the page is to see it first
			page := bytes.Clone(p.page) // which may be mapped elsewhere before it is sent
			n.core.Demand(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: f.addr(0), Data: page}, "it refused to restore a page", done)
		}
		l.carrier.Resume()
	})
}

// leave saves the page that a frame holds and takes the frame from its port.
func (f *inFrame) leave(then func()) {
	if f.port == nil {
		then()
		return
	}
	p := f.port
	f.read(0, len(p.page)-1, func() {
		if f.port == p {
			f.port = nil
			p.enter(nil)
		}
		then()
	})
}
