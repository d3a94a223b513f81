package golden

import (
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// renew replaces the endpoint of a port by one that has just begun, of another epoch.
func (p *Player) renew(port int) {
	end := p.Ports[port]
	c := end.Link.Config()
	c.Epoch = linkproto.NextEpoch(c.Epoch + uint8(p.rng.IntN(100)))
	for c.Epoch == end.Link.Status().Epoch {
		c.Epoch = linkproto.NextEpoch(c.Epoch)
	}
	try.OK(end.Restart(c))
}

// another are the ways in which another node's end takes the place of a link's: it begins, or has been up with another one so far, and knows as
// much of it as the one before of the network interface, more, or less.
var another = []string{"another end", "another end, up, with equal counters", "another end, up, with higher counters", "another end, up, with lower counters"}

// recable moves a link's cable to another node's end.
func (p *Player) recable(link int) {
	port, c := p.Ports[link], p.cables[link]
	old := port.Link.Config()
	kind := p.rng.IntN(len(another))
	p.out.hit("peer starts again", another[kind])
	sent, received := int(c.next()), int(c.wants)
	old.Nonce, old.Epoch = ni.Nonce(p.rng), port.Link.Status().Epoch
	switch kind {
	case 0:
		old.Epoch = epoch(p.rng)
	case 2:
		sent, received, old.Epoch = sent+p.rng.Between(1, 9), received+p.rng.Between(1, 9), linkproto.NextEpoch(old.Epoch)
	case 3:
		sent, received, old.Epoch = max(sent-p.rng.Between(1, 9), 0), max(received-p.rng.Between(1, 9), 0), max(old.Epoch, 2)-1
	}
	if kind == 0 {
		try.OK(port.Restart(old))
		return
	}
	port.Replace(try.Get(ni.Elsewhere(old, sent, received, p.rng)))
}

// waitUp waits until a port's both ends know each other.
func (p *Player) waitUp(port int) {
	p.run(2*p.Params.Retry, fmt.Sprintf("port %d to come up", port), nothing, func() bool { return p.Ports[port].Link.Status().Up })
}

// lose, mostly cuts what comes from the network interface, and lets everybody go on for a while.
func (p *Player) lose(c *cable) {
	c.mute = p.rng.Chance(0.6)
	if !c.mute {
		return
	}
	until := p.now + uint64(testbench.Pick(p.rng, p.rng.IntN(200), p.rng.IntN(4000), p.Params.Retry+p.rng.IntN(4000)))
	p.run(2*p.Params.Retry, "time to pass", p.work, func() bool { return p.now >= until })
}

// settle lets the network interface carry out what it has received.
func (p *Player) settle() { p.wait(p.drain()) }

// restartPeer lets a peer start again in the middle of its traffic. What it had not been told of may have been delivered or not: the network
// interface's count of packets says so, and the peer goes on there, so that in the end everything has been delivered once.
func (p *Player) restartPeer(link int) {
	if p.rng.Bool() {
		until := p.now + 5000
		p.run(6000, "a trap", p.work, func() bool { return p.now > until || p.isTrapped(link) })
		p.host.traps[link-1].due = p.now + 40_000 // it is served when the peer is back
	}
	p.lose(p.cables[link])
	// What the host has sent by this link must not be on the host's cable, and the peer must be in the middle of its packets.
	p.run(1_000_000, "the host's cable to be empty", nothing, func() bool { return p.Ports[0].Link.Queued() == 0 && p.host.nap <= p.now })
	p.settle()
	for range 40 {
		p.peerSends(link)
	}
	goesOn := nothing
	if p.rng.Bool() {
		p.out.hit("peer starts again", "the host goes on sending")
		goesOn = func() { p.forwardAll(link) }
	}
	until := p.now + uint64(testbench.Pick(p.rng, p.rng.IntN(100), p.rng.IntN(4*p.Params.MaxPacket())))
	p.run(20*p.Params.MaxPacket(), "time to pass", goesOn, func() bool { return p.now >= until })
	p.cables[link].mute = false
	p.interrupt(link, func() {
		if p.rng.Bool() {
			p.renew(link)
		} else {
			p.recable(link)
		}
		p.cables[link].between()
	}, goesOn, p.settle)
}

// interrupt lets a link start again by change; goesOn is what others do meanwhile, settled returns when the host's packets have been carried out.
func (p *Player) interrupt(link int, change, goesOn, settled func()) {
	peer := &p.peers[link-1]
	peer.nap = 0
	p.listen() // what it has received, it has received
	acknowledged := peer.in - p.Ports[link].Link.Queued()
	change()
	up := func() bool {
		for link, port := range p.Ports[1:] {
			if s := port.Link.Status(); !s.Up || !p.lifeOf(link+1, s.Peer).HostLife() {
				return false
			}
		}
		return true
	}
	p.run(2*p.Params.Retry, "the link to come up", goesOn, up)
	p.emptied(link, settled)
	count := p.readRegister(linkproto.CounterReg(link, linkproto.CntRxPackets))
	delivered := int(count - p.base[link][linkproto.CntRxPackets])
	if delivered < acknowledged || delivered > peer.in {
		try.Failf("peer %d sent %d packets, %d of them were acknowledged, and %d counted as delivered", link, peer.in, acknowledged, delivered)
	}
	for _, c := range []candidate{
		{"all acknowledged", acknowledged == peer.in}, {"delivered and not acknowledged", delivered > acknowledged}, {"not delivered", delivered < peer.in},
		{"packets to it lost", peer.received < p.host.out[link-1]}, {"trapped", p.isTrapped(link)},
	} {
		if c.holds {
			p.out.hit("peer starts again", c.bin)
		}
	}
	if p.isTrapped(link) {
		p.out.hit("while trapped", "the peer starts again")
	}
	if peer.received < p.host.out[link-1] {
		p.out.hit("SPACE", "lost packets")
	}
	peer.in = delivered
	if peer.received > p.host.out[link-1] {
		try.Failf("peer %d received %d packets of %d", link, peer.received, p.host.out[link-1])
	}
	p.host.out[link-1] = peer.received
	for _, c := range p.cables[1:] {
		c.session(p.out.Round)
	}
	p.admit(link, "by a peer's restart")
}

// restartOften lets a link start again and again while a few packets pass, both ways: its peer does, or the host gives the network interface another
// nonce, or both.
func (p *Player) restartOften(link int) {
	out, r := p.round.Links[link-1].Out, p.split("restarts")
	p.renonced, p.twice = 0, 0
	epoch := func() uint8 { return p.lifeOf(link, p.Ports[link].Link.Status().Peer).Epoch() }
	for range p.restarts() {
		some := p.rng.IntN(4)
		sends := func() {
			if p.host.out[link-1] < len(out) && some > 0 && p.forward(link, out[p.host.out[link-1]]) {
				some--
			}
		}
		p.peerSends(link)
		until := p.now + uint64(p.rng.IntN(3*look))
		p.run(4*look, "time to pass", sends, func() bool { return p.now >= until })
		what, nonce, before := r.IntN(4), ni.Nonce(r), epoch()
		p.interrupt(link, func() {
			if what > 0 {
				p.renew(link)
				p.cables[link].between()
			}
			if what < 2 {
				p.renonce(nonce)
			}
			if what == 1 {
				p.twice++
			}
		}, sends, nothing)
		if epoch() < before {
			p.out.hit(rareValue, "epoch of a link wraps")
		}
	}
}

// renonce has the host write another nonce: all links start again.
func (p *Player) renonce(nonce uint32) {
	q := question{raw: writeRegister(linkproto.RegNonce, nonce)}
	p.run(1_000_000, "room for a question", nothing, func() bool { return p.ask(q, nothing) })
	p.nonce = nonce
	p.renonced++
}

// restartHost lets the host start again in the middle of everything. Its packets are carried out in order, so the network interface's
// count tells which of them have been; the new host goes on there. Answers, TRAPs and NOTIFYs may be lost.
func (p *Player) restartHost() {
	p.lose(p.cables[0])
	p.cables[0].mute = false
	p.host.nap = 0
	p.listen()
	p.host.forgetRetold()
	before := p.host.sent - uint32(len(p.host.log)) // when the log began
	asked := p.host.asked
	p.host.asked, p.host.forgets = nil, true
	p.host.answers = nil
	p.host.collect = true // answers to the old host's questions may still come
	for i := range p.host.credit {
		p.host.credit[i].told = false
		if p.isTrapped(i + 1) {
			p.out.hit("while trapped", "the host starts again")
		}
	}
	// Often there is a queue that the new host cannot know: nothing gets through to that peer.
	queued := p.rng.Between(1, p.Params.Links)
	if p.rng.Bool() {
		p.cables[queued].frames = missing
	}
	p.renew(0)
	p.cables[0].between()
	p.waitUp(0)
	p.settle()
	p.host.collect = false
	p.cables[0].session(p.out.Round)
	log := p.host.log
	count := p.readRegister(linkproto.CounterReg(0, linkproto.CntRxPackets))
	executed := int(count - 1 - before) // but for this question
	if executed < 0 || executed > len(log) {
		try.Failf("of %d packets of the host %d count as delivered", len(log), executed)
	}
	p.host.sent -= uint32(len(log) - executed)
	p.host.log = append(log[:executed:executed], p.host.log[len(log):]...)
	questions := 0
	for i := len(log) - 1; i >= executed; i-- {
		log[i].undo()
		if log[i].answered {
			questions++
		}
	}
	p.host.forgetRetold()
	if questions > len(asked) {
		try.Failf("%d packets of the host were answered and count as not delivered", questions-len(asked))
	}
	switch {
	case len(asked) == 0 && executed == len(log):
		p.out.hit("host starts again", "nothing underway")
	case executed < len(log):
		p.out.hit("host starts again", "not delivered")
	}
	p.attribute(asked[:len(asked)-questions], p.host.answers)
	for i, c := range p.host.credit {
		if !c.told {
			try.Failf("no SPACE of link %d came after the host had started again", i+1)
		}
	}
	p.lostTraps()
	p.learn(queued)
}

// forgetRetold takes the TRAPs that have been asked for again and not come for such as may come, or be lost.
func (h *host) forgetRetold() {
	for i := range h.traps {
		s := &h.traps[i]
		s.stray, s.again = s.stray+s.again, 0
	}
}

// attribute gives the answers that came after the restart to the questions of the host before: those that are missing were lost, and
// are the oldest.
func (p *Player) attribute(asked []question, answers []linkproto.Packet) {
	lost := len(asked) - len(answers)
	if lost < 0 {
		try.Failf("after its restart the host received %d answers to %d questions", len(answers), len(asked))
	}
	if lost > 0 {
		p.out.hit("host starts again", "answers lost")
	}
	if len(answers) > 0 {
		p.out.hit("host starts again", "answers to the one before")
	}
	for i, q := range asked {
		answer := unknown
		var a linkproto.Packet
		if i >= lost {
			a = answers[i-lost]
			answer = show(stimulus.Encode(a))
		}
		p.answered(q, answer)
		if q.then != nil {
			q.then(a)
		}
	}
}
