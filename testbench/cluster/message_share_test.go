package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestContextsShare: a context whose peer has posted no descriptor waits, while another one and a port of the same two nodes go on.
func TestContextsShare(t *testing.T) { onVirtual(t, testContextsShare) }

func testContextsShare(t *testing.T, rung string) {
	w, nis := programs(t, 2, rung)
	list := nodes(t, w, nis)
	ctx := t.Context()
	var stopped, going [2]*message.Context
	for i, node := range list {
		stopped[i] = check.Must(message.Open(ctx, node, 1, message.Options{Seed: 1}))(t)
		going[i] = check.Must(message.Open(ctx, node, 2, message.Options{Seed: 1}))(t)
	}
	for range 40 { // more than the virtual link holds
		check.Fatal(t, stopped[0].PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 5000)}))
	}
	check.Fatal(t, nis[0].Sleep(ctx, 2*time.Millisecond))
	if rung == offloading { // 1 is the link of ports
		link := linkproto.VLRegStatus.Reg(2)
		check.Equal(t, "OWN_STOP", linkproto.StatusOwnStop.Of(check.Must(nis[1].ReadRegister(ctx, link))(t)), 1)
		window := check.Must(nis[1].ReadRegister(ctx, linkproto.RegVLWindow))(t)
		check.Equal(t, "packets taken without a descriptor", check.Must(nis[1].ReadRegister(ctx, linkproto.VLRegExpect.Reg(2)))(t), window)
	}
	send, receive := drivertest.Channel(t, list[0], list[1], check.Must(list[0].LinkTo(number(w, 1)))(t), "")
	check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{9}, 0), send.Sync(ctx)))
	check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return page[0] == 9 }))
	for range 10 {
		check.Fatal(t, errors.Join(going[1].PostReceive(message.Receive{Data: make([]byte, 3000)}), going[0].PostSend(message.Send{Node: number(w, 1), Data: make([]byte, 3000)})))
		check.Fatal(t, next(t, nis[1], going[1]).Err)
		check.Fatal(t, next(t, nis[0], going[0]).Err)
	}
	check.Equal(t, "received by the context that waits", check.Must(stopped[1].Stats())(t), message.Stats{})
	for range 40 {
		check.Fatal(t, stopped[1].PostReceive(message.Receive{Data: make([]byte, 5000)}))
	}
	for range 40 {
		check.Fatal(t, next(t, nis[1], stopped[1]).Err)
		check.Fatal(t, next(t, nis[0], stopped[0]).Err)
	}
}

// TestContextsAreFair: a context with many peers and one with one get half of the host's cable each. At first a network interface that carries out the virtual links
// takes a window of each, which is more for the one with many.
func TestContextsAreFair(t *testing.T) { onVirtual(t, testContextsAreFair) }

func testContextsAreFair(t *testing.T, rung string) {
	w, nis := programs(t, 6, rung)
	var many, few []*message.Context
	for _, n := range nis {
		node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
		many = append(many, check.Must(message.Open(t.Context(), node, 1, message.Options{Sends: 600, Receives: 600, Seed: 1}))(t))
		few = append(few, check.Must(message.Open(t.Context(), node, 2, message.Options{Sends: 600, Receives: 600, Seed: 2}))(t))
	}
	data := make([]byte, 1000)
	for i := range 500 {
		for to := 1; to < len(nis) && i < 100; to++ {
			check.Fatal(t, errors.Join(many[to].PostReceive(message.Receive{Data: make([]byte, 1000)}), many[0].PostSend(message.Send{Node: number(w, to), Data: data})))
		}
		check.Fatal(t, errors.Join(few[1].PostReceive(message.Receive{Data: make([]byte, 1000)}), few[0].PostSend(message.Send{Node: number(w, 1), Data: data})))
	}
	check.Fatal(t, nis[0].Sleep(t.Context(), 3*time.Millisecond)) // in which the host's cable carries a third of them
	a, b := check.Must(many[0].Stats())(t), check.Must(few[0].Stats())(t)
	t.Logf("%d of many, %d of one", a.Sent, b.Sent)
	if a.Sent < 100 || a.Sent > b.Sent*5/4 || b.Sent > a.Sent*5/4 {
		t.Error("they do not share")
	}
}

// TestThousandsOfPeers sends to as many nodes as there can be, of which one is there: all others are given up, and what they took is free again.
func TestThousandsOfPeers(t *testing.T) { onVirtual(t, testThousandsOfPeers) }

func testThousandsOfPeers(t *testing.T, rung string) {
	w, nis := programs(t, 2, rung)
	list := contexts(t, nis, 1, message.Options{Sends: linkproto.MaxNode, Patience: 10 * time.Millisecond})
	check.Fatal(t, list[1].PostReceive(message.Receive{Data: make([]byte, 10)}))
	for round := range 2 {
		for node := uint16(1); node < linkproto.MaxNode; node++ {
			if node != number(w, 0) && (node != number(w, 1) || round == 0) {
				check.Fatal(t, list[0].PostSend(message.Send{Node: node, Data: []byte("anybody?"), Cookie: uint64(node)}))
			}
		}
		for left := linkproto.MaxNode - 2 - round; left > 0; left-- {
			done := next(t, nis[0], list[0])
			if is := errors.Is(done.Err, message.ErrPeer); is == (done.Node == number(w, 1)) || done.Cookie != uint64(done.Node) {
				t.Fatalf("%+v", done)
			}
		}
	}
	check.Equal(t, "received", string(next(t, nis[1], list[1]).Data), "anybody?")
}

// TestPostsAllocateNothing posts and polls.
func TestPostsAllocateNothing(t *testing.T) { onVirtual(t, testPostsAllocateNothing) }

func testPostsAllocateNothing(t *testing.T, rung string) {
	_, nis := programs(t, 2, rung)
	const count = 200
	list := contexts(t, nis, 1, message.Options{Sends: 2 * count, Receives: 2 * count})
	to := uint16(2)
	check.Fatal(t, errors.Join(list[1].PostReceive(message.Receive{}), list[0].PostSend(message.Send{Node: to})))
	next(t, nis[0], list[0]) // the virtual link is up
	room, data := make([]byte, 64), make([]byte, 64)
	check.Equal(t, "allocations of PostReceive", testing.AllocsPerRun(count, func() { check.Fatal(t, list[1].PostReceive(message.Receive{Data: room})) }), 0)
	check.Equal(t, "allocations of PostSend", testing.AllocsPerRun(count, func() { check.Fatal(t, list[0].PostSend(message.Send{Node: to, Data: data})) }), 0)
	check.Fatal(t, nis[0].Sleep(t.Context(), time.Millisecond))
	var done message.Completion
	check.Equal(t, "allocations of Poll", testing.AllocsPerRun(count, func() {
		if !check.Must(list[0].Poll(&done))(t) || done.Err != nil {
			t.Fatalf("%+v", done)
		}
	}), 0)
}
