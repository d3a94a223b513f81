// Package sockets measures sockets over messages, messages alone and the kernel's TCP over lmmc ip, by the same two network interfaces, in turn. Each host
// is a process of its own; the network, with the drivers, is this one.
package sockets

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// Sizes are the lengths that are measured.
var Sizes = []int{1, 4, 64, 1024, 1500, 4096, 16384, Largest}

const (
	// Largest is the longest write.
	Largest   = 64 << 10
	pageBytes = 2048 // of the network interfaces: an Ethernet frame is one packet
	block     = 20   // round trips or connections of a way before it is another's turn
	leastSend = 512 << 10
	mostSends = 500
)

// Options say what to measure.
type Options struct {
	Ways     []Way
	Sizes    []int
	Rounds   int  // of each size, in which each way has a turn
	Opened   int  // connections of each way in a round; 0: none
	Calls    bool // count system calls, where strace is
	Seed     uint64
	Lmmc     string // the program that hosts are, with HostCommand
	Progress func(what string)
}

// Point is what a way reaches with writes of one size.
type Point struct {
	Way     Way           `json:"way"`
	Bytes   int           `json:"bytes"`
	Median  time.Duration `json:"round_trip"` // of real time, in ns, as is all time here
	P10     time.Duration `json:"p10"`
	P90     time.Duration `json:"p90"`
	P99     time.Duration `json:"p99"`
	Rate    float64       `json:"rate"`     // one way, bytes a second, median
	CPU     float64       `json:"cpu"`      // of both hosts, ns a byte, of the same: programs, kernel, lmmc ip; median
	Driver  float64       `json:"driver"`   // the same of the drivers and servers of the network interfaces
	TripCPU time.Duration `json:"trip_cpu"` // of both hosts, of a round trip, mean
	Calls   float64       `json:"calls"`    // system calls of both hosts for each write, of the same; 0: not counted
}

// Opened is how fast a way opens and closes connections, one after the other.
type Opened struct {
	Way    Way           `json:"way"`
	Median time.Duration `json:"median"`
	Rate   float64       `json:"rate"` // a second, of all
}

// bench is two hosts at work.
type bench struct {
	o     Options
	meter *meter
	hosts [2]*process
}

// Measure measures.
func Measure(ctx context.Context, o Options) (d Document, err error) {
	d = Document{Seed: o.Seed, Page: pageBytes, Rounds: o.Rounds, Papers: Papers()}
	err = try.Run(func() {
		network, meter, end := up(ctx, o)
		defer try.Finally(end)
		b := &bench{o: o, meter: meter}
		_, targets := network.Targets()
		for i := range b.hosts {
			b.hosts[i] = try.Get(start(o.Lmmc, targets[i], network.Number(1-i), o.Ways))
			defer try.Finally(b.hosts[i].end)
		}
		b.both(order{Do: "ready"}, order{Do: "ready"}) // both listen
		for _, way := range o.Ways {
			b.both(order{Do: "open", Way: way}, order{Do: "open", Way: way, Count: 1})
		}
		for _, size := range o.Sizes {
			d.Points = append(d.Points, b.size(size)...)
		}
		if o.Opened > 0 {
			d.Opened = b.connections()
		}
		b.both(order{Do: "close"}, order{Do: "close"})
	})
	return d, err
}

// up runs a star of two models, whose network interfaces are served.
func up(ctx context.Context, o Options) (network *live.Network, m *meter, end func() error) {
	m = &meter{rng: rand.New(rand.NewPCG(o.Seed, 1))}
	t := try.Get(topology.Generate("star", []int{2}, 1))
	c := try.Get(cluster.Open(ctx, cluster.Config{Topology: t, Rung: cluster.Model, Seed: o.Seed, Params: cluster.BenchParams(pageBytes, 1), Wrap: m.wrap}))
	dir := try.Get(os.MkdirTemp("", "lmmc"))
	network, err := live.Open(ctx, c, live.Options{Dir: dir, Seed: o.Seed})
	if err != nil {
		try.OK(errors.Join(err, os.RemoveAll(dir)))
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- network.Run(running) }()
	return network, m, func() error {
		stop()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, network.Close(), os.RemoveAll(dir))
	}
}

