package hostdrv_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestNames opens NIs of a network in turn: each gets a nonce of its own, which stays until it is reset, and its neighbour learns its node id.
func TestNames(t *testing.T) { onEach(t, names) }

func names(t *testing.T, open func(*testing.T, plan) *network) {
	w, ctx := open(t, cabled), t.Context()
	use := func(index int, o hostdrv.Options) *hostdrv.NI {
		t.Helper()
		n := check.Must(hostdrv.New(ctx, check.Must(w.Host(index))(t), o))(t)
		t.Cleanup(func() { n.Close() })
		return n
	}
	named := func(n *hostdrv.NI) (id, nonce uint32) {
		t.Helper()
		b := n.Batch()
		b.ReadRegister(linkproto.RegNodeID, &id)
		b.ReadRegister(linkproto.RegNonce, &nonce)
		check.Fatal(t, b.Run(ctx))
		return id, nonce
	}
	status := func(n *hostdrv.NI) hostdrv.LinkStatus {
		t.Helper()
		return check.Must(n.LinkStatus(ctx, 1))(t)
	}
	n := use(0, hostdrv.Options{Seed: 1, NodeID: 40})
	id, first := named(n)
	if id != 40 || first == 0 {
		t.Errorf("after Open node %d, nonce %#x", id, first)
	}
	if s := status(n); s.Up {
		t.Errorf("the neighbour has no nonce, and the link to it is %+v", s)
	}
	b := use(1, hostdrv.Options{Seed: 2})
	awaitUp(t, n, 1)
	awaitUp(t, b, 1)
	check.Equal(t, "peer of b", status(b).Peer, hostdrv.LinkPeer{Known: true, Node: 40})
	check.Equal(t, "peer of a", status(n).Peer, hostdrv.LinkPeer{Known: true})
	if id, nonce := named(b); id != 0 || nonce == 0 || nonce == first {
		t.Errorf("after Open b is node %d, nonce %#x; a has %#x", id, nonce, first)
	}

	check.Fatal(t, n.Close())
	epoch := status(b).Epoch
	n = use(0, hostdrv.Options{Seed: 3, NodeID: 40}) // who has that id already
	id, nonce := named(n)
	if id != 40 || nonce != first || status(b).Epoch != epoch {
		t.Errorf("after Open again node %d, nonce %#x, want %#x; b's epoch %d, want %d", id, nonce, first, status(b).Epoch, epoch)
	}
	check.Fatal(t, n.Close())
	n = use(0, hostdrv.Options{Seed: 4, NodeID: 41})
	awaitUp(t, n, 1)
	limit, cancel := b.WithTimeout(ctx, 1e6) // 1 ms
	defer cancel()
	for check.Must(b.LinkStatus(limit, 1))(t).Peer != (hostdrv.LinkPeer{Known: true, Node: 41}) {
	}

	check.Fatal(t, w.reset(0))
	for err := error(nil); !errors.Is(err, hostdrv.ErrReset); _, err = n.LinkStatus(ctx, 1) {
		check.Fatal(t, err)
	}
	check.Error(t, n.Close())
	n = use(0, hostdrv.Options{Seed: 5})
	awaitUp(t, n, 1)
	if id, nonce := named(n); id != 0 || nonce == 0 || nonce == first {
		t.Errorf("opened again after a reset: node %d, nonce %#x; it was %#x", id, nonce, first)
	}
}

// TestNamedOnce opens an NI over a cable that is cut while the nonce is on its way.
func TestNamedOnce(t *testing.T) {
	for wait := 0; wait < 4000; wait += 100 {
		w := models(t, loop)
		c := &drivertest.Cable{}
		c.CutAfter(wait, 2*linkproto.DefaultRetry*linkproto.DefaultRetryLimit, false, true)
		n := drive(t, w, 0, c)
		if v, err := n.ReadRegister(t.Context(), linkproto.RegNonce); err != nil || v == 0 {
			t.Errorf("cut after %d ticks: nonce %#x, %v", wait, v, err)
		}
	}
}

// TestSameEpoch opens an NI again with the epoch that the program before had: the NI takes one for the other until the driver takes another epoch.
func TestSameEpoch(t *testing.T) {
	onEach(t, func(t *testing.T, open func(*testing.T, plan) *network) {
		w := open(t, loop)
		for range 2 {
			n := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(0))(t), hostdrv.Options{Seed: 1}))(t)
			acknowledged, cancel := n.WithTimeout(t.Context(), 1e5) // 0.1 ms: else the NI starts again for what nobody acknowledges
			check.Fails(t, "Next", check.Err(check.Must(n.Events())(t).Next(acknowledged)), context.DeadlineExceeded)
			cancel()
			check.Error(t, n.Close())
		}
	})
}

// TestOtherVersion opens NIs that speak version 2: one that was not opened before, and one that takes the link for up.
func TestOtherVersion(t *testing.T) {
	for name, word := range map[string][]linkproto.Symbol{"INIT": old(0x80, 9, 0), "ACK": old(0, 3, 77)} {
		host := check.Must(lockstep.New(&talker{word}, 1, 64, 64, 1e6).Sole())(t)
		_, err := hostdrv.New(t.Context(), host, hostdrv.Options{LinkTimeout: 100e6}) // 100 ms
		check.Fails(t, name, err, hostdrv.ErrVersion, "speaks version 3: build an image")
		check.Fails(t, name, err, hostdrv.ErrSilent)
	}
}

// old is a link state word of version 2.
func old(b ...byte) []linkproto.Symbol {
	check := linkproto.CRC16(b)
	word := []linkproto.Symbol{linkproto.SymLSW}
	for _, c := range append(b, byte(check>>8), byte(check)) {
		word = append(word, linkproto.Data(c))
	}
	return word
}

// talker is an NI that says one thing in every turn.
type talker struct{ word []linkproto.Symbol }

func (t *talker) Turn(n int, lines []lockstep.Line) (int, error) {
	lines[0].In = t.word
	return n, nil
}

func (t *talker) Close() error { return nil }
