package flowctl_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// castMember is a member of a group with its host.
type castMember struct {
	*flowctl.CastReceiver
	node    uint16
	cut     bool // nothing comes to it or from it
	full    bool // its host takes nothing
	came    []uint32
	streams int // that have ended
}

type underCast struct {
	at   int
	from uint16 // 0: the sender
	to   uint16 // 0: the group, or the sender
	raw  []byte
}

// casts is a sender and its group, a network that keeps no order, and a clock.
type casts struct {
	t                    rapid.TB
	cfg                  flowctl.CastConfig
	rng                  *rand.Rand
	sender               *flowctl.CastSender
	members              []*castMember
	lose, double, spread int // chances, in 1000, and ticks that words are late at most
	network              []underCast
	now                  int
	sent                 uint32 // serial number of the next packet
	outs                 [2]int // packets sent to the group, and to one
}

func newCasts(t rapid.TB, seed uint64, members int, c flowctl.CastConfig) *casts {
	w := &casts{t: t, cfg: c, rng: rand.New(rand.NewPCG(seed, 3)), spread: 1}
	w.cfg.Group = 77
	w.cfg.NewLife = func() linkproto.Life { return linkproto.Life(1 + w.rng.Uint32N(1<<32-1)) }
	for i := range members {
		w.members = append(w.members, &castMember{node: uint16(10 + i)})
		w.cfg.Members = append(w.cfg.Members, uint16(10+i))
		w.reset(i)
	}
	w.sender = check.Must(flowctl.NewCastSender(w.cfg))(t)
	return w
}

// reset starts a member's host again, which has forgotten all.
func (w *casts) reset(i int) {
	m := w.members[i]
	m.came, m.streams = nil, m.streams+1
	c := w.cfg
	c.Members = nil
	m.CastReceiver = check.Must(flowctl.NewCastReceiver(c, func(packet []byte) bool {
		if m.full {
			return false
		}
		serial := binary.LittleEndian.Uint32(packet)
		if n := len(m.came); n > 0 && serial != m.came[n-1]+1 {
			w.t.Fatalf("tick %d: member %d takes packet %d behind %d", w.now, m.node, serial, m.came[n-1])
		}
		if len(packet) != 4+int(serial%20) {
			w.t.Fatalf("packet %d has %d bytes", serial, len(packet))
		}
		m.came = append(m.came, serial)
		return true
	}, func() { m.came, m.streams = nil, m.streams+1 }))(w.t)
}

// send queues as many packets as there is room for, n at most.
func (w *casts) send(n int) {
	w.sender.Renew()
	for range n {
		packet := append(binary.LittleEndian.AppendUint32(nil, w.sent), make([]byte, w.sent%20)...)
		if w.sender.Send(packet) != nil {
			return
		}
		w.sent++
	}
}

// put puts a word on the network.
func (w *casts) put(u underCast) {
	for copies := 1; copies > 0; copies-- {
		if w.rng.IntN(1000) < w.double {
			copies++
		}
		if w.rng.IntN(1000) >= w.lose {
			v := u
			v.at = w.now + 5 + w.rng.IntN(w.spread)
			w.network = append(w.network, v)
		}
	}
}

// step lets a tick pass.
func (w *casts) step() {
	for range 4 {
		out, ok := w.sender.Emit()
		if !ok {
			break
		}
		raw := append(out.Word.Append(nil), out.Packet...)
		if out.Word.Kind == flowctl.CastData {
			w.outs[min(out.To, 1)]++
		}
		for _, m := range w.members { // each copy may get lost
			if out.To == 0 || out.To == m.node {
				w.put(underCast{to: m.node, raw: raw})
			}
		}
	}
	for _, m := range w.members {
		for word, ok := m.Emit(); ok; word, ok = m.Emit() {
			w.put(underCast{from: m.node, raw: word.Append(nil)})
		}
	}
	var due []underCast
	w.network = slices.DeleteFunc(w.network, func(u underCast) bool {
		if u.at <= w.now {
			due = append(due, u)
		}
		return u.at <= w.now
	})
	for _, u := range due {
		word, packet, ok := flowctl.DecodeCastWord(u.raw)
		if !ok {
			w.t.Fatalf("% x is no word", u.raw)
		}
		for _, m := range w.members {
			switch {
			case m.cut:
			case u.from == m.node:
				w.sender.Feed(m.node, word)
			case u.from == 0 && u.to == m.node:
				m.Feed(word, packet)
			}
		}
	}
	w.sender.Tick(1)
	for _, m := range w.members {
		m.Tick(1)
	}
	w.now++
	w.check()
}

// check holds that what the sender lets go all members have.
func (w *casts) check() {
	if _, _, failed := w.sender.Failed(); failed || !w.sender.Up() {
		return
	}
	for _, m := range w.members {
		first := w.sent - uint32(w.sender.Queued()) // the oldest packet that is held
		if have := len(m.came); have > 0 && m.came[have-1]+1 < first {
			w.t.Fatalf("tick %d: packets up to %d are acknowledged, and member %d has those up to %d", w.now, first, m.node, m.came[have-1])
		}
	}
}

// settle lets time pass until all is acknowledged, or somebody is named.
func (w *casts) settle(most int) {
	for range most {
		if _, _, failed := w.sender.Failed(); failed || w.sender.Queued() == 0 {
			return
		}
		w.step()
	}
	w.t.Fatalf("after %d ticks %d packets are not acknowledged, and nobody is named", most, w.sender.Queued())
}
