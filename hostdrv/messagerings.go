package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/pagemem"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
)

// MessageRings is a context whose descriptors another process posts, by memory that it shares with this one: package serve has it.
type MessageRings interface {
	// Rings are the rings, until Close.
	Rings() *sharing.Rings
	// Pull takes what is posted. An error says that the context is closed.
	Pull() error
	// Wait waits until the program is to be told that there is a completion that it wants, which is not quiet. It is for one goroutine.
	Wait(ctx context.Context) error
	Stats() (msg.Stats, error)
	// Close ends the context, and gives its memory free. Nobody looks at Rings any more.
	Close() error
}

// messageRings is a MessageRings. The other process may write anything into the memory at any time: each word is read once, and checked, and a context whose program breaks the
// rules is closed.
type messageRings struct {
	ni       *NI
	context  *msg.Context
	memory   []byte
	rings    *sharing.Rings
	what     string // is waited for
	waiter   *wait.Waiter
	sends    uint64 // descriptors that were taken
	receives uint64
	done     uint64    // completions
	loud     uint64    // of them up to the last one that is not quiet
	urgent   uint64    // and up to the last one of these that is of a send, or a failure
	told     uint64    // of them, up to which who waits has been told
	several  bool      // that were more than one
	since    uint64    // tick in which the first one came that has not been told of
	last     uint64    // and the last one
	fresh    bool      // last is to be set
	burst    uint64    // so many messages at most come before who waits is told, while more are coming
	failed   error     // why it was closed
	asked    [2]uint64 // of what was taken, under NI.looking
	answers  bool      // the program was told of a completion, and has posted nothing since
}

// ErrRings is wrapped by the errors of a context whose program has broken the rules of its rings.
var ErrRings = errors.New("the descriptors in shared memory are wrong")

// ShareMessages opens a context of which another process is to have the rings: those are in the file, as info says.
func (node *Node) ShareMessages(ctx context.Context, number int, o msg.Options) (_ MessageRings, info sharing.ContextInfo, file *os.File, err error) {
	n := node.NI()
	if n == nil {
		return nil, info, nil, fmt.Errorf("%w: it is another process's", ErrOption)
	}
	if err := n.contextClosed(ctx, number); err != nil {
		return nil, info, nil, err
	}
	n.lock()
	defer n.unlock()
	c, err := n.openContext(number, o)
	if err != nil {
		return nil, info, nil, err
	}
	o = o.Filled()
	info = sharing.ContextInfo{Node: n.node, Sends: o.Sends, Receives: o.Receives, Longest: c.Longest(), LongestCast: c.LongestCast()}
	r := &messageRings{ni: n, context: c, what: completionOf(number), burst: uint64(min(mostBurst, o.Receives/2))}
	if r.memory, file, err = pagemem.NewShared(info.Bytes()); err == nil {
		r.rings, err = info.Rings(r.memory)
	}
	if err != nil {
		c.Close()
		return nil, info, nil, err
	}
	r.waiter = wait.NewWaiter(func() bool { return r.wanted() || r.err() != nil })
	r.waiter.Patient, r.waiter.Wants = true, func() bool { _, waits := r.rings.Wanted(); return waits }
	r.rings.Sleep()
	c.Deliver(r.complete)
	n.looking.Lock()
	n.shared = append(n.shared, r)
	n.looking.Unlock()
	return r, info, file, nil
}

func (r *messageRings) Rings() *sharing.Rings { return r.rings }

// complete puts a completion into its ring.
func (r *messageRings) complete(done msg.Completion) {
	d := sharing.Done{Index: uint16(done.Cookie), Received: done.Received, Node: done.Node, Tag: done.Tag, Length: uint32(len(done.Data))}
	if peer, is := errors.AsType[*msg.PeerError](done.Err); is {
		d.Failed, d.Length = uint8(1+slices.Index(msg.Reasons[:], peer.Why)), uint32(peer.Node)
	} else if long, is := errors.AsType[*msg.TooLongError](done.Err); is {
		d.Failed, d.Length = 1, uint32(long.Bytes)
	} else if done.Err != nil {
		d.Failed = sharing.FailedSilent // with other errors the NI has failed, and the context with it
	}
	r.rings.Done.Complete(r.done, d)
	r.done++
	switch {
	case done.Quiet:
		return
	case !done.Received || done.Err != nil:
		r.urgent = r.done
	case r.told >= r.loud:
		r.since = r.ni.core.Now()
	}
	r.loud, r.fresh = r.done, true
}

// Who waits for messages is told of several of a burst together, as waking it costs as much as a message does, or more.
const (
	mostBurst = 16 // messages
	burstGap  = 64 // ticks between two of a burst
)

