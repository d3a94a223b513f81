package golden

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// traffic lets everybody do what the round says until all is at rest.
func (p *Player) traffic() {
	p.quiet, p.late = p.now, p.now
	if p.round.Kind.Sleeps() { // peers begin when the queue to the host is full
		p.late += uint64(p.Params.ReplayBytes + 10*p.Params.MaxPacket())
		p.host.nap = p.late + uint64(20*p.Params.MaxPacket())
	}
	const limit = 20_000_000
	switch p.round.Kind {
	case stimulus.Restarts:
		p.restartOften(p.round.Port)
	case stimulus.Brim:
		p.brim(p.round.Port)
	}
	for range p.interruptions() {
		at := p.now + uint64(p.rng.IntN(10_000))
		p.run(limit, "the time to start again", p.work, func() bool { return p.now >= at || p.allSent() })
		if p.round.Kind == stimulus.HostRestart {
			p.restartHost()
		} else {
			p.restartPeer(p.round.Port)
		}
	}
	// With the cables good again, what was still to be repeated comes.
	for _, good := range []bool{false, true} {
		for _, c := range p.cables {
			if good {
				c.toNI, c.fromNI, c.words.DropStop = nil, nil, false
				if p.round.Kind == stimulus.Noisy {
					c.insert = []linkproto.Symbol{linkproto.SymEOP} // ends a frame that noise has begun
				}
			}
		}
		p.quiet = p.now
		p.run(limit, "the round to end", p.work, func() bool { return p.allSent() && p.atRest() })
	}
}

// interruptions are how often somebody starts again in the middle of the traffic.
func (p *Player) interruptions() int {
	if p.round.Kind == stimulus.PeerRestart || p.round.Kind == stimulus.HostRestart {
		return 4
	}
	return 0
}

// restarts is how often somebody starts again in the round.
func (p *Player) restarts() int {
	if p.round.Kind == stimulus.Restarts {
		return 260 // all epochs
	}
	return p.interruptions()
}

// allSent reports whether host and peers have sent all of the round.
func (p *Player) allSent() bool {
	sent := p.host.own == len(p.round.Host) && (p.revoked || p.round.Kind != stimulus.Revoke)
	for i := range p.peers {
		l, s := &p.round.Links[i], &p.host.traps[i]
		sent = sent && p.peers[i].in == len(l.In) && p.host.out[i] == len(l.Out) && !s.busy() && !p.unresumed(i+1) && s.again == 0
	}
	if !sent {
		p.quiet = p.now
	}
	return sent
}

// unresumed reports whether a wild host has not yet released all traps of a link.
func (p *Player) unresumed(link int) bool {
	s := &p.host.traps[link-1]
	return p.isWild(link) && s.wild < s.raised
}

// work lets host and peers send what there is room for, now and then.
func (p *Player) work() {
	if !p.allSent() {
		p.doze()
	}
	for i := range p.peers {
		if p.rng.Chance(0.5) {
			p.peerSends(i + 1)
		}
	}
	if p.rng.Chance(0.5) {
		p.hostSends()
	}
	p.perturb()
}

// doze sends those to sleep who read seldom in this round, and the others rarely.
func (p *Player) doze() {
	long := func(slow bool) uint64 {
		switch {
		case slow && p.rng.Chance(0.05):
			return uint64(p.rng.IntN(20 * p.Params.MaxPacket()))
		case p.rng.Chance(0.001):
			return uint64(p.rng.IntN(2000))
		}
		return 0
	}
	if n := long(p.round.Kind.Sleeps()); n > 0 && p.host.nap <= p.now {
		p.host.nap = p.now + n
	}
	for i := range p.peers {
		if n := long(p.round.Kind == stimulus.SlowPeers); n > 0 && p.peers[i].nap <= p.now {
			p.peers[i].nap = p.now + n
		}
	}
}

// burst is how many packets one sends at a look, at most.
const burst = 3

func (p *Player) peerSends(link int) {
	if p.round.Kind == stimulus.Revoke && p.round.Port == link && (p.revokeFirst || p.rng.Chance(0.8)) {
		return // the host shall meet it at and between its writes
	}
	if p.now < p.late {
		return
	}
	peer, s, in := &p.peers[link-1], &p.host.traps[link-1], p.round.Links[link-1].In
	for range burst {
		if peer.in == len(in) {
			return
		}
		if peer.in > 0 && in[peer.in-1].Alone && (s.next < peer.in || s.busy() || s.open > 0) && !p.isWild(link) {
			return
		}
		if !p.peerSend(link, in[peer.in]) {
			return
		}
		peer.in++
	}
}

func (p *Player) isWild(link int) bool { return p.round.Kind == stimulus.Wild && p.round.Port == link }

