package conformance

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

var portCases = []Case{
	{"ports/connect", "Either end may create a port and ask the other to take its other end; both know its number and its parameters.",
		ports, "driver.md#lmmc", portConnect},
	{"ports/refuse", "A request that is refused tells why; the port is gone from the tables, and the next one works.",
		ports, "driver.md#lmmc", portRefuse},
	{"ports/many", "Ports that are open at once have numbers of their own, and pages of their own.",
		ports, "driver.md#lmmc", portMany},
	{"ports/delete", "After a port is deleted the receiver still sees what came before, then that it was closed; its frame is free.",
		ports, "driver.md#lmmc", portDelete},
	{"ports/misuse", "A receive port cannot be written nor a send port read, nor a page outside its bounds, nor a port before it is connected.",
		protection, "driver.md#lmmc", portMisuse},
}

func portConnect(ctx context.Context, b *bench) {
	n := b.node(ctx, b.id.Frames)
	for i, params := range []string{"", "greetings", string(b.noise(hostdrv.MaxParams)), "x"} {
		if len(params) > b.id.MaxPacket()-16 { // small pages hold fewer
			continue
		}
		c := n.connect(ctx, hostdrv.Direction(i%2), params)
		want := b.noise(b.id.PageBytes)
		try.OK(c.send.WritePage(ctx, want, 0))
		n.shows(ctx, c, want)
	}
	n.agree()
}

func portRefuse(ctx context.Context, b *bench) {
	n := b.node(ctx, b.id.Frames)
	p := try.Get(n.CreatePort(n.via, hostdrv.Send))
	err := ask(ctx, p, n.far, "who?", func(r *hostdrv.Request) { try.OK(r.Refuse("no such service")) })
	var refused *hostdrv.RefusedPortError
	switch {
	case !errors.As(err, &refused):
		try.Failf("a port that was refused: %w", err)
	case refused.Reason != "no such service":
		try.Failf("refused for %q, is told %q", "no such service", refused.Reason)
	}
	if left := n.ends(); len(left) > 0 {
		try.Failf("the tables still have %+v", left)
	}
	n.connect(ctx, hostdrv.Send, "again")
}

func portMany(ctx context.Context, b *bench) {
	n := b.node(ctx, b.id.Frames)
	count := max(2, min(64, b.symbols()/8/b.id.PageBytes))
	all := n.connectMany(ctx, count)
	numbers := map[uint32]bool{}
	pages := make([][]byte, count)
	for i, c := range all {
		numbers[c.send.Port().ID()] = true
		pages[i] = b.noise(b.id.PageBytes)
		try.OK(c.send.WritePage(ctx, pages[i], 0))
	}
	if len(numbers) != count {
		try.Failf("%d ports have %d numbers", count, len(numbers))
	}
	if have := len(n.ends()); have != 2*count {
		try.Failf("the tables have %d ends of %d ports", have, count)
	}
	for i, c := range all {
		n.shows(ctx, c, pages[i])
	}
	n.agree()
}

func portDelete(ctx context.Context, b *bench) {
	n := b.node(ctx, b.id.Frames)
	for range 3 {
		c := n.connect(ctx, hostdrv.Send, "")
		want := b.noise(b.id.PageBytes)
		try.OK(c.send.WritePage(ctx, want, 0), c.send.Port().Delete())
		try.Wrap(wraps(c.send.WritePage(ctx, want, 0), hostdrv.ErrPort), "a write to a port that was deleted")
		limit, cancel := b.soon(ctx, 1)
		last := make([]byte, b.id.PageBytes)
		err := c.receive.Wait(limit, func(page []byte) bool { copy(last, page); return false })
		cancel()
		try.Wrap(wraps(err, hostdrv.ErrPortClosed), "the receiver of a port that was deleted")
		try.Wrap(differ(last, want), "what the receiver saw last")
		if left := n.ends(); len(left) > 0 {
			try.Failf("the tables still have %+v", left)
		}
		for _, f := range n.far.Tables().Frames {
			if f.Port != 0 {
				try.Failf("frame %d still has port %d", f.Frame, f.Port)
			}
		}
	}
}

func portMisuse(ctx context.Context, b *bench) {
	n := b.node(ctx, b.id.Frames)
	p := try.Get(n.CreatePort(n.via, hostdrv.Send))
	_, err := p.Window()
	try.Wrap(wraps(err, hostdrv.ErrPort), "a port is mapped before it is connected")
	c := n.connect(ctx, hostdrv.Send, "")
	page := b.id.PageBytes
	links := n.Links()
	_, noLink := n.CreatePort(links[len(links)-1].Link+1, hostdrv.Send)
	for _, x := range []struct {
		what      string
		err, want error
	}{
		{"a write to a receive port", c.receive.WritePage(ctx, []byte{1}, 0), hostdrv.ErrPort},
		{"a read of a send port", c.send.ReadPage(ctx, []byte{1}, 0), hostdrv.ErrPort},
		{"a wait at a send port", c.send.Wait(ctx, func([]byte) bool { return true }), hostdrv.ErrPort},
		{"a policy for a receive port", c.receive.Port().SetWritePolicy(hostdrv.Late), hostdrv.ErrPort},
		{"a write past the page", c.send.WritePage(ctx, make([]byte, 2), page-1), hostdrv.ErrRange},
		{"a write before the page", c.send.WritePage(ctx, make([]byte, 1), -1), hostdrv.ErrRange},
		{"a write longer than the page", c.send.WritePage(ctx, make([]byte, page+1), 0), hostdrv.ErrRange},
		{"a read past the page", c.receive.ReadPage(ctx, make([]byte, 2), page-1), hostdrv.ErrRange},
		{"a port by no such link", noLink, hostdrv.ErrRange},
	} {
		try.Wrap(wraps(x.err, x.want), "%s", x.what)
	}
}
