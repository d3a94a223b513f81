package sharing

import (
	"encoding/binary"
	"fmt"
)

// Datagram is a message on the socket that OpDatagrams answers with, either way: a frame of a kernel from or to another node.
type Datagram struct {
	Node      uint16
	EtherType uint16
	Data      []byte
}

// DatagramHeader is how many bytes a Datagram has besides its Data.
const DatagramHeader = 2 + 2

// Append appends a datagram's bytes.
func (d Datagram) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, d.Node)
	b = binary.LittleEndian.AppendUint16(b, d.EtherType)
	return append(b, d.Data...)
}

// DecodeDatagram reads a datagram. Its Data is a part of b.
func DecodeDatagram(b []byte) (Datagram, error) {
	if len(b) < DatagramHeader {
		return Datagram{}, fmt.Errorf("a datagram of %d bytes, want at least %d", len(b), DatagramHeader)
	}
	return Datagram{binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]), b[DatagramHeader:]}, nil
}
