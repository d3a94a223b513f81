package socket_test

import (
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestGroups: datagrams to a multicast group come to the members at all nodes, and to others not.
func TestGroups(t *testing.T) {
	for _, rung := range []string{cluster.Model, cluster.RTL} {
		t.Run(rung, func(t *testing.T) {
			// Patience is how long a stack waits for a peer that has closed first; a second of the target's time is half an hour of RTL's.
			n := open(t, star(t, 3, rung), socket.Options{Peers: []uint16{1, 2, 3}, Patience: 3 * time.Millisecond})
			const at = "239.1.2.3:5000"
			group := netip.MustParseAddrPort(at)
			from := check.Must(n.stacks[0].Dial("udp", at))(t)
			check.Equal(t, "remote address", from.RemoteAddr().String(), at)
			var members []*socket.PacketConn
			for _, s := range n.stacks {
				members = append(members, check.Must(s.ListenPacket("udp", at))(t).(*socket.PacketConn))
			}
			other := check.Must(n.stacks[1].ListenPacket("udp", ":5001"))(t).(*socket.PacketConn)
			read := func(p *socket.PacketConn) (text string, is netip.Addr) {
				b := make([]byte, 100)
				check.Fatal(t, p.SetReadDeadline(time.Now().Add(time.Minute)))
				k, at, is, err := p.ReadGroup(b)
				check.Fatal(t, err)
				check.Equal(t, "from", net.Addr(at), from.LocalAddr())
				return string(b[:k]), is
			}
			// Until the members are known: the last one of all is read behind what came before.
			heard := check.Go(func() error { _, _, err := members[1].ReadFrom(make([]byte, 9)); return err })
			heard2 := check.Go(func() error { _, _, err := members[2].ReadFrom(make([]byte, 9)); return err })
			for len(heard)+len(heard2) < 2 {
				check.Must(from.Write([]byte("anybody?")))(t)
				check.Fatal(t, n.nis[0].Sleep(t.Context(), 20*time.Microsecond))
			}
			check.Must(from.Write([]byte("to all")))(t)
			for i, p := range members {
				for text := ""; text != "to all"; {
					var to netip.Addr
					text, to = read(p)
					check.Equal(t, "group", to, group.Addr())
				}
				check.Fails(t, "joined twice", p.JoinGroup(group.Addr()), syscall.EADDRINUSE)
				if i == 1 {
					check.Fatal(t, p.LeaveGroup(group.Addr()))
					check.Fails(t, "left twice", p.LeaveGroup(group.Addr()), syscall.EADDRNOTAVAIL)
				}
			}
			check.Must(from.(*socket.PacketConn).WriteGroup([]byte("own"), group, true, false))(t)
			check.Must(from.(*socket.PacketConn).WriteGroup([]byte("others"), group, false, true))(t)
			text, _ := read(members[0])
			text2, _ := read(members[2])
			check.Equal(t, "of the own node, and of another", text+" "+text2, "own others")

			check.Fatal(t, other.JoinGroup(group.Addr())) // and hears what goes to its port otherwise, too
			check.Must(from.(*socket.PacketConn).WriteGroup(nil, netip.AddrPortFrom(group.Addr(), 5001), true, false))(t)
			plain := check.Must(n.stacks[0].Dial("udp", "2:5001"))(t)
			check.Must(plain.Write([]byte("hello")))(t)
			b := make([]byte, 9)
			k, _, is, err := other.ReadGroup(b)
			check.Fatal(t, err)
			check.Equal(t, "to the node", string(b[:k]), "hello")
			check.Equal(t, "is of a group", is.IsValid(), false)
			check.Fails(t, "no group", other.JoinGroup(netip.MustParseAddr("10.0.0.1")), syscall.EINVAL)
		})
	}
}

// TestGroupNames: a group is the same one as an address of IPv4, as which net.UDPAddr has it, and with a zone.
func TestGroupNames(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	s := n.stacks[0]
	for _, c := range [][2]string{{"239.1.2.3", "::ffff:239.1.2.3"}, {"ff15::7", "ff15::7%lmmc0"}} {
		name, other := netip.MustParseAddr(c[0]), netip.MustParseAddr(c[1])
		p := check.Must(s.ListenPacket("udp", ":0"))(t).(*socket.PacketConn)
		port := p.LocalAddr().(socket.Addr).Port
		check.Fatal(t, p.JoinGroup(other))
		check.Fails(t, "joined twice", p.JoinGroup(name), syscall.EADDRINUSE)
		within(t, p)
		for _, group := range c {
			check.Must(p.WriteTo([]byte("by name"), net.UDPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(group), port))))(t)
			_, _, to, err := p.ReadGroup(make([]byte, 9))
			check.Fatal(t, err)
			check.Equal(t, "group", to, name)
			check.Must(p.WriteGroup(nil, netip.AddrPortFrom(netip.MustParseAddr(group), port), true, true))(t)
			check.Must(p.Read(nil))(t)
		}
		check.Fatal(t, p.LeaveGroup(name))

		at := netip.AddrPortFrom(other, 5000)
		l := check.Must(s.ListenPacket("udp", at.String()))(t).(*socket.PacketConn)
		check.Must(check.Must(s.Dial("udp", at.String()))(t).Write([]byte("dialled")))(t)
		check.Must(within(t, l).Read(make([]byte, 9)))(t)
		check.Fatal(t, l.Close())
	}
}

// TestDialJoins: who writes to a group of Dial can join it, and reads it then.
func TestDialJoins(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	const at = "239.1.2.3:5000"
	c := check.Must(n.stacks[0].Dial("udp", at))(t).(*socket.PacketConn)
	group := netip.MustParseAddr("239.1.2.3")
	check.Fatal(t, c.JoinGroup(group))
	check.Equal(t, "remote address", c.RemoteAddr().String(), at)
	check.Must(c.Write([]byte("to 5000")))(t)
	check.Must(c.WriteGroup([]byte("here"), netip.AddrPortFrom(group, c.LocalAddr().(socket.Addr).Port), true, true))(t)
	b := make([]byte, 9)
	check.Equal(t, "read", string(b[:check.Must(within(t, c).Read(b))(t)]), "here")
}
