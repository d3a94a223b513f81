package conformance

import (
	"context"
	"errors"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
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

func restartProgram(ctx context.Context, b *bench) {
	for range 4 {
		value, data := b.rng.Uint32(), b.noise(b.id.PageBytes)
		entry := hostdrv.FrameEntry{Link: 1 + b.rng.IntN(b.id.Links)}
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegScratch, value), b.ni.WriteBuffer(ctx, data, 0), b.ni.SetFrame(ctx, 0, entry))
		b.reopen(ctx)
		have := try.Get(b.ni.ReadRegister(ctx, linkproto.RegScratch))
		e := try.Get(b.ni.Frame(ctx, 0))
		switch {
		case b.ni.Identity() != b.id:
			try.Failf("the identity was %+v, and is %+v", b.id, b.ni.Identity())
		case have != value || e != entry:
			try.Failf("SCRATCH is %#x and frame 0 has %+v, they were left as %#x and %+v", have, e, value, entry)
		}
		try.OK(b.holds(ctx, 0, data))
	}
}

func restartMidway(ctx context.Context, b *bench) {
	for range 3 {
		l, words := b.numbered(ctx)
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
			try.Get(ni.LinkStatus(ctx, 0))
		}
		err := ni.Close()
		users.Wait()
		try.OK(err, b.drive(ctx, hostdrv.Options{}))
		// What the NI had queued arrives, in order, before what the new program sends; and then no more.
		try.OK(b.arrived(ctx, l))
		m := b.blank(ctx, 0, 1)
		try.OK(b.arrived(ctx, l), b.check(ctx, m))
	}
	scratch(ctx, b)
}

func restartNode(ctx context.Context, b *bench) {
	for range 3 {
		c := b.crowd(ctx, 2, 2)
		for i := range c.ports {
			try.OK(c.write(ctx, i))
		}
		c.end(ctx)
		b.reopen(ctx)
	}
}

func restartReset(ctx context.Context, b *bench) {
	if b.line.resetter == nil {
		skipf("the target's transport cannot reset the network interface")
	}
	l, words := b.numbered(ctx)
	for range 3 {
		b.grant(ctx, l.at, 0)
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegScratch, 5))
		for i := range b.rng.IntN(words) {
			try.OK(b.number(ctx, l, i))
		}
		nonce := try.Get(b.ni.ReadRegister(ctx, linkproto.RegNonce))
		try.OK(b.ni.WriteRegister(ctx, linkproto.RegNodeID, 1+b.rng.Uint32()), b.line.resetter.Reset())
		try.OK(b.number(ctx, l, 0))
		try.Wrap(wraps(b.ni.Sync(ctx, l.via), hostdrv.ErrReset), "a Sync after the network interface was reset")
		_, err := b.ni.ReadRegister(ctx, 0)
		try.Wrap(wraps(err, hostdrv.ErrReset), "a read after that")
		b.reopen(ctx)
		b.reads(ctx, linkproto.RegScratch, 0, "as after every reset")
		b.reads(ctx, linkproto.RegNodeID, 0, "as after every reset")
		if now := try.Get(b.ni.ReadRegister(ctx, linkproto.RegNonce)); now == 0 || now == nonce {
			try.Failf("NONCE is %#x after a reset and a driver that opened it, and was %#x", now, nonce)
		}
		b.becomes(ctx, l.via, "up", func(s hostdrv.LinkStatus) bool { return s.Up })
		for frame := range b.id.Frames {
			if e := try.Get(b.ni.Frame(ctx, frame)); e.Link != 0 {
				try.Failf("frame %d has %+v after a reset", frame, e)
			}
		}
	}
	scratch(ctx, b)
}

// busy runs calls of all kinds, each again and again until it fails, and returns what they failed with.
func (b *bench) busy(ctx context.Context, n *node, c channel) <-chan error {
	const each = 2
	ni := b.ni
	calls := []func() error{
		func() error { _, err := ni.ReadRegister(ctx, 0); return err },
		func() error { return ni.ReadBuffer(ctx, make([]byte, b.id.PageBytes), 0) },
		func() error { return ni.Sync(ctx, 1) },
		func() error { return c.send.WritePage(ctx, make([]byte, 8), 0) },
		func() error { return c.send.Sync(ctx) },
		func() error { _, err := n.Accept(ctx); return err },
	}
	if n.far == n.Node {
		calls = append(calls, func() error { return c.receive.Wait(ctx, func([]byte) bool { return false }) })
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

func unplugPending(ctx context.Context, b *bench) {
	for round := range 3 {
		n, c := b.one(ctx)
		failed := b.busy(ctx, n, c)
		for range 3 * round {
			try.Get(b.ni.LinkStatus(ctx, 0))
		}
		b.line.unplug(true)
		for err := range failed {
			try.Wrap(wraps(err, hostdrv.ErrGone), "a call that waits when the target goes away")
		}
		_, err := b.ni.ReadRegister(ctx, 0)
		try.Wrap(wraps(err, hostdrv.ErrGone), "a call after the target has gone away")
		b.line.unplug(false)
		try.Wrap(try.Run(func() { b.reopen(ctx); b.tidy(ctx) }), "opened again")
	}
}

func replug(ctx context.Context, b *bench) {
	for range 5 {
		l, words := b.numbered(ctx)
		acknowledged := b.rng.IntN(words)
		for i := range words {
			try.OK(b.number(ctx, l, i))
			if i+1 == acknowledged {
				try.OK(b.ni.Sync(ctx, l.via))
			}
		}
		b.line.unplug(true)
		try.OK(wraps(b.ni.Sync(ctx, l.via), hostdrv.ErrGone))
		b.line.unplug(false)
		b.reopen(ctx)
		try.OK(b.arrived(ctx, l))
		have := make([]byte, 4*words)
		try.OK(b.ni.ReadBuffer(ctx, have, 0))
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
		try.Wrap(differ(have, want), "of %d writes in order, of which the first were acknowledged", words)
		m := b.blank(ctx, 0, 1)
		try.Wrap(errors.Join(b.arrived(ctx, l), b.check(ctx, m)), "after the cable was plugged in again")
	}
}

func closeAnyTime(ctx context.Context, b *bench) {
	for round := range 4 {
		n, c := b.one(ctx)
		failed := b.busy(ctx, n, c)
		for range round {
			try.Get(b.ni.LinkStatus(ctx, 0))
		}
		closed := make(chan error, 2)
		for range 2 {
			go func() { closed <- b.ni.Close() }()
		}
		try.OK(<-closed, <-closed)
		for err := range failed {
			try.Wrap(wraps(err, hostdrv.ErrClosed), "a call that waits when the driver is closed")
		}
		try.OK(b.drive(ctx, hostdrv.Options{}))
		b.tidy(ctx)
	}
}
