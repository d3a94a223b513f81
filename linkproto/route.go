package linkproto

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Route is a ROUTE taken apart: a packet on its way over routers. Its fields are those of its row in Types.
type Route struct {
	Via       uint8 // on a host port: the link that it leaves by or came from; on a link 0
	Dest, Src uint16
	Hops      uint8 // left: 0 to MaxHops
	Class     uint8 // 0 to 3
	VL        uint16
	State     uint8
	Next      uint8
	Seq       uint8
	Packet    []byte // the routed one, header first; of an INIT its fields
	More      []byte // what goes behind Packet, for who sends: bytes that are elsewhere
}

// Layout of a ROUTE.
const (
	RouteFields   = HeaderBytes + 10       // bytes before the routed packet
	RouteExtra    = RouteFields + CRCBytes // bytes that a ROUTE has besides the routed packet
	RoutePathAt   = HeaderBytes + 4        // place of `path`, the one byte that routers change
	RouteHopsMask = 0x3F                   // in `path`, bits 5:0
	RouteClassLSB = 6                      // in `path`, bits 7:6
	RouteDatagram = 3<<WordKindShift | 1   // `state` of a packet that belongs to no virtual link
	MaxHops       = RouteHopsMask - 1      // of a packet that is sent: the highest value is not used
	MulticastBase = 0xF000                 // destinations from here on are multicast groups
	MaxNode       = 0x0FFF                 // highest number of a node: a router's table has an entry for each
)

// Append appends the bytes of the ROUTE, header first and CRC last, as of a datagram. It refuses, with a *PacketError and dst unchanged, values that
// do not fit, and a packet that the length field cannot count.
func (r *Route) Append(dst []byte) ([]byte, error) { return r.Seal(dst, 0) }

// Seal is Append with a key, which a virtual link's ROUTEs have.
func (r *Route) Seal(dst []byte, key Key) ([]byte, error) {
	length := RouteExtra - HeaderBytes + len(r.Packet) + len(r.More)
	switch {
	case r.Via > MaxVia:
		return dst, &PacketError{PacketField, TypeRoute, int(r.Via), MaxVia}
	case r.Hops > RouteHopsMask:
		return dst, &PacketError{PacketField, TypeRoute, int(r.Hops), RouteHopsMask}
	case r.Class > 3:
		return dst, &PacketError{PacketField, TypeRoute, int(r.Class), 3}
	case length > math.MaxUint16:
		return dst, &PacketError{PacketLength, TypeRoute, length, math.MaxUint16}
	}
	start := len(dst)
	dst = append(dst, r.Via<<TypeBits|byte(TypeRoute))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(length))
	dst = binary.LittleEndian.AppendUint16(dst, r.Dest)
	dst = binary.LittleEndian.AppendUint16(dst, r.Src)
	dst = append(dst, r.Class<<RouteClassLSB|r.Hops)
	dst = binary.LittleEndian.AppendUint16(dst, r.VL)
	dst = append(dst, r.State, r.Next, r.Seq)
	dst = append(append(dst, r.Packet...), r.More...)
	return binary.LittleEndian.AppendUint32(dst, RouteCRC(dst[start:], key)), nil
}

// Decode takes the bytes of a ROUTE apart. Packet refers to b, it is not copied. It returns a *PacketError of what is wrong; the CRC is looked
// at last, as of a datagram, and then r holds what came.
func (r *Route) Decode(b []byte) error {
	if err := r.Open(b); err != nil {
		return err
	}
	return CheckRoute(b, 0)
}

// CheckRoute returns a *PacketError if the CRC of a ROUTE is not right with a key, 0 for a datagram.
func CheckRoute(b []byte, key Key) error {
	end := len(b) - CRCBytes
	if have, want := binary.LittleEndian.Uint32(b[end:]), RouteCRC(b[:end], key); have != want {
		return &PacketError{PacketCRC, TypeRoute, int(have), int(want)}
	}
	return nil
}

// Open is Decode without a look at the CRC.
func (r *Route) Open(b []byte) error {
	*r = Route{}
	switch {
	case len(b) < HeaderBytes:
		return &PacketError{Reason: PacketShort, Have: len(b), Want: HeaderBytes}
	case Type(b[0]&(1<<TypeBits-1)) != TypeRoute:
		return &PacketError{Reason: PacketType, Type: Type(b[0] & (1<<TypeBits - 1))}
	case !LengthFits(b):
		return &PacketError{PacketLengthField, TypeRoute, int(binary.LittleEndian.Uint16(b[1:])), len(b) - HeaderBytes}
	case len(b) < RouteExtra:
		return &PacketError{PacketLength, TypeRoute, len(b) - HeaderBytes, RouteExtra - HeaderBytes}
	}
	end := len(b) - CRCBytes
	*r = Route{
		Via:  b[0] >> TypeBits,
		Dest: binary.LittleEndian.Uint16(b[HeaderBytes:]), Src: binary.LittleEndian.Uint16(b[HeaderBytes+2:]),
		Hops: b[RoutePathAt] & RouteHopsMask, Class: b[RoutePathAt] >> RouteClassLSB,
		VL:    binary.LittleEndian.Uint16(b[RoutePathAt+1:]),
		State: b[RoutePathAt+3], Next: b[RoutePathAt+4], Seq: b[RoutePathAt+5],
		Packet: b[RouteFields:end],
	}
	return nil
}

// RouteCRC returns the CRC-32C of a ROUTE as it is on a link, given without the CRC itself: `path`, which routers change, is left out, and so is via.
// Its register starts with the key's bits inverted.
func RouteCRC(b []byte, key Key) uint32 {
	crc := ^uint32(key)
	crc = castagnoli[byte(crc)^b[0]&(1<<TypeBits-1)] ^ crc>>8
	for _, c := range b[1:RoutePathAt] {
		crc = castagnoli[byte(crc)^c] ^ crc>>8
	}
	return CRC32C(^crc, b[RoutePathAt+1:])
}

// String is the ROUTE in a line.
func (r *Route) String() string {
	return fmt.Sprintf("ROUTE %d -> %d, %d hops, class %d, %d bytes", r.Src, r.Dest, r.Hops, r.Class, len(r.Packet))
}
