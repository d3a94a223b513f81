package link_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// lossy is a sender whose loader begins a packet a clock after has_room said that it may, as ni_host_in does, and what its host must be
// told of the queue.
type lossy struct {
	*sender
	wants   float64 // chance that the loader has another packet
	most    int     // bytes of a packet
	session int     // packets taken before the last restart
	gone    int     // packets taken that have been acknowledged or dropped
	sent    int     // frames since the last restart
	since   int     // clocks since the last acknowledgement
	gap     bool
	fresh   bool // gap has just come of a refusal
}

// step runs a clock.
func (l *lossy) step(restart, admit bool) {
	l.t.Helper()
	p := &l.pins
	*p.Restart, *p.Admit = restart, admit
	check.Fatal(l.t, l.b.Model().Eval())
	room, refused := *p.HasRoom, *p.Refused
	if room && (restart || l.gap && !l.fresh) {
		l.t.Fatalf("cycle %d: has_room behind a loss, in the clock of a restart: %v", l.b.Cycle(), restart)
	}
	l.write = 1
	if l.pos > 0 {
		l.write = 0.7
	}
	line := len(l.line)
	l.clock()
	l.frames(line)
	l.since++
	begun := len(l.loaded)
	if l.pos > 0 {
		begun++
	}
	l.gap = l.gap && !admit || refused || restart && begun > l.gone
	l.fresh = refused
	if restart {
		l.gone, l.session, l.sent, l.line = begun, begun, 0, l.line[:0]
		l.deframe.Reset()
	}
	if *p.Gap != l.gap {
		l.t.Fatalf("cycle %d: gap is %v, want %v", l.b.Cycle(), *p.Gap, l.gap)
	}
	if int8(uint8(len(l.loaded))-*p.FreedPackets) < 0 {
		l.t.Fatalf("cycle %d: %d packets count as gone, %d have been taken", l.b.Cycle(), *p.FreedPackets, uint8(len(l.loaded)))
	}
	*p.Restart, *p.Admit, *p.Ack, *p.Refused = false, false, false, false
	if wants := len(l.queue) == 0 && l.rng.Chance(l.wants); wants && room {
		l.offer(1, 5+l.rng.IntN(l.most-4))
	} else if wants {
		*p.Refused = l.rng.Chance(0.1)
	}
}

// frames looks at what has come on the line: the whole packets since the last restart.
func (l *lossy) frames(from int) {
	for line := l.line[from:]; len(line) > 0; {
		ev, n := l.deframe.Next(line)
		line = line[n:]
		if ev.Kind != linkproto.EventFrame {
			continue
		}
		l.sent++
		if at := l.gone + int(int8(ev.Seq-uint8(l.gone-l.session))); at >= len(l.loaded) || !bytes.Equal(ev.Payload, l.loaded[at]) {
			l.t.Fatalf("cycle %d: frame %d since the last restart, of %d packets, is % x", l.b.Cycle(), ev.Seq, len(l.loaded)-l.session, ev.Payload)
		}
	}
}

// acknowledge names some of the frames sent.
func (l *lossy) acknowledge() {
	have := l.gone - l.session
	most := max(have, min(l.sent, len(l.loaded)-l.session))
	n := l.rng.Between(have, most)
	*l.pins.Ack, *l.pins.AckN, l.gone, l.since = true, uint8(n), l.session+n, 0
}

// check compares the outputs to the host when nothing is in flight.
func (l *lossy) check() {
	l.t.Helper()
	was, packets := l.wants, uint8(0)
	l.wants = 0
	for quiet := 0; quiet < 12; quiet++ {
		if l.step(false, false); len(l.queue) > 0 || *l.pins.FreedPackets != packets { // freed one at a time
			quiet, packets = 0, *l.pins.FreedPackets
		}
	}
	l.wants = was
	bytes := 0
	for _, p := range l.loaded[:l.gone] {
		bytes += len(p)
	}
	p := &l.pins
	if *p.Queued != (len(l.loaded) > l.gone) || *p.FreedPackets != uint8(l.gone) || *p.FreedBytes != uint16(bytes) {
		l.t.Fatalf("cycle %d: of %d packets %d are gone, of %d bytes; told are %d, %d, and queued: %v", l.b.Cycle(), len(l.loaded), l.gone, bytes,
			*p.FreedPackets, *p.FreedBytes, *p.Queued)
	}
}

// Restarts at any moment, in the middle of a packet or in the clock in which one is let in: gap says whether any packet was dropped, or
// refused, nothing is let in behind it, and when all is quiet the account of what is gone is exact.
func TestSenderLoss(t *testing.T) {
	l := &lossy{sender: newSender(t), wants: 0.3, most: maxPacket}
	restarts, idle, long := 0, 0, 0
	for l.b.Cycle() < 400_000 {
		// Short sessions, and some in which the sequence numbers pass half their range.
		chance := 0.01
		if l.b.Cycle()/50_000%2 == 1 {
			chance, l.most = 0.0005, 20
		} else {
			l.most = maxPacket
		}
		restart := l.since > 8 && l.rng.Chance(chance)
		if restart {
			before := l.gap
			if l.sent > window {
				long++
			}
			*l.pins.Up = false
			l.step(true, l.rng.Chance(0.5))
			restarts++
			if !before && !l.gap {
				idle++
			}
		} else {
			*l.pins.Up = *l.pins.Up || l.rng.Chance(0.1)
			if l.since > 8 && *l.pins.Up && l.rng.Chance(0.1) {
				l.acknowledge()
			}
			l.step(false, l.gap && l.rng.Chance(0.05))
		}
		if l.rng.Chance(0.002) {
			l.check()
		}
		l.wants = []float64{0.3, 0.02, 1}[l.b.Cycle()/5000%3]
	}
	if l.seen.retry > 0 || restarts < 500 || long < 10 || idle < 10 || l.seen.lost < 300 {
		t.Errorf("%d retries, %d restarts, %d of long sessions, %d with nothing queued, %d packets lost", l.seen.retry, restarts, long, idle, l.seen.lost)
	}
}