func (p *Player) peerSend(link int, a stimulus.Arrival) bool {
	ok, err := p.cables[link].sendForged(a.Raw, a.Forged)
	if !ok {
		if err != nil {
			p.fail("peer %d cannot send %w", link, err)
		}
		return false
	}
	if a.Forged != 0 {
		p.out.hit("length field that does not fit", map[int]string{-1: "one less", 1: "one more", 256: "256 more"}[a.Forged])
	}
	if p.isTrapped(link) {
		p.out.hit("while trapped", "the peer goes on sending")
	}
	p.Packets++
	p.quiet = p.now
	return true
}

// hostSends serves traps first, then sends to peers, then asks what is its own.
func (p *Player) hostSends() {
	for link := 1; link <= p.Params.Links; link++ {
		p.hostServes(link)
	}
	for i := range p.peers {
		for range p.rng.IntN(burst) {
			out := p.round.Links[i].Out
			if p.host.out[i] == len(out) || !p.forward(i+1, out[p.host.out[i]]) {
				break
			}
		}
	}
	for range p.rng.IntN(burst) {
		at := p.host.own
		if at == len(p.round.Host) || !p.ask(question{lane: "host", raw: p.round.Host[at]}, func() { p.host.own = at }) {
			return
		}
		p.host.own++
		for link := 1; link <= p.Params.Links; link++ {
			if p.isTrapped(link) {
				p.out.hit("while trapped", "the host asks")
			}
		}
	}
}

// hostServes sends the next packets of a trap's script. The last is a RESUME, after which the next trap may be reported any time.
func (p *Player) hostServes(link int) {
	s := &p.host.traps[link-1]
	for s.busy() && s.due <= p.now {
		script, at := s.script, s.at
		again := 0
		if linkproto.Type(script[at][0]&(1<<linkproto.TypeBits-1)) == linkproto.TypeRetrap {
			again = 1
		}
		if again > 0 && s.again > 0 {
			return // one after the other, so that each has its TRAP
		}
		q := question{lane: lane(link), raw: script[at], then: func(linkproto.Packet) { s.open-- }}
		if !p.ask(q, func() { s.script, s.at, s.open, s.again = script, at, s.open-1, s.again-again }) {
			return
		}
		s.again += again
		s.at++
		s.open++
		if !s.busy() {
			s.behind = p.peers[link-1].in
			if p.othersAcknowledged(link) > s.others {
				p.out.hit("while trapped", "another link goes on")
			}
		}
		s.due = p.now + p.pause(500)
	}
}

// perturb does what a host does in a round of its kind besides.
func (p *Player) perturb() {
	switch {
	case p.round.Kind == stimulus.Wild && p.rng.Chance(0.02):
		s := &p.host.traps[p.round.Port-1]
		if p.allPeersSent() && s.wild == s.raised {
			return // enough
		}
		p.ask(question{raw: stimulus.Encode(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(p.round.Port)}), then: p.wildAnswer}, nothing)
	case p.round.Kind == stimulus.Revoke && !p.revoked && (p.revokeFirst || p.rng.Chance(p.revokeChance)):
		p.revoked = p.ask(question{raw: writeRegister(linkproto.FrameReg(p.round.Frame), 0), then: func(linkproto.Packet) { p.revokeFirst = false }}, nothing)
	case p.round.Kind == stimulus.Mute && p.rng.Chance(0.02) && p.host.own < len(p.round.Host):
		p.out.hit("NOTIFY", "turned off and on")
		p.ask(question{raw: writeRegister(linkproto.RegControl, uint32(p.rng.IntN(2)))}, nothing)
	}
}

func (p *Player) allPeersSent() bool {
	return p.peers[p.round.Port-1].in == len(p.round.Links[p.round.Port-1].In)
}

// wildAnswer counts RESUMEs granted: each needs a trap that was reported before.
func (p *Player) wildAnswer(a linkproto.Packet) {
	s := &p.host.traps[p.round.Port-1]
	switch a.Status {
	case linkproto.StatusOK:
		if s.wild++; s.wild > s.raised {
			p.fail("link %d: RESUME granted %d times, %d traps were reported", p.round.Port, s.wild, s.raised)
		}
	case linkproto.StatusNotTrapped:
	default:
		p.fail("link %d: RESUME answered %v", p.round.Port, a.Status)
	}
}

func writeRegister(r linkproto.Reg, v uint32) []byte {
	return stimulus.Encode(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: v})
}

// must asks and waits for the answer.
func (p *Player) must(q linkproto.Packet) linkproto.Packet {
	return p.askAll("", []linkproto.Packet{q})[0]
}

func (p *Player) readRegister(r linkproto.Reg) uint32 {
	a := p.must(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: r})
	if a.Type != linkproto.TypeRegData {
		try.Failf("register %#x: %v %v", uint16(r), a.Type, a.Status)
	}
	return a.Value
}
