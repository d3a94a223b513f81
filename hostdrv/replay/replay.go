package replay

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// ErrRestarted says that the link to the target started again, so that the replay is worth nothing.
var ErrRestarted = errors.New("replay: the link to the target started again, its cable fails: try once more")

// ErrVirtual says that a session cannot be replayed.
var ErrVirtual = errors.New("replay: the recorded network interface carries out virtual links, and what came by them from other nodes is not in the recording: " +
	"look at it with lmmc trace; a session can be replayed in which the driver carried them out")

// Result is what a replay has found.
type Result struct {
	Packets  int    `json:"packets"`  // that the host sent in the recording
	Compared int    `json:"compared"` // answers and traps
	Unsure   int    `json:"unsure"`   // of them, reads in which bytes differed that a remote write was changing
	Ticks    uint64 `json:"ticks"`    // of the target's time

	Divergence *Divergence `json:"divergence"` // the first one; nil if there is none
}

// Divergence is the first place where the target does not do what the recorded NI did.
type Divergence struct {
	Step     int    `json:"step"`               // of the packets that the host sent: how many it had sent
	Tick     uint64 `json:"tick"`               // in the recording
	What     string `json:"what"`               // in words
	Request  Bytes  `json:"request,omitempty"`  // the packet that was answered; nil where there is none
	Recorded Bytes  `json:"recorded,omitempty"` // the packet that the recorded NI sent; nil: none
	Target   Bytes  `json:"target,omitempty"`   // the packet that the target sent; nil: none
}

// Bytes are written in hexadecimal.
type Bytes []byte

// MarshalText is for package json.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(b)), nil }

// Run replays a session on a target, whose transport it does not close, and compares. Its error is about the replay itself.
func Run(ctx context.Context, s *record.Session, t hostdrv.Transport) (Result, error) {
	c := newScript(s)
	if c.virtual {
		return Result{}, ErrVirtual
	}
	p, err := newPlayer(ctx, t)
	if err != nil {
		return Result{}, err
	}
	defer p.stop()
	j := &judge{script: c, races: newRaces(c), hulls: map[uint16]*hull{}}
	p.hear = func(raw []byte) { j.hear(raw, p.sent, p.now) }
	err = try.Run(func() { p.play(c, j) })
	return Result{Packets: len(c.steps), Compared: j.compared, Unsure: j.unsure, Ticks: p.now, Divergence: j.divergence}, err
}

// player is a host that sends what it is told to. Its methods are for steps of try.Run, which errors end.
type player struct {
	ctx       context.Context
	transport hostdrv.Transport
	timing    hostdrv.Timing
	stop      func() bool
	link      *flowctl.Endpoint
	hear      func(raw []byte) // gets each packet of the target

	line  []linkproto.Symbol
	out   []linkproto.Symbol // of line, still to be sent
	sent  int                // steps
	now   uint64             // ticks
	quiet uint64             // of them, since something arrived
}

func newPlayer(ctx context.Context, t hostdrv.Transport) (*player, error) {
	link, err := flowctl.New(flowctl.Config{
		MaxPacket: linkproto.MaxRoute(linkproto.MaxPageBytes), Routes: true, PeerPacket: linkproto.MaxPacket(linkproto.MinPageBytes), Silence: -1,
	})
	if err != nil {
		return nil, err
	}
	timing := t.Timing()
	return &player{ctx: ctx, transport: t, timing: timing, stop: context.AfterFunc(ctx, t.Wake), link: link,
		line: make([]linkproto.Symbol, timing.Burst)}, nil
}

// turn lets time pass: at most wait ticks, less when something arrives.
func (p *player) turn(wait uint64) {
	try.OK(context.Cause(p.ctx))
	if len(p.out) == 0 {
		p.out = p.line[:p.link.Emit(p.line)]
	}
	x := hostdrv.Exchange{Out: p.out, Wait: int(max(min(wait, uint64(max(p.link.IdleFor(), 1))), 1))}
	if err := p.transport.Exchange(&x); err != nil {
		try.Failf("%w: %w", hostdrv.ErrGone, err)
	}
	if x.Taken {
		p.out = nil
	}
	p.now += uint64(x.Ticks)
	p.quiet += uint64(x.Ticks)
	for len(x.In) > 0 {
		n := min(len(x.In), 1<<12)
		p.link.Feed(x.In[:n])
		x.In = x.In[n:]
		for raw, ok := p.link.Receive(); ok; raw, ok = p.link.Receive() {
			p.quiet = 0
			p.hear(raw)
		}
	}
	p.link.Tick(x.Ticks)
	if p.link.Counter(linkproto.CntRestarts) > 0 {
		try.OK(ErrRestarted)
	}
}

// until lets time pass until done. It reports false when the target has said nothing for limit ticks.
func (p *player) until(limit uint64, done func() bool) bool {
	p.quiet = 0
	for !done() {
		if p.quiet >= limit {
			return false
		}
		p.turn(limit - p.quiet)
	}
	return true
}

