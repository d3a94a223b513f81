package hostdrv

import (
	"cmp"
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Write writes data into the receive buffer at the far end of a link, from addr. It returns when the writes are on their way, after
// waiting for room if need be; Sync returns once they have arrived. Each packet is written whole or not at all: it has a page's part of
// data, or less of it, so that three packets fit into the NI's replay buffer and the link need not wait for the host.
func (n *NI) Write(ctx context.Context, link, addr int, data []byte) error {
	if err := checkLink(n.identity, link); err != nil {
		return err
	}
	if addr < 0 || addr > 1<<32-len(data) {
		return fmt.Errorf("%w: no address %#x", ErrRange, addr)
	}
	most := n.identity.PageBytes
	for most > 1 && 3*linkproto.MaxPacket(most) > n.identity.ReplayBytes {
		most /= 2
	}
	for {
		part := data[:min(len(data), most-addr%most)]
		if err := n.Send(ctx, link, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: part}); err != nil {
			return err
		}
		if data, addr = data[len(part):], addr+len(part); len(data) == 0 {
			return nil
		}
	}
}

// Send sends a packet to the NI at the far end of a link, as it is: a WRITE, PAGE or CONNECT. It returns when the packet is on its
// way, after waiting for room if need be.
func (n *NI) Send(ctx context.Context, link int, p linkproto.Packet) error {
	if err := checkLink(n.identity, link); err != nil {
		return err
	}
	info := p.Type.Info()
	if info == nil || info.Dir&linkproto.OnLink == 0 {
		return fmt.Errorf("%w: a %v does not go over a link", ErrRange, p.Type)
	}
	most := n.identity.MaxPacket() - linkproto.HeaderBytes
	if own, bounded := info.MaxLength(); bounded {
		most = min(most, own)
	}
	if length := info.MinLength() + len(p.Data); length > most {
		return fmt.Errorf("%w: a %v of %d bytes, at most %d fit", ErrRange, p.Type, length, most)
	}
	p.Via = uint8(link)
	n.lock()
	sent, err := n.forward(&p)
	n.unlock()
	if sent || err != nil {
		return err
	}
	return n.sendLater(ctx, p)
}

// sendLater waits for room.
func (n *NI) sendLater(ctx context.Context, p linkproto.Packet) error {
	return attempt(ctx, n.until, fmt.Sprintf("room for a %v by link %d", p.Type, p.Via), func() (bool, error) { return n.forward(&p) })
}

// forward sends a packet if there is room, under the lock.
func (n *NI) forward(p *linkproto.Packet) (sent bool, err error) {
	if sent, err = n.core.Forward(p); sent {
		n.wakeOwner()
	}
	return sent, err
}

// attempt calls do under a lock, by until, which waits, again and again until it has done what it is to do, or has failed.
func attempt(ctx context.Context, until func(context.Context, string, func() bool) error, what string, do func() (bool, error)) error {
	var failed error
	waited := until(ctx, what, func() (done bool) {
		done, failed = do()
		return done || failed != nil
	})
	return cmp.Or(failed, waited)
}

// Sync waits until the peer's NI has acknowledged everything that was sent by a link before. It returns a LossError if packets sent by
// the link since the last one were lost.
func (n *NI) Sync(ctx context.Context, link int) error {
	if err := checkLink(n.identity, link); err != nil {
		return err
	}
	if err := n.drained(ctx, n.core.Cable(link), link); err != nil {
		return err
	}
	// The NI reports a packet as freed also when it was lost, and counts it then.
	sum, err := n.lossCount(ctx, link)
	if err != nil {
		return err
	}
	n.lock()
	defer n.unlock()
	if lost := n.core.TakeLosses(link, sum); lost > 0 {
		return &LossError{Link: link, Lost: lost}
	}
	return nil
}

// lossCount reads the sum of a link's loss counters.
func (n *NI) lossCount(ctx context.Context, link int) (sum uint32, err error) {
	var v [len(engine.LossCounters)]uint32
	b := n.Batch()
	for i, counter := range engine.LossCounters {
		b.ReadRegister(linkproto.CounterReg(link, counter), &v[i])
	}
	err = b.Run(ctx)
	for _, n := range v {
		sum += n
	}
	return sum, err
}

// drained waits until everything that was sent by a link before has left its queue, acknowledged or lost.
func (n *NI) drained(ctx context.Context, c carrier, link int) error {
	n.lock()
	mark := c.Mark()
	n.unlock()
	err := n.until(ctx, fmt.Sprintf("the peer of link %d to acknowledge", link), func() bool { return c.Freed() >= *mark })
	n.lock()
	c.Unmark(mark)
	n.unlock()
	return err
}
