package hostdrv

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/msg"
	"github.com/stafflink/lmmc/linkproto"
)

// NodeOptions say how a Node uses its NI. The zero value suits most programs.
type NodeOptions struct {
	// Peers are nodes of a network to which virtual links are opened, so that ports go there as over a cable. They are links like those of the NI, called LINKS + 1 and on, in
	// this order (Node.LinkTo). The NI must take routed packets, and have a number (Options.NodeID). The driver carries these links out, so each packet goes twice over
	// the cable to the NI. An NI with a router has virtual links only.
	Peers []Peer
	// Relay is for an NI that takes no routed packets, as those of small boards: by which of its links the way to each other node of the network leads. Its
	// cables carry ROUTEs between the programs of neighbours then, through a frame of each receive buffer that is set aside as a ring, and this program passes on
	// those that are for others. Virtual links go over that as over routers. All nodes need it. An NI that takes routed packets needs it not, and it is not looked at.
	Relay map[uint16]int
	// Uplink is a second NI of this program, for a node with Relay: the two are one node, and have its number. It carries ROUTEs, has no router, and its link 1 leads into a
	// network of those that do. All nodes that Relay does not name are reached by it, and those of the network reach the ones that Relay names by this node. No other node
	// is made of it; who has opened it closes it, behind the node.
	Uplink *NI
	// Frames is how many frames of the receive buffer the peer at each link gets to page its ports into, by link, those of Peers behind the NI's; nil means equal
	// parts for all links.
	Frames []int
	// NoPorts is for an NI whose links lead into a network, as those of lmmc net up do: the node has no ports, greets nobody, leaves the frame table as
	// it is, and drops PAGEs and CONNECTs that come (NodeStats.Malformed). Programs use SendRouted and the receive buffer.
	NoPorts bool
	// Replacement decides which frame of a peer a port gets that has none; nil means NewClock.
	Replacement func(frames int) Replacement
	// Spin is how long a wait polls, in the target's time, before it blocks; 0 means 20 microseconds.
	Spin time.Duration
	// Seed, unless 0, decides what is random otherwise: the number of the node's session.
	Seed uint64
}

// Peer is a node at the far end of a virtual link.
type Peer struct {
	Node    uint16 // its number
	Link    int    // of the NI, by which the way to it leads; 0: 1
	Channel uint16 // which of the virtual links between the two nodes it is, the same at both
}

const defaultSpin = 20 * time.Microsecond

// Node is an NI used by link memory management based communication (LMMC): ports, each with a page that its sender writes and its receiver
// reads. There may be many more ports than the peer's receive buffer has frames: the sender decides which port has which frame, and
// the receiving node saves and restores pages at its PAGE packets.
//
// All methods may be called from any goroutine at any time. Those of a zero Node fail with ErrClosed.
type Node struct {
	once    sync.Once
	backend nodeBackend
}

// nodeLock is the lock of a node and of its ports.
type nodeLock interface {
	lock()
	unlock()
	// err is why nothing works any more, or nil; it is called under the lock.
	err() error
	// until waits until done, which is asked under the lock. what describes the wait for the error.
	until(ctx context.Context, what string, done func() bool) error
	// every calls tick under the lock each time that d of the target's time has passed, until it returns false or stop is called. It and
	// stop are called under the lock.
	every(d time.Duration, tick func() bool) (stop func())
}

// nodeBackend is what a node of an NI of this process does in another way than one of another process's.
type nodeBackend interface {
	nodeLock
	nodeAccess
	createPort(link int, d Direction) (portBackend, error)
	linkList() []NodeLink
	accept(ctx context.Context, what string, prefix []byte) (*Request, error)
	datagrams(ctx context.Context, link int) (datagramBackend, error)
	tables() Tables
	capture(ctx context.Context, repeats bool) (*Capture, error)
	openMessages(ctx context.Context, number int, o msg.Options) (Messages, error)
	openBarrier(ctx context.Context, g BarrierGroup) (barrierBackend, error)
	freeBarriers(ctx context.Context, among uint32, switches []uint16) (free uint32, generation uint8, err error)
	Identity() Identity
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	Doze(ctx context.Context, d time.Duration) error
	Report(ctx context.Context) (Report, error)
	StartTrace(ctx context.Context, s linkproto.TraceSetup) error
	TraceState(ctx context.Context) (TraceState, error)
	ReadTrace(ctx context.Context) (linkproto.Trace, error)
	Close() error
}

