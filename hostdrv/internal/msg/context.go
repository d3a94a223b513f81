package msg

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/internal/engine"
	"github.com/stafflink/lmmc/linkproto"
)

// Context is a context of this process.
type Context struct {
	core     *engine.Core
	node     uint16 // the own one
	number   int
	o        Options
	patience uint64         // ticks
	rings    *engine.Rings  // of the NI, with Options.Engine
	links    map[uint16]int // of the peers; nil: all nodes are
	rng      *rand.Rand
	share    engine.Share
	timer    engine.Timer

	peers     map[uint16]*peer
	posts     ring[Receive]
	done      ring[Completion]
	loud      int                // of them are not quiet
	sink      func(Completion)   // gets them in place of done; nil: nothing does
	free      *post              // for sends
	left      [2]int             // descriptors that are the program's, for sending and receiving
	casts     ring[Send]         // for multicast groups, which wait for room on the way
	castTimer engine.Timer       // tries again
	streams   map[uint16]*stream // to groups whose members acknowledge, by address; members: of others' ones, by sender and address
	members   map[uint16]map[uint16]*member
	starving  []*peer // whose messages wait for a descriptor, the one that waits longest first
	owed      int     // sends that have not completed
	stats     Stats
	closed    bool
}

// leastPatience is how many ticks a patience has at least, so that nobody keeps the driver busy with looking.
const leastPatience = 4096

