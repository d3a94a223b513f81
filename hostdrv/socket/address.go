package socket

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/linkproto"
)

// Addr is a port of a node.
type Addr struct{ Node, Port uint16 }

// Network is that of addresses.
func (Addr) Network() string { return "lmmc" }

func (a Addr) String() string {
	return net.JoinHostPort(strconv.Itoa(int(a.Node)), strconv.Itoa(int(a.Port)))
}

// isStream reports whether a network, as package net calls it, has streams; isPacket does so of datagrams.
func isStream(network string) bool { return network == "tcp" || network == "tcp4" || network == "tcp6" }
func isPacket(network string) bool { return network == "udp" || network == "udp4" || network == "udp6" }

// resolve reads "node:port", as 2:80, node2:80 or node2.cluster:80, or the node's IP address in the place of its number. own is the node of an address without one.
func resolve(address string, prefixes []netip.Prefix, own uint16) (a Addr, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return a, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return a, &net.AddrError{Err: "no port, want 0 to 65535", Addr: address}
	}
	a = Addr{own, uint16(n)}
	if host == "" {
		return a, nil
	}
	if at, err := netip.ParseAddr(host); err == nil {
		if at.IsUnspecified() || at.IsLoopback() {
			return a, nil
		}
		node, ok := ip.NodeOf(at, prefixes)
		if a.Node = node; !ok {
			return a, &net.AddrError{Err: fmt.Sprintf("no node of %v", prefixes), Addr: address}
		}
		return a, nil
	}
	if number, named := strings.CutPrefix(host, "node"); named {
		host = strings.TrimSuffix(strings.TrimSuffix(number, "."), ".cluster")
	}
	node, err := strconv.ParseUint(host, 10, 16)
	if err != nil || node < 1 || node > linkproto.MaxNode {
		return a, &net.AddrError{Err: fmt.Sprintf("no node, want its number, 1 to %d, or its IP address", linkproto.MaxNode), Addr: address}
	}
	a.Node = uint16(node)
	return a, nil
}
