package cluster_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestStoppedPeersKeepNoSlots: messages for peers that say STOP wait in the network interface, more of them than it has slots for; those of another context go on.
func TestStoppedPeersKeepNoSlots(t *testing.T) {
	w, nis := programs(t, 6, offloading)
	var stopped, going []*message.Context
	for _, n := range nis {
		node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{NoPorts: true}))(t)
		stopped = append(stopped, check.Must(message.Open(t.Context(), node, 1, message.Options{Seed: 1}))(t))
		going = append(going, check.Must(message.Open(t.Context(), node, 2, message.Options{Seed: 2}))(t))
	}
	const size = 30_000
	exchange := func() {
		t.Helper()
		check.Fatal(t, errors.Join(going[1].PostReceive(message.Receive{Data: make([]byte, size)}), going[0].PostSend(message.Send{Node: number(w, 1), Data: make([]byte, size)})))
		check.Fatal(t, next(t, nis[1], going[1]).Err)
		check.Fatal(t, next(t, nis[0], going[0]).Err)
	}
	exchange() // by virtual link 1
	for to := 1; to < len(nis); to++ {
		check.Fatal(t, stopped[0].PostSend(message.Send{Node: number(w, to), Data: make([]byte, size)}))
		check.Fatal(t, stopped[0].PostSend(message.Send{Node: number(w, to), Data: make([]byte, size)}))
	}
	check.Fatal(t, nis[0].Sleep(t.Context(), 3*time.Millisecond))
	queued, slots := 0, int(check.Must(nis[0].ReadRegister(t.Context(), linkproto.RegVLSlots))(t))
	for vl := 2; vl <= len(nis); vl++ {
		status := check.Must(nis[0].ReadRegister(t.Context(), linkproto.VLRegStatus.Reg(vl)))(t)
		queued += int(linkproto.StatusQueued.Of(status))
		check.Equal(t, "PEER_STOP", linkproto.StatusPeerStop.Of(status), 1)
	}
	check.Equal(t, "virtual links with packets that wait", queued, len(nis)-1)
	if all := (len(nis) - 1) * 2 * size / nis[0].Identity().PageBytes; all < 2*slots {
		t.Fatalf("%d packets are no more than there are slots, %d", all, slots)
	}
	before := check.Must(nis[0].ReadRegister(t.Context(), linkproto.VLRegStatus.Reg(1)))(t)
	for range 3 {
		exchange()
	}
	if now := check.Must(nis[0].ReadRegister(t.Context(), linkproto.VLRegStatus.Reg(1)))(t); linkproto.StatusFreed.Of(now) == linkproto.StatusFreed.Of(before) {
		t.Error("the network interface has not carried out the link of the context that goes on")
	}
	for to := 1; to < len(nis); to++ {
		for range 2 {
			check.Fatal(t, stopped[to].PostReceive(message.Receive{Data: make([]byte, size)}))
		}
		for range 2 {
			check.Fatal(t, next(t, nis[to], stopped[to]).Err)
			check.Fatal(t, next(t, nis[0], stopped[0]).Err)
		}
	}
}

// TestMessagesLongCut pulls a cable for as long as it takes virtual links to give up: the send completes with an error, and what is sent when the cable is back arrives.
func TestMessagesLongCut(t *testing.T) {
	for _, rung := range []string{cluster.Model, offloading, mixed} {
		t.Run(rung, func(t *testing.T) {
			w, nis := programs(t, 2, rung)
			list := contexts(t, nis, 1, message.Options{Patience: 5 * time.Millisecond})
			for round, cut := range []bool{false, true, false} {
				check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(1, cut) }))
				if !cut {
					check.Fatal(t, list[1].PostReceive(message.Receive{Data: make([]byte, 10)}))
				}
				check.Fatal(t, list[0].PostSend(message.Send{Node: number(w, 1), Tag: uint32(round)}))
				if done := next(t, nis[0], list[0]); errors.Is(done.Err, message.ErrPeer) != cut || !cut && done.Err != nil {
					t.Fatalf("round %d: %+v", round, done)
				}
				if !cut {
					check.Equal(t, "tag", next(t, nis[1], list[1]).Tag, uint32(round))
				}
			}
		})
	}
}

