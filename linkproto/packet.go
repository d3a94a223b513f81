package linkproto

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Packet is a packet of any type, taken apart. Of the members below Via, a type has those that its row in Types lists;
// the others are zero after Decode and ignored by Append. Data holds the field of variable length, whatever its name.
type Packet struct {
	Type    Type
	Via     uint8 // on a host port: the link a packet leaves by or came from, 0 for the NI itself; on a link 0
	Tag     uint8
	Status  Status
	Reg     Reg
	Count   uint16
	Frame   uint16
	First   uint16
	Last    uint16
	Packets uint8
	VL      uint16
	Context uint16
	Addr    uint32
	Value   uint32
	Port    uint32
	Bytes   uint16
	MsgTag  uint32
	Rest    uint32
	Data    []byte
}

// PacketError says what is wrong with a packet. It wraps its Reason.
type PacketError struct {
	Reason Reason
	Type   Type
	Have   int // what the packet has: bytes, or the value that does not fit
	Want   int // what it should have, or the bound it breaks
}

// Error names the packet's type and both numbers.
func (e *PacketError) Error() string {
	return fmt.Sprintf("%v: %v has %d, want %d", e.Reason, e.Type, e.Have, e.Want)
}

// Unwrap returns the reason.
func (e *PacketError) Unwrap() error { return e.Reason }

// get returns the member of p that a field of fixed width is kept in.
func (p *Packet) get(id FieldID) uint32 {
	switch id {
	case FieldTag:
		return uint32(p.Tag)
	case FieldAddr:
		return p.Addr
	case FieldReg:
		return uint32(p.Reg)
	case FieldValue:
		return p.Value
	case FieldCount:
		return uint32(p.Count)
	case FieldStatus:
		return uint32(p.Status)
	case FieldFrame:
		return uint32(p.Frame)
	case FieldPort:
		return p.Port
	case FieldFirst:
		return uint32(p.First)
	case FieldLast:
		return uint32(p.Last)
	case FieldBytes:
		return uint32(p.Bytes)
	case FieldMsgTag:
		return p.MsgTag
	case FieldRest:
		return p.Rest
	case FieldVL:
		return uint32(p.VL)
	case FieldContext:
		return uint32(p.Context)
	default:
		return uint32(p.Packets)
	}
}

func (p *Packet) set(id FieldID, v uint32) {
	switch id {
	case FieldTag:
		p.Tag = uint8(v)
	case FieldAddr:
		p.Addr = v
	case FieldReg:
		p.Reg = Reg(v)
	case FieldValue:
		p.Value = v
	case FieldCount:
		p.Count = uint16(v)
	case FieldStatus:
		p.Status = Status(v)
	case FieldFrame:
		p.Frame = uint16(v)
	case FieldPort:
		p.Port = v
	case FieldFirst:
		p.First = uint16(v)
	case FieldLast:
		p.Last = uint16(v)
	case FieldBytes:
		p.Bytes = uint16(v)
	case FieldMsgTag:
		p.MsgTag = v
	case FieldRest:
		p.Rest = v
	case FieldPackets:
		p.Packets = uint8(v)
	case FieldVL:
		p.VL = uint16(v)
	case FieldContext:
		p.Context = uint16(v)
	}
}

// LengthFits reports whether a frame's payload is long enough for a packet's header, and its length field says what the
// payload holds. The link layer delivers nothing else.
func LengthFits(payload []byte) bool { return LengthIs(payload, len(payload)) }

// LengthIs is LengthFits for a payload of so many bytes, of which the first ones are there.
func LengthIs(payload []byte, bytes int) bool {
	return len(payload) >= HeaderBytes && int(binary.LittleEndian.Uint16(payload[1:])) == bytes-HeaderBytes
}

// Size is how many bytes Append appends, if it does not refuse.
func (p *Packet) Size() int {
	size := HeaderBytes + len(p.Data)
	if info := p.Type.Info(); info != nil {
		size += info.MinLength()
	}
	return size
}

// AppendHeader appends the packet's bytes but for Data, its last field; the length is that of all.
func (p *Packet) AppendHeader(dst []byte) ([]byte, error) {
	start, data := len(dst), p.Data
	p.Data = nil
	dst, err := p.Append(dst)
	p.Data = data
	if err == nil {
		length := dst[start+1:]
		binary.LittleEndian.PutUint16(length, binary.LittleEndian.Uint16(length)+uint16(len(data)))
	}
	return dst, err
}

// Append appends the packet's bytes, header first. It refuses, with a *PacketError and dst unchanged, an unknown or
// reserved type, a Via above MaxVia, and Data that its type does not allow or that the length field cannot count.
func (p *Packet) Append(dst []byte) ([]byte, error) {
	info := p.Type.Info()
	if info == nil || info.Dir == 0 {
		return dst, &PacketError{Reason: PacketType, Type: p.Type}
	}
	if p.Via > MaxVia {
		return dst, &PacketError{PacketField, p.Type, int(p.Via), MaxVia}
	}
	length := info.MinLength() + len(p.Data)
	most, bounded := info.MaxLength()
	if !bounded {
		most = math.MaxUint16
	}
	if length > most {
		return dst, &PacketError{PacketLength, p.Type, length, most}
	}
	dst = append(dst, p.Via<<TypeBits|byte(p.Type), byte(length), byte(length>>8))
	for i := range info.Fields {
		f := &info.Fields[i]
		switch f.Bytes {
		case 0:
			dst = append(dst, p.Data...)
		case 1:
			dst = append(dst, byte(p.get(f.ID)))
		case 2:
			dst = binary.LittleEndian.AppendUint16(dst, uint16(p.get(f.ID)))
		case 4:
			dst = binary.LittleEndian.AppendUint32(dst, p.get(f.ID))
		}
	}
	return dst, nil
}

// Decode takes a frame's payload apart. Data refers to b, it is not copied. A malformed packet gives a *PacketError;
// p then holds what was readable: type, via, and the tag of a request whose tag arrived, for a refusal.
func (p *Packet) Decode(b []byte) error {
	*p = Packet{Tag: TagNone}
	if len(b) < HeaderBytes {
		return &PacketError{Reason: PacketShort, Have: len(b), Want: HeaderBytes}
	}
	p.Type, p.Via = Type(b[0]&(1<<TypeBits-1)), b[0]>>TypeBits
	info := p.Type.Info()
	if info == nil || info.Dir == 0 {
		return &PacketError{Reason: PacketType, Type: p.Type}
	}
	if info.Fields[0].ID == FieldTag {
		if len(b) > HeaderBytes {
			p.Tag = b[HeaderBytes]
		}
	}
	length := int(binary.LittleEndian.Uint16(b[1:]))
	body := b[HeaderBytes:]
	if length != len(body) {
		return &PacketError{PacketLengthField, p.Type, length, len(body)}
	}
	if least := info.MinLength(); length < least {
		return &PacketError{PacketLength, p.Type, length, least}
	}
	if most, bounded := info.MaxLength(); bounded && length > most {
		return &PacketError{PacketLength, p.Type, length, most}
	}
	p.Tag = 0
	for i := range info.Fields {
		f := &info.Fields[i]
		switch f.Bytes {
		case 0:
			p.Data = body
		case 1:
			p.set(f.ID, uint32(body[0]))
		case 2:
			p.set(f.ID, uint32(binary.LittleEndian.Uint16(body)))
		case 4:
			p.set(f.ID, binary.LittleEndian.Uint32(body))
		}
		body = body[f.Bytes:]
	}
	return nil
}
