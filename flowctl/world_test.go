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

// fate is what has become of a packet, as far as the two hosts can know.
type fate uint8

const (
	underway  fate = iota
	delivered      // read at the far end, or in its FIFO when that end was restarted
	reported       // reported lost, and not seen at the far end
)

// side is one end of the link with its host, and the channel away from it.
type side struct {
	*flowctl.Endpoint
	out     channel
	stalled bool                          // the host does not read
	talk    int                           // the host sends packets of so many bytes as fast as it can; 0: it does not
	sent    []fate                        // by serial number, over all restarts
	serials []uint32                      // of the packets sent since the last restart, by their number
	last    int                           // serial number read last
	before  [linkproto.NumCounters]uint32 // counters of the endpoints before the last restart
}

// total returns a counter, summed over all restarts.
func (s *side) total(c linkproto.Counter) uint32 { return s.before[c] + s.Counter(c) }

// world is two sides and a clock.
type world struct {
	t     *rapid.T
	cfg   flowctl.Config
	sides [2]side
	now   int
	buf   []byte
}

func newWorld(t *rapid.T, c flowctl.Config, delay int) *world {
	w := &world{t: t, cfg: c}
	seed := rapid.Uint64().Draw(t, "seed")
	for i := range w.sides {
		w.sides[i].out = channel{delay: delay, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		w.sides[i].last = -1
		w.sides[i].Endpoint = w.endpoint(uint8(1 + 100*i))
	}
	return w
}

func (w *world) endpoint(epoch uint8) *flowctl.Endpoint {
	c := w.cfg
	c.Epoch = epoch
	return check.Must(flowctl.New(c))(w.t)
}

// send queues a packet of n bytes, at least 7, that holds its serial number, unless the endpoint is full.
func (w *world) send(i, n int) {
	s := &w.sides[i]
	w.buf = append(w.buf[:0], byte(linkproto.TypeWrite), byte(n-linkproto.HeaderBytes), 0)
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

// read takes one packet from side i and checks that it is a later one than all before.
func (w *world) read(i int) bool {
	s, from := &w.sides[i], &w.sides[1-i]
	p, ok := s.Receive()
	if !ok {
		return false
	}
	serial := int(binary.LittleEndian.Uint32(p[linkproto.HeaderBytes:]))
	if serial >= len(from.sent) {
		w.t.Fatalf("side %d read packet %d, which was never sent", i, serial)
	}
	if serial <= s.last {
		w.t.Fatalf("side %d read packet %d after packet %d", i, serial, s.last)
	}
	for k := linkproto.HeaderBytes + 4; k < len(p); k++ {
		if p[k] != byte(k*serial) {
			w.t.Fatalf("side %d: packet %d damaged at byte %d", i, serial, k)
		}
	}
	s.last = serial
	from.sent[serial] = delivered
	return true
}

// restart replaces the endpoint of side i by a new one, as a reset does. Its host forgets with it what was underway.
func (w *world) restart(i int) {
	for w.read(i) {
	}
	s := &w.sides[i]
	w.collect(i)
	w.report(s, s.serials)
	s.serials = s.serials[:0]
	for c := range s.before {
		s.before[c] += s.Counter(linkproto.Counter(c))
	}
	s.Endpoint = w.endpoint(linkproto.NextEpoch(s.Status().Epoch))
}

func (w *world) report(s *side, serials []uint32) {
	for _, n := range serials {
		if s.sent[n] == underway {
			s.sent[n] = reported
		}
	}
}

// collect takes the report of lost packets from side i.
func (w *world) collect(i int) {
	s := &w.sides[i]
	if loss, ok := s.Lost(); ok {
		if loss.First+loss.Count != uint64(len(s.serials)) {
			w.t.Fatalf("side %d reports %+v of %d packets", i, loss, len(s.serials))
		}
		w.report(s, s.serials[loss.First:])
	}
}

// step lets one tick pass: each side sends a symbol, gets what arrives, and its host reads unless it stalls.
func (w *world) step() {
	for i := range w.sides {
		s := &w.sides[i]
		if s.talk > 0 {
			w.send(i, s.talk)
		}
		idle := s.IdleFor()
		var line [1]linkproto.Symbol
		n := s.Emit(line[:])
		if (n == 0) != (idle > 0) {
			w.t.Fatalf("side %d: IdleFor %d, then %d symbols", i, idle, n)
		}
		if n > 0 {
			s.out.put(line[0], w.now)
		}
	}
	for i := range w.sides {
		s := &w.sides[i]
		s.Feed(w.sides[1-i].out.get(w.now))
		s.Tick(1)
		if !s.stalled {
			w.read(i)
		}
		w.collect(i)
	}
	w.now++
}

// settle takes all faults away and runs until nothing is underway; then every packet must have a fate.
func (w *world) settle() {
	for i := range w.sides {
		w.sides[i].out.faults = faults{}
		w.sides[i].stalled, w.sides[i].talk = false, 0
	}
	c := w.sides[0].Config()
	limit := w.now + 2*(c.RetryLimit+1)*(c.Retry+c.WordTimer+2*c.ReplayBytes)
	for !w.quiet() {
		if w.step(); w.now > limit {
			w.t.Fatalf("no end: %+v queued %d, %+v queued %d", w.sides[0].Status(), w.sides[0].Queued(),
				w.sides[1].Status(), w.sides[1].Queued())
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
func (w *world) quiet() bool {
	for i := range w.sides {
		s := &w.sides[i]
		if !s.Status().Up || s.Queued() > 0 || s.Readable() > 0 || s.Status().PeerEpoch != w.sides[1-i].Status().Epoch {
			return false
		}
	}
	return true
}
