package golden

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Player carries out a program on a world, round by round. Make it with NewPlayer.
type Player struct {
	*World
	prog  stimulus.Program
	now   uint64 // clocks
	rng   *testbench.Rand
	nonce uint32 // that the network interface was given last

	host         host
	peers        []peer   // by link - 1
	cables       []*cable // by port
	round        *stimulus.Round
	out          *Transcript
	base         []Counts // of each port, when the round began
	heard        uint32   // host.received then
	page         []byte   // that will be revoked, then
	revoked      bool     // it has been
	revokeFirst  bool     // it is to be, before anything is written to it
	revokeChance float64  // at each look, otherwise
	renonced     int      // times that the host has written another nonce in the round
	twice        int      // times that a link started again for two reasons at once, and maybe twice
	quiet        uint64   // clock since which nothing has happened
	late         uint64   // clock from which on peers send
	pairs        *pairs   // nil in a world without clocks
	aimer        *aimer   // nil there
	wrong        error

	// Packets counts those that have been sent or received by hosts and peers.
	Packets uint64
}

// host is the host: what it has asked, and how far it is with the round.
type host struct {
	asked    []question
	log      []sent // since the round began
	sent     uint32 // packets since the network interface was reset
	received uint32 // packets since then
	own      int    // of Round.Host, next
	out      []int  // of each Link.Out, next
	credit   []credit
	traps    []service
	nap      uint64 // until when the host reads nothing
	forgets  bool   // NOTIFYs may have been lost since the round began
	collect  bool   // answers are kept, as it is not known yet to which questions they belong
	answers  []linkproto.Packet
}

// question is a packet that will be answered; answers come in the order of the questions.
type question struct {
	lane string // "" for none
	raw  []byte
	then func(linkproto.Packet)
}

// sent is a packet of the host: undo takes it for not sent.
type sent struct {
	answered bool
	undo     func()
}

// credit is the host's account of a link's transmit queue, since reset.
type credit struct {
	ni.Credit
	told    bool   // by SPACE since the host began
	began   uint64 // SentPackets, when the round began
	refused int    // Refused, then
	lost    uint32 // the counter lost_packets, when LOST was last looked at
}

func newCredits(p rtl.Params) (all []credit) {
	for range p.Links {
		all = append(all, credit{Credit: ni.NewCredit(p, false)})
	}
	return all
}

// service is how far the host is with a link's traps.
type service struct {
	next   int // arrival from which on the next trap is looked for
	script []stimulus.Packet
	at     int
	due    uint64
	open   int    // questions not yet answered
	raised int    // traps reported
	wild   int    // RESUMEs granted in a wild round
	behind int    // arrivals that the peer had sent when the last trap was released
	retold []byte // the last trap as it is told again
	again  int    // times it has been asked for again and has not come
	stray  int    // times it may still come, asked for by a host before the present one
	missed bool   // a TRAP was lost, and has been asked for again
	others uint32 // packets of other peers acknowledged when the last trap was reported
}

func (s *service) busy() bool { return s.at < len(s.script) }

// peer is the neighbour on one link.
type peer struct {
	in       int // of Link.In, next
	received int // packets in this round
	nap      uint64
}

// NewPlayer prepares a program for a world of the same parameters.
func NewPlayer(w *World, p stimulus.Program) *Player {
	pl := &Player{World: w, prog: p}
	pl.host.credit = newCredits(w.Params)
	pl.peers = make([]peer, w.Params.Links)
	for _, port := range w.Ports {
		pl.cables = append(pl.cables, newCable(port))
	}
	w.Observe = pl.observe
	if w.Clocked {
		pl.pairs, pl.aimer = &pairs{found: map[pair]bool{}, rare: map[event]bool{}}, newAimer(testbench.NewRand(p.Seed).Split("aim"))
		for i, port := range w.Ports {
			pl.pairs.watch(i, port)
		}
	}
	return pl
}

// ErrStuck is wrapped by errors about something that ought to have happened long ago.
var ErrStuck = errors.New("golden: nothing goes on")

// Play carries out the next round and returns what happened. An error is a violation of the protocol that shows without a comparison,
// or comes from the world.
func (p *Player) Play(round int) (*Transcript, error) {
	r := &p.prog.Rounds[round]
	p.round, p.out = r, newTranscript(round, r.Kind)
	p.rng = p.split("golden player")
	for port, c := range p.cables {
		if c.aborts = p.split(fmt.Sprint("aborts ", port)); port == 0 && r.Kind == stimulus.Restarts {
			c.aborts = nil // a frame of the host that is taken back raises LOST if its link starts again in the middle of it
		}
	}
	if err := try.Run(p.play); err != nil {
		return p.out, fmt.Errorf("round %d (%v): %w", round, r.Kind, err)
	}
	return p.out, nil
}

// split returns a stream of random numbers of the round, which does not depend on what other rounds there are.
func (p *Player) split(name string) *testbench.Rand {
	return testbench.NewRand(p.prog.Seed).Split(fmt.Sprint(name, " ", p.round.Number))
}

