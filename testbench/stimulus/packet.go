package stimulus

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/stafflink/lmmc/linkproto"
)

// Packet is the bytes of a packet, right or wrong. They are written in hexadecimal.
type Packet []byte

// MarshalText writes the bytes.
func (p Packet) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(p)), nil }

// UnmarshalText reads what MarshalText has written.
func (p *Packet) UnmarshalText(text []byte) (err error) {
	*p, err = hex.DecodeString(string(text))
	return err
}

// Encode is the bytes of a packet that is right. It panics if it is not.
func Encode(p linkproto.Packet) Packet {
	raw, err := p.Append(nil)
	if err != nil {
		panic(err) // whoever has drawn it is wrong
	}
	return raw
}

// RawPacket is the bytes of any packet, its length field right.
func RawPacket(kind linkproto.Type, via int, body []byte) Packet {
	raw := []byte{byte(via)<<linkproto.TypeBits | byte(kind)}
	return append(binary.LittleEndian.AppendUint16(raw, uint16(len(body))), body...)
}
