// Package collective lets programs on the nodes of a network act together: barriers, broadcasts, reductions and exchanges over groups of nodes, by messages (package
// message). All members of a group make the same calls in the same order, each in a goroutine of its own program. See doc/collectives.md.
package collective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/linkproto"
)

// Transport carries a group's messages: whole, once, and in order from one node to another. It is the group's alone.
type Transport interface {
	PostSend(message.Send) error
	PostReceive(message.Receive) error
	Wait(context.Context) (message.Completion, error)
	// WithTimeout returns a context that ends when so much of the time has passed by which the transport gives peers up.
	WithTimeout(context.Context, time.Duration) (context.Context, context.CancelFunc)
	Close() error
}

// Options describe a group. All members must say the same, but for the context.
type Options struct {
	Members []uint16 // numbers of the nodes; a member's rank is its place here
	Context int      // of messages, which the group has for itself; Open asks for it
	Barrier string   // name of one of Barriers, or Hardware; "": Hardware where all network interfaces and switches on the way have it, else the fastest for so many members
	Way     string   // by which data goes: Exchange, Tree or Chain; "": the fastest for so many bytes and members
	// Multicast is the address of the multicast group by which the first member reaches all others (hostdrv.NI.MakeGroup), for barriers that it releases; 0: there is none.
	Multicast uint16
	// Acknowledged has each member acknowledge what comes by Multicast; a member that does not is named. Then Broadcast by the first member goes by it too.
	Acknowledged bool
	// Topology is the network, for barriers by Hardware; nil: there are none.
	Topology *topology.Topology
	Patience time.Duration // of the target's time, after which members that wait look whether the others are there; 0: 1 s
	// Silence is how long a member may be late, in the target's time. After that, and two patiences more, the call of those that wait ends the group and names it. 0: DefaultSilence; less: any time.
	Silence time.Duration
	Seed    uint64 // decides what is random; 0: something random
}

// DefaultSilence is Options.Silence where they say nothing.
const DefaultSilence = 10 * time.Minute

// Errors that callers tell apart with errors.Is.
var (
	ErrOption = errors.New("bad group")
	ErrBusy   = errors.New("another call of the group is underway")
	ErrMember = errors.New("the group has ended") // a MemberError says why
)

// MemberError is what all calls fail with once a member does not take part any more. The others can make a new group without it, on another context.
type MemberError struct {
	Node uint16
	Why  string
}

func (e *MemberError) Error() string { return fmt.Sprintf("node %d: %s: %v", e.Node, e.Why, ErrMember) }

// Unwrap returns ErrMember.
func (e *MemberError) Unwrap() error { return ErrMember }

// Group is a member's end of a group. It takes one call at a time.
type Group struct {
	transport    Transport
	members      []uint16
	rank         int
	ranks        map[uint16]int
	barrier      Algorithm
	stages       []Stage   // of barriers
	hardware     *hardware // nil: nobody asks for it
	identity     uint32    // a hash of what members must agree about
	way          string    // Options.Way
	multicast    uint16    // Options.Multicast
	acknowledged bool      // Options.Acknowledged
	released     uint32    // tag of the last release by multicast
	patience     time.Duration
	silence      time.Duration // less than 0: any

	mu        sync.Mutex
	failure   error
	kind      kind   // of the call
	serial    uint16 // of the call
	tag       uint32 // of its messages
	ctx       context.Context
	limit     context.Context // ends when the call has waited for the patience; nil: it has not waited yet
	cancel    context.CancelFunc
	spare     [][]byte   // buffers that nobody uses
	rooms     [][]byte   // by cookie: those that are posted for receiving
	came      [][]packet // by rank: what has come and was not taken, in order
	asked     []bool     // by rank: a probe is underway
	passed    int        // patiences in this call, since a packet has overtaken what it waits for
	awaited   int        // rank of which this member waits for a message; nobody: of none
	doubted   int        // that has been asked whether it is in a call, and has not answered; nobody: none
	overtaken bool       // one has
	refused   bool       // the first member has been asked since for what was overtaken, and has not sent it
	asking    bool       // it is being asked
	posted    int        // sends that have not completed
	loose     int        // bytes of calls since the last one that waited for all members, with some for each call
}

