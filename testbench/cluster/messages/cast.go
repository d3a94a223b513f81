package messages

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Casts has one node of a switch send messages to a multicast group of all others as fast as it can, acknowledged by all or not, and returns the bytes of messages a clock that come to the
// slowest of them.
func Casts(ctx context.Context, rung string, receivers, size, count int, acknowledged bool) (rate float64, err error) {
	err = try.Run(func() {
		const group = 1
		c := try.Get(cluster.Open(ctx, cluster.Config{Topology: try.Get(topology.Generate("star", []int{receivers + 1}, 1)), Rung: rung, Seed: 1, Params: cluster.BenchParams(pageBytes, 1)}))
		w := c.Programs()
		defer try.Finally(w.Close)
		var hosts []*lockstep.Host
		var nis []*hostdrv.NI
		var contexts []*message.Context
		var members []uint16
		for _, n := range c.NIs[1:] {
			members = append(members, c.Topology.Nodes[n.Node].ID)
		}
		for i := range c.NIs {
			o := message.Options{Seed: 1 + uint64(i)}
			if i == 0 && acknowledged {
				o.Groups = []message.Group{{Address: linkproto.MulticastBase + group, Members: members}}
			}
			host := try.Get(w.Host(i))
			n := try.Get(hostdrv.New(ctx, host, hostdrv.Options{Seed: 1 + uint64(i)}))
			defer try.Finally(n.Close)
			node := try.Get(hostdrv.Start(ctx, n, hostdrv.NodeOptions{NoPorts: true}))
			hosts, nis = append(hosts, host), append(nis, n)
			contexts = append(contexts, try.Get(message.Open(ctx, node, message.FirstContext, o)))
		}
		ports := uint32(1)<<(receivers+2) - 2 // on a switch all but that by which a packet comes
		try.OK(nis[0].MakeGroup(ctx, group, []hostdrv.GroupPorts{{Node: c.Topology.Nodes[len(c.NIs)].ID, Ports: ports}}))

		s := &casts{size: size, count: count, rates: make([]float64, receivers)}
		var work sync.WaitGroup
		failed := make([]error, len(contexts))
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		for i, at := range contexts {
			work.Go(func() {
				defer hosts[i].Work()() // time stands still while it computes
				if i == 0 {
					failed[i] = s.send(ctx, at, linkproto.MulticastBase+group)
				} else {
					failed[i] = s.take(ctx, at, i-1, nis[i])
				}
				if failed[i] != nil {
					stop()
				}
			})
		}
		work.Wait()
		try.OK(errors.Join(failed...))
		rate = slices.Min(s.rates)
	})
	return rate, err
}

type casts struct {
	size, count int
	rates       []float64
}

// send sends all messages.
func (s *casts) send(ctx context.Context, c *message.Context, to uint16) error {
	data := make([]byte, s.size)
	for posted, done := 0, 0; done < s.count; done++ {
		for ; posted < min(s.count, done+depth(s.size)); posted++ {
			if err := c.PostSend(message.Send{Node: to, Data: data}); err != nil {
				return err
			}
		}
		if _, err := await(ctx, c, false); err != nil {
			return fmt.Errorf("send %d: %w", done, err)
		}
	}
	return nil
}

// take takes all messages, and notes at what rate they come, without the first ones.
func (s *casts) take(ctx context.Context, c *message.Context, i int, n *hostdrv.NI) error {
	room := make([]byte, s.size)
	var begun float64
	for posted, came := 0, 0; came < s.count; {
		for ; posted < min(s.count, came+depth(s.size)); posted++ {
			if err := c.PostReceive(message.Receive{Data: room}); err != nil {
				return err
			}
		}
		done, err := await(ctx, c, true)
		if err != nil {
			return fmt.Errorf("receive %d: %w", came, err)
		}
		if len(done.Data) != s.size {
			return fmt.Errorf("a message of %d bytes came, want %d", len(done.Data), s.size)
		}
		if came++; came == depth(s.size) {
			begun = clock(n)
		}
	}
	s.rates[i] = float64((s.count-depth(s.size))*s.size) / (clock(n) - begun)
	return nil
}
