package flowctl_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"

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

// side is one end of a link with its host, and the channel away from it.
type side struct {
	*flowctl.Endpoint
	peer    int // side at the other end of its cable; its own number: none
	out     channel
	stalled bool                          // the host does not read
	talk    int                           // the host sends packets of so many bytes as fast as it can; 0: it does not
	sent    []fate                        // by serial number, over all restarts
	serials []uint32                      // of the packets sent since the last restart, by their number
	last    []int                         // serial number read last, of each side's
	before  [linkproto.NumCounters]uint32 // counters of the endpoints before the last restart
}

// total returns a counter, summed over all restarts.
func (s *side) total(c linkproto.Counter) uint32 { return s.before[c] + s.Counter(c) }

// world is some sides, cabled in pairs, and a clock.
type world struct {
	t     *rapid.T
	cfg   flowctl.Config
	sides []side
	now   int
	buf   []byte
}

func newWorld(t *rapid.T, c flowctl.Config, delay, sides int) *world {
	w := &world{t: t, cfg: c, sides: make([]side, sides)}
	seed := rapid.Uint64().Draw(t, "seed")
	aborts := rapid.SampledFrom([]int{0, 1 << 14}).Draw(t, "aborts")
	for i := range w.sides {
		w.sides[i].out = channel{aborts: aborts, delay: delay, rng: rand.New(rand.NewPCG(seed, uint64(i)))}
		w.sides[i].last = slices.Repeat([]int{-1}, sides)
		w.sides[i].Endpoint = w.endpoint(i, 1)
	}
	w.cable()
	return w
}

// cable puts the cables between neighbours.
func (w *world) cable() {
	for i := range w.sides {
		w.sides[i].peer = i ^ 1
	}
}

// nonce is that of a side's node, whose number is the side's.
func nonce(i int) uint32 { return 0x9E3779B9 * uint32(i+1) }

func (w *world) endpoint(i int, epoch uint8) *flowctl.Endpoint {
	c := w.cfg
	c.Node, c.Nonce, c.Port, c.Epoch = uint16(i), nonce(i), 1, epoch
	return check.Must(flowctl.New(c))(w.t)
}

// life is what a side is called at present.
func (w *world) life(i int) linkproto.Life {
	return linkproto.LifeOf(nonce(i), 1, w.sides[i].Status().Epoch)
}

// anybody is the addressee of a packet that was sent before the link was up.
const anybody = 0xFF

// send queues a packet of n bytes, at least 7, that holds its serial number, the sender and whom it hears, unless the endpoint is full.
func (w *world) send(i, n int) {
	s := &w.sides[i]
	to := byte(anybody)
	if st := s.Status(); st.Up {
		to = byte(st.Peer.Node)
	}
	w.buf = append(w.buf[:0], byte(linkproto.TypeWrite), byte(n-linkproto.HeaderBytes), 0, byte(i), to)
	w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(len(s.sent)))
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

// read takes one packet from side i and checks that it is for it, and a later one than all before of its sender's.
func (w *world) read(i int) bool {
	s := &w.sides[i]
	p, ok := s.Receive()
	if !ok {
		return false
	}
	sender, to, serial := int(p[3]), p[4], int(binary.LittleEndian.Uint16(p[5:]))
	if sender >= len(w.sides) || serial >= len(w.sides[sender].sent) {
		w.t.Fatalf("side %d read packet %d of side %d, which was never sent", i, serial, sender)
	}
	if to != anybody && int(to) != i {
		w.t.Fatalf("side %d read packet %d of side %d, which was for side %d", i, serial, sender, to)
	}
	from, last := &w.sides[sender], &s.last[sender]
	if serial <= *last {
		w.t.Fatalf("side %d read packet %d of side %d after packet %d", i, serial, sender, *last)
	}
	if from.sent[serial] == delivered {
		w.t.Fatalf("side %d read packet %d of side %d, which another has read", i, serial, sender)
	}
	for k := linkproto.HeaderBytes + 4; k < len(p); k++ {
		if p[k] != byte(k*serial) {
			w.t.Fatalf("side %d: packet %d damaged at byte %d", i, serial, k)
		}
	}
	*last = serial
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
	s.Endpoint = w.endpoint(i, linkproto.NextEpoch(s.Status().Epoch))
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
		if in := w.sides[s.peer].out.get(w.now); s.peer != i {
			s.Feed(in)
		}
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
	w.cable()
	c := w.sides[0].Config()
	limit := w.now + 2*(c.RetryLimit+1)*(c.Retry+c.WordTimer+2*c.ReplayBytes)
	for !w.quiet() {
		if w.step(); w.now > limit {
			for i := range w.sides {
				w.t.Logf("side %d: %+v, queued %d", i, w.sides[i].Status(), w.sides[i].Queued())
			}
			w.t.Fatalf("no end")
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
		if !s.Status().Up || s.Queued() > 0 || s.Readable() > 0 || s.Status().Peer.Life != w.life(s.peer) {
			return false
		}
	}
	return true
}