// packet is a message, or a segment of a longer one.
type packet struct {
	tag  uint32
	data []byte
}

const (
	nobody = -1
	// segment is how many bytes go in a message: those of longer data flow behind each other.
	segment         = 4096
	defaultPatience = time.Second
)

// sends are the descriptors for sending: half of them for calls, half for what belongs to none.
func sends(n int) int { return max(64, 4*n) }

// receives are the descriptors for receiving that a group of n members has: as many as can come while it does something else.
func receives(n int) int { return max(32, 2*n) }

// Open makes a node a member of a group, on a context of messages that nothing else uses. It does not wait for the other members.
func Open(ctx context.Context, node *hostdrv.Node, o Options) (*Group, error) {
	number, t, err := o.open(ctx, node, o.Members)
	if err != nil {
		return nil, err
	}
	h, err := newHardware(node, o)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return over(t, number, o, h)
}

// OpenTwo is Open for members with network interfaces in two networks, between which their messages are split: in the second one they have the numbers seconds, in the order
// of Options.Members. Barriers by Hardware go by the first one.
func OpenTwo(ctx context.Context, first, second *hostdrv.Node, seconds []uint16, o Options) (*Group, error) {
	if len(seconds) != len(o.Members) {
		return nil, fmt.Errorf("%w: %d members have %d numbers in the second network", ErrOption, len(o.Members), len(seconds))
	}
	number, t, err := o.open(ctx, first, o.Members)
	if err != nil {
		return nil, err
	}
	alone := o
	alone.Acknowledged = false // multicasts go by the first network
	other, also, err := alone.open(ctx, second, seconds)
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	rank := slices.Index(o.Members, number)
	if slices.Index(seconds, other) != rank {
		err = fmt.Errorf("%w: node %d is member %d in the first network, and node %d another one in the second", ErrOption, number, rank, other)
	}
	h, failed := newHardware(first, o)
	if err = cmp.Or(err, failed); err != nil {
		return nil, errors.Join(err, t.Close(), also.Close())
	}
	return over(newTwin(t, also, rank, o.Members, seconds), number, o, h)
}

// open opens a context of messages for a member of a group that has these numbers.
func (o Options) open(ctx context.Context, node *hostdrv.Node, members []uint16) (number uint16, t Transport, err error) {
	id, err := node.ReadRegister(ctx, linkproto.RegNodeID)
	if err != nil {
		return 0, nil, err
	}
	number, o.Members = uint16(id), members
	m := message.Options{Sends: sends(len(members)), Receives: receives(len(members)), Longest: segment, Patience: cmp.Or(o.Patience, defaultPatience), Seed: o.Seed}
	for _, member := range members {
		if member != number {
			m.Peers = append(m.Peers, message.Peer{Node: member})
		}
	}
	if err := o.check(number); err != nil {
		return 0, nil, err
	}
	if o.Acknowledged && number == members[0] && len(members) > 1 {
		m.Groups = []message.Group{{Address: o.Multicast, Members: members[1:]}}
	}
	c, err := message.Open(ctx, node, o.Context, m)
	return number, endpoint{c, node}, err
}

// endpoint is a Transport.
type endpoint struct {
	*message.Context
	node *hostdrv.Node
}

func (e endpoint) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return e.node.WithTimeout(ctx, d)
}

