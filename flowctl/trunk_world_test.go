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

// trunkSide is one end of a link of several lanes, with its host and the channels away from it.
type trunkSide struct {
	*flowctl.Trunk
	out     []channel // by lane
	to      []int     // the peer's lane at the other end of each
	stalled bool
	talk    int      // the host sends packets of up to so many bytes as fast as it can; 0: it does not
	same    bool     // all of so many
	sent    []fate   // by serial number
	serials []uint32 // of the packets sent, by their number since the last restart of the link
	last    int      // serial number read last
	idle    int      // ticks for which it has nothing to send, as it says, if nothing happens
}

// trunks is two such ends and a clock.
type trunks struct {
	t     rapid.TB
	cfg   flowctl.Config
	sides [2]trunkSide
	rng   *rand.Rand
	now   int
	buf   []byte
}

func newTrunks(t rapid.TB, seed uint64, c flowctl.Config, delay func(lane int) int) *trunks {
	w := &trunks{t: t, cfg: c}
	w.rng = rand.New(rand.NewPCG(seed, 99))
	for i := range w.sides {
		s := &w.sides[i]
		s.last = -1
		for k := range c.Lanes {
			s.out = append(s.out, channel{delay: delay(k), rng: rand.New(rand.NewPCG(seed, uint64(i*linkproto.MaxLanes+k)))})
			s.to = append(s.to, k)
		}
		s.Trunk = w.end(i, 1)
	}
	return w
}

func (w *trunks) end(i int, epoch uint8) *flowctl.Trunk {
	c := w.cfg
	c.Node, c.Nonce, c.Port, c.Epoch = uint16(i), nonce(i), 1, epoch
	return check.Must(flowctl.NewTrunk(c))(w.t)
}

// send queues a packet of n bytes, at least 7, that holds its serial number, unless the end is full.
func (w *trunks) send(i, n int) {
	s := &w.sides[i]
	s.idle = 0
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

// read takes one packet from side i and checks that it is a later one than all before, and whole.
func (w *trunks) read(i int) bool {
	s, from := &w.sides[i], &w.sides[1-i]
	p, ok := s.Receive()
	if !ok {
		return false
	}
	s.idle = 0
	serial := int(binary.LittleEndian.Uint32(p[3:]))
	if serial <= s.last || serial >= len(from.sent) {
		w.t.Fatalf("tick %d: side %d read packet %d after %d of %d", w.now, i, serial, s.last, len(from.sent))
	}
	for k := linkproto.HeaderBytes + 4; k < len(p); k++ {
		if p[k] != byte(k*serial) {
			w.t.Fatalf("side %d: packet %d damaged at byte %d", i, serial, k)
		}
	}
	for n := s.last + 1; n < serial; n++ {
		if from.sent[n] != reported {
			from.sent[n] = skipped
		}
	}
	s.last = serial
	from.sent[serial] = delivered
	return true
}

// skipped is the fate of a packet behind which another has come; it must be reported still.
const skipped = reported + 1

// collect takes the report of lost packets from side i.
func (w *trunks) collect(i int) {
	s := &w.sides[i]
	if loss, ok := s.Lost(); ok {
		if loss.First+loss.Count != uint64(len(s.serials)) {
			w.t.Fatalf("side %d reports %+v of %d packets", i, loss, len(s.serials))
		}
		w.report(s, s.serials[loss.First:])
	}
}

func (w *trunks) report(s *trunkSide, serials []uint32) {
	for _, n := range serials {
		if s.sent[n] != delivered {
			s.sent[n] = reported
		}
	}
}

// restart replaces an end by a new one, as a reset does.
func (w *trunks) restart(i int) {
	for w.read(i) {
	}
	s := &w.sides[i]
	w.collect(i)
	w.report(s, s.serials)
	s.serials, s.idle = s.serials[:0], 0
	s.Trunk = w.end(i, linkproto.NextEpoch(s.Status().Epoch))
}

// step lets one tick pass on every lane.
func (w *trunks) step() {
	for i := range w.sides {
		s := &w.sides[i]
		if s.talk > 0 {
			n := s.talk
			if !s.same {
				n = 7 + w.rng.IntN(n-6)
			}
			w.send(i, n)
		}
		s.idle = max(s.idle-1, s.IdleFor())
		for k := range s.out {
			var line [1]linkproto.Symbol
			if s.Emit(k, line[:]) > 0 {
				if s.idle > 0 {
					w.t.Fatalf("tick %d: side %d sends, and had nothing to send for another %d ticks", w.now, i, s.idle)
				}
				s.out[k].put(line[0], w.now)
			}
		}
	}
	for i := range w.sides {
		s, from := &w.sides[i], &w.sides[1-i]
		for k := range from.out {
			if came := from.out[k].get(w.now); len(came) > 0 {
				s.Feed(from.to[k], came)
				s.idle = 0
			}
		}
		s.Tick(1)
		if !s.stalled {
			w.read(i)
		}
		w.collect(i)
	}
	w.now++
}

func (w *trunks) run(ticks int) {
	for range ticks {
		w.step()
	}
}

// settle takes all faults away and runs until nothing is underway and all lanes are open; then every packet must have a fate.
func (w *trunks) settle() {
	for i := range w.sides {
		for k := range w.sides[i].out {
			w.sides[i].out[k].faults = faults{}
		}
		w.sides[i].stalled, w.sides[i].talk = false, 0
	}
	c := w.sides[0].Config()
	limit := w.now + 2*(c.RetryLimit+1)*(c.Retry+c.WordTimer+2*c.ReplayBytes) + 4*linkproto.LaneTrialTimers<<linkproto.LaneTrialDoublings*c.WordTimer
	for !w.quiet() {
		if w.step(); w.now > limit {
			for i := range w.sides {
				w.t.Logf("side %d: %+v, queued %d", i, w.sides[i].Status(), w.sides[i].Queued())
				for k := range c.Lanes {
					w.t.Logf("lane %d: %+v", k, w.sides[i].Lane(k))
				}
			}
			w.t.Fatalf("no end")
		}
	}
	for i := range w.sides {
		for serial, f := range w.sides[i].sent {
			if f == underway || f == skipped {
				w.t.Fatalf("packet %d of side %d was lost silently", serial, i)
			}
		}
	}
}

func (w *trunks) quiet() bool {
	for i := range w.sides {
		s := &w.sides[i]
		if !s.Status().Up || s.Queued() > 0 || s.Readable() > 0 || s.Status().Peer.Node != uint16(1-i) || w.open(i) < w.cfg.Lanes {
			return false
		}
	}
	return true
}

// open is over how many lanes frames of a side go.
func (w *trunks) open(i int) (n int) {
	for k := range w.cfg.Lanes {
		if w.sides[i].Lane(k).Open {
			n++
		}
	}
	return n
}

// total is a counter of both sides.
func (w *trunks) total(c linkproto.Counter) int {
	return int(w.sides[0].Counter(c) + w.sides[1].Counter(c))
}
