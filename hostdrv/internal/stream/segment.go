package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind is what a segment is.
type Kind uint8

// Kinds of segments.
const (
	Syn      Kind = 1 + iota // opens a stream to Port; Data: the own port. Said twice it is answered twice
	Accept                   // answers Syn: the stream is open
	Data                     // bytes, or none: it also says Limit and Fin
	Reset                    // the stream does not exist, or no more
	Hello                    // says the life of its sender, and that it is there
	Datagram                 // Data for Port from port Stream, which belongs to no stream
	Groups                   // Data: the multicast groups that its sender is in

	kinds
)

func (k Kind) String() string {
	if k == 0 || k >= kinds {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return [...]string{"SYN", "ACCEPT", "DATA", "RESET", "HELLO", "DATAGRAM", "GROUPS"}[k-1]
}

// Segment is a message between the ends of streams at two nodes. The tag of the message is the life of its sender: the number, never 0, of what it knows of the
// streams between the two. A sender that has lost that takes another one.
type Segment struct {
	Kind   Kind
	Fin    bool   // of Data: there is nothing behind it
	More   bool   // of Datagram: the next one that the sender sends goes on with it
	Nobody bool   // of Datagram, which has no data: nobody has the port Stream, to which Port has sent
	Ask    bool   // of Groups: the receiver is to say its own
	Group  bool   // of Datagram: what it is a part of begins with the address of the group that it goes to
	Port   uint16 // of Syn and Datagram: that of the receiver
	Life   uint32 // of the receiver, as far as the sender knows it; 0: it does not
	Stream uint32 // number of the stream, and Ours if the receiver has opened it; of a Datagram the sender's port
	Limit  uint64 // bytes that the receiver may have sent by the stream in all
	Data   []byte // of Data; of a Datagram; of Syn two bytes
}

// Ours is set in the number of a stream that the own end has opened.
const Ours = 1 << 31

// HeaderBytes is how many bytes of a segment come before its Data.
const HeaderBytes = 1 + 1 + 2 + 4 + 4 + 8

const (
	flagFin    = 1
	flagMore   = 2
	flagNobody = 4
	flagAsk    = 8
	flagGroup  = 16
	flags      = flagFin | flagMore | flagNobody | flagAsk | flagGroup
)

// put writes the header of a segment into the HeaderBytes before its data.
func (s *Segment) put(b []byte) {
	b[0], b[1] = byte(s.Kind), 0
	for i, set := range [...]bool{s.Fin, s.More, s.Nobody, s.Ask, s.Group} {
		if set {
			b[1] |= 1 << i
		}
	}
	binary.LittleEndian.PutUint16(b[2:], s.Port)
	binary.LittleEndian.PutUint32(b[4:], s.Life)
	binary.LittleEndian.PutUint32(b[8:], s.Stream)
	binary.LittleEndian.PutUint64(b[12:], s.Limit)
}

// Append appends a segment's bytes.
func (s *Segment) Append(b []byte) []byte {
	var header [HeaderBytes]byte
	s.put(header[:])
	return append(append(b, header[:]...), s.Data...)
}

var errSegment = errors.New("not a segment")

// Decode reads a segment, whose Data is a part of b.
func Decode(b []byte) (s Segment, err error) {
	if len(b) < HeaderBytes {
		return s, fmt.Errorf("%w: %d bytes, want %d at least", errSegment, len(b), HeaderBytes)
	}
	s = Segment{Kind(b[0]), b[1]&flagFin != 0, b[1]&flagMore != 0, b[1]&flagNobody != 0, b[1]&flagAsk != 0, b[1]&flagGroup != 0, binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint64(b[12:]), b[HeaderBytes:]}
	switch {
	case s.Kind == 0 || s.Kind >= kinds || b[1]&^flags != 0 || s.Fin && s.Kind != Data || (s.More || s.Nobody || s.Group) && s.Kind != Datagram || s.Nobody && (s.More || s.Group || len(s.Data) > 0),
		s.Ask && s.Kind != Groups:
		return s, fmt.Errorf("%w: %v, flags %#x", errSegment, s.Kind, b[1])
	case s.Kind == Syn && (len(s.Data) != 2 || s.Stream&Ours != 0) || s.Kind == Datagram && s.Stream > 0xFFFF || s.Kind == Groups && len(s.Data)%groupBytes != 0,
		s.Kind != Syn && s.Kind != Data && s.Kind != Datagram && s.Kind != Groups && len(s.Data) > 0:
		return s, fmt.Errorf("%w: %v of stream %#x with %d bytes", errSegment, s.Kind, s.Stream, len(s.Data))
	}
	return s, nil
}
