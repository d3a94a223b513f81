package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// startPair starts a node on each of two NIs, joined by both links crosswise, behind host cables with a bit error rate.
func startPair(t *testing.T, open func(*testing.T, plan) *network, hostErrors, linkErrors float64) (a, b *hostdrv.Node, w *network) {
	t.Helper()
	p := crossed
	p.latency, p.errors = 10, linkErrors
	w = open(t, p)
	var nodes [2]*hostdrv.Node
	for i := range nodes {
		n := drive(t, w, i, &drivertest.Cable{RNG: rand.New(rand.NewPCG(5, uint64(i))), Rate: hostErrors})
		node := check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{Seed: uint64(i + 1)}))(t)
		nodes[i] = node
		if w.share {
			nodes[i] = share(t, node)
		}
	}
	return nodes[0], nodes[1], w
}

func TestStoreAndWait(t *testing.T) { onEachShared(t, storeAndWait) }

func storeAndWait(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	to, from := drivertest.Channel(t, a, b, 1, "there")
	back, home := drivertest.Channel(t, b, a, 1, "back")
	var done sync.WaitGroup
	const rounds = 20
	done.Go(func() {
		for i := range uint32(rounds) {
			check.Error(t, from.Wait(ctx, func(page []byte) bool { return page[0] == byte(i+1) }))
			check.Error(t, back.StoreUint32(ctx, 8, i+100))
		}
	})
	for i := range uint32(rounds) {
		check.Fatal(t, to.StoreUint32(ctx, 0, i+1))
		// This way by looking again and again.
		for {
			v := check.Must(home.LoadUint32(ctx, 8))(t)
			if v == i+100 {
				break
			}
		}
	}
	done.Wait()
}

func TestLateWrites(t *testing.T) { onEachShared(t, lateWrites) }

func lateWrites(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 2, "")
	check.Fatal(t, send.Port().SetWritePolicy(hostdrv.Late))
	want := make([]byte, small.PageBytes)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 30 {
		unsent := make([]bool, len(want))
		for range rng.IntN(12) {
			off := rng.IntN(len(want))
			data := want[off : off+rng.IntN(min(len(want)-off, 20)+1)]
			for i := range data {
				data[i]++
				unsent[off+i] = true
			}
			check.Fatal(t, send.WritePage(ctx, data, off))
		}
		bytesLeft := 0
		for _, u := range unsent {
			if u {
				bytesLeft++
			}
		}
		if e := a.Tables().Ports[0]; a.NI() != nil && (e.Unsent != bytesLeft || e.Policy != "late") { // a client keeps what is late to itself
			t.Errorf("%d bytes are unsent and the table says %+v", bytesLeft, e)
		}
		check.Fatal(t, send.Flush(ctx))
		check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return bytes.Equal(page, want) }))
	}
}

func TestConnectAndDelete(t *testing.T) { onEachShared(t, connectAndDelete) }

