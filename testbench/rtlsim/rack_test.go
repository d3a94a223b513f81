package rtlsim

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Two kinds of NI for a rack: with a symbol a clock at the host port, and with a UART. Those with other pages refuse each other.
const (
	quick  = "rtl:?links=2&frames=8&page=128&replay=512&rx=512&seed=5"
	serial = "rtl:?frames=1&page=128&replay=512&rx=512&uart=5"
)

func rack(t *testing.T, slots int, wires ...ni.Cable) *Rack {
	t.Helper()
	r := check.Must(NewRack(slots, wires))(t)
	t.Cleanup(func() {
		check.Error(t, r.Close())
	})
	return r
}

func dial(t *testing.T, r *Rack, slot int, target string) *hostdrv.NI {
	t.Helper()
	to := check.Must(r.Dial(t.Context(), slot, target))(t)
	n := check.Must(hostdrv.New(t.Context(), to, hostdrv.Options{Hash: rtl.Hash(), Seed: uint64(slot + 1)}))(t)
	t.Cleanup(func() { n.Close() })
	return n
}

// sends fills the first bytes of another NI's buffer many times over, and compares them.
func sends(t *testing.T, from *hostdrv.NI, by int, to *hostdrv.NI, at int) {
	t.Helper()
	const times, size = 64, 128
	rng := rand.New(rand.NewPCG(7, uint64(by)))
	check.Fatal(t, to.SetFrame(t.Context(), 0, hostdrv.FrameEntry{Link: at}))
	data, have := make([]byte, size), make([]byte, size)
	for range times {
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		check.Fatal(t, from.Write(t.Context(), by, 0, data))
	}
	if err := errors.Join(from.Sync(t.Context(), by), to.ReadBuffer(t.Context(), have, 0)); err != nil || !bytes.Equal(have, data) {
		t.Errorf("by link %d to link %d: %v\nhave % x\nwant % x", by, at, err, have, data)
	}
	for _, end := range []struct {
		ni   *hostdrv.NI
		link int
	}{{from, by}, {to, at}} {
		c := check.Must(end.ni.Counters(t.Context(), end.link))(t)
		if c[linkproto.CntReplays]+c[linkproto.CntRxCRC]+c[linkproto.CntBadWord]+c[linkproto.CntRxOverrun] != 0 {
			t.Errorf("link %d is not clean: %v", end.link, c)
		}
	}
}

// TestRack has NIs of different kinds send to each other by a wire, while another takes the place of one of them, and one by a link that no wire names.
func TestRack(t *testing.T) {
	r := rack(t, 2, ni.Cable{A: 0, LinkA: 2, B: 1, LinkB: 1})
	a, b := dial(t, r, 0, quick), dial(t, r, 1, serial)
	sends(t, a, 2, b, 1)
	sends(t, b, 1, a, 2)
	sends(t, a, 1, a, 1)
	before := check.Must(a.LinkStatus(t.Context(), 2))(t)
	check.Fatal(t, b.Close())
	sends(t, a, 1, a, 1) // it goes on without
	b = dial(t, r, 1, quick)
	for after := before; !after.Up || after.Epoch == before.Epoch; { // its peer has a new life
		after = check.Must(a.LinkStatus(t.Context(), 2))(t)
	}
	sends(t, b, 1, a, 2)
	sends(t, b, 2, b, 2)
}

// TestRackLoops has links that no wire names joined in pairs as those of any target, and both ends of a wire at one NI.
func TestRackLoops(t *testing.T) {
	n := dial(t, rack(t, 1), 0, quick)
	sends(t, n, 1, n, 2)
	n = dial(t, rack(t, 1, ni.Cable{LinkA: 2, LinkB: 1}), 0, quick)
	sends(t, n, 2, n, 1)
}

// TestRackLoose has wires to links that an NI does not have: the others are as they were.
func TestRackLoose(t *testing.T) {
	r := rack(t, 2, ni.Cable{LinkA: 4, B: 1, LinkB: 1}, ni.Cable{LinkA: 1, B: 1, LinkB: 2}, ni.Cable{LinkA: 3, B: 1, LinkB: 3})
	loose := func(slot int, want ...int) {
		t.Helper()
		if have, err := r.Loose(slot); err != nil || !slices.Equal(have, want) {
			t.Errorf("place %d lacks %v, want %v: %v", slot, have, want, err)
		}
	}
	loose(0) // nothing is there
	a, b := dial(t, r, 0, quick), dial(t, r, 1, quick)
	loose(0, 3, 4)
	loose(1, 3)
	sends(t, a, 1, b, 2)
}

func TestRackRefuses(t *testing.T) {
	for _, wires := range [][]ni.Cable{
		{{LinkA: 1, B: 2, LinkB: 1}}, {{A: -1, LinkA: 1, B: 1, LinkB: 1}}, {{LinkA: 0, B: 1, LinkB: 1}}, {{LinkA: 1, B: 1, LinkB: linkproto.MaxVia + 1}},
		{{LinkA: 1, LinkB: 1}}, {{LinkA: 1, B: 1, LinkB: 1}, {LinkA: 2, B: 1, LinkB: 1}},
	} {
		if _, err := NewRack(2, wires); err == nil {
			t.Errorf("%+v was taken", wires)
		}
	}
	r := rack(t, 1)
	for _, target := range []string{"model:", "rtl:?links=0", "rtl:?record=9", "%"} {
		check.Fails(t, target, check.Err(r.Dial(t.Context(), 0, target)), hostdrv.ErrTarget)
	}
	dial(t, r, 0, quick)
	if _, err := r.Dial(t.Context(), 0, quick); err == nil {
		t.Error("two NIs in one place")
	}
}
