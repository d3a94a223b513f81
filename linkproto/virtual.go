package linkproto

import (
	"encoding/binary"
	"fmt"
)

// Numbers of packets on a virtual link.
const (
	VLSeqBits   = 24                   // both ends count modulo 2^24, and say the low 8 bits
	VLSeqMask   = 1<<VLSeqBits - 1     // of a number
	VLMaxWindow = 1<<(SeqBits-1) - 1   // packets: the low bits of a number tell one ahead from one behind
	VLInitBytes = 13                   // of a VLInit
	VLPacketBit = 0                    // in `state`: a packet follows
	vlReserved  = WordReserved &^ 0x01 // in `state`
)

// DefaultVLRetry is the time of a virtual link, in ticks, after which packets without an acknowledgement are sent again.
const DefaultVLRetry = 32768

// VLState is `state` of a ROUTE on a virtual link: what its sender's end says of itself.
type VLState struct {
	Kind   Kind // ACK, LOST or INIT
	Stop   bool
	Packet bool // the ROUTE carries a packet
}

// Byte returns the state as it stands in a ROUTE.
func (s VLState) Byte() byte {
	b := byte(s.Kind) << WordKindShift
	if s.Stop {
		b |= 1 << WordStopBit
	}
	if s.Packet {
		b |= 1 << VLPacketBit
	}
	return b
}

// DecodeVLState takes a state apart; ok is false if it has reserved bits, or is that of a datagram or a barrier.
func DecodeVLState(b byte) (s VLState, ok bool) {
	s = VLState{Kind: Kind(b >> WordKindShift), Stop: b>>WordStopBit&1 != 0, Packet: b>>VLPacketBit&1 != 0}
	return s, b&vlReserved == 0 && s.Kind != KindBarrier && !(s.Kind == KindInit && s.Packet)
}

// VLInit is what an end of a virtual link that is not up says, in a packet's place: who it is.
type VLInit struct {
	Number  uint16 // the sender's of the virtual link, which `vl` is to be in what is for it
	Life    Life   // the sender's
	Heard   Life   // the addressee's, as far as the sender knows; 0: it does not
	Page    uint8  // the logarithm to base 2 of the sender's page, 15 at most
	Channel uint16 // which of the virtual links between the two nodes it is
}

// Append appends the 13 bytes.
func (w VLInit) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, w.Number)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w.Life))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w.Heard))
	dst = append(dst, w.Page)
	return binary.LittleEndian.AppendUint16(dst, w.Channel)
}

// DecodeVLInit takes the bytes apart; ok is false if they are too few or too many, or say what cannot be.
func DecodeVLInit(b []byte) (w VLInit, ok bool) {
	if len(b) != VLInitBytes {
		return VLInit{}, false
	}
	w = VLInit{
		Number: binary.LittleEndian.Uint16(b), Life: Life(binary.LittleEndian.Uint32(b[2:])), Heard: Life(binary.LittleEndian.Uint32(b[6:])),
		Page: b[10], Channel: binary.LittleEndian.Uint16(b[11:]),
	}
	return w, (w.Refuses() || w.Number != 0 && w.Life != 0) && w.Page <= initPageMask
}

// Refuses reports whether it is no end that says this: nobody at the node has the channel, for which the end Heard asks.
func (w VLInit) Refuses() bool { return w.Number == 0 && w.Life == 0 && w.Heard != 0 }

// At returns the key of a ROUTE on a virtual link: it names the high bits of the number of the packet (0 without one) and of that expected next, which
// the ROUTE does not say. So one that was underway for so long that its low bits mean another packet is damaged.
func (k Key) At(seq, next uint32) Key {
	return k ^ Key(seq&VLSeqMask>>SeqBits)<<(VLSeqBits-SeqBits) ^ Key(next&VLSeqMask>>SeqBits)
}

// VLNumber returns the number whose low bits are low, and that lies nearest to one that is known.
func VLNumber(near uint32, low uint8) uint32 {
	return (near + uint32(int32(int8(low-uint8(near))))) & VLSeqMask
}

// VLDistance is how far a number is ahead of another: negative if it is behind.
func VLDistance(from, to uint32) int {
	return int(int32((to-from)<<(32-VLSeqBits)) >> (32 - VLSeqBits))
}

// String is the state in words, as in "LOST STOP".
func (s VLState) String() string {
	text := s.Kind.String()
	if s.Stop {
		text += " STOP"
	}
	return text
}

// String is the INIT in a line.
func (w VLInit) String() string {
	return fmt.Sprintf("number %d, channel %d, life %08x, heard %08x", w.Number, w.Channel, uint32(w.Life), uint32(w.Heard))
}