// Over makes a group over a transport, which Close closes. It has no barriers by Hardware.
func Over(t Transport, node uint16, o Options) (*Group, error) {
	err := o.check(node)
	if err == nil && o.Barrier == Hardware {
		err = fmt.Errorf("%w: barriers by hardware are for groups that Open makes", ErrOption)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return over(t, node, o, nil)
}

func over(t Transport, node uint16, o Options, h *hardware) (*Group, error) {
	n := len(o.Members)
	g := &Group{
		transport: t, members: slices.Clone(o.Members), rank: slices.Index(o.Members, node), ranks: map[uint16]int{}, barrier: o.algorithm(), hardware: h, way: o.Way, multicast: o.Multicast, acknowledged: o.Acknowledged, patience: cmp.Or(o.Patience, defaultPatience),
		silence: cmp.Or(o.Silence, DefaultSilence), awaited: nobody, doubted: nobody, came: make([][]packet, n), asked: make([]bool, n),
	}
	g.stages = g.barrier.Stages(n, g.rank)
	for rank, member := range g.members {
		g.ranks[member] = rank
		g.identity = mix(g.identity, int(member))
	}
	for _, letter := range g.barrier.Name + g.way {
		g.identity = mix(g.identity, int(letter))
	}
	if g.acknowledged {
		g.identity = mix(g.identity, int(g.multicast))
	}
	g.identity = h.mix(g.identity)
	if n > 1 {
		for i := range receives(n) {
			g.rooms = append(g.rooms, make([]byte, segment))
			if err := t.PostReceive(message.Receive{Data: g.rooms[i], Cookie: uint64(i)}); err != nil {
				return nil, errors.Join(err, t.Close())
			}
		}
	}
	return g, nil
}

// check says what is wrong with options for a node.
func (o Options) check(node uint16) error {
	a, known := algorithmNamed(o.Barrier)
	switch {
	case !slices.Contains(o.Members, node):
		return fmt.Errorf("%w: node %d is no member of %v", ErrOption, node, o.Members)
	case o.Barrier != "" && o.Barrier != Hardware && !known:
		return fmt.Errorf("%w: no barrier %q, there are %v and %s", ErrOption, o.Barrier, Barriers(), Hardware)
	case o.Barrier == Hardware && o.Topology == nil:
		return fmt.Errorf("%w: barriers by %s take Options.Topology", ErrOption, Hardware)
	case (a.Multicast() || o.Acknowledged) && o.Multicast < linkproto.MulticastBase:
		return fmt.Errorf("%w: barrier %q, Acknowledged %v: what goes by a multicast takes Options.Multicast, which is %#x: want a group's address, from %#x on", ErrOption, o.Barrier, o.Acknowledged, o.Multicast, linkproto.MulticastBase)
	case !slices.Contains([]string{"", Exchange, Tree, Chain}, o.Way):
		return fmt.Errorf("%w: no way %q for data, there are %s, %s and %s", ErrOption, o.Way, Exchange, Tree, Chain)
	case o.Patience < 0:
		return fmt.Errorf("%w: a patience of %v", ErrOption, o.Patience)
	}
	sorted := slices.Sorted(slices.Values(o.Members))
	for i, member := range sorted {
		if member == 0 || member > linkproto.MaxNode || i > 0 && member == sorted[i-1] {
			return fmt.Errorf("%w: node %d among the members: want each once, 1 to %d", ErrOption, member, linkproto.MaxNode)
		}
	}
	return nil
}

// Size is the number of members.
func (g *Group) Size() int { return len(g.members) }

// Rank is this member's place among them.
func (g *Group) Rank() int { return g.rank }

// BarrierBy is the name of the way by which the group's barriers go. Whether it is Hardware is known when the first one is over.
func (g *Group) BarrierBy() string {
	if h := g.hardware; h != nil && h.barrier != nil {
		return Hardware
	}
	return g.barrier.Name
}

// Close ends this member's part, when what it has sent has arrived or ctx has ended. Others whose calls need it fail. In a group whose barriers are released by a multicast
// it waits for the others' Close too.
func (g *Group) Close(ctx context.Context) error {
	if g.transport == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if errors.Is(g.failure, hostdrv.ErrClosed) {
		return nil
	}
	var err error
	if g.casts() && g.failure == nil && len(g.members) > 1 {
		err = g.run(ctx, kindLeave, g.leave)
	}
	for g.posted > 0 && err == nil {
		var done message.Completion
		switch done, err = g.transport.Wait(ctx); {
		case err != nil:
		case done.Received: // others may wait for room to end, too
			err = g.transport.PostReceive(message.Receive{Data: g.rooms[done.Cookie], Cookie: done.Cookie})
		default:
			g.posted--
		}
	}
	if h := g.hardware; h != nil && h.barrier != nil {
		end := h.barrier.Close
		if g.failure != nil {
			end = h.barrier.Dissolve
		}
		err = errors.Join(err, end(ctx))
	}
	g.failure = fmt.Errorf("group: %w", hostdrv.ErrClosed)
	return errors.Join(err, g.transport.Close())
}
