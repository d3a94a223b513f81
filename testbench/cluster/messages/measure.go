// Package messages measures messages between two nodes of a simulated network: rates and round trips by their length.
package messages

import (
	"context"
	"fmt"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// Point is what messages of one length reach between the drivers of two nodes on a switch.
type Point struct {
	Bytes     int     `json:"bytes"`
	OneWay    float64 `json:"one_way"`    // bytes of messages a clock
	BothWays  float64 `json:"both_ways"`  // the same for each direction, both at once
	RoundTrip float64 `json:"round_trip"` // clocks, hosts' time in steps of 32 clocks included
}

// pageBytes is that of the network interfaces: messages of 1,500 bytes are one packet.
const pageBytes = 2048

// MostPacket is how many bytes of a message are one packet there.
const MostPacket = pageBytes - 3

// Measure measures messages of some lengths.
func Measure(ctx context.Context, rung string, sizes []int, seed uint64, progress func(string)) (points []Point, err error) {
	err = try.Run(func() {
		c := try.Get(cluster.Open(ctx, cluster.Config{Topology: try.Get(topology.Generate("star", []int{2}, 1)), Rung: rung, Seed: seed, Params: cluster.BenchParams(pageBytes, 1)}))
		w := c.Programs()
		defer try.Finally(w.Close)
		p := &pair{}
		for i := range c.NIs {
			p.hosts[i] = try.Get(w.Host(i))
			n := try.Get(hostdrv.New(ctx, p.hosts[i], hostdrv.Options{Seed: seed + uint64(i)}))
			defer try.Finally(n.Close)
			node := try.Get(hostdrv.Start(ctx, n, hostdrv.NodeOptions{NoPorts: true}))
			p.nis[i], p.numbers[i] = n, c.Topology.Nodes[c.NIs[i].Node].ID
			p.contexts[i] = try.Get(message.Open(ctx, node, message.FirstContext, message.Options{Seed: seed + uint64(i)}))
		}
		for _, size := range sizes {
			progress(fmt.Sprintf("messages of %d bytes", size))
			m := Point{Bytes: size, RoundTrip: try.Get(p.roundTrip(ctx, size))}
			m.OneWay = try.Get(p.stream(ctx, size, []int{0}))
			m.BothWays = try.Get(p.stream(ctx, size, []int{0, 1}))
			points = append(points, m)
		}
	})
	return points, err
}

// pair is two nodes with a context each.
type pair struct {
	hosts    [2]*lockstep.Host
	nis      [2]*hostdrv.NI
	numbers  [2]uint16
	contexts [2]*message.Context
}

// clock is the network's, as a network interface has it.
func clock(n *hostdrv.NI) float64 { return n.Now().Seconds() * rtlsim.Rate }

// both runs what the two nodes do. Time stands still while one of them computes.
func (p *pair) both(do func(i int) error) (err error) {
	var work sync.WaitGroup
	var failed [2]error
	for i := range p.contexts {
		work.Go(func() {
			defer p.hosts[i].Work()()
			failed[i] = do(i)
		})
	}
	work.Wait()
	for _, e := range failed {
		if e != nil {
			err = e
		}
	}
	return err
}

// await takes completions until one of the kind that is wanted comes.
func await(ctx context.Context, c *message.Context, received bool) (message.Completion, error) {
	for {
		done, err := c.Wait(ctx)
		if err == nil {
			err = done.Err
		}
		if err != nil || done.Received == received {
			return done, err
		}
	}
}

// roundTrip is the mean of some.
func (p *pair) roundTrip(ctx context.Context, size int) (clocks float64, err error) {
	trips := max(1, min(8, 8*65536/max(size, 1)))
	data := [2][]byte{make([]byte, size), make([]byte, size)}
	err = p.both(func(i int) error {
		c := p.contexts[i]
		var start float64
		for trip := range trips + 1 {
			if err := c.PostReceive(message.Receive{Data: data[i]}); err != nil {
				return err
			}
			if trip == 1 {
				start = clock(p.nis[i]) // the first one brings the virtual link up
			}
			for turn := range 2 {
				var err error
				if turn == i {
					err = c.PostSend(message.Send{Node: p.numbers[1-i], Data: data[i]})
				} else {
					_, err = await(ctx, c, true)
				}
				if err != nil {
					return err
				}
			}
		}
		if i == 0 {
			clocks = (clock(p.nis[0]) - start) / float64(trips)
		}
		return p.drain(ctx, i)
	})
	return clocks, err
}

// drain sends one more message each way, and takes the completions of all before.
func (p *pair) drain(ctx context.Context, i int) error {
	c := p.contexts[i]
	const last = 1
	if err := c.PostReceive(message.Receive{}); err != nil {
		return err
	}
	if err := c.PostSend(message.Send{Node: p.numbers[1-i], Cookie: last}); err != nil {
		return err
	}
	for left := 2; left > 0; {
		done, err := c.Wait(ctx)
		if err == nil {
			err = done.Err
		}
		if err != nil {
			return err
		}
		if done.Received || done.Cookie == last {
			left--
		}
	}
	return nil
}

// depth is how many descriptors a sender and a receiver keep posted.
func depth(size int) int {
	if size > 65536 {
		return 2
	}
	return max(4, min(32, 65536/(size+1)))
}

// counted is how many messages a rate is of.
func counted(size int) int { return max(2, min(8, 8*65536/max(size, 1)), 200_000/(size+50)) }

// stream sends as fast as it can, and returns the bytes a clock of the slowest of those that send, measured where they arrive, without the first ones.
func (p *pair) stream(ctx context.Context, size int, senders []int) (rate float64, err error) {
	messages := depth(size) + counted(size)
	rates := [2]float64{}
	err = p.both(func(i int) error {
		var sends, receives int
		for _, s := range senders {
			if s == i {
				sends = messages
			} else {
				receives = messages
			}
		}
		r, err := p.flow(ctx, i, size, sends, receives)
		rates[i] = r
		if err == nil {
			err = p.drain(ctx, i)
		}
		return err
	})
	rate = rates[1-senders[0]]
	if len(senders) > 1 {
		rate = min(rates[0], rates[1])
	}
	return rate, err
}

// flow sends and receives so many messages, and returns the rate at which they come.
func (p *pair) flow(ctx context.Context, i, size, sends, receives int) (float64, error) {
	c, data := p.contexts[i], make([]byte, size)
	var begun, ended float64
	posted := 0
	post := func() error {
		posted++
		return c.PostSend(message.Send{Node: p.numbers[1-i], Data: data})
	}
	room, posts := make([]byte, size), 0
	receive := func() error { posts++; return c.PostReceive(message.Receive{Data: room}) }
	for posted < min(sends, depth(size)) {
		if err := post(); err != nil {
			return 0, err
		}
	}
	for posts < min(receives, depth(size)) {
		if err := receive(); err != nil {
			return 0, err
		}
	}
	for sent, received := 0, 0; sent < sends || received < receives; {
		done, err := c.Wait(ctx)
		if err == nil {
			err = done.Err
		}
		switch {
		case err != nil:
			return 0, err
		case !done.Received:
			if sent++; posted < sends {
				err = post()
			}
		default:
			if received++; received == depth(size) {
				begun = clock(p.nis[i])
			}
			ended = clock(p.nis[i])
			if posts < receives {
				err = receive()
			}
		}
		if err != nil {
			return 0, err
		}
	}
	if receives == 0 {
		return 0, nil
	}
	return float64((receives-depth(size))*size) / (ended - begun), nil
}
