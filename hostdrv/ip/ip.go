package ip

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Options say how to make an interface. The zero value suits most programs.
type Options struct {
	Name      string         // of the interface, in which %d is the first number that is free; "" is lmmc%d
	Addresses []netip.Prefix // as Address takes them
	MTU       int            // bytes of an IP packet; 0: as many as fit
	Link      int            // by which the way to other nodes leads; 0: 1
	Peers     []uint16       // nodes that get broadcasts and multicasts
}

// Counts are what an interface has done with frames.
type Counts struct {
	Sent      uint64 `json:"sent"`      // packets, by datagrams
	Received  uint64 `json:"received"`  // packets, by datagrams
	Cut       uint64 `json:"cut"`       // packets of the kernel's that were cut into segments of TCP
	Answered  uint64 `json:"answered"`  // questions for neighbours
	Group     uint64 `json:"group"`     // broadcasts and multicasts dropped, without Options.Peers
	Foreign   uint64 `json:"foreign"`   // dropped: neither IPv4 nor IPv6, or to a MAC that no node has
	TooLong   uint64 `json:"too_long"`  // dropped: longer than the MTU
	Malformed uint64 `json:"malformed"` // dropped: what is wrong
	Down      uint64 `json:"down"`      // dropped: to the kernel while the interface is set down
}

// counters are Counts that may be read at any time.
type counters struct{ sent, received, cut, answered, group, foreign, tooLong, malformed, down atomic.Uint64 }

// tap is the kernel's end.
type tap interface {
	io.ReadWriteCloser
	name() string
}

// datagrams is the network's end, as hostdrv.Datagrams.
type datagrams interface {
	Send(ctx context.Context, d hostdrv.Datagram) error
	Next(ctx context.Context) (hostdrv.Datagram, error)
	Close() error
}

// Interface is a network interface of the kernel whose packets go by a node. It is there until Run returns. Up makes it; the methods of a zero Interface do nothing.
type Interface struct {
	tap      tap
	network  datagrams
	node     uint16
	mtu      int
	prefixes []netip.Prefix
	peers    []uint16
	counts   counters
}

// leastMTU is what IPv4 asks of a link; IPv6 asks for 1280, and the kernel leaves it out below.
const leastMTU = 68

// ErrGone says that the interface was removed, as by Down.
var ErrGone = errors.New("the network interface was removed")

// Up makes an interface of a node.
func Up(ctx context.Context, node *hostdrv.Node, o Options) (*Interface, error) {
	number, err := node.ReadRegister(ctx, linkproto.RegNodeID)
	if err != nil {
		return nil, err
	}
	f := &Interface{node: uint16(number), mtu: o.MTU, peers: slices.DeleteFunc(slices.Clone(o.Peers), func(p uint16) bool { return uint32(p) == number })}
	if !isNode(uint64(number)) {
		return nil, fmt.Errorf("%w: the node has number %d, want 1 to %d: give it one (--node), or its server does (lmmc serve --node)", hostdrv.ErrOption, number, linkproto.MaxNode)
	}
	most := node.MaxDatagram()
	if f.mtu == 0 {
		f.mtu = most
	}
	if f.mtu < leastMTU || f.mtu > most {
		return nil, fmt.Errorf("%w: MTU %d: want %d to %d, which is what fits into a datagram", hostdrv.ErrRange, f.mtu, leastMTU, most)
	}
	for _, p := range o.Addresses {
		own, err := Address(f.node, p)
		if err != nil {
			return nil, err
		}
		if own.Addr().Is6() && f.mtu < 1280 {
			return nil, fmt.Errorf("%w: %v: IPv6 needs an MTU of 1280 bytes, and this is %d: pages of 2048 bytes give that", ErrAddress, p, f.mtu)
		}
		f.prefixes = append(f.prefixes, own)
	}
	for _, p := range f.peers {
		if !isNode(uint64(p)) {
			return nil, fmt.Errorf("%w: no node %d", hostdrv.ErrRange, p)
		}
	}
	if f.network, err = node.Datagrams(ctx, max(o.Link, 1)); err != nil {
		return nil, err
	}
	name := o.Name
	if name == "" {
		name = "lmmc%d"
	}
	if f.tap, err = openTAP(name, f.node, f.mtu, f.prefixes); err != nil {
		return nil, errors.Join(err, f.network.Close())
	}
	return f, nil
}

// Name is what the kernel calls the interface.
func (f *Interface) Name() string {
	if f.tap == nil {
		return ""
	}
	return f.tap.name()
}

// Node is the number of the node.
func (f *Interface) Node() uint16 { return f.node }

