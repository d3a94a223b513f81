package socket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"golang.org/x/net/nettest"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// testConn has connections between two nodes do all that package net wants of one.
func testConn(t *testing.T, from, to *socket.Stack) {
	l, at := listen(t, to)
	nettest.TestConn(t, func() (near, far net.Conn, stop func(), err error) {
		if near, err = from.Dial("tcp", at); err == nil {
			far, err = l.Accept()
		}
		return near, far, func() { near.Close(); far.Close() }, err
	})
}

// TestConn is testConn between two nodes, and at one; TestCarries is for RTL, whose speed nettest's limits of wall-clock time do not allow for.
func TestConn(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	for name, to := range map[string]int{"another node": 1, "own node": 0} {
		t.Run(name, func(t *testing.T) { testConn(t, n.stacks[0], n.stacks[to]) })
	}
}

// TestCarries: over RTL both ends of a connection send at once, more than a window holds, and read what the other has sent to its end.
func TestCarries(t *testing.T) {
	n := open(t, cluster.Config{Topology: check.Must(topology.Generate("line", []int{2}, 1))(t), Rung: cluster.RTL}, socket.Options{})
	near, far := pipe(t, n.stacks[0], n.stacks[1])
	rng := testbench.NewRand(testbench.TestSeed(t))
	texts := [2][]byte{rng.Bytes(100_000), rng.Bytes(70_001)}
	for i, c := range []*socket.Conn{near, far} {
		sent := check.Go(func() error { return errors.Join(check.Err(c.Write(texts[i])), c.CloseWrite()) })
		t.Cleanup(func() { check.Error(t, <-sent) })
	}
	for i, c := range []*socket.Conn{far, near} {
		if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, texts[i]) {
			t.Errorf("end %d: %d bytes, %v; want the %d that were sent", i, len(got), err, len(texts[i]))
		}
	}
}

// TestCuts is testConn over three hops, with a cable on the way that is cut again and again.
func TestCuts(t *testing.T) {
	n := open(t, cluster.Config{Topology: check.Must(topology.Generate("line", []int{4}, 1))(t), Rung: cluster.Model}, socket.Options{})
	changes, over := 0, false
	n.Every(87_500, func() error {
		if over {
			return nil
		}
		changes++
		return n.Cluster.Cut(1, changes%2 == 1)
	})
	testConn(t, n.stacks[0], n.stacks[3])
	check.Error(t, n.Between(func() error { over = true; return n.Cluster.Cut(1, false) }))
	if changes < 10 {
		t.Errorf("%d cuts and repairs", changes)
	}
}

// TestServed is testConn of programs that use network interfaces of another process.
func TestServed(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{Context: 1})
	var stacks [2]*socket.Stack
	for i, node := range n.nodes {
		stacks[i] = stack(t, served(t, node), uint64(i+10), socket.Options{})
	}
	testConn(t, stacks[0], stacks[1])
}

// served serves a network interface to another program, and returns that one's node.
func served(t *testing.T, node *hostdrv.Node) *hostdrv.Node {
	t.Helper()
	path := t.TempDir() + "/n"
	l := check.Must(serve.Listen(path, ""))(t)
	ctx, cancel := context.WithCancel(context.Background()) // the program ends first
	ended := check.Go(func() error { return serve.Serve(ctx, node, l, serve.Options{}) })
	t.Cleanup(func() { cancel(); check.Fails(t, "serving", <-ended, context.Canceled) })
	program := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	t.Cleanup(func() { check.Error(t, program.Close()) })
	return program
}
