package barriers

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// Point is what barriers of one algorithm take, in clocks.
type Point struct {
	Algorithm string  `json:"algorithm"`
	Nodes     int     `json:"nodes"`
	Mean      float64 `json:"mean"` // of all members and barriers
	Least     float64 `json:"least"`
	Most      float64 `json:"most"`
	Predicted float64 `json:"predicted"` // by LogP: the mean
}

// Error is how far off the prediction is, as a share of what was measured.
func (p Point) Error() float64 { return max(p.Predicted-p.Mean, p.Mean-p.Predicted) / p.Mean }

// Pause is what members wait for between two barriers: some 8 µs at 125 MHz.
const Pause = 1000

// clocks are the time of so many.
func clocks(n float64) time.Duration { return time.Duration(n / rtlsim.Rate * 1e9) }

// Network is a network whose nodes have drivers.
type Network struct {
	world   *cluster.World
	hosts   []*lockstep.Host
	nis     []*hostdrv.NI
	nodes   []*hostdrv.Node
	numbers []uint16
	context int // of messages, the last one that was used
}

// Open opens a network of up to 64 nodes: one switch up to 16, else two levels of them.
func Open(ctx context.Context, rung string, n int, seed uint64) (*Network, error) {
	shape, numbers := "star", []int{n}
	if n > 16 {
		shape, numbers = "tree", []int{8, 2}
	}
	w := &Network{}
	err := try.Run(func() {
		c := try.Get(cluster.Open(ctx, cluster.Config{Topology: try.Get(topology.Generate(shape, numbers, 1)), Rung: rung, Seed: seed, Params: cluster.BenchParams(2048, 1)}))
		w.world = c.Programs()
		for i := range n {
			at := i * len(c.NIs) / n
			host := try.Get(w.world.Host(at))
			w.hosts = append(w.hosts, host)
			ni := try.Get(hostdrv.New(ctx, host, hostdrv.Options{Seed: seed + uint64(i)}))
			w.nis = append(w.nis, ni)
			w.nodes = append(w.nodes, try.Get(hostdrv.Start(ctx, ni, hostdrv.NodeOptions{NoPorts: true})))
			w.numbers = append(w.numbers, c.Topology.Nodes[c.NIs[at].Node].ID)
		}
	})
	if err != nil && w.world != nil {
		try.Finally(w.Close)
	}
	return w, err
}

// Close ends the network.
func (w *Network) Close() error {
	for _, n := range w.nis {
		n.Close()
	}
	return w.world.Close()
}

func (w *Network) clock(i int) float64 { return math.Round(w.nis[i].Now().Seconds() * rtlsim.Rate) }

// each runs what the first n nodes do.
func (w *Network) each(n int, do func(i int) error) error {
	var work sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		over := w.hosts[i].Work()
		work.Go(func() {
			defer over()
			errs[i] = do(i)
		})
	}
	work.Wait()
	for i, err := range errs {
		if err != nil {
			return fmt.Errorf("node %d: %w", w.numbers[i], err)
		}
	}
	return nil
}

// Measure makes so many barriers of the first n nodes, after two that bring the virtual links up.
func (w *Network) Measure(ctx context.Context, a collective.Algorithm, n, count int, model LogP) (Point, error) {
	w.context++
	took := make([][]float64, n)
	err := w.each(n, func(i int) error {
		g, err := collective.Open(ctx, w.nodes[i], collective.Options{Members: w.numbers[:n], Context: w.context, Barrier: a.Name, Seed: uint64(i + 1)})
		if err != nil {
			return err
		}
		for round := range count + 2 {
			start := w.clock(i)
			if err := g.Barrier(ctx); err != nil {
				return err
			}
			if round >= 2 {
				took[i] = append(took[i], w.clock(i)-start)
			}
			if err := w.nis[i].Sleep(ctx, clocks(Pause)); err != nil {
				return err
			}
		}
		return g.Close(ctx)
	})
	p := Point{Algorithm: a.Name, Nodes: n, Least: math.Inf(1), Predicted: model.Predict(a, n, Pause)}
	for _, times := range took {
		for _, t := range times {
			p.Mean += t
			p.Least, p.Most = min(p.Least, t), max(p.Most, t)
		}
	}
	p.Mean /= float64(n * count)
	if err != nil {
		return Point{}, err // without times Least is no number
	}
	return p, nil
}

// AllReduce returns the clocks of allreduces of 8 bytes, the mean.
func (w *Network) AllReduce(ctx context.Context, count int) (mean float64, err error) {
	w.context++
	times := make([]float64, len(w.nodes))
	op := collective.Op{Size: 8, Combine: func(into, from []byte) { copy(into, from) }}
	err = w.each(len(w.nodes), func(i int) error {
		g, err := collective.Open(ctx, w.nodes[i], collective.Options{Members: w.numbers, Context: w.context, Seed: uint64(i + 1)})
		if err != nil {
			return err
		}
		var start float64
		for round := range count + 2 {
			if round == 2 {
				start = w.clock(i)
			}
			if err := g.AllReduce(ctx, make([]byte, op.Size), op); err != nil {
				return err
			}
		}
		times[i] = (w.clock(i) - start) / float64(count)
		return g.Close(ctx)
	})
	for _, t := range times {
		mean += t / float64(len(times))
	}
	return mean, err
}

// LogP measures the parameters of the first n nodes: the latency is half a round trip of messages without bytes, the mean over the first node's peers; the gap is that at which messages
// arrive which one node sends to another as fast as it can.
func (w *Network) LogP(ctx context.Context, n int) (p LogP, err error) {
	w.context++
	const trips, burst = 4, 16
	err = w.each(n, func(i int) error {
		c, err := message.Open(ctx, w.nodes[i], w.context, message.Options{Seed: uint64(i + 1)})
		if err != nil {
			return err
		}
		m := prober{ctx, c}
		for range 2 * burst {
			if err := c.PostReceive(message.Receive{}); err != nil {
				return err
			}
		}
		if i == 0 {
			for peer := 1; peer < n; peer++ {
				if err := m.send(w.numbers[peer]); err != nil { // brings the virtual link up
					return err
				}
				if err := m.receive(); err != nil {
					return err
				}
				start := w.clock(0)
				for range trips {
					if err := m.send(w.numbers[peer]); err != nil {
						return err
					}
					if err := m.receive(); err != nil {
						return err
					}
				}
				p.Latency += (w.clock(0) - start) / (2 * trips) / float64(n-1)
			}
		} else {
			for range trips + 1 {
				if err := m.receive(); err != nil {
					return err
				}
				if err := m.send(w.numbers[0]); err != nil {
					return err
				}
			}
		}
		switch i {
		case 0:
			for range burst {
				if err := m.send(w.numbers[1]); err != nil {
					return err
				}
			}
			return m.receive() // the answer to all
		case 1:
			var first float64
			for k := range burst {
				if err := m.receive(); err != nil {
					return err
				}
				if k == 0 {
					first = w.clock(1)
				}
			}
			p.Gap = (w.clock(1) - first) / (burst - 1)
			if err := m.send(w.numbers[0]); err != nil {
				return err
			}
		}
		return nil
	})
	return p, err
}

// prober sends and receives messages without bytes.
type prober struct {
	ctx     context.Context
	context *message.Context
}

func (m prober) send(to uint16) error { return m.context.PostSend(message.Send{Node: to}) }

// receive waits for a message.
func (m prober) receive() error {
	for {
		done, err := m.context.Wait(m.ctx)
		if err == nil {
			err = done.Err
		}
		if err != nil {
			return err
		}
		if done.Received {
			return m.context.PostReceive(message.Receive{})
		}
	}
}
