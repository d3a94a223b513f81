package ip

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	return check.Must(hex.DecodeString(s))(t)
}

// TestSums makes checksums that are published: the example of RFC 1071, and the header of an IPv4 packet.
func TestSums(t *testing.T) {
	check.Equal(t, "RFC 1071", fold(add(0, unhex(t, "0001f203f4f5f6f7"))), 0xddf2)
	check.Equal(t, "IPv4", ^fold(add(0, unhex(t, "4500007300004000401"+"10000c0a80001c0a800c7"))), 0xb861)
	check.Equal(t, "an odd byte", fold(add(0, unhex(t, "0001f2"))), 0xf201)
	check.Equal(t, "many words", fold(add(0, bytes.Repeat([]byte{0xFF}, 1<<18))), 0xFFFF)
}

// right is another way to look at a checksum: the sum of all words is zero modulo 65535, and is not zero.
func right(parts ...[]byte) bool {
	sum := uint64(0)
	for _, p := range parts {
		for i, b := range p {
			sum += uint64(b) << (8 * (1 - i%2))
		}
	}
	return sum%0xFFFF == 0 && sum > 0
}

// valid reports whether an IP packet's checksums are right.
func valid(p []byte) bool {
	if p[0]>>4 == 4 {
		body := p[20:]
		return right(p[:20]) && right(p[12:20], []byte{0, p[9], byte(len(body) >> 8), byte(len(body))}, body)
	}
	body := p[ipv6Header:]
	return right(p[8:40], []byte{0, p[6], byte(len(body) >> 8), byte(len(body))}, body)
}

// TestKnownPacket finishes a packet whose checksum is known: UDP from 192.0.2.1 to 192.0.2.2.
func TestKnownPacket(t *testing.T) {
	udp := unhex(t, "45000020000040004011b6c9"+"c0000201c0000202"+"0035d431000c0000"+"68692121")
	binary.BigEndian.PutUint16(udp[26:], fold(pseudo(udp, 12, 17)))
	o := decodeOffload([]byte{needsSum, 0, 0, 0, 0, 0, etherHeader + 20, 0, 6, 0})
	check.Fatal(t, o.finish(udp, func(p []byte) error {
		// The inverted sum of 0035, d431, 000c, 6869 and 2121, and of the pseudo-header's c000, 0201, c000, 0202, 0011 and 000c.
		check.Equal(t, "UDP", hex.EncodeToString(p[26:28]), "1de1")
		return nil
	}))
	if !valid(udp) {
		t.Errorf("wrong checksums: % x", udp)
	}
}

// draw makes a packet of TCP as the kernel gives it to be cut.
func draw(t *rapid.T, four bool) (packet []byte, o offload) {
	at := ipv6Header
	if four {
		at = 20
	}
	options := 4 * rapid.IntRange(0, 10).Draw(t, "options")
	data := rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "data")
	packet = append(rapid.SliceOfN(rapid.Byte(), at+tcpHeader+options, at+tcpHeader+options).Draw(t, "header"), data...)
	packet[0], packet[6] = 0x60, tcp
	o = offload{kind: gsoTCPv6}
	if four {
		packet[0], packet[9], o.kind = 0x45, tcp, gsoTCPv4
	}
	packet[at+tcpOffset] = byte(5+options/4) << 4
	o.checksum, o.segment, o.start, o.at = true, rapid.IntRange(1, 1500).Draw(t, "segment"), etherHeader+at, tcpSum
	return packet, o
}

// TestCut cuts packets into segments, which have right lengths and checksums, and together what was to be sent.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		four := rapid.Bool().Draw(t, "IPv4")
		packet, o := draw(t, four)
		whole, at := bytes.Clone(packet), o.start-etherHeader
		head := at + int(packet[at+tcpOffset]>>4)*4
		first := binary.BigEndian.Uint32(whole[at+tcpSeq:])
		var data []byte
		serial := 0
		check.Fatal(t, o.finish(packet, func(p []byte) error {
			if !valid(p) {
				t.Fatalf("segment %d has a wrong checksum: % x", serial, p)
			}
			length := int(binary.BigEndian.Uint16(p[4:])) + ipv6Header
			if four {
				length = int(binary.BigEndian.Uint16(p[2:]))
				check.Equal(t, "identification", binary.BigEndian.Uint16(p[4:]), binary.BigEndian.Uint16(whole[4:])+uint16(serial))
			}
			check.Equal(t, "length", length, len(p))
			check.Equal(t, "sequence number", binary.BigEndian.Uint32(p[at+tcpSeq:]), first+uint32(len(data)))
			data = append(data, p[head:]...)
			flags := whole[at+tcpFlags]
			if head+len(data) < len(whole) {
				check.Equal(t, "bytes of a segment", len(p), head+o.segment)
				flags &^= flagFIN | flagPSH
			}
			if serial > 0 {
				flags &^= flagCWR
			}
			check.Equal(t, "flags", p[at+tcpFlags], flags)
			serial++
			return nil
		}))
		check.Equal(t, "data", string(data), string(whole[head:]))
	})
}

// TestUnfinished: what the kernel must not ask for is refused, whatever the numbers are.
func TestUnfinished(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.SliceOfN(rapid.Byte(), offloadBytes, offloadBytes).Draw(t, "header")
		packet := rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(t, "packet")
		header[0] = needsSum
		_ = decodeOffload(header).finish(packet, func([]byte) error { return nil }) // does not panic
	})
	packet := make([]byte, 60)
	packet[0], packet[20+tcpOffset] = 0x45, 5<<4
	for _, o := range []offload{
		{unrecognised: true}, {checksum: true, start: etherHeader + 50, at: 9}, {checksum: true, start: 3}, {kind: gsoTCPv4, start: etherHeader + 20}, // no bytes in a segment
		{kind: gsoTCPv4, segment: 5, start: etherHeader + 19}, {kind: gsoTCPv4, segment: 5, start: etherHeader + 41}, {kind: gsoTCPv6, segment: 5, start: etherHeader + 40},
		{kind: gsoTCPv4, segment: 5, start: etherHeader + 21}, // where no header of TCP can be
	} {
		check.Fails(t, "an impossible packet", o.finish(packet, func([]byte) error { return nil }), errOffload)
	}
}
