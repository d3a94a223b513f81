package socket_test

import (
	"net"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// network is a simulated network with sockets on each of its nodes.
type network struct {
	*cluster.World
	nis    []*hostdrv.NI
	nodes  []*hostdrv.Node
	stacks []*socket.Stack
}

// open opens a network whose hosts are this test.
func open(t *testing.T, c cluster.Config, o socket.Options) *network {
	t.Helper()
	c.Seed = 1
	cl := check.Must(cluster.Open(t.Context(), c))(t)
	n := &network{World: cl.Programs()}
	t.Cleanup(func() { check.Error(t, n.World.Close()) })
	for i := range cl.NIs {
		ni := check.Must(hostdrv.New(t.Context(), check.Must(n.Host(i))(t), hostdrv.Options{Seed: uint64(i + 1)}))(t)
		t.Cleanup(func() { check.Error(t, ni.Close()) })
		n.nis = append(n.nis, ni)
		node := check.Must(hostdrv.Start(t.Context(), ni, hostdrv.NodeOptions{NoPorts: true}))(t)
		n.nodes = append(n.nodes, node)
		n.stacks = append(n.stacks, stack(t, node, uint64(i+1), o))
	}
	return n
}

func stack(t *testing.T, node *hostdrv.Node, seed uint64, o socket.Options) *socket.Stack {
	t.Helper()
	o.Seed = seed
	s := check.Must(socket.Open(t.Context(), node, o))(t)
	t.Cleanup(func() { check.Error(t, s.Close()) })
	return s
}

// star is a star of nodes with numbers from 1 on.
func star(t *testing.T, size int, rung string) cluster.Config {
	return cluster.Config{Topology: check.Must(topology.Generate("star", []int{size}, 1))(t), Rung: rung}
}

// listen listens at a node, and says where.
func listen(t *testing.T, s *socket.Stack) (*socket.Listener, string) {
	t.Helper()
	l := check.Must(s.Listen("tcp", ":0"))(t)
	t.Cleanup(func() { l.Close() })
	return l.(*socket.Listener), l.Addr().String()
}

// pipe connects two nodes.
func pipe(t *testing.T, from, to *socket.Stack) (near, far *socket.Conn) {
	t.Helper()
	l, at := listen(t, to)
	c := check.Must(from.Dial("tcp", at))(t)
	t.Cleanup(func() { c.Close() })
	a := check.Must(l.Accept())(t)
	t.Cleanup(func() { a.Close() })
	check.Fatal(t, l.Close())
	return c.(*socket.Conn), a.(*socket.Conn)
}

// within fails a test whose calls do not return: nothing depends on how fast they do.
func within(t *testing.T, c net.Conn) net.Conn {
	t.Helper()
	check.Fatal(t, c.SetDeadline(time.Now().Add(time.Minute)))
	return c
}
