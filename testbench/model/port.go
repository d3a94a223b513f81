package model

import "github.com/stafflink/lmmc/linkproto"

// Port is a port of an NI or of a Switch, to be joined with the other end of its cable. Behind the host port of an NI are its links, or those of its router.
type Port struct {
	of    ported
	index int
}

type ported interface {
	feed(port int, in []linkproto.Symbol)
	tick(port, ticks int)
	emit(port int, dst []linkproto.Symbol) int
}

// Feed takes symbols that arrived at the port. It accepts any input.
func (p Port) Feed(in []linkproto.Symbol) { p.of.feed(p.index, in) }

// Tick says that n ticks have passed on the port.
func (p Port) Tick(n int) { p.of.tick(p.index, n) }

// Emit writes the symbols that the port is to send now into dst and returns how many. If they are fewer than len(dst), the link idles.
func (p Port) Emit(dst []linkproto.Symbol) int { return p.of.emit(p.index, dst) }
