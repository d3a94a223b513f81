package ip

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		node        uint16
		given, want string // or what the error says
	}{
		{1, "10.0.0.1/24", "10.0.0.1/24"}, {7, "10.0.0.0/24", "10.0.0.7/24"}, {300, "10.0.0.0/16", "10.0.1.44/16"}, {254, "10.0.0.0/24", "10.0.0.254/24"},
		{4095, "10.16.0.0/12", "10.16.15.255/12"}, {9, "fd00::/64", "fd00::9/64"}, {9, "fd00::9/64", "fd00::9/64"}, {300, "fd00::/112", "fd00::12c/112"},
		{255, "10.0.0.0/24", "no room for node 255"}, {1, "10.0.0.0/31", "no room"}, {2, "10.0.0.1/24", "this is node 2, which is 10.0.0.2/24 there"},
		{2, "fd00::1/64", "fd00::2/64 there"}, {2, "fd00::/48", "64 bits or more"}, {2, "::ffff:10.0.0.0/100", "64 bits or more"},
	} {
		p, err := Address(c.node, netip.MustParsePrefix(c.given))
		if have := p.String(); err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrAddress)) || err == nil && have != c.want {
			t.Errorf("node %d, %s: %s, %v; want %s", c.node, c.given, have, err, c.want)
		}
	}
	check.Fails(t, "no prefix", check.Err(Address(1, netip.Prefix{})), ErrAddress)
	own := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("fd00::1/64")}
	for text, want := range map[string]uint16{
		"10.0.0.7": 7, "10.0.0.0": 0, "10.0.0.255": 0, "10.0.1.7": 0, "fd00::7": 7, "fd00::1:7": 0, "fd00::1000": 0, "fd01::7": 0,
		"fe80::ff:fe00:7": 7, "fe80::7": 0, "fe80::ff:fe00:0": 0, "fe80::ff:fe00:fff": 4095,
	} {
		node, ok := NodeOf(netip.MustParseAddr(text), own)
		if ok != (want != 0) || ok && node != want {
			t.Errorf("%s is of node %d, %v; want %d", text, node, ok, want)
		}
	}
}

// fakeTAP is a kernel.
type fakeTAP struct {
	in   chan []byte // to be read
	out  [][]byte    // that were written
	down bool
}

func (f *fakeTAP) Read(b []byte) (int, error) {
	frame, ok := <-f.in
	if !ok {
		return 0, io.EOF
	}
	return copy(b, frame), nil
}
func (f *fakeTAP) Write(b []byte) (int, error) {
	if f.down {
		return 0, syscall.EIO
	}
	f.out = append(f.out, append([]byte(nil), b...))
	return len(b), nil
}
func (f *fakeTAP) Close() error { return nil }
func (f *fakeTAP) name() string { return "fake0" }

// fakeNetwork is one.
type fakeNetwork struct {
	sent  []hostdrv.Datagram
	come  []hostdrv.Datagram
	waits bool // nothing comes
}

func (f *fakeNetwork) Send(_ context.Context, d hostdrv.Datagram) error {
	d.Data = append([]byte(nil), d.Data...)
	f.sent = append(f.sent, d)
	return nil
}
func (f *fakeNetwork) Next(ctx context.Context) (hostdrv.Datagram, error) {
	if f.waits {
		<-ctx.Done()
		return hostdrv.Datagram{}, ctx.Err()
	}
	if len(f.come) == 0 {
		return hostdrv.Datagram{}, os.ErrClosed
	}
	d := f.come[0]
	f.come = f.come[1:]
	return d, nil
}
func (f *fakeNetwork) Close() error { return nil }

// fakes is an interface of node 1, in 10.0.0.0/24 and fd00::/64.
func fakes() (*Interface, *fakeTAP, *fakeNetwork) {
	kernel, network := &fakeTAP{in: make(chan []byte, 10)}, &fakeNetwork{}
	return &Interface{tap: kernel, network: network, node: 1, mtu: 100,
		prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("fd00::1/64")}}, kernel, network
}

