package pipe

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// awake is for how many ticks after the last symbol a bridge lets the time of a simulated target go on, so that no answer is left behind.
const awake = 4 * linkproto.DefaultWordTimer

// The link layer's timers count symbols, so a simulation that runs as fast as it can would give up a host that takes a millisecond to answer.
// After symbols from the stream its time goes on freely for up to free ticks, and longer by those in which it has something to send; then
// for step ticks at a time, at pace a second, unless somebody else makes it go on. What it may go on freely comes back with each symbol, and at
// pace: a host that sends for long without a pause cannot answer meanwhile, since what it says waits behind that.
const (
	free = linkproto.DefaultWordTimer * 3 / 4 // less than makes the target say again what it has said
	each = 8
	step = 512
	pace = 100_000
)

// When the stream has said nothing for lull, nobody is there: a driver says a link state word every linkproto.DefaultWordTimer symbols, which is 4.3 s at
// 9600 bits a second. Then each step is followed by a rest of so many times what it took, however slow the simulation is, until something comes.
const (
	lull = 10 * time.Second
	rest = 19
)

// ahead is how many symbols are read that the target has not taken yet, so that a stream waits that is faster than the target: else its sender could
// not know, and would send all of them again for want of an answer.
const ahead = 1 << 10

// Waiter is what a target also is that somebody waits for besides who is at a bridge's stream. While that is so, Bridge lets its time go on however long
// nothing has come. The target has to be woken when it begins.
type Waiter interface{ Waits() bool }

// bridge is a Bridge at work.
type bridge struct {
	target hostdrv.Transport
	waits  func() bool

	mu      sync.Mutex
	taken   sync.Cond          // some of symbols, or ended is set
	symbols []linkproto.Symbol // from the stream
	err     error              // of reading it
	ended   bool               // nobody takes symbols any more
}

// Bridge carries symbols between a stream and a target, so that a driver at the stream's other end drives the target. It returns nil
// when the stream ends, however it does, and closes both.
func Bridge(ctx context.Context, stream io.ReadWriteCloser, target hostdrv.Transport) error {
	b := &bridge{target: target, waits: func() bool { return false }}
	if w, ok := target.(Waiter); ok {
		b.waits = w.Waits
	}
	b.taken.L = &b.mu
	var reader sync.WaitGroup
	reader.Go(func() { b.read(stream) })
	stop := context.AfterFunc(ctx, func() {
		stream.Close()
		target.Close()
	})
	err := b.carry(stream)
	if !stop() {
		err = ctx.Err()
	}
	err = errors.Join(err, target.Close())
	b.mu.Lock()
	b.ended = true
	b.taken.Signal()
	b.mu.Unlock()
	stream.Close() // may be closed already, and has nothing left to lose
	reader.Wait()
	return err
}

func (b *bridge) read(stream io.Reader) {
	var stuff linkproto.Unstuffer
	bytes := make([]byte, 1<<12)
	for {
		n, err := stream.Read(bytes)
		b.mu.Lock()
		for len(b.symbols) > ahead && !b.ended {
			b.taken.Wait()
		}
		b.symbols = stuff.Append(b.symbols, bytes[:n])
		b.err = err
		b.mu.Unlock()
		b.target.Wake()
		if err != nil {
			return
		}
	}
}

// carry moves symbols both ways until the stream has ended.
func (b *bridge) carry(stream io.Writer) error {
	timing := b.target.Timing()
	var out []linkproto.Symbol
	var bytes []byte
	left, freely := awake, free
	var due time.Time // of the next step
	heard := time.Now()
	credited := heard
	alarm := time.AfterFunc(time.Hour, b.target.Wake)
	defer alarm.Stop()
	for {
		b.mu.Lock()
		if n := min(timing.Burst-len(out), len(b.symbols)); n > 0 {
			out = append(out, b.symbols[:n]...)
			b.symbols = b.symbols[:copy(b.symbols, b.symbols[n:])]
			now := time.Now()
			freely = min(free, max(freely, 0)+each*n+int(min(now.Sub(credited), time.Second)*pace/time.Second))
			credited = now
			b.taken.Signal()
		}
		ended := b.err != nil && len(b.symbols)+len(out) == 0
		b.mu.Unlock()
		if ended {
			return nil // the other end has gone, in order or not
		}
		waits := b.waits()
		x := hostdrv.Exchange{Out: out, Wait: awake, Idle: left <= 0 && !waits}
		switch {
		case len(out) > 0:
			left, heard = awake, time.Now()
		case timing.VirtualTime && !x.Idle && freely <= 0:
			if wait := time.Until(due); wait > 0 {
				x.Idle = true // others that share the target's time may go on
				alarm.Reset(wait)
			} else {
				x.Wait = step
			}
		case timing.VirtualTime && !x.Idle:
			x.Wait = min(x.Wait, freely)
		}
		began := time.Now()
		if err := b.target.Exchange(&x); err != nil {
			return err
		}
		if x.Taken {
			out = out[:0]
		}
		now := time.Now()
		due = paced(due, now, x.Ticks)
		if alone := !waits && now.Sub(heard) > lull; alone && !x.Idle {
			due = due.Add(rest * now.Sub(began))
		}
		left -= x.Ticks
		freely += len(x.In) - x.Ticks
		if len(x.In) > 0 {
			left = awake
			bytes = linkproto.AppendStuffed(bytes[:0], x.In)
			if _, err := stream.Write(bytes); err != nil {
				return nil // the other end has gone
			}
		}
	}
}

// paced is when the next step is due after some ticks that began when it was due at due, or later.
func paced(due, now time.Time, ticks int) time.Time {
	if due.Before(now) {
		due = now
	}
	due = due.Add(time.Duration(ticks) * time.Second / pace)
	if most := now.Add(step * time.Second / pace); due.After(most) {
		return most
	}
	return due
}