// pause lets ticks pass.
func (p *player) pause(ticks uint64) {
	for end := p.now + ticks; p.now < end; {
		p.turn(end - p.now)
	}
}

// send sends a packet when there is room.
func (p *player) send(raw []byte) {
	began, err := p.now, p.link.Send(raw)
	for ; errors.Is(err, flowctl.ErrFull); err = p.link.Send(raw) {
		p.turn(settleTicks)
		if p.now-began > p.patience() {
			try.Failf("%w: it takes no more packets", hostdrv.ErrSilent)
		}
	}
	try.OK(err)
}

// comeUp brings the link up. A target that says nothing of itself may take this host for one of before, which had the same epoch.
func (p *player) comeUp() {
	const tries = 8
	for range tries {
		if p.until(uint64(p.timing.LinkTimeout/tries)+1, func() bool { return p.link.Status().Up }) {
			return
		}
		if !p.link.Status().Peer.Known {
			p.link.Renew()
		}
	}
	try.OK(hostdrv.ErrSilent)
}

// prepare brings the target to where the recorded one was, by writes.
func (p *player) prepare(writes []linkproto.Packet) {
	answers, refused := 0, error(nil)
	hear := p.hear
	defer func() { p.hear = hear }()
	p.hear = func(raw []byte) {
		var answer linkproto.Packet
		if answer.Decode(raw) == nil && answer.Type == linkproto.TypeDone {
			answers++
			if answer.Status != linkproto.StatusOK && refused == nil {
				refused = fmt.Errorf("replay: the target does not let its receive buffer and registers be set to what they were: %v; is it as large as the recorded one?", answer.Status)
			}
		} else {
			hear(raw)
		}
	}
	for i := range writes {
		p.send(try.Get(writes[i].Append(nil)))
	}
	if !p.until(p.patience(), func() bool { return answers == len(writes) }) {
		try.OK(hostdrv.ErrSilent, refused)
	}
	try.OK(refused)
}

// patience is what a target may take to answer: more than the link needs to recover from any fault.
func (p *player) patience() uint64 { return max(uint64(p.timing.LinkTimeout)/2, settleTicks) }

// play sends the steps of a script, each when the target has said what it needs, until the judge has found a divergence.
func (p *player) play(c *script, j *judge) {
	p.comeUp()
	p.prepare(append(named(c.steps), c.initial()...))
	for i := range c.steps {
		s := &c.steps[i]
		if !p.until(p.patience(), func() bool { return j.divergence != nil || j.has(&s.needs) }) {
			j.missing(&s.needs, i, s.Start)
		}
		if s.retraps() { // on a cable that has lost nothing the trap has been told
			told := p.until(p.patience(), func() bool { return j.divergence != nil || j.stood[s.packet.Via].told })
			if !told && s.answer != nil {
				j.diverge(Divergence{Step: i, Tick: s.Start, What: fmt.Sprintf("link %d of the target does not trap", s.packet.Via), Request: s.Raw})
			}
		}
		if j.divergence != nil {
			return
		}
		// How much a link gets rid of while a trap waits depends on time.
		for !j.freed(&s.needs) && p.quiet < quietTicks {
			p.step(j, quietTicks)
		}
		for end, calm := p.now+s.pause, min(s.calm, settleTicks); p.now < end || p.now < j.done+calm; {
			p.step(j, max(end, j.done+calm)-p.now)
		}
		if via, ok := forward(s.Raw); ok {
			p.quiet = 0
			j.waiting[via] = append(j.waiting[via], s.Raw)
			p.forward(j)
		} else {
			p.send(s.Raw)
			j.sent++
			j.resumes(s)
		}
		p.sent = i + 1
	}
	p.finish(c, j)
}

// finish waits for what the recorded NI said last.
func (p *player) finish(c *script, j *judge) {
	all := j.all()
	over := func() bool { return j.divergence != nil || j.has(&all) && j.freed(&all) }
	p.quiet = 0
	for !over() {
		if p.quiet >= p.patience() {
			j.missing(&all, len(c.steps), c.end)
			return
		}
		p.step(j, p.patience())
	}
	if j.divergence == nil {
		p.pause(settleTicks)
	}
}

// step is a turn after which packets go on their way for which there is room now.
func (p *player) step(j *judge, wait uint64) {
	p.turn(wait)
	p.forward(j)
}

// forward sends the packets for links that have room. The others wait, and what comes behind them does not: the recorded NI may have had
// room, since the NI at the link's far end took more before it stopped.
func (p *player) forward(j *judge) {
	for via := range j.waiting {
		for len(j.waiting[via]) > 0 && j.hasRoom(via, len(j.waiting[via][0])) {
			raw := j.waiting[via][0]
			j.waiting[via] = j.waiting[via][1:]
			l := &j.links[via]
			l.sizes, l.bytes = append(l.sizes, len(raw)), l.bytes+len(raw)
			p.send(raw)
		}
	}
}