// both has the hosts carry out orders together.
func (b *bench) both(near, far order) (answers [2]answer) {
	failed := make(chan error, 2)
	for i, o := range []order{near, far} {
		go func() { failed <- b.hosts[i].do(o, &answers[i]) }()
	}
	err := <-failed
	if err != nil { // then the other one would wait for ever
		for _, h := range b.hosts {
			h.kill()
		}
	}
	other := <-failed
	if err == nil {
		err = other
	}
	try.OK(err)
	return answers
}

// size measures all ways with a size, in turn.
func (b *bench) size(size int) []Point {
	trips, cpu := map[Way][]time.Duration{}, map[Way]time.Duration{}
	rates, host, driver := map[Way][]float64{}, map[Way][]float64{}, map[Way][]float64{}
	writes := min(max(leastSend/size, 4), mostSends)
	for round := range b.o.Rounds + 1 {
		b.o.Progress(fmt.Sprintf("%d bytes, round %d of %d", size, max(round, 1), b.o.Rounds))
		for _, way := range b.o.Ways {
			o := order{Way: way, Size: size, Count: block}
			near, far := o, o
			near.Do, far.Do = "ping", "echo"
			ping := b.both(near, far)
			near, far = order{"send", way, size, writes}, order{"receive", way, size, writes}
			b.meter.on.Store(true) // round trips are not to wait for it
			before := b.driver()
			send := b.both(near, far)
			driven := b.driver() - before
			b.meter.on.Store(false)
			if round == 0 { // for caches, and windows that grow
				continue
			}
			trips[way] = append(trips[way], ping[0].Times...)
			cpu[way] += ping[0].CPU + ping[1].CPU
			bytes := float64(size * writes)
			rates[way] = append(rates[way], bytes/send[0].Times[0].Seconds())
			host[way] = append(host[way], float64(send[0].CPU+send[1].CPU)/bytes)
			driver[way] = append(driver[way], float64(driven)/bytes)
		}
	}
	var points []Point
	for _, way := range b.o.Ways {
		t := trips[way]
		slices.Sort(t)
		at := func(share int) time.Duration { return t[min(len(t)*share/100, len(t)-1)] }
		points = append(points, Point{Way: way, Bytes: size, Median: at(50), P10: at(10), P90: at(90), P99: at(99), TripCPU: cpu[way] / time.Duration(len(t)),
			Rate: median(rates[way]), CPU: median(host[way]), Driver: median(driver[way]), Calls: b.calls(way, size, writes)})
	}
	return points
}

// driver is what this process has used without the simulation: the drivers and servers.
func (b *bench) driver() time.Duration { return cpuTime() - b.meter.time() }

// connections opens and closes some, in turn.
func (b *bench) connections() (all []Opened) {
	times := map[Way][]time.Duration{}
	for round := range b.o.Rounds + 1 {
		b.o.Progress(fmt.Sprintf("connections, round %d of %d", max(round, 1), b.o.Rounds))
		for _, way := range b.o.Ways {
			if way == Messages {
				continue
			}
			o := order{Way: way, Count: b.o.Opened}
			near, far := o, o
			near.Do, far.Do = "connect", "accept"
			a := b.both(near, far)
			if round > 0 {
				times[way] = append(times[way], a[0].Times...)
			}
		}
	}
	for _, way := range b.o.Ways {
		if t := times[way]; len(t) > 0 {
			var sum time.Duration
			for _, d := range t {
				sum += d
			}
			slices.Sort(t)
			all = append(all, Opened{way, t[len(t)/2], float64(len(t)) / sum.Seconds()})
		}
	}
	return all
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
