package flowctl

import (
	"github.com/stafflink/lmmc/linkproto"
)

// Feed takes symbols that arrived, in order. It accepts any input. It invalidates the packet that Receive returned last.
func (e *Endpoint) Feed(in []linkproto.Symbol) {
	var ev linkproto.Event
	for len(in) > 0 {
		in = in[e.deframer.NextInto(&ev, in):]
		switch ev.Kind {
		case linkproto.EventFrame:
			e.frame(ev.Seq, ev.Payload)
		case linkproto.EventBadFrame:
			e.badFrame()
		case linkproto.EventWord:
			e.sealed()
			e.word(ev.Word)
		case linkproto.EventInit:
			e.init(ev.Init)
		case linkproto.EventBadWord:
			e.foreign = e.foreign || ev.Reason == linkproto.WordVersion
			e.sealed()
			e.badWord()
		case linkproto.EventStray:
			e.count(linkproto.CntRxStray)
		}
	}
	e.watch()
}

// frame handles a frame whose CRC is right.
func (e *Endpoint) frame(seq uint8, payload []byte) {
	switch {
	case !e.up:
		e.count(linkproto.CntRxStray)
	case seq != e.rx.expect && e.rx.isDuplicate(seq):
		e.count(linkproto.CntRxDup)
		e.words.urgent = true
	case seq != e.rx.expect:
		e.count(linkproto.CntRxGap)
		e.missing()
	case !linkproto.LengthFits(payload): // the sender's fault, which a replay would not fix
		e.count(linkproto.CntBadPacket)
		e.accept()
	case !e.rx.deliver(payload):
		e.count(linkproto.CntRxOverrun)
		e.missing()
	default:
		e.count(linkproto.CntRxPackets)
		e.accept()
	}
}

// accept moves on to the next frame and has this one acknowledged.
func (e *Endpoint) accept() {
	e.rx.expect++
	e.words.arrived()
	if e.rx.lost {
		e.rx.lost, e.words.urgent = false, true
	}
}

func (e *Endpoint) badFrame() {
	if !e.up {
		e.count(linkproto.CntRxStray)
		return
	}
	e.count(linkproto.CntRxCRC)
	e.missing()
}

// missing asks the peer to go back, once until the expected frame has come.
func (e *Endpoint) missing() {
	if !e.rx.lost {
		e.rx.lost, e.words.urgent = true, true
	}
}

// watch brings STOP in line with the fill of the receive FIFO, the frame in progress included.
func (e *Endpoint) watch() {
	pending := 0
	if seq, n, ok := e.deframer.Pending(); ok && e.up && seq == e.rx.expect {
		pending = n
	}
	if !e.rx.watch(pending) {
		return
	}
	e.words.urgent = true
	if e.rx.stop {
		e.count(linkproto.CntStops)
	}
}

// ring is a FIFO buffer of bytes in which each packet lies in one piece: the memory is longer than the buffer by one
// longest packet, and a packet that begins before the buffer's end runs on past it. Positions count bytes since the
// beginning of time and never wrap.
type ring struct {
	mem   []byte
	size  uint64
	start uint64 // position of the oldest byte held
	first uint64 // its place in mem
	end   uint64 // position of the next byte to come
}

func newRing(size, maxPacket int) ring {
	return ring{mem: make([]byte, size+maxPacket), size: uint64(size)}
}

func (r *ring) used() int { return int(r.end - r.start) }

func (r *ring) fits(n int) bool { return r.end-r.start+uint64(n) <= r.size }

// place is where a position from start to end lies in mem.
func (r *ring) place(at uint64) uint64 {
	i := r.first + at - r.start
	if i >= r.size {
		i -= r.size
	}
	return i
}

// free gives back what is before a position.
func (r *ring) free(to uint64) { r.first, r.start = r.place(to), to }

// room is memory for a packet of so many bytes, which must fit, that put does not copy.
func (r *ring) room(n int) []byte {
	at := r.place(r.end)
	return r.mem[at : at : at+uint64(n)]
}

// put adds a packet, which must fit, and returns its position.
func (r *ring) put(packet []byte) (at uint64) {
	at = r.end
	if to := r.mem[r.place(at):]; len(packet) > 0 && &packet[0] != &to[0] { // it may be there already
		copy(to, packet)
	}
	r.end += uint64(len(packet))
	return at
}

// get returns the packet of n bytes at a position.
func (r *ring) get(at uint64, n int) []byte {
	i := r.place(at)
	return r.mem[i : i+uint64(n) : i+uint64(n)]
}
