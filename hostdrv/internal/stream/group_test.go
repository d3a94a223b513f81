package stream

import (
	"net/netip"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

var group = netip.MustParseAddr("239.1.2.3")

// got is what a socket reads, or "" if there is nothing.
func got(s *Socket, from uint16) string {
	b := make([]byte, MaxPacket)
	n, p, err := s.Read(b)
	if err != nil || p.Node != from || p.Group != group {
		return ""
	}
	return string(b[:n])
}

// TestGroups: datagrams to a group come to its members, of which one at least of two nodes has the other among its peers: those that join and leave, start again, and are out of reach.
func TestGroups(t *testing.T) {
	a, b, c := New(Options{Node: 1, Peers: []uint16{1, 2, 3, 9}, PerPeer: 4, Most: 8}), newMux(2), newMux(3)
	all := []*Mux{a, b, c}
	var sockets []*Socket
	for _, m := range all {
		sockets = append(sockets, check.Must(m.ListenPacket(5000))(t))
	}
	check.Must(b.ListenPacket(5001))(t)
	cast := func(want ...string) {
		t.Helper()
		carry(all...)
		check.Fatal(t, sockets[0].Cast(group, 5000, []byte("to all"), true, true))
		carry(all...)
		for i, s := range sockets {
			check.Equal(t, "node of index "+string(rune('0'+i)), got(s, 1), want[i])
		}
	}
	cast("", "", "")
	for _, m := range all {
		check.Fatal(t, m.Join(group))
	}
	cast("to all", "to all", "to all")
	check.Fatal(t, b.Join(group))
	check.Fatal(t, b.Leave(group))
	cast("to all", "to all", "to all")
	check.Fatal(t, b.Leave(group))
	check.Fails(t, "leave once more", b.Leave(group), syscall.EADDRNOTAVAIL)
	cast("to all", "", "to all")

	check.Fatal(t, sockets[0].Cast(group, 5000, []byte("here"), true, false))
	check.Fatal(t, sockets[0].Cast(group, 5000, []byte("there"), false, true))
	carry(all...)
	check.Equal(t, "own node alone", got(sockets[0], 1)+got(sockets[2], 1), "here"+"there")

	a.peer(3).lost(syscall.ETIMEDOUT)
	cast("to all", "", "")
	for range askTicks {
		a.Tick()
	}
	cast("to all", "", "to all")

	c = New(Options{Node: 3, PerPeer: 4, Most: 8, Seed: 9}) // starts again, in no group
	all[2], sockets[2] = c, check.Must(c.ListenPacket(5000))(t)
	check.Fatal(t, sockets[2].Write(1, 5001, nil)) // its life
	cast("to all", "", "")
	check.Fatal(t, c.Join(group))
	cast("to all", "", "to all")

	long := make([]byte, MaxPacket)
	check.Fatal(t, sockets[2].Cast(group, 5000, long, true, true)) // the other way
	carry(all...)
	check.Equal(t, "longest", len(got(sockets[0], 3))+len(got(sockets[2], 3)), 2*MaxPacket)
	check.Fails(t, "longer", sockets[2].Cast(group, 5000, append(long, 0), true, true), syscall.EMSGSIZE)
	check.Fails(t, "no group", a.Join(netip.MustParseAddr("10.0.0.1")), syscall.EINVAL)
}

// TestGroupsFull: a sender waits for the member whose cable has no room, until that is lost.
func TestGroupsFull(t *testing.T) {
	a, b := New(Options{Node: 1, Peers: []uint16{2}, PerPeer: 4, Most: 8}), newMux(2)
	s := check.Must(a.ListenPacket(0))(t)
	check.Fatal(t, b.Join(group))
	carry(a, b)
	room := false
	s.Writable = func() { room = true }
	var err error
	for err == nil {
		err = s.Cast(group, 1, nil, true, true)
	}
	check.Equal(t, "full", err, error(syscall.EAGAIN))
	for {
		if msg, ok := a.Next(); ok {
			a.Sent(msg, syscall.ETIMEDOUT)
			break
		}
	}
	if check.Fatal(t, s.Cast(group, 1, nil, true, true)); !room {
		t.Error("nobody tells that there is room")
	}
}

// TestHostileGroups: what a peer says wrong about groups changes nothing.
func TestHostileGroups(t *testing.T) {
	m := newMux(2)
	s := check.Must(m.ListenPacket(5000))(t)
	for _, g := range []Segment{
		{Kind: Datagram, Group: true, Port: 5000, Data: make([]byte, groupBytes-1)},
		{Kind: Groups, Data: make([]byte, groupBytes+1)},
		{Kind: Datagram, Ask: true, Port: 5000},
		{Kind: Groups, Group: true},
	} {
		before := m.Stats().Malformed
		m.Input(Message{Node: 1, Life: 7, Data: g.Append(nil)})
		check.Equal(t, g.Kind.String(), m.Stats().Malformed, before+1)
	}
	at := group.As16()
	m.Input(Message{Node: 1, Life: 7, Data: (&Segment{Kind: Datagram, Group: true, Port: 5000, Data: at[:]}).Append(nil)})
	check.Equal(t, "in no group", m.Stats().Dropped, uint64(1))
	_, _, err := s.Read(nil)
	check.Fails(t, "read", err, syscall.EAGAIN)
}
