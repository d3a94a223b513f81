package figures

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	_ "github.com/stafflink/lmmc/testbench/modelsim" // the target of these figures, and one of conform_time
)

var driverFigures = []Figure{
	{Name: "driver_write_64", Doc: "CPU time of the driver for a 64-byte remote write, without that of the NI, a model",
		Unit: "ns", Must: new(1000.0), Aim: new(300.0), Better: Lower, Timed: true, Measure: steps(driverWrite64)},
	{Name: "paging_waits", Doc: "round trips of the host's cable that a sender waits at a page fault: 16 ports a frame, written at random, every byte right",
		Unit: "round trips", Must: new(0.0), Better: Lower, Measure: steps(pagingWaits)},
}

// metered is a transport that counts the CPU time that it takes itself.
type metered struct {
	hostdrv.Transport
	used atomic.Int64 // ns
}

func (m *metered) Exchange(x *hostdrv.Exchange) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, err := threadTime()
	if err != nil {
		return err
	}
	err = m.Transport.Exchange(x)
	end, timed := threadTime()
	m.used.Add(int64(end - start))
	return errors.Join(err, timed)
}

func threadTime() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

func driverWrite64(ctx context.Context) Measurement {
	writes := either(ctx, 100_000, 50_000)
	defer onOneProcessor()()
	var costs []float64
	for range rounds(ctx) {
		t := try.Get(hostdrv.Dial(ctx, "model:?replay=32768&rx=32768"))
		m := &metered{Transport: t}
		n := try.Get(hostdrv.New(ctx, m, hostdrv.Options{}))
		var start time.Duration
		err := try.Run(func() {
			try.OK(n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 1}))
			data := make([]byte, 64)
			start = cpuTime()
			for range writes {
				try.OK(n.Write(ctx, 1, 0, data))
			}
			try.OK(n.Sync(ctx, 1))
		})
		// Closed, the transport's time is not counted any more.
		try.OK(err, n.Close())
		costs = append(costs, float64(cpuTime()-start-time.Duration(m.used.Load()))/float64(writes))
	}
	return Measurement{Value: Median(costs), Note: fmt.Sprintf("median of %d times %d writes", len(costs), writes)}
}

func pagingWaits(ctx context.Context) Measurement {
	const (
		frames = 4
		ports  = 16 * frames
	)
	writes := either(ctx, 4000, 2000)
	n := try.Get(hostdrv.Open(ctx, fmt.Sprintf("model:?links=1&frames=%d&page=256", frames), hostdrv.Options{Seed: 1}))
	defer try.Finally(n.Close)
	node := try.Get(hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: 1}))
	start := n.Now()
	try.Get(n.LinkStatus(ctx, 0))
	roundTrip := n.Now() - start
	var send, receive [ports]*hostdrv.Window
	var want [ports][256]byte
	for i := range send {
		send[i], receive[i] = loopedPort(ctx, node)
	}
	rng := rand.New(rand.NewPCG(1, 17))
	var waited time.Duration
	for i := range writes {
		if i%4 == 0 { // so that there is room, and what is waited for is the fault
			try.OK(send[0].Sync(ctx))
		}
		port, at := rng.IntN(ports), rng.IntN(256)
		data := want[port][at : at+rng.IntN(min(256-at, 64)+1)]
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		faults, before := node.Stats().PageOuts, n.Now()
		try.OK(send[port].WritePage(ctx, data, at))
		if node.Stats().PageOuts > faults {
			waited += n.Now() - before
		}
	}
	for i, w := range receive {
		limit, cancel := n.WithTimeout(ctx, 10*time.Millisecond)
		err := w.Wait(limit, func(page []byte) bool { return bytes.Equal(page, want[i][:]) })
		cancel()
		try.Wrap(err, "port %d does not hold what was written to it", i)
	}
	faults := node.Stats().PageOuts
	if faults < uint64(writes)/2 {
		try.Failf("%d faults in %d writes to 16 ports a frame", faults, writes)
	}
	return Measurement{Value: float64(waited) / float64(roundTrip) / float64(faults), Note: fmt.Sprintf("%d faults in %d writes", faults, writes)}
}

// loopedPort connects a port of a node that is cabled to itself.
func loopedPort(ctx context.Context, node *hostdrv.Node) (send, receive *hostdrv.Window) {
	p := try.Get(node.CreatePort(1, hostdrv.Send))
	accepted := make(chan error, 1)
	go func() {
		accepted <- try.Run(func() { receive = try.Get(try.Get(try.Get(node.Accept(ctx)).Accept()).Window()) })
	}()
	try.OK(p.Connect(ctx, nil))
	try.OK(<-accepted)
	return try.Get(p.Window()), receive
}
