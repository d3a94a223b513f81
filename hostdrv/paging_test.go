package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestManyPorts writes at random to sixteen times as many ports as there are frames, over cables with bit errors, and wants every byte of
// every port's page right, at the receivers and in the tables.
func TestManyPorts(t *testing.T) { onEachShared(t, manyPorts) }

func manyPorts(t *testing.T, open func(*testing.T, plan) *network) {
	const perWay = 32 // of four ways with two frames each... one frame's worth of ports is out most of the time
	a, b, _ := startPair(t, open, 2e-5, 2e-6)
	ctx := t.Context()
	type port struct {
		send, receive *hostdrv.Window
		want          []byte
	}
	ways := make([][]port, 4)
	for way := range ways {
		for i := range perWay {
			from, to := a, b
			if way&1 == 1 {
				from, to = b, a
			}
			p := port{want: make([]byte, small.PageBytes)}
			p.send, p.receive = drivertest.Channel(t, from, to, 1+way>>1, fmt.Sprint(i))
			ways[way] = append(ways[way], p)
		}
	}
	var writers sync.WaitGroup
	for way, ports := range ways {
		writers.Go(func() {
			rng := rand.New(rand.NewPCG(11, uint64(way)))
			for range 300 {
				p := &ports[rng.IntN(len(ports))]
				off := rng.IntN(small.PageBytes)
				data := drivertest.Random(rng, p.want[off:off+rng.IntN(small.PageBytes-off)+1])
				if err := p.send.WritePage(ctx, data, off); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	for way, ports := range ways {
		check.Error(t, ports[0].send.Sync(ctx))
		for i, p := range ports {
			shows(t, fmt.Sprintf("way %d port %d", way, i), b, 10*time.Millisecond, p.receive, p.want)
		}
	}
	for _, node := range []*hostdrv.Node{a, b} {
		if s := node.Stats(); s.PageOuts < 200 || s.PageIns < 200 || s.Malformed+s.Discarded+s.Restarted > 0 {
			t.Errorf("%+v", s)
		}
	}
	ta, tb := a.Tables(), b.Tables()
	check.Equal(t, "ports in a's tables", len(ta.Ports), 4*perWay)
	for _, s := range ta.Send {
		if r := tb.Frames[s.Frame]; r.Port != s.Port || r.Link != 3-s.Link {
			t.Errorf("a thinks that %+v, b that %+v", s, r)
		}
	}
}

// TestPagingWhileTheCableFails cuts the host's cable of the receiving node, one way or both, while ports are paged, until its link starts again.
// Then all goes on with every byte right: a TRAP that was on its way is told again.
func TestPagingWhileTheCableFails(t *testing.T) { onEach(t, pagingWhileTheCableFails) }

func pagingWhileTheCableFails(t *testing.T, open func(*testing.T, plan) *network) {
	retold := uint64(0)
	const runs = 9 // and more until a TRAP has been on its way, which depends on what the machine runs first
	for seed := uint64(0); seed < runs || retold == 0 && seed < 10*runs; seed++ {
		w := open(t, cabled)
		ctx := t.Context()
		rng := rand.New(rand.NewPCG(seed, 21))
		cut := &drivertest.Cable{}
		var nodes [2]*hostdrv.Node
		for i, c := range []*drivertest.Cable{{}, cut} {
			nodes[i] = check.Must(hostdrv.Start(ctx, drive(t, w, i, c), hostdrv.NodeOptions{Seed: uint64(1 + i), Frames: []int{2, 0}}))(t)
		}
		var send, receive [6]*hostdrv.Window
		var want [6][]byte
		for i := range send {
			send[i], receive[i] = drivertest.Channel(t, nodes[0], nodes[1], 1, "")
			want[i] = make([]byte, small.PageBytes)
		}
		cut.CutAfter(rng.IntN(8000), linkproto.DefaultRetry*linkproto.DefaultRetryLimit+rng.IntN(100_000), seed%3 != 1, seed%3 != 2)
		patience, cancel := nodes[0].NI().WithTimeout(ctx, 3e6)
		var failed error
		for n := 0; n < 60 && failed == nil; n++ {
			i, off := rng.IntN(len(send)), rng.IntN(small.PageBytes-8)
			failed = send[i].WritePage(patience, drivertest.Random(rng, want[i][off:off+8]), off)
		}
		cancel()
		if failed != nil {
			t.Errorf("seed %d: %v", seed, failed)
		}
		for i, r := range receive {
			shows(t, fmt.Sprintf("seed %d port %d", seed, i), nodes[1], 5*time.Millisecond, r, want[i])
		}
		retold += nodes[1].Stats().Retraps
		if nodes[1].NI().CableCounters()[linkproto.CntRestarts] == 0 {
			t.Errorf("seed %d: the cable's link did not start again", seed)
		}
	}
	if retold == 0 {
		t.Error("no trap was lost")
	}
}

// TestLinkLoses pulls the cable between the nodes until packets are lost: the sender is told, and afterwards every page is right.
func TestLinkLoses(t *testing.T) {
	a, b, w := startPair(t, simulated, 0, 0)
	ctx := t.Context()
	var ports [8][2]*hostdrv.Window
	for i := range ports {
		ports[i][0], ports[i][1] = drivertest.Channel(t, a, b, 1, "")
	}
	limit, cancel := a.WithTimeout(ctx, 1e6) // 1 ms, in which the node finds that all it has said has arrived
	defer cancel()
	check.Fails(t, "Accept", check.Err(a.Accept(limit)), context.DeadlineExceeded)
	w.plug(t, false, w.wires[:2]...)
	for i := range 4 { // as many as there is room for
		check.Fatal(t, ports[i][0].WritePage(ctx, bytes.Repeat([]byte{1}, 20), 0))
	}
	check.Equal(t, "packets lost with the cable unplugged", drivertest.LostBy(t, ports[0][0].Sync(ctx)), 8) // a PAGE and a WRITE each
	w.plug(t, true, w.wires[:2]...)
	if err := ports[0][0].Sync(ctx); err != nil {
		t.Errorf("told again: %v", err)
	}
	if err := ports[1][0].WritePage(ctx, []byte{9}, 0); !drivertest.IsLoss(err) {
		t.Errorf("another port of the link: %v", err)
	}
	for i, p := range ports {
		value := byte(50 + i)
		for drivertest.LostBy(t, p[0].WritePage(ctx, []byte{value}, 5)) > 0 {
		}
		if err := p[1].Wait(ctx, func(page []byte) bool { return page[5] == value && page[0] == 0 }); err != nil {
			t.Errorf("port %d: %v", i, err)
		}
	}
	if s := a.Stats(); s.Resent > 0 {
		t.Errorf("it has said again what had arrived: %+v", s)
	}
}

// TestNoByteGoesAstray pulls the cable between the nodes at random moments, until packets are lost, while the sender pages all the time: each page
// holds what was written to its port, or nothing, at any time.
func TestNoByteGoesAstray(t *testing.T) {
	losses := 0
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 31))
		w := simulated(t, cabled)
		ctx := t.Context()
		var nodes [2]*hostdrv.Node
		for i := range nodes {
			nodes[i] = check.Must(hostdrv.Start(ctx, drive(t, w, i, &drivertest.Cable{}), hostdrv.NodeOptions{Seed: seed + 1, Frames: []int{2, 0}}))(t)
		}
		var send, receive [8]*hostdrv.Window
		for i := range send {
			send[i], receive[i] = drivertest.Channel(t, nodes[0], nodes[1], 1, "")
		}
		write := func(n int) {
			for range n {
				i := rng.IntN(len(send))
				limit, cancel := nodes[0].NI().WithTimeout(ctx, 100e3) // 0.1 ms: a link that is down takes no more
				err := send[i].WritePage(limit, bytes.Repeat([]byte{byte(1 + i)}, 1+rng.IntN(20)), rng.IntN(small.PageBytes-20))
				cancel()
				if drivertest.IsLoss(err) {
					losses++
				} else if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		}
		for round := range 4 {
			write(rng.IntN(30))
			w.plug(t, false, w.wires...)
			// More than there is room for, for longer than the link is not given up: what waits goes out when it has started again.
			write(22 + rng.IntN(10))
			w.plug(t, true, w.wires...)
			write(10 + rng.IntN(30))
			for i, r := range receive {
				page := make([]byte, small.PageBytes)
				check.Fatal(t, r.ReadPage(ctx, page, 0))
				for at, b := range page {
					if b != 0 && b != byte(1+i) {
						t.Fatalf("seed %d, round %d: byte %d of port %d is %d, of another port's", seed, round, at, i, b)
					}
				}
			}
		}
		for i := range send {
			for drivertest.LostBy(t, send[i].WritePage(ctx, []byte{byte(1 + i)}, 0)) > 0 {
			}
			if err := receive[i].Wait(ctx, func(page []byte) bool { return page[0] == byte(1+i) }); err != nil {
				t.Errorf("seed %d port %d: %v", seed, i, err)
			}
		}
	}
	if losses == 0 {
		t.Error("nothing was lost")
	}
}

// TestPagesAfterReadsSentAgain cuts the host's cable at many moments of a program that pages much, on a node that is cabled to itself. What the
// driver had asked of a frame is asked again then, and the frame may hold another port's page meanwhile: no page may get bytes of another.
func TestPagesAfterReadsSentAgain(t *testing.T) {
	for seed := range uint64(100) {
		ctx := t.Context()
		rng := rand.New(rand.NewPCG(seed, 23))
		cut := &drivertest.Cable{}
		n := drive(t, models(t, loop), 0, cut)
		node := check.Must(hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: 1}))(t)
		var send, receive [12]*hostdrv.Window
		var want [len(send)][]byte
		for i := range send {
			send[i], receive[i] = drivertest.Channel(t, node, node, 1+i%2, "")
			want[i] = make([]byte, small.PageBytes)
		}
		write := func(i, off, size int) {
			err := send[i].WritePage(ctx, want[i][off:off+size], off)
			for drivertest.IsLoss(err) { // of anything that was written before
				err = send[i].WritePage(ctx, want[i], 0)
			}
			check.Fatal(t, err)
		}
		cut.CutAfter(rng.IntN(15_000), 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
		for range 150 {
			i, off := rng.IntN(len(send)), rng.IntN(small.PageBytes)
			size := 1 + rng.IntN(small.PageBytes-off)
			drivertest.Random(rng, want[i][off:off+size])
			write(i, off, size)
		}
		for i := range send {
			for drivertest.LostBy(t, send[i].Sync(ctx)) > 0 {
				write(i, 0, small.PageBytes)
			}
		}
		for i, r := range receive {
			shows(t, fmt.Sprintf("seed %d, port %d", seed, i), node, 5*time.Millisecond, r, want[i])
		}
		if n.CableCounters()[linkproto.CntRestarts] == 0 {
			t.Errorf("seed %d: the cable's link did not start again", seed)
		}
		check.Error(t, node.Close())
	}
}
