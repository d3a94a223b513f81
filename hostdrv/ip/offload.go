package ip

import (
	"encoding/binary"
	"errors"
)

// offload is what the kernel leaves to do of a packet, as its virtio_net_hdr says.
type offload struct {
	checksum     bool // to be made from start on, and put at start + at
	kind         byte // of segmentation
	segment      int  // bytes of data in each
	start, at    int  // from the Ethernet header on
	unrecognised bool
}

const (
	offloadBytes = 10
	needsSum     = 1
	gsoNone      = 0
	gsoTCPv4     = 1
	gsoTCPv6     = 4
	gsoECN       = 0x80
)

var errOffload = errors.New("a packet that cannot be finished")

func decodeOffload(b []byte) offload {
	kind := b[1] &^ gsoECN
	return offload{
		checksum: b[0]&needsSum != 0, kind: kind, segment: int(binary.NativeEndian.Uint16(b[4:])),
		start: int(binary.NativeEndian.Uint16(b[6:])), at: int(binary.NativeEndian.Uint16(b[8:])),
		unrecognised: kind != gsoNone && kind != gsoTCPv4 && kind != gsoTCPv6,
	}
}

// add adds bytes to the sum of a checksum, as words of 16 bits.
func add(sum uint32, b []byte) uint32 {
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
		if sum >= 1<<31 {
			sum = sum&0xFFFF + sum>>16
		}
	}
	if len(b) > 0 {
		sum += uint32(b[0]) << 8
	}
	return sum
}

// fold makes 16 bits of a sum.
func fold(sum uint32) uint16 {
	for sum > 0xFFFF {
		sum = sum&0xFFFF + sum>>16
	}
	return uint16(sum)
}

// pseudo is the sum of the header that checksums of TCP, UDP and ICMPv6 begin with, of an IP packet.
func pseudo(packet []byte, size, protocol int) uint32 {
	addresses := packet[12:20]
	if packet[0]>>4 == 6 {
		addresses = packet[8:40]
	}
	return add(uint32(protocol)+uint32(size), addresses)
}

// finish does with an IP packet what the kernel has left to do, and gives emit what comes of it: one packet, or the segments of TCP that it is cut into. What emit
// gets it may keep only until the next one.
func (o offload) finish(packet []byte, emit func([]byte) error) error {
	start := o.start - etherHeader
	switch {
	case o.unrecognised:
		return errOffload
	case o.kind != gsoNone:
		return o.cut(packet, start, emit)
	case !o.checksum:
		return emit(packet)
	case start < 0 || start+o.at+2 > len(packet):
		return errOffload
	}
	field := packet[start+o.at:] // holds the sum of the pseudo-header
	sum := ^fold(add(0, packet[start:]))
	if sum == 0 {
		sum = 0xFFFF // for UDP 0 means none
	}
	binary.BigEndian.PutUint16(field, sum)
	return emit(packet)
}

// Of TCP: bits of the flags, places of fields, and its number as a protocol.
const (
	flagFIN, flagPSH, flagCWR = 0x01, 0x08, 0x80
	tcpSeq, tcpOffset         = 4, 12
	tcpFlags, tcpSum          = 13, 16
	tcpHeader, tcp            = 20, 6
)

// cut cuts a packet of TCP, whose header begins at tcp, into segments.
func (o offload) cut(packet []byte, at int, emit func([]byte) error) error {
	four := o.kind == gsoTCPv4
	least := ipv6Header
	if four {
		least = 20
	}
	if at < least || at+tcpHeader > len(packet) || o.segment < 1 || four != (packet[0]>>4 == 4) {
		return errOffload
	}
	head := at + int(packet[at+tcpOffset]>>4)*4
	if head < at+tcpHeader || head > len(packet) {
		return errOffload
	}
	first, id, flags := binary.BigEndian.Uint32(packet[at+tcpSeq:]), binary.BigEndian.Uint16(packet[4:]), packet[at+tcpFlags]
	segment := make([]byte, 0, head+o.segment)
	for from, serial := head, 0; from < len(packet) || serial == 0; serial++ {
		data := packet[from:min(from+o.segment, len(packet))]
		from += len(data)
		segment = append(append(segment[:0], packet[:head]...), data...)
		if four {
			binary.BigEndian.PutUint16(segment[2:], uint16(len(segment)))
			binary.BigEndian.PutUint16(segment[4:], id+uint16(serial))
			clear(segment[10:12])
			binary.BigEndian.PutUint16(segment[10:], ^fold(add(0, segment[:at])))
		} else {
			binary.BigEndian.PutUint16(segment[4:], uint16(len(segment)-ipv6Header))
		}
		header := segment[at:]
		binary.BigEndian.PutUint32(header[tcpSeq:], first+uint32(from-len(data)-head))
		if header[tcpFlags] = flags; from < len(packet) {
			header[tcpFlags] &^= flagFIN | flagPSH
		}
		if serial > 0 {
			header[tcpFlags] &^= flagCWR
		}
		clear(header[tcpSum : tcpSum+2])
		sum := pseudo(segment, len(header), tcp)
		binary.BigEndian.PutUint16(header[tcpSum:], ^fold(add(sum, header)))
		if err := emit(segment); err != nil {
			return err
		}
	}
	return nil
}
