package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

var restartCases = []Case{
	{"restart/program", "When a program ends and another one opens the network interface, that is as it was left.",
		"", "driver.md#two-kinds-of-calls", restartProgram},
	{"restart/midway", "A program that ends in the middle of everything leaves a network interface that the next one can use.",
		"", "driver.md#two-kinds-of-calls", restartMidway},
	{"restart/node", "A node that is started on a network interface which another one has used works as on a fresh one.",
		ports, "driver.md#lmmc", restartNode},
	{"restart/reset", "When the network interface is reset everything ends with one error; opened again, nobody may write its frames.",
		protection, "driver.md#when-something-breaks", restartReset},
	{"unplug/pending", "When the target goes away all that waits for it, in whatever way, ends with one error, and so does what comes later.",
		"", "driver.md#when-something-breaks", unplugPending},
	{"unplug/replug", "After a cable was pulled and plugged in again, what was acknowledged is there, and nothing arrives twice or late.",
		staffLink, "driver.md#when-something-breaks", replug},
	{"unplug/close", "A driver can be closed at any time, from any goroutine, more than once.",
		"", "driver.md#when-something-breaks", closeAnyTime},
}

func restartProgram(ctx context.Context, b *bench) error {
	for range 4 {
		value, data := b.rng.Uint32(), b.noise(b.id.PageBytes)
		entry := hostdrv.FrameEntry{Link: 1 + b.rng.IntN(b.id.Links)}
		if err := errors.Join(b.ni.WriteRegister(ctx, linkproto.RegScratch, value), b.ni.WriteBuffer(ctx, data, 0), b.ni.SetFrame(ctx, 0, entry), b.reopen(ctx)); err != nil {
			return err
		}
		have, err := b.ni.ReadRegister(ctx, linkproto.RegScratch)
		if err != nil {
			return err
		}
		e, err := b.ni.Frame(ctx, 0)
		switch {
		case err != nil:
			return err
		case b.ni.Identity() != b.id:
			return fmt.Errorf("the identity was %+v, and is %+v", b.id, b.ni.Identity())
		case have != value || e != entry:
			return fmt.Errorf("SCRATCH is %#x and frame 0 has %+v, they were left as %#x and %+v", have, e, value, entry)
		}
		if err := b.holds(ctx, 0, data); err != nil {
			return err
		}
	}
	return nil
}

func restartMidway(ctx context.Context, b *bench) error {
	for range 3 {
		l, words, err := b.numbered(ctx)
		if err != nil {
			return err
		}
		var users sync.WaitGroup
		ni := b.ni
		users.Go(func() {
			for i := 0; b.number(ctx, l, i%words) == nil; i++ {
			}
		})
		users.Go(func() {
			for have := make([]byte, b.id.PageBytes); ni.ReadBuffer(ctx, have, 0) == nil; {
			}
		})
		for range b.rng.IntN(20) {
			if _, err := ni.LinkStatus(ctx, 0); err != nil {
				return err
			}
		}
		err = ni.Close()
		users.Wait()
		if err := errors.Join(err, b.drive(ctx, hostdrv.Options{})); err != nil {
			return err
		}
		// What the NI had queued arrives, in order, before what the new program sends; and then no more.
		if err := b.arrived(ctx, l); err != nil {
			return err
		}
		m, err := b.blank(ctx, 0, 1)
		if err != nil {
			return err
		}
		if err := errors.Join(b.arrived(ctx, l), b.check(ctx, m)); err != nil {
			return err
		}
	}
	return scratch(ctx, b)
}

func restartNode(ctx context.Context, b *bench) error {
	for range 3 {
		c, err := b.crowd(ctx, 2, 2)
		if err != nil {
			return err
		}
		for i := range c.ports {
			if err := c.write(ctx, i); err != nil {
				return err
			}
		}
		if err := errors.Join(c.end(ctx), b.reopen(ctx)); err != nil {
			return err
		}
	}
	return nil
}

func restartReset(ctx context.Context, b *bench) error {
	if b.line.resetter == nil {
		return skipf("the target's transport cannot reset the network interface")
	}
	l, words, err := b.numbered(ctx)
	if err != nil {
		return err
	}
	for range 3 {
		if err := errors.Join(b.grant(ctx, l.at, 0), b.ni.WriteRegister(ctx, linkproto.RegScratch, 5)); err != nil {
			return err
		}
		for i := range b.rng.IntN(words) {
			if err := b.number(ctx, l, i); err != nil {
				return err
			}
		}
		if err := b.line.resetter.Reset(); err != nil {
			return err
		}
		if err := b.number(ctx, l, 0); err != nil {
			return err
		}
		if err := wraps(b.ni.Sync(ctx, l.via), hostdrv.ErrReset); err != nil {
			return fmt.Errorf("a Sync after the network interface was reset: %w", err)
		}
		if _, err := b.ni.ReadRegister(ctx, 0); wraps(err, hostdrv.ErrReset) != nil {
			return fmt.Errorf("a read after that: %w", wraps(err, hostdrv.ErrReset))
		}
		if err := b.reopen(ctx); err != nil {
			return err
		}
		v, err := b.ni.ReadRegister(ctx, linkproto.RegScratch)
		if err != nil || v != 0 {
			return either(err, "SCRATCH reads %#x after a reset", v)
		}
		for frame := range b.id.Frames {
			if e, err := b.ni.Frame(ctx, frame); err != nil || e.Link != 0 {
				return either(err, "frame %d has %+v after a reset", frame, e)
			}
		}
	}
	return scratch(ctx, b)
}

