package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// contexts opens a context on each of the world's network interfaces, whose nodes have no ports.
func contexts(t *testing.T, nis []*hostdrv.NI, number int, o message.Options) (list []*message.Context) {
	t.Helper()
	for i, n := range nis {
		node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
		o.Seed = uint64(i + 1)
		if o.Engine = n.Identity().Has(linkproto.FeatureMessages); o.Engine {
			o.Frames = 48
		}
		list = append(list, check.Must(message.Open(t.Context(), node, number, o))(t))
	}
	return list
}

// next takes a completion.
func next(t *testing.T, n *hostdrv.NI, c *message.Context) message.Completion {
	t.Helper()
	ctx, cancel := n.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	return check.Must(c.Wait(ctx))(t)
}

// TestMessages sends messages of all kinds of lengths between all nodes of a network at once, with cables that are cut meanwhile, and wants each once, whole and in
// the order of its sender.
func TestMessages(t *testing.T) {
	onRungs(t, testMessages)
	for _, rung := range []string{offloading, engines, someOfRTL} {
		t.Run(rung, func(t *testing.T) { testMessages(t, rung) })
	}
}

func testMessages(t *testing.T, rung string) {
	w, nis := programs(t, 3, rung)
	list := contexts(t, nis, 3, message.Options{Patience: 100 * time.Millisecond})
	const each = 8 // messages from each to each
	page := nis[0].Identity().PageBytes
	lengths := []int{0, 1, page - 3, page - 2, 3 * page, 64, 1500, 5000}
	data := func(from, to, i int) []byte {
		return testbench.NewRand(uint64(from<<16 | to<<8 | i)).Bytes(lengths[i%len(lengths)])
	}
	failures := make(chan error, len(list))
	for me := range list {
		go func() {
			failures <- func() error {
				for i := range 2 * each {
					if err := list[me].PostReceive(message.Receive{Data: make([]byte, 5000), Cookie: uint64(i)}); err != nil {
						return err
					}
				}
				for i := range each {
					for to := range list {
						if to == me {
							continue
						}
						if err := list[me].PostSend(message.Send{Node: number(w, to), Tag: uint32(i), Data: data(me, to, i), Cookie: uint64(to)}); err != nil {
							return err
						}
					}
				}
				seen := map[uint16]int{}
				for range 4 * each {
					ctx, cancel := nis[me].WithTimeout(t.Context(), 100*time.Millisecond)
					done, err := list[me].Wait(ctx)
					cancel()
					if err = errors.Join(err, done.Err); err != nil {
						return fmt.Errorf("node %d: %w", me, err)
					}
					if !done.Received {
						continue
					}
					from := int(done.Node) - 1
					if want := data(from, me, seen[done.Node]); int(done.Tag) != seen[done.Node] || !bytes.Equal(done.Data, want) {
						return fmt.Errorf("from %d to %d: message %d of %d bytes, want %d of %d", from, me, done.Tag, len(done.Data), seen[done.Node], len(want))
					}
					seen[done.Node]++
				}
				return nil
			}()
		}()
	}
	check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(2, true) }))
	check.Fatal(t, nis[0].Sleep(t.Context(), 500*time.Microsecond))
	check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(2, false) }))
	for range list {
		check.Error(t, <-failures)
	}
	for i, c := range list {
		s := check.Must(c.Stats())(t)
		check.Equal(t, fmt.Sprint("counts of ", i), s, message.Stats{Sent: 2 * each, Received: 2 * each})
	}
}

// TestMessagePeerEnds ends a peer's context with messages underway: the sends complete with an error that names it, and when it has another one messages go again.
func TestMessagePeerEnds(t *testing.T) {
	for _, rung := range []string{cluster.Model, offloading, mixed, engines} {
		t.Run(rung, func(t *testing.T) { testMessagePeerEnds(t, rung) })
	}
}

func testMessagePeerEnds(t *testing.T, rung string) {
	w, nis := programs(t, 3, rung)
	const patience = 5 * time.Millisecond
	list := contexts(t, nis, 1, message.Options{Patience: patience, Refuse: true})
	big := make([]byte, 40_000)
	if rung == engines {
		big = big[:6000]
		for range 4 { // which the other interface has room for
			check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Data: big}))
			check.Fatal(t, next(t, nis[0], list[0]).Err)
		}
	}
	check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Data: big, Cookie: 7}))
	check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Cookie: 8}))
	check.Fatal(t, nis[0].Sleep(t.Context(), time.Millisecond)) // node 1 has no descriptor, so it says STOP
	check.Fatal(t, list[1].Close())
	for cookie := uint64(7); cookie <= 8; cookie++ {
		done := next(t, nis[0], list[0])
		var peer *message.PeerError
		if check.Equal(t, "cookie", done.Cookie, cookie); !errors.As(done.Err, &peer) || peer.Node != number(w, 1) {
			t.Errorf("completed with %v", done.Err)
		}
	}
	check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Cookie: 9}))
	start := nis[0].Now()
	if done := next(t, nis[0], list[0]); !errors.Is(done.Err, message.ErrPeer) || !errors.Is(done.Err, syscall.ECONNREFUSED) || done.Cookie != 9 {
		t.Errorf("a send to a context that is closed: %+v", done)
	}
	if took := nis[0].Now() - start; took >= patience {
		t.Errorf("it completes after %v, want before %v", took, patience)
	}
	_, err := list[1].Wait(context.Background())
	check.Fails(t, "a closed context", err, hostdrv.ErrClosed, "closed")
}

// TestMessageTakenAtTheEnd closes a context as soon as it has taken a message: the sender hears that it has arrived.
func TestMessageTakenAtTheEnd(t *testing.T) { onVirtual(t, testMessageTakenAtTheEnd) }

func testMessageTakenAtTheEnd(t *testing.T, rung string) {
	for _, size := range []int{10, 5000} {
		w, nis := programs(t, 2, rung)
		list := contexts(t, nis, 1, message.Options{})
		check.Fatal(t, list[1].PostReceive(message.Receive{Data: make([]byte, size)}))
		check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Data: make([]byte, size)}))
		if next(t, nis[1], list[1]); list[1].Close() != nil {
			t.Fatal("the context cannot be closed")
		}
		if done := next(t, nis[0], list[0]); done.Err != nil {
			t.Errorf("the send of %d bytes completed with %v", size, done.Err)
		}
	}
}

// TestMessageBytesStay changes a message that has been posted, before there is a context that it can go to: its bytes go from where the program has them.
func TestMessageBytesStay(t *testing.T) {
	w, nis := programs(t, 2, cluster.Model)
	open := func(i int) *message.Context {
		node := check.Must(hostdrv.Start(t.Context(), nis[i], hostdrv.NodeOptions{NoPorts: true}))(t)
		return check.Must(message.Open(t.Context(), node, 1, message.Options{Seed: uint64(i + 1)}))(t)
	}
	near := open(0)
	data, room := make([]byte, 3000), make([]byte, 3000)
	check.Fatal(t, near.PostSend(message.Send{Node: number(w, 1), Data: data}))
	check.Fatal(t, nis[0].Sleep(t.Context(), 100*time.Microsecond))
	copy(data, testbench.NewRand(1).Bytes(len(data)))
	far := open(1)
	check.Fatal(t, far.PostReceive(message.Receive{Data: room}))
	if done := next(t, nis[1], far); !bytes.Equal(room, data) || &done.Data[0] != &room[0] {
		t.Errorf("%+v, and not what the program has", done.Err)
	}
}
