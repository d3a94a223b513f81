package model

import "github.com/stafflink/lmmc/linkproto"

// Port is a lane of a port of an NI or of a Switch, its first unless Lane gives another, to be joined with the other end of its cable. Behind the host port
// of an NI are its links, or those of its router.
type Port struct {
	of    ported
	index int
	lane  int
}

type ported interface {
	feed(port, lane int, in []linkproto.Symbol)
	tick(port, ticks int)
	emit(port, lane int, dst []linkproto.Symbol) int
}

// Lane returns another lane of the port, from 0 on.
func (p Port) Lane(lane int) Port { return Port{p.of, p.index, lane} }

// Feed takes symbols that arrived. It accepts any input.
func (p Port) Feed(in []linkproto.Symbol) { p.of.feed(p.index, p.lane, in) }

// Tick says that n ticks have passed on the port: on all lanes, of which the first is told.
func (p Port) Tick(n int) {
	if p.lane == 0 {
		p.of.tick(p.index, n)
	}
}

// Emit writes the symbols to send now into dst and returns how many. If they are fewer than len(dst), the lane idles.
func (p Port) Emit(dst []linkproto.Symbol) int { return p.of.emit(p.index, p.lane, dst) }
