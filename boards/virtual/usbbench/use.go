package usbbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/hostdrv/transport/usb/bare"
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

func reads() (_ Reads, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	p, err := start(orderBoard)
	if err != nil {
		return Reads{}, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	n, err := openSoon(ctx, func() (*hostdrv.NI, error) { return hostdrv.Open(ctx, slowTarget, hostdrv.Options{Seed: 1}) })
	if err != nil {
		return Reads{}, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
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
		if err := b.Run(ctx); err != nil {
			return r, err
		}
		if magic != linkproto.Magic {
			return r, fmt.Errorf("read %#x as the magic number", magic)
		}
		now, err := p.count()
		if err != nil {
			return r, err
		}
		if i >= warm {
			r.PerRead = append(r.PerRead, now.Out+now.In-last.Out-last.In)
		}
		last = now
	}
	r.Idle, r.Seconds = last.Idle-first.Idle, time.Since(began).Seconds()
	return r, nil
}

// openSoon waits for what is just being plugged in.
func openSoon[T any](ctx context.Context, open func() (T, error)) (T, error) {
	for {
		t, err := open()
		if !errors.Is(err, usb.ErrNoDevice) || ctx.Err() != nil {
			return t, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

const (
	rounds = 5  // in which each of the two has its turn
	times  = 32 // that the data is sent in one
)

func rates() (r Rates, err error) {
	p, err := start(orderEcho)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	symbols := random()
	bytes := linkproto.AppendStuffed(nil, symbols)
	r.Bytes = times * len(bytes)
	turn := func(loop func() (time.Duration, error)) (rate float64) {
		if err == nil {
			var took time.Duration
			took, err = loop()
			rate = float64(r.Bytes) / took.Seconds()
		}
		return rate
	}
	for range rounds {
		r.Driver = append(r.Driver, turn(func() (time.Duration, error) { return driverLoop(symbols) }))
		r.Bare = append(r.Bare, turn(bareLoop(bytes).Run))
	}
	return r, err
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
func driverLoop(data []linkproto.Symbol) (_ time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	t, err := openSoon(ctx, func() (hostdrv.Transport, error) { return hostdrv.Dial(ctx, fastTarget) })
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	burst, all := t.Timing().Burst, times*len(data)
	began := time.Now()
	for sent, came := 0, 0; came < all; {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("%d of %d bytes came back: %w", came, all, ctx.Err())
		}
		x := hostdrv.Exchange{Wait: burst}
		if sent < all {
			at := sent % len(data)
			x.Out = data[at:min(at+burst, len(data))]
		}
		if err := t.Exchange(&x); err != nil {
			return 0, err
		}
		if x.Taken {
			sent += len(x.Out)
		}
		came += len(x.In)
	}
	return time.Since(began), nil
}

// bareLoop has as many transfers underway as package usb has, and as long ones.
func bareLoop(data []byte) bare.Loop {
	return bare.Loop{Serial: serial, Channel: 1, Data: data, Bytes: times * len(data), In: 16, Out: 2, InSize: 8 * 512, OutSize: 6000, Latency: 1}
}
