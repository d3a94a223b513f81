// Package ethernet models the media-independent interfaces of Ethernet (IEEE 802.3): MII, GMII, RGMII and XGMII with frames that have preamble, start
// delimiter, frame check sequence and gaps, with errors on purpose. It also reads and writes frames as pcap files, and moves them to and from a TAP.
package ethernet

import (
	"encoding/binary"
	"hash/crc32"
)

// Lengths in octets (IEEE 802.3, 4.4.2), from the destination address to the frame check sequence.
const (
	MinFrame = 64
	MaxFrame = 1518
	MinGap   = 12
)

// Frame is a frame on an interface.
type Frame struct {
	// Data is what stands from the destination address on, with padding, without the frame check sequence.
	Data []byte
	// BadFCS says that the frame check sequence is wrong.
	BadFCS bool
	// Error says that the interface signals an error within the frame.
	Error bool
	// Preamble is the number of octets before the start delimiter that are left out.
	Preamble int
	// Gap is the number of idle octets before the frame: at least so many when sent, 0 meaning 12.
	Gap int
	// Edge is the rising edge of the clock, counted from 1, at which a frame that was received ended.
	Edge uint64
}

// FCS is the frame check sequence of data (IEEE 802.3, 3.2.9); its low octet goes first.
func FCS(data []byte) uint32 { return crc32.ChecksumIEEE(data) }

// Pad returns data with as many zeros as make a frame of MinFrame of it.
func Pad(data []byte) []byte {
	return append(data[:len(data):len(data)], make([]byte, max(0, MinFrame-4-len(data)))...)
}

const (
	preambleOctet, startDelimiter = 0x55, 0xD5
	preambleOctets                = 7
)

// octet is one of a frame, or between frames.
type octet struct {
	value byte
	valid bool // part of a frame
	error bool
}

// octets is a frame on the interface, from the preamble to the frame check sequence.
func (f *Frame) octets() []octet {
	var list []octet
	add := func(p ...byte) {
		for _, v := range p {
			list = append(list, octet{value: v, valid: true})
		}
	}
	for range preambleOctets - f.Preamble {
		add(preambleOctet)
	}
	add(startDelimiter)
	add(f.Data...)
	fcs := FCS(f.Data)
	if f.BadFCS {
		fcs ^= 1 << 13
	}
	add(binary.LittleEndian.AppendUint32(nil, fcs)...)
	if f.Error {
		list[len(list)-4-len(f.Data)/2].error = true
	}
	return list
}
