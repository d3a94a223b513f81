package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

const groupAddress = linkproto.MulticastBase + 5

// groupWorld is a star of four nodes, of which the first sends to a group of the others.
type groupWorld struct {
	t        *testing.T
	world    *cluster.World
	nis      []*hostdrv.NI
	nodes    []*hostdrv.Node
	contexts []*message.Context
}

func openGroup(t *testing.T, rung string, patience time.Duration) *groupWorld {
	w, nis := programs(t, 4, rung)
	g := &groupWorld{t: t, world: w, nis: nis, contexts: make([]*message.Context, 4)}
	for _, n := range nis {
		g.nodes = append(g.nodes, check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t))
	}
	check.Fatal(t, nis[0].MakeGroup(t.Context(), groupAddress-linkproto.MulticastBase, []hostdrv.GroupPorts{{Node: w.Cluster.Topology.Nodes[4].ID, Ports: 0b11110}}))
	g.contexts[0] = check.Must(message.Open(t.Context(), g.nodes[0], 3, message.Options{
		Seed: 1, Patience: patience, Groups: []message.Group{{Address: groupAddress, Members: []uint16{number(w, 1), number(w, 2), number(w, 3)}}},
	}))(t)
	return g
}

// open opens a member's context.
func (g *groupWorld) open(i int, receives int) {
	g.contexts[i] = check.Must(message.Open(g.t.Context(), g.nodes[i], 3, message.Options{Seed: uint64(10 + i)}))(g.t)
	g.post(i, receives)
}

func (g *groupWorld) post(i, receives int) {
	for range receives {
		check.Fatal(g.t, g.contexts[i].PostReceive(message.Receive{Data: make([]byte, 5000)}))
	}
}

// data is that of a message.
func (g *groupWorld) data(i int) []byte {
	page := g.nis[0].Identity().PageBytes
	return data(i, []int{0, 1, page - 30, page, 3 * page, 64, 1500, 5000}[i%8])
}

// send posts messages from..to-1.
func (g *groupWorld) send(from, to int) {
	for i := from; i < to; i++ {
		check.Fatal(g.t, g.contexts[0].PostSend(message.Send{Node: groupAddress, Tag: uint32(i), Data: g.data(i), Cookie: uint64(i)}))
	}
}

// takes wants messages from..to-1 at a member.
func (g *groupWorld) takes(member, from, to int) {
	g.t.Helper()
	for i := from; i < to; i++ {
		done := next(g.t, g.nis[member], g.contexts[member])
		if !done.Received || done.Node != number(g.world, 0) || int(done.Tag) != i || !bytes.Equal(done.Data, g.data(i)) {
			g.t.Fatalf("member %d: message %d of %d bytes from node %d, %v; want message %d of %d", member, done.Tag, len(done.Data), done.Node, done.Err, i, len(g.data(i)))
		}
	}
}

// completes wants sends from..to-1 to complete; guilty is who has not acknowledged them, 0: all have.
func (g *groupWorld) completes(from, to int, guilty uint16) {
	g.t.Helper()
	for i := from; i < to; i++ {
		done := next(g.t, g.nis[0], g.contexts[0])
		peer, is := errors.AsType[*message.PeerError](done.Err)
		if done.Received || done.Node != groupAddress || int(done.Cookie) != i || is != (guilty != 0) || is && peer.Node != guilty || !is && done.Err != nil {
			g.t.Fatalf("send %d: %v; want send %d, and node %d named", done.Cookie, done.Err, i, guilty)
		}
	}
}

// TestGroupMessages: messages to a group come to all members, whole, once and in order, though cables are cut meanwhile, a member comes late, and another one posts no descriptors for long.
func TestGroupMessages(t *testing.T) {
	onRungs(t, func(t *testing.T, rung string) {
		const messages = 32
		g := openGroup(t, rung, 100*time.Millisecond)
		g.open(1, messages)
		g.open(2, 2)
		g.send(0, messages)
		check.Fatal(t, g.nis[0].Sleep(t.Context(), 500*time.Microsecond))
		g.open(3, messages)
		check.Fatal(t, g.nis[0].Sleep(t.Context(), 200*time.Microsecond))
		for cable := range 3 {
			check.Fatal(t, g.world.Between(func() error { return g.world.Cluster.Cut(1+cable, true) }))
			check.Fatal(t, g.nis[0].Sleep(t.Context(), 100*time.Microsecond))
			check.Fatal(t, g.world.Between(func() error { return g.world.Cluster.Cut(1+cable, false) }))
		}
		g.post(2, messages-2)
		g.completes(0, messages, 0)
		for member := 1; member < 4; member++ {
			g.takes(member, 0, messages)
			check.Equal(t, fmt.Sprint("counts of ", member), check.Must(g.contexts[member].Stats())(t), message.Stats{Received: messages})
		}
		check.Equal(t, "counts of the sender", check.Must(g.contexts[0].Stats())(t), message.Stats{Sent: messages})
	})
}

// TestGroupMemberGone: sends that a member does not acknowledge name it, within the patience, and the others have got them; when it is there again, so are messages.
func TestGroupMemberGone(t *testing.T) {
	g := openGroup(t, cluster.Model, 5*time.Millisecond)
	gone := number(g.world, 3)
	g.open(1, 20)
	g.open(2, 20)
	g.send(0, 2) // it was never there
	g.completes(0, 2, gone)
	g.open(3, 20)
	g.send(2, 6)
	g.completes(2, 6, 0)
	check.Fatal(t, g.world.Between(func() error { return g.world.Cluster.Cut(3, true) }))
	g.send(6, 8) // it is out of reach
	g.completes(6, 8, gone)
	g.takes(3, 2, 6)
	check.Fatal(t, g.world.Between(func() error { return g.world.Cluster.Cut(3, false) }))
	check.Fatal(t, g.nis[0].Sleep(t.Context(), time.Millisecond))
	check.Fatal(t, g.contexts[3].Close()) // it has ended, and another program begins
	g.open(3, 20)
	g.send(8, 12)
	g.completes(8, 12, 0)
	g.takes(3, 8, 12)
	for member := 1; member < 3; member++ { // of the first two nothing was sent, since not all took part
		g.takes(member, 2, 12)
	}
}

func TestGroupOptions(t *testing.T) {
	g := openGroup(t, cluster.Model, time.Millisecond)
	one := number(g.world, 1)
	for name, groups := range map[string][]message.Group{
		"an address of a node": {{Address: 5, Members: []uint16{one}}},
		"no members":           {{Address: groupAddress}},
		"itself":               {{Address: groupAddress, Members: []uint16{number(g.world, 0)}}},
		"a member twice":       {{Address: groupAddress, Members: []uint16{one, one}}},
		"a group twice":        {{Address: groupAddress, Members: []uint16{one}}, {Address: groupAddress, Members: []uint16{one}}},
	} {
		_, err := message.Open(t.Context(), g.nodes[0], 4, message.Options{Groups: groups})
		check.Fails(t, name, err, hostdrv.ErrRange, "multicast group")
	}
}
