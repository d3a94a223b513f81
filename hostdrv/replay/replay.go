package replay

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
)

// ErrRestarted says that the link to the target started again, so that the replay is worth nothing.
var ErrRestarted = errors.New("replay: the link to the target started again, its cable fails: try once more")

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
	p, err := newPlayer(ctx, t)
	if err != nil {
		return Result{}, err
	}
	defer p.stop()
	j := newJudge(c)
	p.hear = func(raw []byte) { j.hear(raw, p.sent, p.now) }
	err = p.play(c, j)
	return j.result(len(c.steps), p.now), err
}

// player is a host that sends what it is told to.
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
	link, err := flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxPacket(linkproto.MaxPageBytes)})
	if err != nil {
		return nil, err
	}
	timing := t.Timing()
	return &player{ctx: ctx, transport: t, timing: timing, stop: context.AfterFunc(ctx, t.Wake), link: link,
		line: make([]linkproto.Symbol, timing.Burst)}, nil
}

// turn lets time pass: at most wait ticks, less when something arrives.
func (p *player) turn(wait uint64) error {
	if err := p.ctx.Err(); err != nil {
		return context.Cause(p.ctx)
	}
	if len(p.out) == 0 {
		p.out = p.line[:p.link.Emit(p.line)]
	}
	x := hostdrv.Exchange{Out: p.out, Wait: int(max(min(wait, uint64(max(p.link.IdleFor(), 1))), 1))}
	if err := p.transport.Exchange(&x); err != nil {
		return fmt.Errorf("%w: %w", hostdrv.ErrGone, err)
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
		return ErrRestarted
	}
	return nil
}

// until lets time pass until done. It reports false when the target has said nothing for limit ticks.
func (p *player) until(limit uint64, done func() bool) (bool, error) {
	p.quiet = 0
	for !done() {
		if p.quiet >= limit {
			return false, nil
		}
		if err := p.turn(limit - p.quiet); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pause lets ticks pass.
func (p *player) pause(ticks uint64) error {
	for end := p.now + ticks; p.now < end; {
		if err := p.turn(end - p.now); err != nil {
			return err
		}
	}
	return nil
}

// settle lets time pass until the target has said nothing for so many ticks.
func (p *player) settle(ticks uint64) error {
	_, err := p.until(ticks, func() bool { return false })
	return err
}

// send sends a packet when there is room.
func (p *player) send(raw []byte) error {
	for waited := uint64(0); ; {
		err := p.link.Send(raw)
		if !errors.Is(err, flowctl.ErrFull) {
			return err
		}
		before := p.now
		if err := p.turn(settleTicks); err != nil {
			return err
		}
		if waited += p.now - before; waited > p.patience() {
			return fmt.Errorf("%w: it takes no more packets", hostdrv.ErrSilent)
		}
	}
}

func (p *player) comeUp() error {
	up, err := p.until(uint64(p.timing.LinkTimeout), func() bool { return p.link.Status().Up })
	if err == nil && !up {
		err = hostdrv.ErrSilent
	}
	return err
}

// prepare gives the target's receive buffer the content that the recorded one had.
func (p *player) prepare(c *script) error {
	writes := c.initial()
	answers, refused := 0, error(nil)
	hear := p.hear
	defer func() { p.hear = hear }()
	p.hear = func(raw []byte) {
		var answer linkproto.Packet
		if answer.Decode(raw) == nil && answer.Type == linkproto.TypeDone {
			answers++
			if answer.Status != linkproto.StatusOK && refused == nil {
				refused = fmt.Errorf("replay: the target does not let its receive buffer be set to what it was: %v; is it as large as the recorded one?", answer.Status)
			}
		} else {
			hear(raw)
		}
	}
	for i := range writes {
		raw, err := writes[i].Append(nil)
		if err == nil {
			err = p.send(raw)
		}
		if err != nil {
			return err
		}
	}
	all, err := p.until(p.patience(), func() bool { return answers == len(writes) })
	if err == nil && !all {
		err = hostdrv.ErrSilent
	}
	return errors.Join(err, refused)
}

// patience is what a target may take to answer: more than the link needs to recover from any fault.
func (p *player) patience() uint64 { return max(uint64(p.timing.LinkTimeout)/2, settleTicks) }

// play sends the steps of a script, each when the target has said what it needs, until the judge has found a divergence.
func (p *player) play(c *script, j *judge) error {
	if err := p.comeUp(); err != nil {
		return err
	}
	if err := p.prepare(c); err != nil {
		return err
	}
	for i := range c.steps {
		s := &c.steps[i]
		come, err := p.until(p.patience(), func() bool { return j.divergence != nil || j.has(&s.needs) })
		if err == nil && !come {
			j.missing(&s.needs, i, s.Start)
		}
		if err == nil && s.retraps() { // on a cable that has lost nothing the trap has been told
			come, err = p.until(p.patience(), func() bool { return j.divergence != nil || j.stood[s.packet.Via].told })
			if err == nil && !come && s.answer != nil {
				j.diverge(Divergence{Step: i, Tick: s.Start, What: fmt.Sprintf("link %d of the target does not trap", s.packet.Via), Request: s.Raw})
			}
		}
		if err != nil || j.divergence != nil {
			return err
		}
		// How much a link gets rid of while a trap waits depends on time.
		for !j.freed(&s.needs) && p.quiet < quietTicks {
			if err := p.step(j, quietTicks); err != nil {
				return err
			}
		}
		for end, calm := p.now+s.pause, min(s.calm, settleTicks); p.now < end || p.now < j.done+calm; {
			if err := p.step(j, max(end, j.done+calm)-p.now); err != nil {
				return err
			}
		}
		if via, ok := forward(s.Raw); ok {
			p.quiet = 0
			j.waiting[via] = append(j.waiting[via], s.Raw)
			err = p.forward(j)
		} else {
			err = p.send(s.Raw)
			j.sent++
			j.resumes(s)
		}
		if err != nil {
			return err
		}
		p.sent = i + 1
	}
	return p.finish(c, j)
}

// finish waits for what the recorded NI said last.
func (p *player) finish(c *script, j *judge) error {
	all := j.all()
	over := func() bool { return j.divergence != nil || j.has(&all) && j.freed(&all) }
	p.quiet = 0
	for !over() {
		if p.quiet >= p.patience() {
			j.missing(&all, len(c.steps), c.end)
			return nil
		}
		if err := p.step(j, p.patience()); err != nil {
			return err
		}
	}
	if j.divergence != nil {
		return nil
	}
	return p.pause(settleTicks)
}

// step is a turn after which packets go on their way for which there is room now.
func (p *player) step(j *judge, wait uint64) error {
	if err := p.turn(wait); err != nil {
		return err
	}
	return p.forward(j)
}

// forward sends the packets for links that have room. The others wait, and what comes behind them does not: the recorded NI may have had
// room, since the NI at the link's far end took more before it stopped.
func (p *player) forward(j *judge) error {
	for via := range j.waiting {
		for len(j.waiting[via]) > 0 && j.hasRoom(via) {
			raw := j.waiting[via][0]
			j.waiting[via] = j.waiting[via][1:]
			j.give(via, len(raw))
			if err := p.send(raw); err != nil {
				return err
			}
		}
	}
	return nil
}