// busy runs calls of all kinds, each again and again until it fails, and returns what they failed with.
func (b *bench) busy(ctx context.Context, n *node, c channel) <-chan error {
	const each = 2
	ni := b.ni
	calls := []func() error{
		func() error { _, err := ni.ReadRegister(ctx, 0); return err },
		func() error { return ni.ReadBuffer(ctx, make([]byte, b.id.PageBytes), 0) },
		func() error { return ni.Sync(ctx, n.via) },
		func() error { return c.send.WritePage(ctx, make([]byte, 8), 0) },
		func() error { return c.send.Sync(ctx) },
		func() error { return c.receive.Wait(ctx, func([]byte) bool { return false }) },
		func() error { _, err := n.Accept(ctx); return err },
	}
	failed := make(chan error, each*len(calls))
	var users sync.WaitGroup
	for _, call := range calls {
		for range each {
			users.Go(func() {
				var err error
				for err == nil {
					err = call()
				}
				failed <- err
			})
		}
	}
	go func() {
		users.Wait()
		close(failed)
	}()
	return failed
}

func unplugPending(ctx context.Context, b *bench) error {
	for round := range 3 {
		n, c, err := b.one(ctx)
		if err != nil {
			return err
		}
		failed := b.busy(ctx, n, c)
		for range 3 * round {
			if _, err := b.ni.LinkStatus(ctx, 0); err != nil {
				return err
			}
		}
		b.line.unplug(true)
		for err := range failed {
			if err := wraps(err, hostdrv.ErrGone); err != nil {
				return fmt.Errorf("a call that waits when the target goes away: %w", err)
			}
		}
		if _, err := b.ni.ReadRegister(ctx, 0); wraps(err, hostdrv.ErrGone) != nil {
			return fmt.Errorf("a call after the target has gone away: %w", wraps(err, hostdrv.ErrGone))
		}
		b.line.unplug(false)
		if err := errors.Join(b.reopen(ctx), b.tidy(ctx)); err != nil {
			return fmt.Errorf("opened again: %w", err)
		}
	}
	return nil
}

func replug(ctx context.Context, b *bench) error {
	for range 5 {
		l, words, err := b.numbered(ctx)
		if err != nil {
			return err
		}
		acknowledged := b.rng.IntN(words)
		for i := range words {
			if err := b.number(ctx, l, i); err != nil {
				return err
			}
			if i+1 == acknowledged {
				if err := b.ni.Sync(ctx, l.via); err != nil {
					return err
				}
			}
		}
		b.line.unplug(true)
		if err := wraps(b.ni.Sync(ctx, l.via), hostdrv.ErrGone); err != nil {
			return err
		}
		b.line.unplug(false)
		if err := errors.Join(b.reopen(ctx), b.arrived(ctx, l)); err != nil {
			return err
		}
		have := make([]byte, 4*words)
		if err := b.ni.ReadBuffer(ctx, have, 0); err != nil {
			return err
		}
		want := make([]byte, 0, 4*words)
		for i := range words {
			number := byte(i + 1)
			if i >= acknowledged && have[4*i] == 0 {
				number = 0 // lost, as all after it must be
				acknowledged = words
				for range words - i {
					want = append(want, 0, 0, 0, 0)
				}
				break
			}
			want = append(want, number, 0, 0, 0)
		}
		if err := differ(have, want); err != nil {
			return fmt.Errorf("of %d writes in order, of which the first were acknowledged: %w", words, err)
		}
		m, err := b.blank(ctx, 0, 1)
		if err != nil {
			return err
		}
		if err := errors.Join(b.arrived(ctx, l), b.check(ctx, m)); err != nil {
			return fmt.Errorf("after the cable was plugged in again: %w", err)
		}
	}
	return nil
}

func closeAnyTime(ctx context.Context, b *bench) error {
	for round := range 4 {
		n, c, err := b.one(ctx)
		if err != nil {
			return err
		}
		failed := b.busy(ctx, n, c)
		for range round {
			if _, err := b.ni.LinkStatus(ctx, 0); err != nil {
				return err
			}
		}
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- b.ni.Close() }()
		}
		if err := errors.Join(<-closed, <-closed); err != nil {
			return err
		}
		for err := range failed {
			if err := wraps(err, hostdrv.ErrClosed); err != nil {
				return fmt.Errorf("a call that waits when the driver is closed: %w", err)
			}
		}
		if err := errors.Join(b.drive(ctx, hostdrv.Options{}), b.tidy(ctx)); err != nil {
			return err
		}
	}
	return nil
}
