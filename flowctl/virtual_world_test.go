package flowctl_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// virtualSide is one end of a virtual link with its host.
type virtualSide struct {
	*flowctl.VirtualLink
	number  uint16
	stalled bool
	talk    int      // the host sends packets of so many bytes as fast as it can; 0: it does not
	sent    []fate   // by serial number, over all restarts
	serials []uint32 // of the packets sent, by their number since this end was made
	last    int      // serial number read last
}

// underRoute is a ROUTE on its way.
type underRoute struct {
	to, at int
	bytes  []byte
}

// virtuals is both ends, a network that keeps no order, and a clock.
type virtuals struct {
	t                    rapid.TB
	cfg                  flowctl.VirtualConfig
	sides                [2]virtualSide
	rng                  *rand.Rand
	cut                  [2]bool // nothing comes to a side
	delay, spread        int     // ticks that ROUTEs take, and by which they are late, at most
	lose, double, damage int     // chances, in 1000
	network              []underRoute
	now                  int
	buf                  []byte
}

func newVirtuals(t rapid.TB, seed uint64, c flowctl.VirtualConfig) *virtuals {
	w := &virtuals{t: t, cfg: c, rng: rand.New(rand.NewPCG(seed, 7)), spread: 1}
	for i := range w.sides {
		w.sides[i].last = -1
		w.restart(i)
	}
	return w
}

// restart replaces the end of side i by a new one, as a host that starts again does.
func (w *virtuals) restart(i int) {
	s := &w.sides[i]
	if s.VirtualLink != nil {
		for w.read(i) {
		}
		w.report(i, 0)
	}
	s.number = uint16(1 + w.rng.IntN(1<<16-1))
	c := w.cfg
	c.Node, c.Peer, c.Number, c.Channel = uint16(1+i), uint16(2-i), s.number, 5
	c.NewLife = func() linkproto.Life { return linkproto.Life(1 + w.rng.Uint32N(1<<32-1)) }
	s.VirtualLink, s.serials = check.Must(flowctl.NewVirtual(c))(w.t), nil
}

// send queues a packet of n bytes, at least 7, that holds its serial number, unless the end is full.
func (w *virtuals) send(i, n int) {
	s := &w.sides[i]
	w.buf = append(w.buf[:0], byte(linkproto.TypeWrite), byte(n-linkproto.HeaderBytes), byte((n-linkproto.HeaderBytes)>>8))
	w.buf = binary.LittleEndian.AppendUint32(w.buf, uint32(len(s.sent)))
	for len(w.buf) < n {
		w.buf = append(w.buf, byte(len(w.buf)*len(s.sent)))
	}
	switch err := s.Send(w.buf); {
	case err == nil:
		s.serials = append(s.serials, uint32(len(s.sent)))
		s.sent = append(s.sent, underway)
	case !errors.Is(err, flowctl.ErrFull):
		w.t.Fatalf("side %d: %v", i, err)
	}
}

// read takes one packet from side i and checks that it is later than all before, and whole. What is between must have been reported, or will be.
func (w *virtuals) read(i int) bool {
	s, from := &w.sides[i], &w.sides[1-i]
	p, ok := s.Receive()
	if !ok {
		return false
	}
	serial := int(binary.LittleEndian.Uint32(p[3:]))
	if serial <= s.last || serial >= len(from.sent) {
		w.t.Fatalf("tick %d: side %d read packet %d after %d of %d", w.now, i, serial, s.last, len(from.sent))
	}
	for k := linkproto.HeaderBytes + 4; k < len(p); k++ {
		if p[k] != byte(k*serial) {
			w.t.Fatalf("side %d: packet %d damaged at byte %d", i, serial, k)
		}
	}
	s.last, from.sent[serial] = serial, delivered
	return true
}

// report takes the packets of side i from number first on as given up.
func (w *virtuals) report(i int, first uint64) {
	s := &w.sides[i]
	for _, n := range s.serials[first:] {
		if s.sent[n] == underway {
			s.sent[n] = reported
		}
	}
}

// step lets one tick pass.
func (w *virtuals) step() {
	for i := range w.sides {
		s := &w.sides[i]
		if s.talk > 0 {
			w.send(i, s.talk)
		}
		idle := s.IdleFor()
		route, ok := s.Emit(nil)
		if ok != (idle == 0) {
			w.t.Fatalf("tick %d: side %d: IdleFor %d, then a ROUTE: %v", w.now, i, idle, ok)
		}
		if ok {
			w.put(1-i, route)
		}
	}
	left := w.network[:0]
	for _, u := range w.network {
		if u.at > w.now {
			left = append(left, u)
			continue
		}
		w.feed(u.to, u.bytes)
	}
	w.network = left
	for i := range w.sides {
		s := &w.sides[i]
		s.Tick(1)
		if !s.stalled {
			w.read(i)
		}
		w.collect(i)
	}
	w.now++
}

// collect takes the report of lost packets from side i.
func (w *virtuals) collect(i int) {
	s := &w.sides[i]
	if loss, ok := s.Lost(); ok {
		if loss.First+loss.Count != uint64(len(s.serials)) {
			w.t.Fatalf("side %d reports %+v of %d packets", i, loss, len(s.serials))
		}
		w.report(i, loss.First)
	}
}

// put gives a ROUTE to the network.
func (w *virtuals) put(to int, route []byte) {
	if w.cut[to] || w.rng.IntN(1000) < w.lose {
		return
	}
	for n := 1; n > 0; n-- {
		if w.rng.IntN(1000) < w.double {
			n++
		}
		b := append([]byte(nil), route...)
		if w.rng.IntN(1000) < w.damage {
			b[w.rng.IntN(len(b))] ^= 1 << w.rng.IntN(8)
		}
		w.network = append(w.network, underRoute{to, w.now + w.delay + w.rng.IntN(w.spread), b})
	}
}

// feed gives a ROUTE to a side as its node would: an INIT by its channel, and the rest by its number.
func (w *virtuals) feed(to int, b []byte) {
	var r linkproto.Route
	if r.Open(b) != nil {
		return
	}
	if state, ok := linkproto.DecodeVLState(r.State); ok && (state.Kind == linkproto.KindInit || r.VL == w.sides[to].number) {
		w.sides[to].Feed(&r, b)
	}
}

// settle takes all faults away and runs until nothing is underway; then every packet must have a fate.
func (w *virtuals) settle() {
	w.cut, w.spread, w.lose, w.double, w.damage = [2]bool{}, 1, 0, 0, 0
	for i := range w.sides {
		w.sides[i].stalled, w.sides[i].talk = false, 0
	}
	c := w.sides[0].Config()
	for limit := w.now + 16*(c.RetryLimit+1)*c.Retry; !w.quiet(); w.step() {
		if w.now > limit {
			w.t.Fatalf("no end: %+v, %+v", w.sides[0].Status(), w.sides[1].Status())
		}
	}
	for i := range w.sides {
		for serial, f := range w.sides[i].sent {
			if f == underway {
				w.t.Fatalf("packet %d of side %d was lost silently", serial, i)
			}
		}
	}
}

// quiet reports whether the link is up, and all that was sent acknowledged and read.
func (w *virtuals) quiet() bool {
	for i := range w.sides {
		s := &w.sides[i]
		if !s.Status().Up || s.Queued() > 0 || s.Readable() > 0 || s.Status().Peer.Life != w.sides[1-i].Status().Life {
			return false
		}
	}
	return len(w.network) == 0
}