// NodeStats count what a node has done.
type NodeStats struct {
	PageOuts  uint64 `json:"page_outs"` // PAGE packets sent
	PageIns   uint64 `json:"page_ins"`  // PAGE traps served
	Connects  uint64 `json:"connects"`  // CONNECT traps served
	Refreshes uint64 `json:"refreshes"` // reads of what NOTIFY reported
	Malformed uint64 `json:"malformed"` // PAGE and CONNECT packets of peers that were wrong
	Discarded uint64 `json:"discarded"` // messages and requests dropped since there were too many
	Restarted uint64 `json:"restarted"` // peers that started again
	Resent    uint64 `json:"resent"`    // messages sent again, since links may have lost them
	Retraps   uint64 `json:"retraps"`   // traps that the NI was asked to repeat
	Relayed   uint64 `json:"relayed"`   // ROUTEs of other nodes that were passed on (NodeOptions.Relay)
	Dropped   uint64 `json:"dropped"`   // ROUTEs for which there was no room on the way, of its own and others
	// Datagrams are frames of kernels that were given to Node.Datagrams, Undelivered those dropped: they were wrong, or nobody took them, or not fast enough.
	Datagrams   uint64 `json:"datagrams"`
	Undelivered uint64 `json:"undelivered"`
}

// SharedScheme is that of targets which are NIs of other processes, as in "unix:/run/lmmc.sock".
const SharedScheme = "unix"

// DefaultSocket is where an NI is shared unless said otherwise: the target "unix:".
func DefaultSocket() string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		return filepath.Join(dir, "lmmc.sock")
	}
	return filepath.Join(os.TempDir(), "lmmc-"+strconv.Itoa(os.Getuid())+".sock")
}

// OpenNode opens a target and makes a Node of it, which Node.Close closes. With target "unix:PATH" the NI is that of another process, which
// serves it at a socket (package serve), and the node has the ports that it creates or accepts itself; options that are the server's to
// choose are refused there with ErrOption. With any other target it is Open and Start.
func OpenNode(ctx context.Context, target string, o Options, no NodeOptions) (*Node, error) {
	if u, err := url.Parse(target); err == nil && u.Scheme == SharedScheme {
		return openShared(ctx, target, u, o, no)
	}
	n, err := Open(ctx, target, o)
	if err != nil {
		return nil, err
	}
	node, err := Start(ctx, n, no)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", target, err), n.Close())
	}
	return node, nil
}

// on returns the node's backend; that of a zero Node is closed.
func (node *Node) on() nodeBackend {
	node.once.Do(func() {
		if node.backend == nil {
			node.backend = &localNode{NI: new(NI)}
		}
	})
	return node.backend
}

// Close ends the node and its NI, or the use of another process's NI: its ports are deleted then.
func (node *Node) Close() error { return node.on().Close() }

// NI is the node's network interface, or nil if that is another process's.
func (node *Node) NI() *NI {
	switch l := node.on().(type) {
	case *localNode:
		return l.NI
	case *portlessNode:
		return l.NI
	}
	return nil
}

// HasPorts reports whether it is a node of this process with ports (NodeOptions.NoPorts).
func (node *Node) HasPorts() bool {
	_, has := node.on().(*localNode)
	return has
}

// Identity is the NI's.
func (node *Node) Identity() Identity { return node.on().Identity() }

// WithTimeout is NI.WithTimeout, also for a node whose NI is another process's.
func (node *Node) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return node.on().WithTimeout(ctx, d)
}

// Doze waits as NI.Doze does.
func (node *Node) Doze(ctx context.Context, d time.Duration) error { return node.on().Doze(ctx, d) }

// Stats returns the node's counts so far: those of all programs, if the NI is shared.
func (node *Node) Stats() NodeStats { return node.on().tables().Stats }

// Tables returns the node's tables, sorted: those of all programs, if the NI is shared, and empty ones if its server has gone.
func (node *Node) Tables() Tables { return node.on().tables() }

