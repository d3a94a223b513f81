package ip

import (
	"encoding/binary"
	"net/netip"
)

// EtherTypes.
const (
	typeIPv4 = 0x0800
	typeARP  = 0x0806
	typeIPv6 = 0x86DD
)

const (
	etherHeader = 14
	arpBytes    = 28
	ipv6Header  = 40
	solicitSize = ipv6Header + 24 // without options
	icmpv6      = 58
	solicit     = 135
	advertise   = 136
)

// answer returns the Ethernet frame that answers one which asks for a neighbour, as if that neighbour had sent it, or nil. asks reports whether it was one that asks.
func (f *Interface) answer(frame []byte) (reply []byte, asks bool) {
	payload := frame[etherHeader:]
	switch binary.BigEndian.Uint16(frame[12:]) {
	case typeARP:
		return f.answerARP(payload), true
	case typeIPv6:
		if len(payload) >= solicitSize && payload[6] == icmpv6 && payload[ipv6Header] == solicit {
			return f.answerSolicit(payload), true
		}
	}
	return nil, false
}

// neighbour is the MAC of the other node that has an address.
func (f *Interface) neighbour(a netip.Addr) (mac [6]byte, ok bool) {
	node, ok := NodeOf(a, f.prefixes)
	return MAC(node), ok && node != f.node
}

func (f *Interface) answerARP(q []byte) []byte {
	const ask, reply = 1, 2
	if len(q) < arpBytes || string(q[:8]) != "\x00\x01\x08\x00\x06\x04\x00"+string(rune(ask)) {
		return nil
	}
	mac, ok := f.neighbour(netip.AddrFrom4([4]byte(q[24:])))
	if !ok {
		return nil
	}
	a := etherFrame(MAC(f.node), mac, typeARP, append([]byte(nil), q[:arpBytes]...))
	body := a[etherHeader:]
	body[7] = reply
	copy(body[8:], mac[:])
	copy(body[14:18], q[24:28])
	copy(body[18:28], q[8:18])
	return a
}

func (f *Interface) answerSolicit(q []byte) []byte {
	mac, ok := f.neighbour(netip.AddrFrom16([16]byte(q[ipv6Header+8:])))
	if !ok {
		return nil
	}
	target := q[ipv6Header+8 : ipv6Header+24]
	p := make([]byte, solicitSize+8)
	p[0], p[5], p[6], p[7] = 0x60, 32, icmpv6, 255
	copy(p[8:], target)
	copy(p[24:40], q[8:24])
	flags := byte(0x60) // solicited, override
	if [16]byte(q[8:24]) == [16]byte{} {
		copy(p[24:40], netip.MustParseAddr("ff02::1").AsSlice())
		flags = 0x20
	}
	body := p[ipv6Header:]
	body[0], body[4] = advertise, flags
	copy(body[8:], target)
	body[24], body[25] = 2, 1 // its link-layer address, 8 bytes
	copy(body[26:], mac[:])
	sum := pseudo(p, len(body), icmpv6)
	binary.BigEndian.PutUint16(body[2:], ^fold(add(sum, body)))
	return etherFrame(MAC(f.node), mac, typeIPv6, p)
}

// etherFrame puts a header before a payload.
func etherFrame(to, from [6]byte, etherType uint16, payload []byte) []byte {
	frame := make([]byte, 0, etherHeader+len(payload))
	frame = append(append(frame, to[:]...), from[:]...)
	frame = binary.BigEndian.AppendUint16(frame, etherType)
	return append(frame, payload...)
}
