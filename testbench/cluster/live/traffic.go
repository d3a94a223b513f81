package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// traffic is what the nodes send each other while nobody else does: remote writes into the last frame of the receive buffers.
type traffic struct {
	network *Network
	mu      sync.Mutex
	percent int
	changed chan struct{} // closed when percent changes
}

// writeBytes is how many bytes a write of background traffic has.
const writeBytes = 256

func newTraffic(n *Network) *traffic { return &traffic{network: n, changed: make(chan struct{})} }

// SetTraffic says how much of its link each network interface uses for writes to others drawn at random, 0 to 100 percent, into the last frame of their
// receive buffers.
func (n *Network) SetTraffic(percent int) error {
	if percent > 0 && n.options.Ports {
		return errors.New("live: the nodes have ports, beside which there is no traffic: leave one out")
	}
	if percent < 0 || percent > 100 {
		return fmt.Errorf("live: traffic of %d percent: want 0 to 100", percent)
	}
	if percent > 0 && len(n.hosts) < 2 {
		return errors.New("live: traffic takes two network interfaces: add another")
	}
	t := n.traffic
	t.mu.Lock()
	defer t.mu.Unlock()
	t.percent = percent
	close(t.changed)
	t.changed = make(chan struct{})
	return nil
}

// Traffic is what SetTraffic has set.
func (n *Network) Traffic() int {
	percent, _ := n.traffic.now()
	return percent
}

func (t *traffic) now() (percent int, changed <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.percent, t.changed
}

// send sends the traffic of a network interface until ctx ends.
func (t *traffic) send(ctx context.Context, from int) error {
	rng := rand.New(rand.NewPCG(t.network.options.Seed, uint64(from)))
	n := t.network.hosts[from].NI()
	next := n.Now() // when a packet is due
	for ctx.Err() == nil {
		percent, changed := t.now()
		if percent == 0 {
			select {
			case <-changed:
			case <-ctx.Done():
			}
			continue
		}
		size, err := t.write(ctx, n, rng, from)
		gap := time.Duration(float64(size*100/percent) / rtlsim.Rate * float64(time.Second))
		const most = 20 // packets that are made up for, when time has gone on without this goroutine
		if next = max(next+gap, n.Now()-most*gap); err == nil && next > n.Now() {
			err = n.Sleep(ctx, next-n.Now())
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, hostdrv.ErrClosed) {
			return fmt.Errorf("traffic of node %s: %w", t.network.hosts[from].name, err)
		}
	}
	return nil
}

// write sends a write to another network interface, and returns for how many symbols.
func (t *traffic) write(ctx context.Context, n *hostdrv.NI, rng *rand.Rand, from int) (size int, err error) {
	c, id := t.network.world.Cluster, n.Identity()
	to := rng.IntN(len(t.network.hosts) - 1)
	if to >= from {
		to++
	}
	data := make([]byte, min(writeBytes, id.PageBytes))
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	at := id.BufferBytes() - id.PageBytes + rng.IntN(id.PageBytes/len(data))*len(data)
	p := linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(at), Data: data}
	dest := c.NIs[to].Node
	err = n.SendRouted(ctx, c.Link(c.NIs[from], dest), c.Topology.Nodes[dest].ID, p)
	return p.Size() + linkproto.RouteExtra + linkproto.FrameOverhead, err
}
