package hostdrv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
	"github.com/stafflink/lmmc/linkproto"
)

// Options say how to open an NI. The zero value suits most programs.
type Options struct {
	// Hash is the hash of the RTL sources that the NI must have been built from, as package rtl computes it; 0 takes any.
	Hash uint64
	// LinkTimeout is how long, in the target's time, the link to the NI may be down before whatever waits for it fails with ErrSilent;
	// 0 leaves it to the transport.
	LinkTimeout time.Duration
	// NodeID, unless 0, is the node id that the NI tells the others; 0 leaves the one that it has. An NI that gets another one starts its links again.
	NodeID uint16
	// Seed, unless 0, decides what is random otherwise: the nonce of an NI that has none yet, the first epoch and the first tag. A program that starts again on the same
	// NI should not use the same seed, nor one that opens an NI which this one's links lead to.
	Seed uint64
	// Wrap, unless nil, is called with a transport once it is there, and returns the one that is used in its place: one that records, or
	// that damages what it carries. The target's text is "" for New.
	Wrap func(target string, t Transport) Transport
	// Reopen, unless 0, is for how long, in real time, the driver tries to open a target again that has gone away, as after it was unplugged. Until then
	// calls wait; afterwards everything ends with ErrGone. When it comes back the cable's link starts again, with all that
	// follows from that (RestartError, LossError, Restart). An NI that was without power meanwhile is one that was reset (ErrReset), and
	// one with another identity is refused (IdentityError). Simulations do not go away. New cannot open its transport again,
	// and refuses the option.
	Reopen time.Duration
}

// NI is an open network interface. All methods may be called from any goroutine at any time.
type NI struct {
	transport Transport
	timing    Timing
	identity  Identity
	node      uint16        // the NI's number; 0 if it has none
	stopped   chan struct{} // closed when the owner has returned

	mu        sync.Mutex
	core      *engine.Core
	waiters   wait.List
	remotes   []*remote // requests to other nodes that wait
	remoteTag uint8     // of the next
	released  int       // waiters taken from the list whose goroutines have not run since
	resumed   sync.Cond // the last of them has
	timed     int       // limits and sleeps that are underway
	mapped    int       // pages that programs see as memory
	asleep    bool      // the owner waits in Exchange
	held      bool      // who waits for messages waits for more of a burst
	notifies  bool      // it reports remote writes to the program
	groups    [linkproto.BarrierGroups]*localBarrier

	contexts [msg.LastContext + 1]*msg.Context // by number, the last one of each

	looking sync.Mutex      // taken after mu, if both are
	shared  []*messageRings // those of other processes, whose memory is there

	// For Datagrams.
	kernel                 *localDatagrams // the one that there is, or nil
	delivered, undelivered uint64
}

// lock locks the NI. A zero NI becomes one that was closed.
func (n *NI) lock() {
	n.mu.Lock()
	if n.core == nil {
		var err error
		if n.core, err = engine.New(engine.Config{Epoch: 1}); err != nil {
			panic(err) // the configuration is right
		}
		n.core.Fail(ErrClosed)
		n.stopped, n.timing.TicksPerSecond = closedChan, 1
	}
}

func (n *NI) unlock() { n.mu.Unlock() }

// Open opens a target: it brings the link to the NI up, reads its identity and refuses one that this program was not built for, with
// an IdentityError. An NI without a nonce, as after a reset, gets one, and its links begin to come up. A target where nothing answers gives ErrSilent, with
// ErrVersion one that speaks another version of the link protocol; one whose text is wrong ErrTarget; transports have errors of their
// own for what can be wrong with a cable.
func Open(ctx context.Context, target string, o Options) (*NI, error) {
	t, err := Dial(ctx, target)
	if err != nil {
		return nil, err
	}
	if o.Reopen > 0 && !t.Timing().VirtualTime {
		t = reopen(t, o.Reopen, func(ctx context.Context) (Transport, error) { return Dial(ctx, target) })
	}
	n, err := newNI(ctx, target, t, o)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", target, err)
	}
	return n, nil
}

// New is Open over a transport, which it closes if it fails; otherwise NI.Close does.
func New(ctx context.Context, t Transport, o Options) (*NI, error) {
	if o.Reopen > 0 {
		return nil, errors.Join(fmt.Errorf("%w: Reopen: a transport given to New cannot be opened again; use Open", ErrOption), t.Close())
	}
	return newNI(ctx, "", t, o)
}

