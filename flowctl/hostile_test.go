package flowctl_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// hostile plays a peer that sends anything: bytes b choose among right and wrong words and frames, raw symbols, time
// that passes, and what the host does meanwhile.
func hostile(e *flowctl.Endpoint, b []byte) {
	var line [300]linkproto.Symbol
	var in []linkproto.Symbol
	key := func(epoch uint8) linkproto.Key { return linkproto.KeyOf(ownLife(epoch), e.Status().Peer.Life) }
	word := func(dst []linkproto.Symbol, w linkproto.Word, echo uint8) []linkproto.Symbol {
		if w.Kind != linkproto.KindInit {
			return linkproto.AppendWord(dst, key(echo), w)
		}
		return linkproto.AppendInit(dst, linkproto.Init{Stop: w.Stop, Version: linkproto.Version - w.Value/255, Life: peerLife(w.Value), Page: 5 - w.Value%32/31,
			Lanes: 1})
	}
	for ; len(b) >= 4; b = b[4:] {
		in = in[:0]
		switch b[0] % 10 {
		case 0, 1:
			in = append(in, linkproto.Symbol(binary.LittleEndian.Uint16(b[1:])))
		case 2:
			in = append(in, linkproto.Symbols[int(b[1])%len(linkproto.Symbols)].Symbol)
		case 3:
			in = word(in, linkproto.Word{Kind: linkproto.Kind(b[1] % 4), Stop: b[1] > 127, Value: b[2]}, b[3])
		case 4: // a word that fits
			in = word(in, linkproto.Word{Kind: linkproto.Kind(b[1] % 4), Value: b[2] % 8}, e.Status().Epoch)
		case 5:
			in = linkproto.AppendFrame(in, key(e.Status().Epoch), b[1]%16, packetOf(3+int(b[2])%46))
		case 6:
			in = linkproto.AppendFrame(in, key(e.Status().Epoch), b[1], b[:3])[:3+b[2]%6]
		case 7:
			e.Tick(int(b[1]) * int(b[2]))
		case 8:
			e.Send(packetOf(3 + int(b[1])%46))
			e.Lost()
		case 9:
			e.Receive()
		}
		e.Feed(in)
		e.Emit(line[:int(b[3])])
	}
}

// hostileConfig has small buffers, so that abuse reaches their ends.
var hostileConfig = flowctl.Config{MaxPacket: 40, ReplayBytes: 200, ReceiveBytes: 200, High: 120, Low: 60, Window: 8}

// recovers checks that after whatever happened the endpoint works with a good peer, and that its buffers were bounded.
func recovers(t *testing.T, e *flowctl.Endpoint) {
	t.Helper()
	if e.Readable() > hostileConfig.ReceiveBytes/linkproto.MinPacket || e.Queued() > hostileConfig.Window {
		t.Fatalf("%d to read, %d queued", e.Readable(), e.Queued())
	}
	c := hostileConfig
	peer := newEndpoint(t, c)
	var line [64]linkproto.Symbol
	sent := false
	for range 20000 {
		peer.Feed(line[:e.Emit(line[:])])
		e.Feed(line[:peer.Emit(line[:])])
		e.Tick(len(line))
		peer.Tick(len(line))
		for e.Readable() > 0 {
			e.Receive()
		}
		if _, lost := e.Lost(); lost { // with the link of a hostile peer that had the good one's life
			sent = false
		}
		if _, ok := peer.Receive(); ok && sent {
			return
		}
		if !sent && e.Status().Up && e.Status().Peer.Life == linkproto.LifeOf(0, 0, peer.Status().Epoch) && e.Queued() == 0 {
			sent = e.Send(packetOf(20)) == nil
		}
	}
	t.Fatalf("does not recover: %+v", e.Status())
}

// FuzzHostilePeer: no input makes an endpoint panic, grow, or unable to work with a good peer afterwards.
func FuzzHostilePeer(f *testing.F) {
	f.Add([]byte{4, 2, 90, 1, 5, 0, 9, 1, 8, 8, 8, 8, 4, 1, 0, 0})
	f.Add([]byte{2, 1, 0, 0, 0, 5, 0, 0, 2, 4, 0, 0, 7, 255, 255, 0})
	f.Add([]byte{2, 1, 0, 0, 0, 5, 0, 0, 2, 3, 0, 0, 2, 3, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		e := newEndpoint(t, hostileConfig)
		hostile(e, b)
		recovers(t, e)
	})
}

// TestHostilePeer does the same with many random inputs.
func TestHostilePeer(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 4000)
	for range 300 {
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		e := newEndpoint(t, hostileConfig)
		hostile(e, b)
		recovers(t, e)
	}
}

// TestNoAllocations: an endpoint in use allocates nothing.
func TestNoAllocations(t *testing.T) {
	a, b := newEndpoint(t, flowctl.Config{}), newEndpoint(t, flowctl.Config{})
	var line [256]linkproto.Symbol
	packet := packetOf(700)
	if n := testing.AllocsPerRun(1000, func() {
		a.Send(packet)
		b.Feed(line[:a.Emit(line[:])])
		a.Feed(line[:b.Emit(line[:])])
		b.Receive()
		a.Tick(len(line))
		b.Tick(len(line))
	}); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}