func connectAndDelete(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	// Refused.
	p, err := a.CreatePort(1, hostdrv.Send)
	check.Fatal(t, err)
	go func() {
		r, err := b.Accept(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if r.Link() != 2 || r.Direction() != hostdrv.Receive || string(r.Params()) != "who?" {
			t.Errorf("request %d %v %q", r.Link(), r.Direction(), r.Params())
		}
		check.Error(t, r.Refuse("no such service"))
	}()
	var refused *hostdrv.RefusedPortError
	if err := p.Connect(ctx, []byte("who?")); !errors.As(err, &refused) || refused.Reason != "no such service" || refused.Port != p.ID() {
		t.Error(err)
	}
	// The receiver asks.
	q := check.Must(b.CreatePort(1, hostdrv.Receive))(t)
	var sender *hostdrv.Port
	go func() {
		r, err := a.Accept(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		if sender, err = r.Accept(); err != nil || sender.Direction() != hostdrv.Send || sender.ID() != q.ID() {
			t.Error(err)
			return
		}
		w, err := sender.Window()
		if err == nil {
			err = errors.Join(w.WritePage(ctx, []byte("last words"), 3), sender.Delete())
		}
		check.Error(t, err)
	}()
	check.Fatal(t, q.Connect(ctx, nil))
	w := check.Must(q.Window())(t)
	var last string
	err = w.Wait(ctx, func(page []byte) bool { last = string(page[3:13]); return false })
	if !errors.Is(err, hostdrv.ErrPortClosed) || last != "last words" {
		t.Errorf("%v, and the page ended as %q", err, last)
	}
	// All gone, with their frames.
	want := hostdrv.Tables{}
	for _, node := range []*hostdrv.Node{a, b} {
		have := node.Tables()
		check.Equal(t, "ports", have.Ports, want.Ports)
		for _, f := range have.Send {
			check.Equal(t, fmt.Sprintf("port of %+v", f), f.Port, 0)
		}
	}
}

// TestRequestWithdrawn deletes ports whose requests nobody has answered: one that was fetched, and one that was not.
func TestRequestWithdrawn(t *testing.T) { onEachShared(t, requestWithdrawn) }

func requestWithdrawn(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	connect := func(params string) (*hostdrv.Port, context.CancelFunc, <-chan error) {
		t.Helper()
		p := check.Must(a.CreatePort(1, hostdrv.Send))(t)
		limit, cancel := context.WithCancel(ctx)
		return p, cancel, check.Go(func() error { return p.Connect(limit, []byte(params)) })
	}
	request := func(prefix string) *hostdrv.Request {
		t.Helper()
		return check.Must(b.AcceptPrefix(ctx, []byte(prefix)))(t)
	}
	withdraw := func(p *hostdrv.Port, cancel context.CancelFunc, ended <-chan error) {
		t.Helper()
		cancel()
		check.Fails(t, "Connect", <-ended, context.Canceled)
		check.Fatal(t, p.Delete())
	}
	// fence returns when what was said before has been heard.
	fence := func() {
		t.Helper()
		_, cancel, ended := connect("fence")
		defer cancel()
		check.Must(request("fence").Accept())(t)
		check.Fatal(t, <-ended)
	}
	p, cancel, ended := connect("fetched")
	r := request("fetched")
	withdraw(p, cancel, ended)
	p, cancel, ended = connect("waiting")
	fence()
	withdraw(p, cancel, ended)
	fence()
	check.Fails(t, "accept what was taken back", check.Err(r.Accept()), hostdrv.ErrPortClosed)
	limit, stop := b.WithTimeout(ctx, 1e6) // 1 ms
	defer stop()
	if r, err := b.Accept(limit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a request that was taken back: %+v, %v", r, err)
	}
	check.Equal(t, "ports besides the two fences", len(b.Tables().Ports)-2, 0)
}

// TestLastWriteIsSeen deletes ports right behind a write: what came last is seen, however it comes.
func TestLastWriteIsSeen(t *testing.T) { onEachShared(t, lastWrite) }

func lastWrite(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	ctx := t.Context()
	for size := 1; size <= small.PageBytes; size += 7 {
		send, receive := drivertest.Channel(t, a, b, 1, "")
		want := bytes.Repeat([]byte{byte(size)}, size)
		check.Fatal(t, errors.Join(send.WritePage(ctx, want, 0), send.Port().Delete()))
		is := func(page []byte) bool { return bytes.Equal(page[:size], want) }
		if err := errors.Join(receive.Wait(ctx, is), receive.Wait(ctx, is)); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		check.Fails(t, "Wait", receive.Wait(ctx, forever), hostdrv.ErrPortClosed)
	}
}

// TestNodeRestarts has one program end and another one begin on an NI that goes on: the ports of the peer end, and new ones work.
func TestNodeRestarts(t *testing.T) { onEach(t, nodeRestarts) }

func nodeRestarts(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, w := startPair(t, open, 0, 0)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, a, b, 1, "")
	check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{1}, 0), receive.Wait(ctx, func(page []byte) bool { return page[0] == 1 })))
	check.Fatal(t, b.NI().Close())
	check.Fails(t, "Wait", receive.Wait(ctx, forever), hostdrv.ErrClosed)
	again, err := hostdrv.Start(ctx, drive(t, w, 1, &drivertest.Cable{}), hostdrv.NodeOptions{Seed: 77})
	check.Fatal(t, err)
	limit, cancel := a.NI().WithTimeout(ctx, 10e6)
	defer cancel()
	var gone *hostdrv.PeerError
	for err = nil; err == nil; err = send.WritePage(limit, []byte{2}, 0) {
		if err := send.Sync(limit); err != nil && !errors.As(err, &gone) {
			t.Fatal(err)
		}
	}
	if !errors.As(err, &gone) {
		t.Errorf("the sender learns of the other's restart as %v", err)
	}
	send, receive = drivertest.Channel(t, a, again, 1, "")
	check.Error(t, errors.Join(send.WritePage(ctx, []byte{3}, 0), receive.Wait(ctx, func(page []byte) bool { return page[0] == 3 })))
}

func TestCloseWhileOthersWait(t *testing.T) { onEachShared(t, closeWhileOthersWait) }

func closeWhileOthersWait(t *testing.T, open func(*testing.T, plan) *network) {
	a, b, _ := startPair(t, open, 0, 0)
	send, receive := drivertest.Channel(t, a, b, 1, "")
	var users sync.WaitGroup
	for _, use := range []func(context.Context) error{
		func(ctx context.Context) error { return send.WritePage(ctx, make([]byte, 100), 0) },
		func(ctx context.Context) error { return receive.Wait(ctx, forever) },
		func(ctx context.Context) error { return send.Sync(ctx) },
		func(ctx context.Context) error { _, err := b.Accept(ctx); return err },
	} {
		users.Go(func() {
			var err error
			for err == nil {
				err = use(t.Context())
			}
			check.Fails(t, "waiting", err, hostdrv.ErrClosed)
		})
	}
	for range 10 {
		check.Must(receive.LoadUint32(t.Context(), 0))(t)
	}
	check.Error(t, errors.Join(a.Close(), b.Close()))
	users.Wait()
}