// due reports whether who has seen so many completions is to be told of more: at once, unless a packet is coming that may bring another one.
func (r *messageRings) due(seen uint64) bool {
	core, more := r.ni.core, r.loud-seen
	if r.fresh { // by now the time in which it came has passed
		r.last, r.fresh = core.Now(), false
	}
	switch {
	case r.loud <= seen:
		return false
	case r.urgent > seen, more >= r.burst, core.Now()-r.since > mostBurst*uint64(core.MaxPacket()):
	case core.Arriving(), (more > 1 || r.several) && core.Now()-r.last < burstGap:
		r.ni.held = true
		return false
	}
	r.told, r.several = r.loud, more > 1
	return true
}

func (r *messageRings) Pull() error {
	r.ni.lock()
	defer r.ni.unlock()
	return r.pull()
}

// pull is Pull for the lock held.
func (r *messageRings) pull() error {
	if err := r.err(); err != nil {
		return err
	}
	before := r.sends + r.receives
	r.ni.looking.Lock()
	r.asked = r.rings.Asked()
	r.ni.looking.Unlock()
	err := r.take(&r.rings.Receives, &r.receives, func(p sharing.Post, data []byte) error {
		return r.context.PostReceive(msg.Receive{Data: data, Cookie: uint64(p.Index)})
	})
	if err == nil {
		err = r.take(&r.rings.Sends, &r.sends, func(p sharing.Post, data []byte) error {
			return r.context.PostSend(msg.Send{Node: p.Node, Tag: p.Tag, Data: data, Cookie: uint64(p.Index), Quiet: p.Quiet})
		})
	}
	if err != nil {
		r.failed = fmt.Errorf("%w: %w", ErrRings, err)
		r.ni.closeContext(r.context)
		return r.failed
	}
	r.ni.release()
	if _, waits := r.rings.Wanted(); waits || r.sends+r.receives != before {
		r.answers = false
		r.ni.wakeOwner()
	}
	return nil
}

// take takes what is posted in a ring, of which taken was before.
func (r *messageRings) take(ring *sharing.Ring, taken *uint64, post func(sharing.Post, []byte) error) error {
	posted := ring.Count()
	if posted-*taken > ring.Len() {
		return fmt.Errorf("%d are posted after %d, in a ring of %d", posted, *taken, ring.Len())
	}
	for ; *taken != posted; *taken++ {
		p := ring.Posted(*taken)
		end := uint64(p.Offset) + uint64(p.Length)
		if end > uint64(len(r.rings.Area)) {
			return fmt.Errorf("number %d is of bytes %d to %d, there are %d", *taken, p.Offset, end, len(r.rings.Area))
		}
		if err := post(p, r.rings.Area[p.Offset:end:end]); err != nil {
			return fmt.Errorf("number %d: %w", *taken, err)
		}
	}
	return nil
}

// attend takes what was posted before time goes on, where it stands still otherwise. From then on programs tell. It is for the owner, under the lock.
func (n *NI) attend() {
	if !n.timing.VirtualTime {
		return
	}
	for _, r := range n.shared {
		if r.rings.Sleep(); r.rings.Asked() != r.asked && r.err() == nil {
			_ = r.pull() // Wait returns it
		}
	}
}

// look is Exchange.Look.
func (n *NI) look(last bool) (asked bool) {
	n.looking.Lock()
	defer n.looking.Unlock()
	for _, r := range n.shared {
		if last {
			r.rings.Sleep()
		} else {
			r.rings.Wake()
		}
		asked = asked || r.rings.Asked() != r.asked
	}
	return asked
}

func (r *messageRings) err() error {
	if r.failed != nil {
		return r.failed
	}
	return r.context.Err()
}

// wanted reports whether what the program waits for is there, and it is to be told.
func (r *messageRings) wanted() bool {
	seen, waits := r.rings.Wanted()
	if !waits {
		return false
	}
	if seen > r.told {
		r.told, r.since = seen, r.ni.core.Now()
	}
	tell := r.due(seen) && r.rings.Tell(seen)
	r.answers = r.answers || tell
	return tell
}

// answers reports whether a program may answer what it was told of. It is for the lock held.
func (n *NI) answers() bool {
	return slices.ContainsFunc(n.shared, func(r *messageRings) bool { return r.answers })
}

func (r *messageRings) Wait(ctx context.Context) error {
	if err := r.ni.await(ctx, r.what, r.waiter); err != nil {
		return err
	}
	r.ni.lock()
	defer r.ni.unlock()
	return r.err()
}

func (r *messageRings) Stats() (msg.Stats, error) {
	r.ni.lock()
	defer r.ni.unlock()
	return r.context.Stats(), nil
}

func (r *messageRings) Close() error {
	r.ni.lock()
	defer r.ni.unlock()
	r.ni.closeContext(r.context)
	r.ni.looking.Lock()
	defer r.ni.looking.Unlock()
	r.ni.shared = slices.DeleteFunc(r.ni.shared, func(other *messageRings) bool { return other == r })
	memory := r.memory
	r.memory = nil
	return pagemem.Unmap(memory)
}
