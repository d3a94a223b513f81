package conformance

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
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

func portConnect(ctx context.Context, b *bench) error {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	for i, params := range []string{"", "greetings", string(b.noise(hostdrv.MaxParams)), "x"} {
		if len(params) > b.id.MaxPacket()-16 { // small pages hold fewer
			continue
		}
		c, err := n.connect(ctx, hostdrv.Direction(i%2), params)
		if err != nil {
			return err
		}
		want := b.noise(b.id.PageBytes)
		if err := errors.Join(c.send.WritePage(ctx, want, 0), n.shows(ctx, c, want)); err != nil {
			return err
		}
	}
	return n.agree()
}

func portRefuse(ctx context.Context, b *bench) error {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	limit, cancel := context.WithCancel(ctx)
	defer cancel()
	p, err := n.CreatePort(n.via, hostdrv.Send)
	if err != nil {
		return err
	}
	connected := make(chan error, 1)
	go func() { connected <- p.Connect(limit, []byte("who?")) }()
	r, err := n.Accept(limit)
	if err == nil {
		err = r.Refuse("no such service")
	}
	if err != nil {
		cancel()
		return errors.Join(err, <-connected)
	}
	var refused *hostdrv.RefusedPortError
	switch err := <-connected; {
	case !errors.As(err, &refused):
		return fmt.Errorf("a port that was refused: %w", err)
	case refused.Reason != "no such service":
		return fmt.Errorf("refused for %q, is told %q", "no such service", refused.Reason)
	}
	if left := n.Tables().Ports; len(left) > 0 {
		return fmt.Errorf("the tables still have %+v", left)
	}
	_, err = n.connect(ctx, hostdrv.Send, "again")
	return err
}

func portMany(ctx context.Context, b *bench) error {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	count := max(2, min(64, b.symbols()/8/b.id.PageBytes))
	all, err := n.connectMany(ctx, count)
	if err != nil {
		return err
	}
	numbers := map[uint32]bool{}
	pages := make([][]byte, count)
	for i, c := range all {
		numbers[c.send.Port().ID()] = true
		pages[i] = b.noise(b.id.PageBytes)
		if err := c.send.WritePage(ctx, pages[i], 0); err != nil {
			return err
		}
	}
	if len(numbers) != count {
		return fmt.Errorf("%d ports have %d numbers", count, len(numbers))
	}
	if have := len(n.Tables().Ports); have != 2*count {
		return fmt.Errorf("the tables have %d ends of %d ports", have, count)
	}
	for i, c := range all {
		if err := n.shows(ctx, c, pages[i]); err != nil {
			return err
		}
	}
	return n.agree()
}

func portDelete(ctx context.Context, b *bench) error {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	for range 3 {
		c, err := n.connect(ctx, hostdrv.Send, "")
		if err != nil {
			return err
		}
		want := b.noise(b.id.PageBytes)
		if err := errors.Join(c.send.WritePage(ctx, want, 0), c.send.Port().Delete()); err != nil {
			return err
		}
		if err := wraps(c.send.WritePage(ctx, want, 0), hostdrv.ErrPort); err != nil {
			return fmt.Errorf("a write to a port that was deleted: %w", err)
		}
		limit, cancel := b.soon(ctx, 1)
		last := make([]byte, b.id.PageBytes)
		err = c.receive.Wait(limit, func(page []byte) bool { copy(last, page); return false })
		cancel()
		if err := wraps(err, hostdrv.ErrPortClosed); err != nil {
			return fmt.Errorf("the receiver of a port that was deleted: %w", err)
		}
		if err := differ(last, want); err != nil {
			return fmt.Errorf("what the receiver saw last: %w", err)
		}
		t := n.Tables()
		if len(t.Ports) > 0 {
			return fmt.Errorf("the tables still have %+v", t.Ports)
		}
		for _, f := range t.Frames {
			if f.Port != 0 {
				return fmt.Errorf("frame %d still has port %d", f.Frame, f.Port)
			}
		}
	}
	return nil
}

func portMisuse(ctx context.Context, b *bench) error {
	n, err := b.node(ctx, b.id.Frames)
	if err != nil {
		return err
	}
	p, err := n.CreatePort(n.via, hostdrv.Send)
	if err != nil {
		return err
	}
	if _, err := p.Window(); wraps(err, hostdrv.ErrPort) != nil {
		return fmt.Errorf("a port is mapped before it is connected: %w", wraps(err, hostdrv.ErrPort))
	}
	c, err := n.connect(ctx, hostdrv.Send, "")
	if err != nil {
		return err
	}
	page := b.id.PageBytes
	_, noLink := n.CreatePort(b.id.Links+1, hostdrv.Send)
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
		if err := wraps(x.err, x.want); err != nil {
			return fmt.Errorf("%s: %w", x.what, err)
		}
	}
	return nil
}
