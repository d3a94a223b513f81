package ip

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"github.com/stafflink/lmmc/linkproto"
)

// ErrAddress is wrapped by what is wrong with an address.
var ErrAddress = errors.New("bad address")

// MAC is the one of a node.
func MAC(node uint16) [6]byte { return [6]byte{0: 2, 4: byte(node >> 8), 5: byte(node)} }

// nodeOfMAC is the node that has a MAC; ok is false if none has it.
func nodeOfMAC(mac []byte) (node uint16, ok bool) {
	node = binary.BigEndian.Uint16(mac[4:])
	return node, [6]byte(mac) == MAC(node) && isNode(uint64(node))
}

func isNode(n uint64) bool { return n >= 1 && n <= linkproto.MaxNode }

// hostPart is the part of an address that a prefix leaves, its low 64 bits at most.
func hostPart(a netip.Addr, bits int) uint64 {
	b := a.As16()
	low := binary.BigEndian.Uint64(b[8:])
	if host := a.BitLen() - bits; host < 64 {
		low &= 1<<host - 1
	}
	return low
}

// Address returns the address of a node in a prefix: the network and its number. That prefix may also name the node itself, as in 10.0.0.1/24 for node 1.
func Address(node uint16, p netip.Prefix) (netip.Prefix, error) {
	a := p.Addr()
	host := a.BitLen() - p.Bits()
	switch given := hostPart(a, p.Bits()); {
	case !p.IsValid() || a.Is4In6() || a.Is6() && p.Bits() < 64:
		return p, fmt.Errorf("%w: %v: want one of IPv4, as 10.0.0.0/24, or of IPv6 with 64 bits or more, as fd00::/64", ErrAddress, p)
	case host < 2 || host < 64 && uint64(node) >= 1<<host-1:
		return p, fmt.Errorf("%w: %v has no room for node %d: want a shorter prefix, as /%d", ErrAddress, p, node, a.BitLen()-12)
	case given != 0 && given != uint64(node):
		own, err := Address(node, p.Masked())
		return p, errors.Join(fmt.Errorf("%w: %v: this is node %d, which is %v there: addresses follow from the numbers of nodes", ErrAddress, p, node, own), err)
	}
	b := p.Masked().Addr().AsSlice()
	low := b[len(b)-2:]
	binary.BigEndian.PutUint16(low, binary.BigEndian.Uint16(low)|node)
	own, _ := netip.AddrFromSlice(b)
	return netip.PrefixFrom(own, p.Bits()), nil
}

// linkLocal is the prefix of addresses that kernels make of MACs.
var linkLocal = netip.MustParsePrefix("fe80::/64")

// eui64 is what the kernel makes of MAC(0) for the part of an address that is the host's.
const eui64 = 0x000000FFFE000000

// NodeOf is the node that has an address in one of some prefixes; ok is false if none has it.
func NodeOf(a netip.Addr, prefixes []netip.Prefix) (node uint16, ok bool) {
	if linkLocal.Contains(a) {
		n := hostPart(a, 64) - eui64
		return uint16(n), isNode(n)
	}
	for _, p := range prefixes {
		if !p.Contains(a) {
			continue
		}
		n, host := hostPart(a, p.Bits()), a.BitLen()-p.Bits()
		return uint16(n), isNode(n) && (host >= 64 || n < 1<<host-1)
	}
	return 0, false
}