// TestStarvingPeerGivenUp: a peer has sent more than there are descriptors for when its cable is pulled for long. Sends to it complete with an error; what it has sent
// waits for descriptors, and what is sent when the cable is back comes behind it.
func TestStarvingPeerGivenUp(t *testing.T) { onVirtual(t, testStarvingPeerGivenUp) }

func testStarvingPeerGivenUp(t *testing.T, rung string) {
	w, nis := programs(t, 2, rung)
	list := contexts(t, nis, 1, message.Options{Patience: 5 * time.Millisecond})
	send := func(from int, tag uint32) {
		check.Fatal(t, list[from].PostSend(message.Send{Node: number(w, 1-from), Tag: tag, Data: data(int(tag), 700)}))
	}
	received := func(at int, tag uint32) {
		done := next(t, nis[at], list[at])
		check.Fatal(t, done.Err)
		check.Equal(t, "tag", done.Tag, tag)
		check.Equal(t, "message", string(done.Data), string(data(int(tag), 700)))
	}
	const waiting = 3
	for tag := range uint32(waiting) {
		send(1, tag)
	}
	for range waiting {
		check.Fatal(t, next(t, nis[1], list[1]).Err)
	}
	check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(1, true) }))
	for range 2 { // the link ends by its retries, and does not come up again
		send(0, 10)
		check.Fails(t, "a send to a peer that starves", next(t, nis[0], list[0]).Err, message.ErrPeer)
	}
	check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(1, false) }))
	check.Fatal(t, list[1].PostReceive(message.Receive{Data: make([]byte, 700)}))
	send(0, 11)
	check.Fatal(t, next(t, nis[0], list[0]).Err)
	received(1, 11)
	send(1, waiting)
	for tag := range uint32(waiting + 1) {
		check.Fatal(t, list[0].PostReceive(message.Receive{Data: make([]byte, 700)}))
		received(0, tag)
	}
	check.Fatal(t, next(t, nis[1], list[1]).Err)
}

// TestMessagesHostCable pulls a host's cable for as long as it takes to lose packets, while messages of many packets go to the host and from it. Each comes once and
// whole, or not at all; virtual links begin anew, and messages go again.
func TestMessagesHostCable(t *testing.T) {
	w, nis, cable := looseHost(t, cluster.Model)
	const size = 40_000
	list := contexts(t, nis, 1, message.Options{Patience: 20 * time.Millisecond})
	for range list { // one each for a message that is lost in each round
		for range 20 {
			check.Fatal(t, errors.Join(list[0].PostReceive(message.Receive{Data: make([]byte, size)}), list[1].PostReceive(message.Receive{Data: make([]byte, size)})))
		}
	}
	serial, came := 0, map[uint32]bool{}
	post := func(from int) {
		serial++
		check.Fatal(t, list[from].PostSend(message.Send{Node: number(w, 1-from), Tag: uint32(serial), Data: data(serial, size)}))
	}
	// ends waits until the sends of a node have completed.
	ends := func(i, sends int) (failed int) {
		for sends > 0 {
			done := next(t, nis[i], list[i])
			switch {
			case !done.Received:
				sends--
				if failed += map[bool]int{true: 1}[errors.Is(done.Err, message.ErrPeer)]; done.Err != nil && !errors.Is(done.Err, message.ErrPeer) {
					t.Fatal(done.Err)
				}
			case done.Err != nil || came[done.Tag] || string(done.Data) != string(data(int(done.Tag), size)):
				t.Fatalf("message %d of %d bytes: %v", done.Tag, len(done.Data), done.Err)
			default:
				came[done.Tag] = true
			}
		}
		return failed
	}
	failed := 0
	for range 4 {
		post(0)
		post(1)
		check.Fatal(t, nis[0].Sleep(t.Context(), 100*time.Microsecond))
		cable.out.Store(true)
		check.Fatal(t, nis[0].Sleep(t.Context(), 3*time.Millisecond))
		cable.out.Store(false)
		failed += ends(0, 1) + ends(1, 1)
		post(0)
		post(1)
		again := ends(0, 1) + ends(1, 1)
		for ; again > 0; again = ends(0, 1) + ends(1, 1) { // the peer had not heard yet
			post(0)
			post(1)
		}
	}
	if failed == 0 {
		t.Error("no message was lost with the cable")
	}
}
