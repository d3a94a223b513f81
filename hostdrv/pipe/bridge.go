package pipe

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// awake is for how many ticks after the last symbol a bridge lets the time of a simulated target go on, so that no answer is left behind.
const awake = 4 * linkproto.DefaultWordTimer

// bridge is a Bridge at work.
type bridge struct {
	target hostdrv.Transport

	mu      sync.Mutex
	symbols []linkproto.Symbol // from the stream
	err     error              // of reading it
}

// Bridge carries symbols between a stream and a target, so that a driver at the stream's other end drives the target. It returns nil
// when the stream ends, however it does, and closes both.
func Bridge(ctx context.Context, stream io.ReadWriteCloser, target hostdrv.Transport) error {
	b := &bridge{target: target}
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
	burst := b.target.Timing().Burst
	var out []linkproto.Symbol
	var bytes []byte
	left := awake
	for {
		b.mu.Lock()
		if n := min(burst-len(out), len(b.symbols)); n > 0 {
			out = append(out, b.symbols[:n]...)
			b.symbols = b.symbols[:copy(b.symbols, b.symbols[n:])]
		}
		err := b.err
		b.mu.Unlock()
		if err != nil {
			return nil // the other end has gone, in order or not
		}
		if len(out) > 0 {
			left = awake
		}
		x := hostdrv.Exchange{Out: out, Wait: awake, Idle: left <= 0}
		if err := b.target.Exchange(&x); err != nil {
			return err
		}
		if x.Taken {
			out = out[:0]
		}
		left -= x.Ticks
		if len(x.In) > 0 {
			left = awake
			bytes = linkproto.AppendStuffed(bytes[:0], x.In)
			if _, err := stream.Write(bytes); err != nil {
				return nil // the other end has gone
			}
		}
	}
}