// TestNeighbours: questions for neighbours are answered as they would, and do not leave.
func TestNeighbours(t *testing.T) {
	f, kernel, network := fakes()
	const none = "00000000000000000000" // nothing is left to do
	const arp = none + "ffffffffffff" + "020000000001" + "0806" + "0001080006040001" + "020000000001" + "0a000001" + "000000000000"
	ask := func(frame string) { check.Fatal(t, f.sendFrame(t.Context(), unhex(t, frame))) }
	ask(arp + "0a000007")
	ask(arp + "0a000001") // itself
	ask(arp + "0a0000ff")
	ask(arp[:60])
	const solicitation = none + "3333ff000007" + "020000000001" + "86dd" + "6000000000183aff" + "fd000000000000000000000000000001" + "ff0200000000000000000001ff000007" +
		"8700000000000000"
	ask(solicitation + "fd000000000000000000000000000007")
	ask(solicitation + "fd000000000000000000000000000001")
	ask(strings.Replace(solicitation, "fd000000000000000000000000000001", "00000000000000000000000000000000", 1) + "fd000000000000000000000000000007")
	check.Equal(t, "answers", len(kernel.out), 3)
	check.Equal(t, "ARP", hex.EncodeToString(kernel.out[0]), none+"020000000001"+"020000000007"+"0806"+"0001080006040002"+"020000000007"+"0a000007"+"020000000001"+"0a000001")
	for i, want := range []string{"fd000000000000000000000000000001" + "8800" + "----" + "60000000", "ff020000000000000000000000000001" + "8800" + "----" + "20000000"} {
		packet := kernel.out[1+i][offloadBytes+etherHeader:]
		if !valid(packet) {
			t.Errorf("wrong checksum: % x", packet)
		}
		text := hex.EncodeToString(packet)
		check.Equal(t, "advertisement", text[:84]+"----"+text[88:], "6000000000203aff"+"fd000000000000000000000000000007"+want+"fd000000000000000000000000000007"+"0201"+"020000000007")
	}
	check.Equal(t, "sent", len(network.sent), 0)
	check.Equal(t, "counted", f.Counts(), Counts{Answered: 3})
	kernel.down = true
	ask(arp + "0a000007")
	check.Equal(t, "counted when down", f.Counts(), Counts{Answered: 3, Down: 1})
}

// TestPasses: IP packets go to the node of their MAC, those for groups to all peers, and others are dropped and counted.
func TestPasses(t *testing.T) {
	f, kernel, network := fakes()
	const none = "00000000000000000000"
	send := func(frame string) { check.Fatal(t, f.sendFrame(t.Context(), unhex(t, frame))) }
	packet := strings.Repeat("45", 30)
	send(none + "020000000102" + "020000000001" + "0800" + packet)
	send(none + "020000000fff" + "020000000001" + "86dd" + packet)
	check.Equal(t, "sent", network.sent, []hostdrv.Datagram{{Node: 0x102, EtherType: typeIPv4, Data: unhex(t, packet)}, {Node: 4095, EtherType: typeIPv6, Data: unhex(t, packet)}})
	send(none + "ffffffffffff" + "020000000001" + "0800" + packet)
	f.peers = []uint16{3, 5}
	send(none + "01005e000001" + "020000000001" + "0800" + packet)
	check.Equal(t, "sent to a group", len(network.sent), 4)
	send(none + "020000000102" + "020000000001" + "88b5" + packet)                    // another protocol
	send(none + "020000001000" + "020000000001" + "0800" + packet)                    // no node
	send(none + "0a0000000001" + "020000000001" + "0800" + packet)                    // no node's MAC
	send(none + "020000000102" + "020000000001" + "0800" + strings.Repeat(packet, 4)) // too long
	send(none + "020000000102" + "020000000001" + "0800")
	send("01050000000000000000" + "020000000102" + "020000000001" + "0800" + packet) // UDP to be cut
	check.Equal(t, "counted", f.Counts(), Counts{Sent: 4, Cut: 1, Group: 1, Foreign: 3, TooLong: 1, Malformed: 2})

	network.come = []hostdrv.Datagram{{Node: 9, EtherType: typeIPv4, Data: unhex(t, packet)}, {Node: 9, EtherType: typeARP, Data: unhex(t, packet)}, {Node: 9, EtherType: typeIPv6}, {Node: 9, EtherType: typeIPv6, Data: make([]byte, 101)}}
	check.Fails(t, "the end", f.receive(t.Context()), os.ErrClosed)
	check.Equal(t, "frames", len(kernel.out), 1)
	check.Equal(t, "frame", hex.EncodeToString(kernel.out[0]), none+"020000000001"+"020000000009"+"0800"+packet)
	check.Equal(t, "counted", f.Counts(), Counts{Sent: 4, Received: 1, Cut: 1, Group: 1, Foreign: 4, TooLong: 2, Malformed: 3})

	network.waits = true
	close(kernel.in)
	check.Fails(t, "an interface that is removed", f.Run(t.Context()), ErrGone)
}