// Open opens a context of a node.
func Open(core *engine.Core, node uint16, ticksPerSecond float64, number int, o Options) (*Context, error) {
	longest := o.Longest
	o = o.Filled()
	c := &Context{core: core, node: node, number: number, o: o, patience: uint64(max(o.Patience.Seconds()*ticksPerSecond, leastPatience)), peers: map[uint16]*peer{}, streams: map[uint16]*stream{}, members: map[uint16]map[uint16]*member{}, left: [2]int{o.Sends, o.Receives},
		rng: rand.New(rand.NewPCG(o.Seed, uint64(number)))}
	if o.Seed == 0 {
		c.rng = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	c.links = o.links()
	for _, g := range o.Groups {
		s, err := c.newStream(g)
		if err != nil {
			return nil, err
		}
		c.streams[g.Address] = s
	}
	if !core.Listen(c.channel(), c.asked) {
		return nil, fmt.Errorf("%w: context %d of this network interface", ErrTaken, number)
	}
	if o.Engine {
		var err error
		if c.rings, err = core.NewRings(number, o.Frames, longest); err != nil {
			core.Listen(c.channel(), nil)
			return nil, fmt.Errorf("context %d: %w", number, err)
		}
		c.o.Longest = min(o.Longest, c.rings.Longest())
		c.rings.Watch(c.patience / 2)
	}
	c.casts = newRing[Send](o.Sends)
	c.posts, c.done = newRing[Receive](o.Receives), newRing[Completion](o.Sends+o.Receives)
	for range o.Sends {
		c.free = &post{next: c.free}
	}
	c.timer.Fire, c.castTimer.Fire = c.look, c.cast
	return c, nil
}

// Filled is the options with their defaults.
func (o Options) Filled() Options {
	o.Sends, o.Receives, o.Longest = cmp.Or(o.Sends, DefaultRing), cmp.Or(o.Receives, DefaultRing), cmp.Or(o.Longest, MaxLongest)
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	return o
}

// links are those to the peers; nil: all nodes are.
func (o Options) links() (links map[uint16]int) {
	for _, p := range o.Peers {
		if links == nil {
			links = map[uint16]int{}
		}
		links[p.Node] = cmp.Or(p.Link, 1)
	}
	return links
}

// CheckSend says what is wrong with a Send by a context of a node with this LongestCast; the options are filled.
func (o *Options) CheckSend(s *Send, number int, node uint16, longestCast int) error {
	isPeer := func(p Peer) bool { return p.Node == s.Node }
	cast := s.Node >= linkproto.MulticastBase && !slices.ContainsFunc(o.Groups, func(g Group) bool { return g.Address == s.Node })
	switch {
	case s.Node < linkproto.MulticastBase && (s.Node == 0 || s.Node > linkproto.MaxNode || s.Node == node || len(o.Peers) > 0 && !slices.ContainsFunc(o.Peers, isPeer)):
		return fmt.Errorf("%w: node %d, for context %d of node %d", ErrNode, s.Node, number, node)
	case len(s.Data) > o.Longest:
		return fmt.Errorf("%w: %d bytes, at most %d go by context %d", ErrTooLong, len(s.Data), o.Longest, number)
	case cast && longestCast < 0:
		return fmt.Errorf("%w: %#x is a multicast group, and hosts that relay have none", ErrNode, s.Node)
	case cast && len(s.Data) > longestCast:
		return fmt.Errorf("%w: %d bytes to a multicast group, at most %d go in one packet", ErrTooLong, len(s.Data), longestCast)
	}
	return nil
}

// Check says what is wrong with options.
func (o Options) Check(number int, node uint16) error {
	const most = 1 << 16
	switch {
	case number < FirstContext || number > LastContext:
		return fmt.Errorf("no context %d, want %d to %d", number, FirstContext, LastContext)
	case o.Sends < 0 || o.Sends > most || o.Receives < 0 || o.Receives > most:
		return fmt.Errorf("%d and %d descriptors, want 0 to %d", o.Sends, o.Receives, most)
	case o.Longest < 0 || o.Longest > MaxLongest:
		return fmt.Errorf("messages of %d bytes, want at most %d", o.Longest, MaxLongest)
	case o.Frames < 0 || o.Frames > 1<<linkproto.ContextLast.Bits:
		return fmt.Errorf("%d frames for a context, want 0 to %d", o.Frames, 1<<linkproto.ContextLast.Bits)
	case len(o.Groups) > mostMembers:
		return fmt.Errorf("%d multicast groups, at most %d are a context's", len(o.Groups), mostMembers)
	case o.Patience < 0:
		return fmt.Errorf("a patience of %v", o.Patience)
	}
	for i, g := range o.Groups {
		if g.Address < linkproto.MulticastBase || len(g.Members) == 0 || slices.ContainsFunc(o.Groups[:i], func(h Group) bool { return h.Address == g.Address }) {
			return fmt.Errorf("multicast group %#x with %d members, want an address from %#x on, each once, and a member at least", g.Address, len(g.Members), linkproto.MulticastBase)
		}
		for k, m := range g.Members {
			if m == 0 || m > linkproto.MaxNode || m == node || slices.Contains(g.Members[:k], m) {
				return fmt.Errorf("member %d of multicast group %#x at node %d, want others, each once, 1 to %d", m, g.Address, node, linkproto.MaxNode)
			}
		}
	}
	for _, p := range o.Peers {
		if p.Node == 0 || p.Node > linkproto.MaxNode || p.Node == node {
			return fmt.Errorf("no messages to node %d from node %d, want another one, 1 to %d", p.Node, node, linkproto.MaxNode)
		}
	}
	return nil
}

func (c *Context) channel() uint16 { return Channel(c.number) }

// asked opens the virtual link that another node asks for.
func (c *Context) asked(node uint16, via uint8) {
	if _, is := c.links[node]; c.links != nil && !is || node == 0 || node > linkproto.MaxNode || node == c.node {
		c.stats.Refused++
		return
	}
	c.open(node, int(via))
}

// open makes the virtual link to a node.
func (c *Context) open(node uint16, via int) (*peer, error) {
	p := &peer{context: c, node: node, most: c.core.MaxPacket() - messageHeader}
	if link := c.links[node]; link != 0 {
		via = link
	}
	config := engine.VirtualConfig{
		Via: via, Node: c.node, Peer: node, Channel: c.channel(), Taker: p, Share: &c.share,
		NewLife: c.newLife,
	}
	v, err := c.carrier(config, p)
	if err != nil {
		return nil, err
	}
	p.link, p.virtual, p.downSince = v, v, c.core.Now()
	if len(c.peers) == 0 {
		c.core.AddTimer(&c.timer, c.core.Now()+c.patience)
	}
	c.peers[node] = p
	return p, nil
}

// carrier makes the virtual link to a peer, of the NI's context if there is one, and it can carry out another link.
func (c *Context) carrier(v engine.VirtualConfig, p *peer) (engine.Carrier, error) {
	if c.rings == nil || !c.core.CanOffload() {
		return c.core.NewCarrier(v)
	}
	p.most = c.rings.Longest()
	return c.rings.NewLink(v, p)
}

// Longest is how many bytes a message may have.
func (c *Context) Longest() int { return c.o.Longest }

func (c *Context) newLife() linkproto.Life { return linkproto.Life(1 + c.rng.Uint32N(math.MaxUint32)) }

// look gives up peers that have said nothing for long.
func (c *Context) look() {
	now := c.core.Now()
	for _, node := range slices.Sorted(maps.Keys(c.peers)) {
		p := c.peers[node]
		if status := p.virtual.Status(); status.Up {
			p.downSince = now
		} else if refused := p.refused(); refused || now-p.downSince >= c.patience {
			why := noAnswer
			switch {
			case refused:
				why = noContext
			case status.Refused:
				why = otherPages
			}
			if p.starves { // what has come and was acknowledged stays until there is a descriptor for it
				p.fail(p.node, why)
				p.virtual.Restart() // which lets the bytes go that it was given
				continue
			}
			c.drop(p, why)
		}
	}
	if len(c.peers) > 0 {
		c.core.AddTimer(&c.timer, now+c.patience/2+1)
	}
}

// drop ends the virtual link to a peer. The next message makes another one.
func (c *Context) drop(p *peer, why string) {
	p.virtual.Close()
	delete(c.peers, p.node)
	p.abort()
	p.fail(p.node, why)
	c.starving = slices.DeleteFunc(c.starving, func(other *peer) bool { return other == p })
}

// PostSend posts a descriptor for sending.
func (c *Context) PostSend(s Send) error {
	err := c.err()
	if err != nil {
		return err
	}
	p := c.peers[s.Node]
	if p == nil || len(s.Data) > c.o.Longest {
		if err := c.o.CheckSend(&s, c.number, c.node, c.LongestCast()); err != nil {
			return err
		}
	}
	if c.left[0] == 0 {
		return fmt.Errorf("%w: %d sends are posted", ErrFull, c.o.Sends)
	}
	if p == nil {
		if stream := c.streams[s.Node]; stream != nil {
			p = stream.peer
		} else if s.Node >= linkproto.MulticastBase {
			c.left[0]--
			c.casts.push(s)
			c.cast()
			return nil
		} else if p, err = c.open(s.Node, 1); err != nil {
			return err
		}
	}
	e := c.free
	c.free = e.next
	c.left[0]--
	*e = post{Send: s}
	p.post(e)
	p.link.Touch()
	return nil
}

// PostReceive posts a descriptor for receiving.
func (c *Context) PostReceive(r Receive) error {
	if err := c.err(); err != nil {
		return err
	}
	if c.left[1] == 0 {
		return fmt.Errorf("%w: %d receives are posted", ErrFull, c.o.Receives)
	}
	c.left[1]--
	c.posts.push(r)
	c.feed()
	return nil
}

// feed lets peers go on that wait for descriptors.
func (c *Context) feed() {
	for c.posts.len() > 0 && len(c.starving) > 0 {
		p := c.starving[0]
		c.starving = slices.Delete(c.starving, 0, 1)
		p.starves = false
		p.link.Touch()
	}
}

// Deliver has Completions given to sink from now on, and none to Poll.
func (c *Context) Deliver(sink func(Completion)) { c.sink = sink }

// completed is called with each Completion.
func (c *Context) completed(done Completion) {
	if c.sink == nil {
		if c.done.push(done); !done.Quiet {
			c.loud++
		}
		return
	}
	c.give(&done)
	c.sink(done)
}

// owe counts sends that have not completed.
func (c *Context) owe(n int) {
	if !c.closed {
		c.owed += n
		c.core.Owe(n)
	}
}

// give gives a Completion's descriptor back to the program.
func (c *Context) give(done *Completion) {
	if done.Received {
		c.left[1]++
	} else {
		c.left[0]++
	}
}

// Poll takes the oldest Completion, if there is one.
func (c *Context) Poll(into *Completion) bool {
	if c.done.len() == 0 {
		return false
	}
	if *into = c.done.pop(); !into.Quiet {
		c.loud--
	}
	c.give(into)
	return true
}

// Ready reports whether Poll has something that is not quiet, perhaps behind others.
func (c *Context) Ready() bool { return c.loud > 0 }

// Stats returns the counts so far.
func (c *Context) Stats() Stats { return c.stats }

func (c *Context) err() error {
	if c.closed {
		return engine.ErrClosed
	}
	if c.rings != nil && c.rings.Ended() != nil {
		return c.rings.Ended()
	}
	return c.core.Err()
}

// Err is why nothing can be posted any more, or nil.
func (c *Context) Err() error { return c.err() }

// Close ends the context: its peers are told, descriptors are the program's, and Completions that were not polled are gone.
func (c *Context) Close() {
	if c.closed {
		return
	}
	c.owe(-c.owed)
	c.closed = true
	c.core.Listen(c.channel(), nil)
	c.core.RemoveTimer(&c.timer)
	c.core.RemoveTimer(&c.castTimer)
	c.endStreams()
	for _, node := range slices.Sorted(maps.Keys(c.peers)) {
		c.peers[node].virtual.Close()
	}
	c.peers = nil
	if c.rings != nil {
		c.rings.Close()
	}
}
