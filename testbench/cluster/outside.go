package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// outside reports whether a node is not simulated but reached by its cable, whose symbols are bytes of the target that its rung is.
func (c Config) outside(n topology.Node) bool {
	return strings.HasPrefix(c.rung(n), "tcp:") || strings.HasPrefix(c.rung(n), "serial:")
}

// Outside reports whether a node, by its place in the topology, is outside. Time passes as on its cable then.
func (n *Cluster) Outside(node int) bool { return n.config.outside(n.Topology.Nodes[node]) }

// Outsiders is how many nodes are outside.
func (n *Cluster) Outsiders() int { return len(n.outsiders) }

// alone is the topology of a node outside as those see it who simulate nothing else: the node, and at the other end of its cable one that is outside.
func alone(t *topology.Topology, c Config) *topology.Topology {
	at, ok := t.Find(c.Only)
	if !ok {
		try.Failf("cluster: there is no node %q", c.Only)
	}
	try.OK(c.reachable(t, at))
	node := t.Nodes[at]
	i := slices.IndexFunc(t.Cables, func(c topology.Cable) bool { return c.Ends[0].Node == at || c.Ends[1].Node == at })
	cable := t.Cables[i]
	own := 0
	if cable.Ends[1].Node == at {
		own = 1
	}
	peer := t.Nodes[cable.Ends[1-own].Node]
	peer.Rung, node.Rung = cmp.Or(c.Cable, c.rung(node)), ""
	cable.Ends[own].Node, cable.Ends[1-own].Node = 0, 1
	return &topology.Topology{Default: t.Default, Nodes: []topology.Node{node, peer}, Cables: []topology.Cable{cable}}
}

// reachable says why a node cannot be outside.
func (c Config) reachable(t *topology.Topology, at int) error {
	node, cables := t.Nodes[at], 0
	if !c.outside(node) {
		return fmt.Errorf("cluster: node %s is not outside: give it the rung tcp:HOST:PORT or serial:PATH", node.Name)
	}
	for _, cable := range t.Cables {
		for i, end := range cable.Ends {
			if end.Node != at {
				continue
			}
			cables++
			if other := t.Nodes[cable.Ends[1-i].Node]; cable.Lanes > 1 || c.outside(other) {
				return fmt.Errorf("cluster: cable %s leads outside: it has to have one lane, and a node that is simulated at its other end", t.CableName(cable))
			}
		}
	}
	if node.Kind != topology.NI || cables != 1 {
		return fmt.Errorf("cluster: node %s is outside and has %d cables: want a network interface with one", node.Name, cables)
	}
	return nil
}

// outsideNode is a node outside.
type outsideNode struct{ *outsider }

func (o outsideNode) socket(int, int) socket  { return socket{end: o.outsider} }
func (outsideNode) reset(bool)                {}
func (outsideNode) status(int) (uint32, bool) { return 0, false }
func (o outsideNode) Close() error            { return o.close() }

// outsider is the end of a cable at which there is a target: what comes of the target's bytes is sent, as fast as it comes, and the other way round.
type outsider struct {
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu        sync.Mutex
	in, out   []linkproto.Symbol
	transport hostdrv.Transport // nil while there is none
}

// mostOutside is how many symbols wait either way at most: any more are lost, and sent again.
const mostOutside = 1 << 16

// redial is how long a target that has gone away, or is not there yet, is left alone.
const redial = 200 * time.Millisecond

// openOutsider opens what a node outside is reached by, or waits for it.
func (n *Cluster) openOutsider(name, target string) *outsider {
	u := try.Get(url.Parse(target))
	ctx, cancel := context.WithCancel(context.WithoutCancel(n.ctx))
	o := &outsider{cancel: cancel}
	n.outsiders = append(n.outsiders, o)
	open := func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) }
	var first hostdrv.Transport
	if n.config.Only != "" && u.Scheme == "tcp" {
		l := try.Get(tcp.Listen(ctx, u))
		open, n.rate = l.Accept, l.Timing().TicksPerSecond
		context.AfterFunc(ctx, func() { l.Close() })
	} else {
		var err error
		if first, err = open(n.ctx); err != nil {
			try.Failf("cluster: node %s is outside (lmmc net up --node %s simulates it): %w", name, name, err)
		}
		if rate := first.Timing().TicksPerSecond; n.rate == 0 || rate < n.rate {
			n.rate = rate
		}
	}
	o.work.Go(func() { o.serve(ctx, first, open) })
	return o
}

// serve carries symbols until ctx ends, and opens the target again when it has gone away.
func (o *outsider) serve(ctx context.Context, t hostdrv.Transport, open func(context.Context) (hostdrv.Transport, error)) {
	for ctx.Err() == nil {
		if t == nil {
			var err error
			if t, err = open(ctx); err != nil {
				select {
				case <-time.After(redial):
				case <-ctx.Done():
				}
				continue
			}
		}
		o.carry(ctx, t)
		_ = t.Close() // it has gone, or the network ends
		t = nil
	}
}

// carry carries symbols until the target is gone, or ctx ends.
func (o *outsider) carry(ctx context.Context, t hostdrv.Transport) {
	defer context.AfterFunc(ctx, t.Wake)()
	o.mu.Lock()
	o.transport = t
	o.mu.Unlock()
	var sending []linkproto.Symbol
	for ctx.Err() == nil {
		o.mu.Lock()
		n := min(len(o.out), t.Timing().Burst-len(sending))
		sending = append(sending, o.out[:n]...)
		o.out = slices.Delete(o.out, 0, n)
		o.mu.Unlock()
		x := hostdrv.Exchange{Out: sending, Wait: linkproto.DefaultWordTimer}
		if t.Exchange(&x) != nil {
			break
		}
		if x.Taken {
			sending = sending[:0]
		}
		o.mu.Lock()
		if len(o.in) < mostOutside {
			o.in = append(o.in, x.In...)
		}
		o.mu.Unlock()
	}
	o.mu.Lock()
	o.transport, o.out = nil, nil
	o.mu.Unlock()
}

// Feed sends.
func (o *outsider) Feed(symbols []linkproto.Symbol) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.transport == nil || len(o.out) > mostOutside {
		return
	}
	before := len(o.out)
	for _, s := range symbols {
		if s != linkproto.SymIdle {
			o.out = append(o.out, s)
		}
	}
	if len(o.out) > before {
		o.transport.Wake()
	}
}

// Emit receives.
func (o *outsider) Emit(dst []linkproto.Symbol) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := copy(dst, o.in)
	o.in = slices.Delete(o.in, 0, n)
	return n
}

// Tick lets time pass.
func (*outsider) Tick(int) {}

func (o *outsider) close() error {
	o.cancel()
	o.work.Wait()
	return nil
}

// lead is by how much the simulation may be ahead of its cables to the outside: sleeping costs about as much.
const lead = time.Millisecond

// keepTime waits until some clocks may have passed on all cables to the outside. A simulation that is slower than they are makes up for nothing.
func (n *Cluster) keepTime(clocks int) {
	if len(n.outsiders) == 0 {
		return
	}
	n.due = n.due.Add(time.Duration(float64(clocks) / n.rate * float64(time.Second)))
	switch ahead := time.Until(n.due); {
	case ahead > lead:
		time.Sleep(ahead)
	case ahead < 0:
		n.due = time.Now()
	}
}
