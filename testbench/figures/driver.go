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
	_ "github.com/stafflink/lmmc/testbench/modelsim" // the target of these figures, and one of conform_time
)

var driverFigures = []Figure{
	{Name: "driver_write_64", Doc: "CPU time of the driver for a 64-byte remote write, without that of the NI, a model",
		Unit: "ns", Must: new(1000.0), Aim: new(300.0), Better: Lower, Timed: true, Measure: driverWrite64},
	{Name: "paging_waits", Doc: "round trips of the host's cable that a sender waits at a page fault: 16 ports a frame, written at random, every byte right",
		Unit: "round trips", Must: new(0.0), Better: Lower, Measure: pagingWaits},
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

func driverWrite64(ctx context.Context) (Measurement, error) {
	const writes = 100_000
	var costs []float64
	for range rounds(ctx) {
		t, err := hostdrv.Dial(ctx, "model:?replay=32768&rx=32768")
		if err != nil {
			return Measurement{}, err
		}
		m := &metered{Transport: t}
		n, err := hostdrv.New(ctx, m, hostdrv.Options{})
		if err != nil {
			return Measurement{}, err
		}
		if err := n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 1}); err != nil {
			return Measurement{}, errors.Join(err, n.Close())
		}
		data := make([]byte, 64)
		start := cpuTime()
		for range writes {
			if err = n.Write(ctx, 1, 0, data); err != nil {
				break
			}
		}
		// Closed, the transport's time is not counted any more.
		if err = errors.Join(err, n.Sync(ctx, 1), n.Close()); err != nil {
			return Measurement{}, err
		}
		costs = append(costs, float64(cpuTime()-start-time.Duration(m.used.Load()))/writes)
	}
	return Measurement{Value: Median(costs), Note: fmt.Sprintf("median of %d times %d writes", len(costs), writes)}, nil
}

func pagingWaits(ctx context.Context) (_ Measurement, err error) {
	const (
		frames = 4
		ports  = 16 * frames
		writes = 4000
	)
	n, err := hostdrv.Open(ctx, fmt.Sprintf("model:?links=1&frames=%d&page=256", frames), hostdrv.Options{Seed: 1})
	if err != nil {
		return Measurement{}, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	node, err := hostdrv.Start(ctx, n, hostdrv.NodeOptions{Seed: 1})
	if err != nil {
		return Measurement{}, err
	}
	start := n.Now()
	if _, err := n.LinkStatus(ctx, 0); err != nil {
		return Measurement{}, err
	}
	roundTrip := n.Now() - start
	var send, receive [ports]*hostdrv.Window
	var want [ports][256]byte
	for i := range send {
		if send[i], receive[i], err = loopedPort(ctx, node); err != nil {
			return Measurement{}, err
		}
	}
	rng := rand.New(rand.NewPCG(1, 17))
	var waited time.Duration
	for i := range writes {
		if i%4 == 0 { // so that there is room, and what is waited for is the fault
			if err := send[0].Sync(ctx); err != nil {
				return Measurement{}, err
			}
		}
		port, at := rng.IntN(ports), rng.IntN(256)
		data := want[port][at : at+rng.IntN(min(256-at, 64)+1)]
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		faults, before := node.Stats().PageOuts, n.Now()
		if err := send[port].WritePage(ctx, data, at); err != nil {
			return Measurement{}, err
		}
		if node.Stats().PageOuts > faults {
			waited += n.Now() - before
		}
	}
	for i, w := range receive {
		limit, cancel := n.WithTimeout(ctx, 10*time.Millisecond)
		err := w.Wait(limit, func(page []byte) bool { return bytes.Equal(page, want[i][:]) })
		cancel()
		if err != nil {
			return Measurement{}, fmt.Errorf("port %d does not hold what was written to it: %w", i, err)
		}
	}
	faults := node.Stats().PageOuts
	if faults < writes/2 {
		return Measurement{}, fmt.Errorf("%d faults in %d writes to 16 ports a frame", faults, writes)
	}
	return Measurement{Value: float64(waited) / float64(roundTrip) / float64(faults), Note: fmt.Sprintf("%d faults in %d writes", faults, writes)}, nil
}

// loopedPort connects a port of a node that is cabled to itself.
func loopedPort(ctx context.Context, node *hostdrv.Node) (send, receive *hostdrv.Window, err error) {
	p, err := node.CreatePort(1, hostdrv.Send)
	if err != nil {
		return nil, nil, err
	}
	accepted := make(chan error, 1)
	go func() {
		r, err := node.Accept(ctx)
		var q *hostdrv.Port
		if err == nil {
			q, err = r.Accept()
		}
		if err == nil {
			receive, err = q.Window()
		}
		accepted <- err
	}()
	if err = p.Connect(ctx, nil); err == nil {
		err = <-accepted
	}
	if err == nil {
		send, err = p.Window()
	}
	return send, receive, err
}
