package usbbench

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/hostdrv/transport/usb/bare"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Targets for what is plugged in. In a guest, which is ten times slower than the machine, the symbol times in which driver and network interface count should
// be long; what is at no line is as fast as it can be.
const (
	target     = "usb:0403:6010?serial=" + serial
	slowTarget = target + "&baud=460800"
	fastTarget = target + "&baud=12000000"
)

// limit is on what a guest on a busy machine takes.
const limit = 5 * time.Minute

func reads() Reads {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	p := try.Get(start(orderBoard))
	defer try.Finally(p.close)
	n := openSoon(ctx, func() (*hostdrv.NI, error) { return hostdrv.Open(ctx, slowTarget, hostdrv.Options{Seed: 1}) })
	defer try.Finally(n.Close)
	const warm, times = 20, 300
	r := Reads{PerRead: make([]int, 0, times)}
	var last, first counts
	var began time.Time
	for i := range warm + times {
		if i == warm {
			first, began = last, time.Now()
		}
		var magic, version uint32
		b := n.Batch()
		b.ReadRegister(linkproto.RegMagic, &magic)
		b.ReadRegister(linkproto.RegVersion, &version)
		try.OK(b.Run(ctx))
		if magic != linkproto.Magic {
			try.Failf("read %#x as the magic number", magic)
		}
		now := try.Get(p.count())
		if i >= warm {
			r.PerRead = append(r.PerRead, now.Out+now.In-last.Out-last.In)
		}
		last = now
	}
	r.Idle, r.Seconds = last.Idle-first.Idle, time.Since(began).Seconds()
	return r
}

// openSoon waits for what is just being plugged in.
func openSoon[T any](ctx context.Context, open func() (T, error)) T {
	for {
		t, err := open()
		if !errors.Is(err, usb.ErrNoDevice) || ctx.Err() != nil {
			try.OK(err)
			return t
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const (
	rounds = 5  // in which each of the two has its turn
	times  = 32 // that the data is sent in one
)

func rates() (r Rates) {
	p := try.Get(start(orderEcho))
	defer try.Finally(p.close)
	symbols := random()
	bytes := linkproto.AppendStuffed(nil, symbols)
	r.Bytes = times * len(bytes)
	rate := func(took time.Duration) float64 { return float64(r.Bytes) / took.Seconds() }
	for range rounds {
		r.Driver = append(r.Driver, rate(driverLoop(symbols)))
		r.Bare = append(r.Bare, rate(try.Get(bareLoop(bytes).Run())))
	}
	return r
}

// random is as much as four of the driver's transfers to the chip.
func random() []linkproto.Symbol {
	data, rng := make([]linkproto.Symbol, 1<<16), rand.New(rand.NewPCG(1, 5))
	for i := range data {
		data[i] = linkproto.Data(byte(rng.Uint32()))
	}
	return data
}

// driverLoop sends data over and over and waits for as much to come.
func driverLoop(data []linkproto.Symbol) time.Duration {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	t := openSoon(ctx, func() (hostdrv.Transport, error) { return hostdrv.Dial(ctx, fastTarget) })
	defer try.Finally(t.Close)
	burst, all := t.Timing().Burst, times*len(data)
	began := time.Now()
	for sent, came := 0, 0; came < all; {
		try.Wrap(ctx.Err(), "%d of %d bytes came back", came, all)
		x := hostdrv.Exchange{Wait: burst}
		if sent < all {
			at := sent % len(data)
			x.Out = data[at:min(at+burst, len(data))]
		}
		try.OK(t.Exchange(&x))
		if x.Taken {
			sent += len(x.Out)
		}
		came += len(x.In)
	}
	return time.Since(began)
}

// bareLoop has as many transfers underway as package usb has, and as long ones.
func bareLoop(data []byte) bare.Loop {
	return bare.Loop{Serial: serial, Channel: 1, Data: data, Bytes: times * len(data), In: 16, Out: 2, InSize: 8 * 512, OutSize: 6000, Latency: 1}
}
