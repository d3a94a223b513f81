package figures

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// apart is a simulation that counts what it takes itself: CPU time, or allocations.
type apart struct {
	lockstep.Simulation
	allocations bool // else CPU time
	used        int64
}

func (a *apart) Turn(n int, lines []lockstep.Line) (passed int, err error) {
	if a.allocations {
		start := allocations()
		passed, err = a.Simulation.Turn(n, lines)
		a.used += allocations() - start
		return passed, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, err := threadTime()
	if err != nil {
		return 0, err
	}
	passed, err = a.Simulation.Turn(n, lines)
	end, timed := threadTime()
	a.used += int64(end - start)
	return passed, errors.Join(err, timed)
}

// allocations is how many objects this process has allocated.
func allocations() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Mallocs)
}

// onOneProcessor has goroutines run on one processor until restore is called: on more, what threads cost that wake each other changes from run to run.
func onOneProcessor() (restore func()) {
	before := runtime.GOMAXPROCS(1)
	return func() { runtime.GOMAXPROCS(before) }
}

// talkers are two nodes on a cable, whose NIs are models, with a context each.
type talkers struct {
	apart    apart
	nis      [2]*hostdrv.NI
	contexts [2]*message.Context
}

const talkersDepth = 32 // descriptors of a sender, and of a receiver

// talk opens the nodes and calls do. With engine the network interfaces carry the contexts out.
func talk(ctx context.Context, allocations, engine bool, do func(t *talkers)) {
	t := &talkers{}
	c := model.Config{Routes: true, ReplayBytes: 1 << 15, RxBytes: 1 << 15}
	o := message.Options{Engine: engine}
	if engine {
		c.Router, c.Virtual, c.Contexts, c.Frames = 2, 3, 1, 16
		o.Frames, o.Longest = 8, 64
	}
	network := try.Get(modelsim.New(modelsim.Config{
		NI:  c,
		NIs: 2, Cables: []modelsim.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1}},
		Wrap: func(s lockstep.Simulation) lockstep.Simulation {
			t.apart = apart{Simulation: s, allocations: allocations}
			return &t.apart
		},
	}))
	defer try.Finally(network.Close)
	for i := range t.nis {
		t.nis[i] = try.Get(hostdrv.New(ctx, try.Get(network.Host(i)), hostdrv.Options{NodeID: uint16(1 + i), Seed: uint64(1 + i)}))
		defer try.Finally(t.nis[i].Close)
		if engine {
			try.OK(t.nis[i].WriteRegister(ctx, linkproto.RouteReg(uint16(2-i)), 1))
		}
		node := try.Get(hostdrv.Start(ctx, t.nis[i], hostdrv.NodeOptions{NoPorts: true}))
		o.Seed = uint64(1 + i)
		t.contexts[i] = try.Get(message.Open(ctx, node, message.FirstContext, o))
	}
	do(t)
}

// stream sends so many messages of 64 bytes from one node to the other, which posts each descriptor again.
func (t *talkers) stream(ctx context.Context, messages int) {
	sender, receiver := t.contexts[0], t.contexts[1]
	data, room := make([]byte, 64), make([]byte, 64)
	post := func(c *message.Context) {
		if c == sender {
			try.OK(c.PostSend(message.Send{Node: 2, Data: data}))
		} else {
			try.OK(c.PostReceive(message.Receive{Data: room}))
		}
	}
	run := func(c *message.Context) {
		posted := min(messages, talkersDepth)
		for range posted {
			post(c)
		}
		for range messages {
			try.OK(try.Get(c.Wait(ctx)).Err)
			if posted < messages {
				posted++
				post(c)
			}
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- try.Run(func() { run(receiver) }) }()
	err := try.Run(func() { run(sender) })
	try.OK(err, <-ended)
}

// messageCPU64 counts all but the simulation of the network interfaces: the drivers of both ends, and the programs that post and poll.
func messageCPU64(ctx context.Context) Measurement {
	messages := either(ctx, 50_000, 20_000)
	defer onOneProcessor()()
	var costs []float64
	for range rounds(ctx) {
		costs = append(costs, messageCost(ctx, false, messages))
	}
	return Measurement{Value: Median(costs), Note: fmt.Sprintf("median of %d times %d messages; half of what the sender's driver and the receiver's take together", len(costs), messages)}
}

// messageCost is the CPU time of a driver for a message, in ns.
func messageCost(ctx context.Context, engine bool, messages int) (ns float64) {
	talk(ctx, false, engine, func(t *talkers) {
		t.stream(ctx, 1000) // the first one brings the virtual link up
		start, before := cpuTime(), t.apart.used
		t.stream(ctx, messages)
		ns = float64(cpuTime()-start-time.Duration(t.apart.used-before)) / float64(messages) / 2
	})
	return ns
}

// engineCost compares contexts of network interfaces with those of drivers.
func engineCost(ctx context.Context) Measurement {
	messages := either(ctx, 10_000, 5_000)
	defer onOneProcessor()()
	var shares []float64
	for range rounds(ctx) {
		shares = append(shares, messageCost(ctx, true, messages)/messageCost(ctx, false, messages))
	}
	return Measurement{Value: Median(shares), Note: fmt.Sprintf("median of %d times %d messages each; %d objects a message", len(shares), messages, made(ctx, true, messages)/int64(messages))}
}

// messageAllocations is whole allocations a message, as testing.AllocsPerRun has them: those that do not grow with the messages count as none.
func messageAllocations(ctx context.Context) Measurement {
	const messages = 10_000
	defer onOneProcessor()()
	n := made(ctx, false, messages)
	return Measurement{Value: float64(n / messages), Note: fmt.Sprintf("%d for %d messages, by both ends", n, messages)}
}

// made is how many objects both drivers allocate for so many messages.
func made(ctx context.Context, engine bool, messages int) (n int64) {
	talk(ctx, true, engine, func(t *talkers) {
		t.stream(ctx, 1000)
		start, before := allocations(), t.apart.used
		t.stream(ctx, messages)
		n = allocations() - start - (t.apart.used - before)
	})
	return n
}