func newNI(ctx context.Context, target string, t Transport, o Options) (*NI, error) {
	if o.Wrap != nil {
		t = o.Wrap(target, t)
	}
	rng := rand.New(rand.NewPCG(o.Seed, 1))
	if o.Seed == 0 {
		rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	n, err := start(t, o, rng)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	err = n.identify(ctx, o)
	if err == nil {
		err = n.name(ctx, o, rng)
	}
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func start(t Transport, o Options, rng *rand.Rand) (*NI, error) {
	timing := t.Timing()
	if timing.TicksPerSecond <= 0 || timing.Burst < 1 || timing.LinkTimeout < 1 {
		return nil, fmt.Errorf("wrong timing of the transport: %+v, want positive numbers", timing)
	}
	linkTimeout := timing.LinkTimeout
	if o.LinkTimeout > 0 {
		linkTimeout = int(max(o.LinkTimeout.Seconds()*timing.TicksPerSecond, 1))
	}
	c, err := engine.New(engine.Config{Epoch: uint8(1 + rng.IntN(255)), Tag: uint8(rng.IntN(linkproto.TagNone)), LinkTimeout: uint64(linkTimeout)})
	if err != nil {
		return nil, err
	}
	n := &NI{transport: t, timing: timing, core: c, stopped: make(chan struct{})}
	n.resumed.L = &n.mu
	c.Routed, n.remoteTag = n.routed, uint8(rng.Uint32())
	go n.own()
	return n, nil
}

// identify reads the identity, and where the accounts of the links begin.
func (n *NI) identify(ctx context.Context, o Options) error {
	var v [len(engine.IdentityRegs)]uint32
	b := n.Batch()
	for i, r := range engine.IdentityRegs {
		b.ReadRegister(r, &v[i])
	}
	if err := b.Run(ctx); err != nil {
		return err
	}
	id := engine.NewIdentity(v)
	if err := id.Check(o.Hash); err != nil {
		return err
	}
	n.identity = id
	lost := make([]uint32, id.Links)
	for i := range lost {
		var err error
		if lost[i], err = n.lossCount(ctx, i+1); err != nil {
			return err
		}
	}
	n.lock()
	defer n.unlock()
	n.core.Identified(id, n.timing.Burst, n.timing.AckCoalesce, lost)
	n.wakeOwner()
	return n.core.Err()
}

// name gives the NI a node id, and a nonce if it has none yet: without one its links carry nothing.
func (n *NI) name(ctx context.Context, o Options, rng *rand.Rand) error {
	for {
		id, nonce := uint32(0), uint32(0)
		if err := n.run(ctx, func(b *Batch) {
			b.ReadRegister(linkproto.RegNodeID, &id)
			b.ReadRegister(linkproto.RegNonce, &nonce)
		}); err != nil {
			return err
		}
		if n.node = uint16(id); nonce != 0 && (o.NodeID == 0 || o.NodeID == n.node) {
			return nil
		}
		err := n.run(ctx, func(b *Batch) {
			if o.NodeID != 0 {
				b.WriteRegister(linkproto.RegNodeID, uint32(o.NodeID))
			}
			b.WriteRegister(linkproto.RegNonce, 1+rng.Uint32N(math.MaxUint32)) // also for the id: links that are up tell it when they start again
		})
		if _, restarted := errors.AsType[*RestartError](err); !restarted { // else the cable did, and what was carried out shows
			n.node = cmp.Or(o.NodeID, n.node)
			return err
		}
	}
}

// own is the goroutine that moves symbols.
func (n *NI) own() {
	defer close(n.stopped)
	defer n.transport.Close() // a target that failed is free at once; Close returns the error
	line := make([]linkproto.Symbol, n.timing.Burst)
	var x Exchange
	for {
		n.lock()
		n.settle()
		for n.timing.VirtualTime && n.released > 0 { // they go on before time does, however busy the machine is
			n.resumed.Wait()
			n.settle()
		}
		err := n.core.Err()
		if errors.Is(err, ErrClosed) {
			n.core.FlushAcks()
		}
		n.attend()
		n.settle()
		if len(x.Out) == 0 {
			x.Out = line[:n.core.Emit(line)]
		}
		if err != nil {
			n.unlock()
			if errors.Is(err, ErrClosed) {
				n.flushAcks(x.Out)
			}
			return
		}
		x.Wait, x.Idle = n.core.IdleFor(len(x.Out) > 0), n.mapped == 0 && n.waiters.Idle()
		x.Patient, x.Owed = n.timed+n.mapped == 0 && n.waiters.Patient(), !n.core.Settled()
		x.Look = nil
		if n.timing.VirtualTime && n.answers() {
			x.Look = n.look
		}
		if n.held {
			x.Wait, n.held = min(x.Wait, burstGap), false
		}
		x.Taken, x.In, x.Ticks, x.Away = false, nil, 0, false
		n.asleep = true
		n.unlock()

		err = n.transport.Exchange(&x)

		n.lock()
		n.asleep = false
		if x.Taken {
			x.Out = x.Out[:0]
		}
		n.core.SetAway(x.Away)
		n.core.Advance(x.In, x.Ticks)
		if err != nil {
			n.core.Fail(fmt.Errorf("%w: %w", ErrGone, err))
		}
		n.release()
		n.unlock()
		if n.timing.VirtualTime && !n.timing.Rests {
			runtime.Gosched() // goroutines that are ready run before time goes on
		}
	}
}

// flushAcks sends the acknowledgements that were held back (Timing.AckCoalesce), so that the NI does not count its last packets as lost.
func (n *NI) flushAcks(out []linkproto.Symbol) {
	written := []linkproto.Symbol{linkproto.SymIdle} // taken when what was before it is
	for left := n.timing.AckCoalesce; left > 0 && len(out) > 0; {
		x := Exchange{Out: out, Wait: left}
		if n.transport.Exchange(&x) != nil {
			return
		}
		left -= max(x.Ticks, 1)
		if x.Taken {
			out, written = written, nil
		}
	}
}

// wakeOwner makes the owner send what there is to send.
func (n *NI) wakeOwner() {
	if n.asleep {
		n.asleep = false
		n.transport.Wake()
	}
}

// until waits until done, which is asked under the lock, now and after whatever happens. It does so at most until the NI has failed or ctx
// has ended; what describes the wait for the error.
func (n *NI) until(ctx context.Context, what string, done func() bool) error {
	return n.await(ctx, what, wait.NewWaiter(done))
}

// untilOthers is until for what others do, for however long: time may pass slowly meanwhile.
func (n *NI) untilOthers(ctx context.Context, what string, done func() bool) error {
	w := wait.NewWaiter(done)
	w.Patient = true
	return n.await(ctx, what, w)
}

func (n *NI) await(ctx context.Context, what string, w *wait.Waiter) error {
	n.lock()
	defer n.unlock()
	n.enlistAgain(ctx, w)
	n.unlock()
	w.Await()
	n.lock()
	return n.leave(w, what)
}

// enlist begins a wait.
func (n *NI) enlist(ctx context.Context, done func() bool) *wait.Waiter {
	w := wait.NewWaiter(done)
	n.enlistAgain(ctx, w)
	return w
}

// enlistAgain begins a wait that is over once more.
func (n *NI) enlistAgain(ctx context.Context, w *wait.Waiter) {
	n.waiters.AddAgain(ctx, w)
	n.release()
	n.wakeOwner()
}

// leave ends a wait and says how it ended.
func (n *NI) leave(w *wait.Waiter, what string) error {
	if !n.waiters.Remove(w) {
		if n.released--; n.released == 0 {
			n.resumed.Signal()
		}
	} // else ctx ended outside the target's time
	return w.Err(what, n.core.Err())
}

// settle sends what was posted.
func (n *NI) settle() {
	if n.core.Settle() {
		n.release()
	}
}

// release lets those go on that wait no longer.
func (n *NI) release() { n.released += n.waiters.Release(n.failed) }

func (n *NI) failed() bool { return n.core.Err() != nil }

// Identity is the NI's, as it was read when the NI was opened.
func (n *NI) Identity() Identity { return n.identity }

// VirtualTime reports whether the target's time stands still while nothing waits for it, as in a simulation.
func (n *NI) VirtualTime() bool { return n.timing.VirtualTime }

// Done is closed when the NI can no longer be used.
func (n *NI) Done() <-chan struct{} {
	n.lock()
	defer n.unlock()
	return n.stopped
}

// Err is why the NI can no longer be used, or nil.
func (n *NI) Err() error {
	n.lock()
	defer n.unlock()
	return n.core.Err()
}

// Close ends all that waits for the NI with ErrClosed, and gives the target free. Peers of virtual links are told. What has been sent and not been acknowledged may be
// lost: Sync comes first.
func (n *NI) Close() error {
	n.hangUp()
	n.lock()
	n.core.Fail(ErrClosed)
	n.release()
	n.wakeOwner()
	n.unlock()
	if n.transport == nil {
		return nil
	}
	if n.timing.AckCoalesce > 0 {
		<-n.stopped
	}
	err := n.transport.Close()
	<-n.stopped
	return err
}
