package hostdrv

import (
	"encoding/binary"
	"fmt"
)

// Nodes talk to each other in the parameters of CONNECT packets: a byte that says what, and what belongs to it, little endian.
//
//	hello   flags u8 (1: say hello back), session u32, page bytes u16, first frame u16, frames u16, all to be had by the addressee
//	open    role u8 of who opens, the user's parameters; port as in the packet
//	accept  role u8 of who opened
//	refuse  role u8 of who opened, reason in words
//	close   role u8 of who closes
//	missed  ends u8 that the sender has of ports with this number, a bit by role: what the addressee said about them got lost; it says again what
//	        still counts
type messageKind uint8

const (
	hello messageKind = 1 + iota
	open
	accept
	refuse
	shut
	missed
)

// message is one of them.
type message struct {
	kind messageKind
	role Direction // of who opens, opened or closes
	ends uint8     // missed
	text []byte    // parameters or reason

	again     bool // hello: say it back
	session   uint32
	pageBytes int
	first     int // frame
	frames    int
}

// MaxParams is how many bytes of parameters Port.Connect takes. A reason to refuse is cut to as many.
const MaxParams = 62

const helloBytes = 12

func (m message) append(b []byte) []byte {
	b = append(b, byte(m.kind))
	if m.kind == missed {
		return append(b, m.ends)
	}
	if m.kind != hello {
		return append(append(b, byte(m.role)), m.text[:min(len(m.text), MaxParams)]...)
	}
	flags := byte(0)
	if m.again {
		flags = 1
	}
	b = binary.LittleEndian.AppendUint32(append(b, flags), m.session)
	for _, v := range []int{m.pageBytes, m.first, m.frames} {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	return b
}

func parseMessage(b []byte) (m message, err error) {
	bad := fmt.Errorf("hostdrv: no message between nodes: % x", b)
	if len(b) < 2 {
		return m, bad
	}
	m.kind = messageKind(b[0])
	switch {
	case m.kind == hello && len(b) == helloBytes && b[1] <= 1:
		m.again, m.session = b[1] == 1, binary.LittleEndian.Uint32(b[2:])
		m.pageBytes, m.first, m.frames = int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:])), int(binary.LittleEndian.Uint16(b[10:]))
		if m.session == 0 {
			return m, bad
		}
	case m.kind > hello && m.kind < missed && b[1] <= byte(Receive):
		m.role, m.text = Direction(b[1]), b[2:]
	case m.kind == missed && len(b) == 2 && b[1] < 1<<2:
		m.ends = b[1]
	default:
		return m, bad
	}
	return m, nil
}
