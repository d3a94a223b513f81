package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// served serves each of the world's network interfaces, and returns a function that connects another program to one.
func served(t *testing.T, nis []*hostdrv.NI) func(i int) *hostdrv.Node {
	path := sockets(t, nis)
	return func(i int) *hostdrv.Node {
		node := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path(i), hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
		t.Cleanup(func() { check.Error(t, node.Close()) })
		return node
	}
}

// sockets serves each of the world's network interfaces, and returns where.
func sockets(t *testing.T, nis []*hostdrv.NI) (path func(i int) string) {
	dir := t.TempDir()
	path = func(i int) string { return filepath.Join(dir, string(rune('0'+i))) }
	for i, n := range nis {
		node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
		l := check.Must(serve.Listen(path(i), ""))(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- serve.Serve(ctx, node, l, serve.Options{}) }()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
	return path
}

// TestMessagesServed has programs exchange messages by network interfaces that another process serves: contexts are of one program each, and of one that ends the
// peers are told.
func TestMessagesServed(t *testing.T) {
	w, nis := programs(t, 2, cluster.Model)
	connect := served(t, nis)
	ctx, o := t.Context(), message.Options{Patience: 20 * time.Millisecond}
	near, far := connect(0), connect(1)
	a := check.Must(message.Open(ctx, near, 5, o))(t)
	b := check.Must(message.Open(ctx, far, 5, o))(t)
	_, err := message.Open(ctx, connect(1), 5, o)
	check.Fails(t, "the context of another program", err, message.ErrTaken, "context 5")
	_, err = message.Open(ctx, near, 256, o)
	check.Fails(t, "a context that there is not", err, hostdrv.ErrRange, "no context 256, want 1 to 255")
	for i, length := range []int{0, 100, 5000, 300_000} {
		data := testbench.NewRand(uint64(i)).Bytes(length)
		check.Fatal(t, b.PostReceive(message.Receive{Data: make([]byte, 300_000), Cookie: 3}))
		check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Tag: 1 << 31, Data: data, Cookie: 4}))
		got := check.Must(b.Wait(ctx))(t)
		if !got.Received || got.Node != number(w, 0) || got.Tag != 1<<31 || got.Cookie != 3 || got.Err != nil || !bytes.Equal(got.Data, data) {
			t.Errorf("%d bytes: %d of node %d, tag %d, cookie %d, %v", length, len(got.Data), got.Node, got.Tag, got.Cookie, got.Err)
		}
		sent := check.Must(a.Wait(ctx))(t)
		if sent.Received || sent.Err != nil || sent.Cookie != 4 || !bytes.Equal(sent.Data, data) {
			t.Errorf("%d bytes: %+v", length, sent.Cookie)
		}
	}
	check.Fatal(t, b.PostReceive(message.Receive{Data: make([]byte, 10)}))
	check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 11)}))
	var tooLong *message.TooLongError
	if got := check.Must(b.Wait(ctx))(t); !errors.As(got.Err, &tooLong) || *tooLong != (message.TooLongError{Node: number(w, 0), Bytes: 11, Room: 10}) {
		t.Errorf("a message that is too long: %v", got.Err)
	}
	check.Must(a.Wait(ctx))(t)
	limit, cancel := near.WithTimeout(ctx, 10*time.Microsecond)
	_, err = a.Wait(limit)
	cancel()
	check.Fails(t, "nothing to wait for", err, context.DeadlineExceeded, "waiting for a completion")
	check.Fails(t, "a send that is too long", a.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, message.MaxMessage+1)}), message.ErrTooLong, "1048577 bytes, at most 1048576")
	check.Fails(t, "a node that there cannot be", a.PostSend(message.Send{Node: 1}), message.ErrNode, "node 1")

	check.Fatal(t, b.PostReceive(message.Receive{Data: make([]byte, 10)}))
	check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 200_000), Cookie: 8}))
	check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 50_000), Cookie: 9}))
	if got := check.Must(b.Wait(ctx))(t); !errors.Is(got.Err, message.ErrTooLong) {
		t.Errorf("a message that is much too long: %v", got.Err)
	}
	check.Fatal(t, far.Close()) // the program ends, with the second message not taken
	var peer *message.PeerError
	if got := check.Must(a.Wait(ctx))(t); got.Cookie != 8 {
		t.Errorf("the send that arrived: %+v", got.Cookie)
	}
	if got := check.Must(a.Wait(ctx))(t); got.Cookie != 9 || !errors.As(got.Err, &peer) || peer.Node != number(w, 1) {
		t.Errorf("the send to a program that has ended: %d, %v", got.Cookie, got.Err)
	}
	again := check.Must(message.Open(ctx, connect(1), 5, o))(t) // it was given back
	check.Fatal(t, again.PostReceive(message.Receive{Data: make([]byte, 10)}))
	check.Fatal(t, a.PostSend(message.Send{Node: number(w, 1), Data: []byte("again")}))
	check.Equal(t, "message after all", string(check.Must(again.Wait(ctx))(t).Data), "again")
}

// TestServedContextHasLimits: a program cannot make the server hold as much as it likes, nor use what is another's.
func TestServedContextHasLimits(t *testing.T) {
	_, nis := programs(t, 2, cluster.Model)
	node := served(t, nis)(0)
	c := check.Must(message.Open(t.Context(), node, 6, message.Options{Patience: 1}))(t)
	for range 16 {
		check.Fatal(t, c.PostReceive(message.Receive{Data: make([]byte, message.MaxMessage)}))
	}
	check.Fails(t, "17 MB", c.PostReceive(message.Receive{Data: make([]byte, message.MaxMessage)}), hostdrv.ErrLimit, "at most 16777216")
	check.Fails(t, "to send beside", c.PostSend(message.Send{Node: 2, Data: []byte{1}}), hostdrv.ErrLimit)
	var done message.Completion
	check.Equal(t, "something has completed", check.Must(c.Poll(&done))(t), false)
	check.Equal(t, "counts", check.Must(c.Stats())(t), message.Stats{})
	check.Fatal(t, c.Close())
	check.Fatal(t, c.Close())
	check.Fails(t, "closed", c.PostReceive(message.Receive{}), hostdrv.ErrClosed)
	check.Must(message.Open(t.Context(), node, 6, message.Options{}))(t)
	check.Fails(t, "more descriptors than there can be", check.Err(message.Open(t.Context(), node, 7, message.Options{Sends: 1 << 17})), hostdrv.ErrRange, "want 0 to 65536")
}
