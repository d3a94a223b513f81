package linkproto

import "encoding/binary"

// Init is the link state word of an end that is not up: who it is.
type Init struct {
	Stop    bool
	Version uint8 // of the protocol
	Node    uint16
	Life    Life
	Page    uint8 // the logarithm to base 2 of its page's bytes, 15 at most: it takes packets of MaxPacket(1<<Page)
	Routes  bool  // it takes ROUTE packets
	Lanes   uint8 // of the link, 1 to 8
	Lane    uint8 // that this word goes over, from 0
}

// MaxPacket is the longest packet that the sender takes.
func (w Init) MaxPacket() int {
	if w.Routes {
		return MaxRoute(1 << w.Page)
	}
	return MaxPacket(1 << w.Page)
}

// InitSymbols is the length of an INIT: LSW, ten bytes, two check bytes.
const InitSymbols = 13

// Places in an INIT, behind LSW; b0 is at 0. Numbers have their low byte first, but for the check.
const (
	InitVersionAt = 1
	InitNodeAt    = 2
	InitLifeAt    = 4
	InitPageAt    = 8
	InitLanesAt   = 9
	InitCheckAt   = 10
)

// Layout of the bytes of an INIT that say what it takes and what lanes there are. Reserved bits are zero.
const (
	InitRoutesBit     = 4 // bits 3:0 are Page
	InitPageReserved  = 0xE0
	InitLaneShift     = 3 // bits 5:3; bits 2:0 are the number of lanes less one
	InitLanesReserved = 0xC0
	initPageMask      = 15
	initLanesMask     = 7
)

// Symbols returns the word as it goes over the link.
func (w Init) Symbols() [InitSymbols]Symbol {
	var b [InitSymbols - 1]byte
	b[0] = byte(KindInit) << WordKindShift
	if w.Stop {
		b[0] |= 1 << WordStopBit
	}
	b[InitVersionAt] = w.Version
	binary.LittleEndian.PutUint16(b[InitNodeAt:], w.Node)
	binary.LittleEndian.PutUint32(b[InitLifeAt:], uint32(w.Life))
	b[InitPageAt] = w.Page & initPageMask
	if w.Routes {
		b[InitPageAt] |= 1 << InitRoutesBit
	}
	b[InitLanesAt] = (w.Lanes-1)&initLanesMask | w.Lane<<InitLaneShift
	binary.BigEndian.PutUint16(b[InitCheckAt:], CRC16(b[:InitCheckAt]))
	s := [InitSymbols]Symbol{SymLSW}
	for i, c := range b {
		s[1+i] = Data(c)
	}
	return s
}

// AppendInit appends the symbols of an INIT.
func AppendInit(dst []Symbol, w Init) []Symbol {
	s := w.Symbols()
	return append(dst, s[:]...)
}

// DecodeInit decodes the bytes after LSW of an INIT. The reason is ReasonNone if the word is good; of another version it is
// WordVersion, and only Version holds.
func DecodeInit(b [InitSymbols - 1]byte) (Init, Reason) {
	page, lanes := b[InitPageAt], b[InitLanesAt]
	w := Init{
		Stop:    b[0]>>WordStopBit&1 != 0,
		Version: b[InitVersionAt],
		Node:    binary.LittleEndian.Uint16(b[InitNodeAt:]),
		Life:    Life(binary.LittleEndian.Uint32(b[InitLifeAt:])),
		Page:    page & initPageMask,
		Routes:  page>>InitRoutesBit&1 != 0,
		Lanes:   lanes&initLanesMask + 1,
		Lane:    lanes >> InitLaneShift & initLanesMask,
	}
	switch {
	case CRC16(b[:InitCheckAt]) != binary.BigEndian.Uint16(b[InitCheckAt:]):
		return Init{}, WordCheck
	case w.Version != Version:
		return Init{Version: w.Version}, WordVersion
	case b[0]&WordReserved != 0 || page&InitPageReserved != 0 || lanes&InitLanesReserved != 0 || w.Lane >= w.Lanes:
		return Init{}, WordReservedBits
	}
	return w, ReasonNone
}