// Report asks the NI how it is, and adds the tables.
func (node *Node) Report(ctx context.Context) (Report, error) { return node.on().Report(ctx) }

// StartTrace is NI.StartTrace, also for a node whose NI is another process's: there for programs of its user, one at a time.
func (node *Node) StartTrace(ctx context.Context, s linkproto.TraceSetup) error {
	return node.on().StartTrace(ctx, s)
}

// TraceState is NI.TraceState, as StartTrace is.
func (node *Node) TraceState(ctx context.Context) (TraceState, error) {
	return node.on().TraceState(ctx)
}

// ReadTrace is NI.ReadTrace, as StartTrace is: of what was recorded for this program.
func (node *Node) ReadTrace(ctx context.Context) (linkproto.Trace, error) {
	return node.on().ReadTrace(ctx)
}

// Capture captures what the server of an NI does, one capture at a time, until Close; with repeats also link state words that only repeat
// the one before. An NI of this process is captured by a capture.Tap.
func (node *Node) Capture(ctx context.Context, repeats bool) (*Capture, error) {
	return node.on().capture(ctx, repeats)
}

// CreatePort makes a port to the node at the far end of a link. It has a number that is the same at both ends, and must be connected.
func (node *Node) CreatePort(link int, d Direction) (*Port, error) {
	if err := node.checkLink(link); err != nil {
		return nil, err
	}
	if d > Receive {
		return nil, fmt.Errorf("%w: %v, want %v or %v", ErrRange, d, Send, Receive)
	}
	backend, err := node.on().createPort(link, d)
	if err != nil {
		return nil, err
	}
	return node.newPort(backend, link, d), nil
}

// NodeLink is a link of a node.
type NodeLink struct {
	Link int    `json:"link"` // what it is called
	Peer uint16 `json:"peer"` // of a virtual link: number of the node at the far end; 0 for a cable
}

// Links returns the node's links: cables, and behind them the virtual links to NodeOptions.Peers.
func (node *Node) Links() []NodeLink { return node.on().linkList() }

// LinkTo returns the virtual link that leads to a node (NodeOptions.Peers), the first one if there are several.
func (node *Node) LinkTo(number uint16) (link int, err error) {
	for _, l := range node.Links() {
		if l.Peer == number && number != 0 {
			return l.Link, nil
		}
	}
	return 0, fmt.Errorf("%w: no virtual link leads to node %d; NodeOptions.Peers says to which they are opened", ErrRange, number)
}

// checkLink looks whether the node has a link.
func (node *Node) checkLink(link int) error {
	links := node.Links()
	switch has := slices.ContainsFunc(links, func(l NodeLink) bool { return l.Link == link }); {
	case has:
		return nil
	case len(links) == 0:
		return fmt.Errorf("%w: no link %d: this node has none, since its network interface has a router; NodeOptions.Peers opens virtual ones", ErrRange, link)
	}
	if links[0].Link == 1 {
		return fmt.Errorf("%w: no link %d, there are %d", ErrRange, link, len(links))
	}
	return fmt.Errorf("%w: no link %d, there are links %d to %d", ErrRange, link, links[0].Link, links[len(links)-1].Link)
}

// Dial creates a port and connects it; params tell the other node what for.
func (node *Node) Dial(ctx context.Context, link int, d Direction, params []byte) (*Port, error) {
	p, err := node.CreatePort(link, d)
	if err != nil {
		return nil, err
	}
	if err := p.Connect(ctx, params); err != nil {
		return nil, errors.Join(err, p.Delete())
	}
	return p, nil
}

// Accept waits for a request to connect. Requests that nobody fetches wait, up to a number, then are refused.
func (node *Node) Accept(ctx context.Context) (*Request, error) { return node.AcceptPrefix(ctx, nil) }

// AcceptPrefix is Accept for those requests only whose parameters begin with prefix, so that programs which share an NI get their
// own requests. A request goes to the program that waited for it first.
func (node *Node) AcceptPrefix(ctx context.Context, prefix []byte) (*Request, error) {
	r, err := node.on().accept(ctx, "a request to connect", prefix)
	if err == nil {
		r.node = node
	}
	return r, err
}
