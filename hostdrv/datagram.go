package hostdrv

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/linkproto"
)

// Datagram is a frame of a kernel, from or to another node of the network.
type Datagram struct {
	Node      uint16 // the other one; of one that is sent it may be a multicast group (NI.MakeGroup)
	EtherType uint16 // what Data is, as in the header of an Ethernet frame
	Data      []byte
}

// Datagrams are the frames that kernels exchange by an NI, each in a MESSAGE (package ip). The network may lose, double and reorder them, but damages none. Close
// ends them. Methods may be called from any goroutine.
type Datagrams struct{ backend datagramBackend }

// datagramBackend is what those of an NI of this process do in another way than those of another one's.
type datagramBackend interface {
	send(ctx context.Context, d Datagram) error
	next(ctx context.Context) (Datagram, error)
	close() error
}

// datagramQueue is how many frames wait for Next. What comes beyond is dropped, and counted (NodeStats.Undelivered).
const datagramQueue = 256

// maxDatagram is how many bytes of data a Datagram has at most.
func maxDatagram(id Identity) int {
	message := linkproto.Packet{Type: linkproto.TypeMessage}
	return max(id.MaxPacket()-message.Size(), 0)
}

// Datagrams gives the frames of kernels to this program, and sends its own by a link; ErrLimit says that another one has them already. It works beside ports. The NI
// must take routed packets, or the node relay them (NodeOptions.Relay), and have a number. Of the programs that share an NI, those of the server's user and of root may have them.
func (node *Node) Datagrams(ctx context.Context, link int) (*Datagrams, error) {
	id := node.Identity()
	if id.Links > 0 && (link < 1 || link > id.Links) {
		return nil, checkLink(id, link)
	}
	backend, err := node.on().datagrams(ctx, link)
	if err != nil {
		return nil, err
	}
	return &Datagrams{backend}, nil
}

// MaxDatagram is how many bytes of data a Datagram has at most.
func (node *Node) MaxDatagram() int { return maxDatagram(node.Identity()) }

// Send sends a frame, after waiting for room if need be. Nobody tells what is lost on the way.
func (d *Datagrams) Send(ctx context.Context, frame Datagram) error {
	switch {
	case d.backend == nil:
		return ErrClosed
	case frame.Node == 0 || frame.Node > linkproto.MaxNode && frame.Node < linkproto.MulticastBase:
		return fmt.Errorf("%w: no node %d, want 1 to %d, or a group from %#x on", ErrRange, frame.Node, linkproto.MaxNode, linkproto.MulticastBase)
	}
	return d.backend.send(ctx, frame)
}

// Next waits for a frame.
func (d *Datagrams) Next(ctx context.Context) (Datagram, error) {
	if d.backend == nil {
		return Datagram{}, ErrClosed
	}
	return d.backend.next(ctx)
}

// Close gives the frames free for another program.
func (d *Datagrams) Close() error {
	if d.backend == nil {
		return ErrClosed
	}
	return d.backend.close()
}

// localDatagrams are those of an NI of this process.
type localDatagrams struct {
	n    *NI
	link int
	came chan Datagram
	over chan struct{} // closed by close
	once sync.Once
}

func (n *NI) datagrams(_ context.Context, link int) (datagramBackend, error) {
	n.lock()
	defer n.unlock()
	if err := n.routes(); err != nil {
		return nil, err
	}
	switch {
	case n.core.Err() != nil:
		return nil, n.core.Err()
	case n.node == 0:
		return nil, fmt.Errorf("%w: the network interface has no number to send from; open it with Options.NodeID", ErrOption)
	case n.kernel != nil:
		return nil, fmt.Errorf("%w: another program has this network interface's datagrams: end its lmmc ip up", ErrLimit)
	}
	n.kernel = &localDatagrams{n: n, link: link, came: make(chan Datagram, datagramQueue), over: make(chan struct{})}
	return n.kernel, nil
}

// message takes a MESSAGE that came in a datagram. It is for the lock held.
func (n *NI) message(src uint16, p linkproto.Packet) {
	if c := n.contexts[msg.CastOf(&p)]; c != nil && c.Cast(src, &p) {
		return
	}
	if n.kernel != nil && src != 0 && src <= linkproto.MaxNode && p.MsgTag <= math.MaxUint16 && int64(p.Rest) == int64(len(p.Data)) {
		select {
		case n.kernel.came <- Datagram{src, uint16(p.MsgTag), bytes.Clone(p.Data)}:
			n.delivered++
			return
		default:
		}
	}
	n.undelivered++
}

func (d *localDatagrams) send(ctx context.Context, frame Datagram) error {
	select {
	case <-d.over:
		return ErrClosed
	default:
	}
	return d.n.SendRouted(ctx, d.link, frame.Node, linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: uint32(frame.EtherType), Rest: uint32(len(frame.Data)), Data: frame.Data})
}

func (d *localDatagrams) next(ctx context.Context) (Datagram, error) {
	select {
	case frame := <-d.came:
		return frame, nil
	case <-d.over:
		return Datagram{}, ErrClosed
	case <-d.n.Done():
		return Datagram{}, d.n.Err()
	case <-ctx.Done():
		return Datagram{}, fmt.Errorf("waiting for a datagram: %w", context.Cause(ctx))
	}
}

func (d *localDatagrams) close() error {
	d.once.Do(func() {
		close(d.over)
		d.n.lock()
		d.n.kernel = nil
		d.n.unlock()
	})
	return nil
}