// MTU is how many bytes an IP packet may have.
func (f *Interface) MTU() int { return f.mtu }

// Addresses are the interface's.
func (f *Interface) Addresses() []netip.Prefix { return slices.Clone(f.prefixes) }

// Counts returns what has been done so far.
func (f *Interface) Counts() Counts {
	c := &f.counts
	return Counts{c.sent.Load(), c.received.Load(), c.cut.Load(), c.answered.Load(), c.group.Load(), c.foreign.Load(), c.tooLong.Load(), c.malformed.Load(), c.down.Load()}
}

// Run passes packets until ctx ends, the node fails, or the interface is removed, with why; then there is no interface any more.
func (f *Interface) Run(ctx context.Context) error {
	if f.tap == nil {
		return hostdrv.ErrClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var work sync.WaitGroup
	for _, pass := range []func(context.Context) error{f.send, f.receive} {
		work.Go(func() { cancel(pass(ctx)) })
	}
	<-ctx.Done()
	err := errors.Join(f.tap.Close(), f.network.Close())
	work.Wait()
	return errors.Join(context.Cause(ctx), err)
}

// maxFrame is the longest that the kernel gives.
const maxFrame = offloadBytes + etherHeader + 1<<16

// send passes what the kernel sends.
func (f *Interface) send(ctx context.Context) error {
	for frame := make([]byte, maxFrame); ; {
		n, err := f.tap.Read(frame)
		if err != nil {
			return tapError(err)
		}
		if err := f.sendFrame(ctx, frame[:n]); err != nil {
			return err
		}
	}
}

// sendFrame passes a frame as the TAP gives it.
func (f *Interface) sendFrame(ctx context.Context, frame []byte) error {
	if len(frame) < offloadBytes+etherHeader+1 {
		f.counts.malformed.Add(1)
		return nil
	}
	left, frame := decodeOffload(frame), frame[offloadBytes:]
	if reply, asks := f.answer(frame); asks {
		if reply == nil {
			return nil
		}
		return f.give(append(make([]byte, offloadBytes, offloadBytes+len(reply)), reply...), &f.counts.answered)
	}
	etherType := binary.BigEndian.Uint16(frame[12:])
	to := f.peers
	if frame[0]&1 == 0 {
		node, ok := nodeOfMAC(frame[:6])
		if to = []uint16{node}; !ok {
			etherType = 0
		}
	}
	switch {
	case etherType != typeIPv4 && etherType != typeIPv6:
		f.counts.foreign.Add(1)
		return nil
	case len(to) == 0:
		f.counts.group.Add(1)
		return nil
	case left.kind != gsoNone:
		f.counts.cut.Add(1)
	}
	var failed error
	err := left.finish(frame[etherHeader:], func(packet []byte) error {
		if len(packet) > f.mtu {
			f.counts.tooLong.Add(1)
			return nil
		}
		for _, node := range to {
			if failed = f.network.Send(ctx, hostdrv.Datagram{Node: node, EtherType: etherType, Data: packet}); failed != nil {
				return failed
			}
			f.counts.sent.Add(1)
		}
		return nil
	})
	if failed == nil && err != nil {
		f.counts.malformed.Add(1)
	}
	return failed
}

// receive passes what comes to the kernel.
func (f *Interface) receive(ctx context.Context) error {
	for frame := []byte(nil); ; {
		d, err := f.network.Next(ctx)
		if err != nil {
			return err
		}
		switch {
		case d.EtherType != typeIPv4 && d.EtherType != typeIPv6:
			f.counts.foreign.Add(1)
			continue
		case len(d.Data) == 0:
			f.counts.malformed.Add(1)
			continue
		case len(d.Data) > f.mtu:
			f.counts.tooLong.Add(1)
			continue
		}
		to, from := MAC(f.node), MAC(d.Node)
		frame = append(append(append(frame[:0], make([]byte, offloadBytes)...), to[:]...), from[:]...)
		frame = append(binary.BigEndian.AppendUint16(frame, d.EtherType), d.Data...)
		if err := f.give(frame, &f.counts.received); err != nil {
			return err
		}
	}
}

// give gives the kernel a frame, and counts it.
func (f *Interface) give(frame []byte, count *atomic.Uint64) error {
	_, err := f.tap.Write(frame)
	switch {
	case errors.Is(err, syscall.EIO): // it is set down, and may be set up again
		count = &f.counts.down
	case err != nil:
		return tapError(err)
	}
	count.Add(1)
	return nil
}

// tapError says what an error of the TAP means.
func tapError(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrGone, err)
}