func (p *Player) play() {
	p.out.hit("round", p.round.Kind.String())
	p.begin()
	p.disturb()
	p.aimAll(p.round.Aim && p.Clocked)
	p.traffic()
	p.aimAll(false)
	p.end()
	try.OK(p.wrong)
	if p.pairs != nil {
		p.out.events = append(p.out.events, p.pairs.events()...)
	}
}

func (p *Player) fail(format string, args ...any) {
	if p.wrong == nil {
		p.wrong = fmt.Errorf(format, args...)
	}
}

// run lets the world go on, and the host and the peers do what act says, at each look until done or for limit clocks.
func (p *Player) run(limit int, what string, act func(), done func() bool) {
	for end := p.now + uint64(limit); ; {
		p.listen()
		act()
		try.OK(p.wrong)
		switch {
		case done():
			return
		case p.now > end:
			try.Failf("%w: %d clocks of waiting for %s; %s", ErrStuck, limit, what, p.state())
		}
		if p.aimer != nil {
			p.aimer.aim(p.cables)
		}
		p.now += uint64(try.Get(p.Step()))
		if p.pairs != nil {
			p.pairs.look()
		}
	}
}

func nothing() {}

// wait lets n clocks pass in which hosts and peers only listen.
func (p *Player) wait(n int) {
	end := p.now + uint64(n)
	p.run(n+1000, "time to pass", nothing, func() bool { return p.now >= end })
}

// atRest reports whether all has been acknowledged and answered, and nothing has come for so long that nothing will.
func (p *Player) atRest() bool {
	for _, port := range p.Ports {
		if !port.Link.Status().Up || port.Link.Queued() > 0 {
			p.quiet = p.now
		}
	}
	for i := range p.host.credit {
		if c := &p.host.credit[i]; c.FreedBytes != c.SentBytes {
			p.quiet = p.now
		}
	}
	for i := range p.peers {
		if p.peers[i].nap > p.now {
			p.quiet = p.now
		}
	}
	if len(p.host.asked) > 0 || p.host.nap > p.now {
		p.quiet = p.now
	}
	silence := p.drain()
	if p.round.Kind == stimulus.Noisy || p.round.Kind == stimulus.Deaf {
		silence += p.Params.Retry // a packet that got lost is repeated then
	}
	return p.now-p.quiet > uint64(silence)
}

// drain is how many clocks a network interface takes at most to carry out all that it has received, and to tell.
func (p *Player) drain() int { return 2*p.Params.RxBytes/p.Params.Width + 2*p.Params.AckDelay + 300 }

// rest waits until all is at rest.
func (p *Player) rest() {
	p.quiet = p.now
	p.run(3_000_000, "rest", nothing, p.atRest)
}

// state says who is still waiting for what.
func (p *Player) state() string {
	s := fmt.Sprintf("the host waits for %d answers", len(p.host.asked))
	if len(p.host.asked) > 0 {
		s += ", the first to " + show(p.host.asked[0].raw)
	}
	for link, port := range p.Ports {
		st := port.Link.Status()
		s += fmt.Sprintf("; port %d: up %v, NI says STOP %v, unacknowledged %d, %d restarts", link, st.Up, st.PeerStop, port.Link.Queued(), port.Link.Counter(linkproto.CntRestarts))
		if link > 0 {
			c := &p.host.credit[link-1]
			s += fmt.Sprintf(", sent %d of %d, host sent %d packets and knows of %d freed", p.peers[link-1].in, len(p.round.Links[link-1].In), c.SentPackets, c.FreedPackets)
		}
	}
	return s
}

// send puts a packet of the host's on its cable; it reports false if that must wait.
func (p *Player) send(raw []byte, answered bool, undo func()) bool {
	ok, err := p.cables[0].send(raw)
	if !ok {
		if err != nil {
			p.fail("the host cannot send %w", err)
		}
		return false
	}
	p.Packets++
	p.host.sent++
	p.host.log = append(p.host.log, sent{answered, undo})
	return true
}

// ask sends a packet that is answered.
func (p *Player) ask(q question, undo func()) bool {
	if !p.send(q.raw, true, undo) {
		return false
	}
	p.host.asked = append(p.host.asked, q)
	return true
}

// forward sends a packet to a peer, if the host may; it reports false if that must wait.
func (p *Player) forward(link int, raw []byte) bool {
	if !p.host.credit[link-1].HasRoom(len(raw)) || !p.push(link, raw) {
		return false
	}
	if p.isTrapped(link) {
		p.out.hit("while trapped", "the host sends by the link")
	}
	return true
}

// push sends a packet to a peer, whether or not the host may.
func (p *Player) push(link int, raw []byte) bool {
	if !p.send(raw, false, func() { p.unsend(link) }) {
		return false
	}
	p.host.credit[link-1].Sent(len(raw))
	p.host.out[link-1]++
	return true
}

// unsend takes the last packet sent to a peer for not sent.
func (p *Player) unsend(link int) {
	if err := p.host.credit[link-1].Unsent(); err != nil {
		p.fail("link %d: %w", link, err)
		return
	}
	p.host.out[link-1]--
}

// refused takes note that the interface has dropped a packet for a peer.
func (p *Player) refused(q linkproto.Packet) {
	link := int(q.Via)
	if err := p.host.credit[link-1].Refuse(q); err != nil {
		p.fail("%w", err)
		return
	}
	p.host.out[link-1]--
}
