package figures

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster/sockets"
)

// myrinet is what others have published of sockets past the protocol stack.
const myrinet = "72 µs, TCP on the same card 98, 100Base-TX 118 at 1 B; 138, 179, 456 µs at 1,024 B (sockets past the stack, Myrinet)"

var socketFigures = []Figure{
	{Name: "sock_rtt_1", Doc: "median round trip of TCP over lmmc ip as a multiple of that of sockets, 1 B, the same two models in turn, real time", Must: new(1.4), Aim: new(3.0),
		Published: myrinet, Timed: true, Long: true, Measure: besideTCP(1, roundTrips(sockets.Ours))},
	{Name: "sock_rtt_1024", Doc: "the same of 1,024 B", Must: new(1.4), Aim: new(2.5), Published: myrinet, Timed: true, Long: true, Measure: besideTCP(1024, roundTrips(sockets.Ours))},
	{Name: "sock_stream", Doc: "rate of a socket in writes of 64 KB as a multiple of TCP's, the same two models, real time, which the simulation limits for both", Must: new(1.1), Aim: new(2.0),
		Timed: true, Long: true, Measure: besideTCP(sockets.Largest, rates(sockets.Ours, sockets.TCP))},
	{Name: "sock_cpu", Doc: "CPU time a byte of both hosts for TCP over lmmc ip as a multiple of that for sockets, writes of 64 KB, without drivers and network interfaces",
		Must: new(2.0), Aim: new(5.0), Timed: true, Long: true, Measure: besideTCP(sockets.Largest, cpus(sockets.Ours))},
	{Name: "sock_stream_vs_messages", Doc: "rate of a socket in writes of 64 KB as a share of that of messages of as many bytes, the same two models", Must: new(0.8), Aim: new(0.95),
		Timed: true, Long: true, Measure: besideTCP(sockets.Largest, rates(sockets.Ours, sockets.Messages))},
	{Name: "sock_conn", Doc: "connections of sockets opened and closed a second, one after the other, as a multiple of TCP's, the same two models, real time", Must: new(1.0), Aim: new(2.0),
		Timed: true, Long: true, Measure: besideTCP(0, connections)},
	{Name: "sock_redis", Doc: "time of a SET and a GET of redis-benchmark with 50 clients by TCP over lmmc ip as a multiple of that by lmmc run, the same two models in turn, real time",
		Must: new(1.2), Aim: new(2.0), Timed: true, Long: true, Measure: steps(redis)},
	{Name: "msg_vs_ip_cpu", Doc: "CPU time a byte of both hosts for TCP over lmmc ip as a multiple of that for messages, 1,500 B, without drivers and network interfaces",
		Must: new(3.0), Aim: new(5.0), Timed: true, Long: true, Measure: besideTCP(1500, cpus(sockets.Messages))},
	{Name: "msg_vs_ip_rtt", Doc: "median round trip of TCP over lmmc ip as a multiple of that of messages, 4 B, the same two models in turn, real time", Must: new(1.5), Aim: new(4.0),
		Timed: true, Long: true, Measure: besideTCP(4, roundTrips(sockets.Messages))},
}

// besideTCP measures all ways with a size, or without one connections, and compares them.
func besideTCP(size int, compare func(d *sockets.Document, size int) Measurement) func(context.Context) (Measurement, error) {
	return steps(func(ctx context.Context) Measurement {
		o := sockets.Options{Ways: sockets.Ways, Rounds: 15, Seed: 1, Lmmc: try.Get(os.Executable()), Progress: func(string) {}}
		if o.Sizes = []int{size}; size == 0 {
			o.Sizes, o.Opened = nil, 20
		}
		if Quick(ctx) {
			o.Rounds = 3
		}
		d := try.Get(sockets.Measure(ctx, o))
		return compare(&d, size)
	})
}

// redis measures redis-benchmark by both ways.
func redis(ctx context.Context) Measurement {
	o := sockets.Options{Rounds: 7, Seed: 1, Lmmc: try.Get(os.Executable()), Progress: func(string) {}}
	if Quick(ctx) {
		o.Rounds = 3
	}
	r, err := sockets.MeasureRedis(ctx, o)
	if errors.Is(err, sockets.ErrNoRedis) {
		err = fmt.Errorf("%w: %w", ErrSkip, err)
	}
	try.OK(err)
	return Measurement{Value: r.TCP.Each() / r.Ours.Each(), Note: fmt.Sprintf("medians of %d runs, requests a second: SET %.0f and %.0f, GET %.0f and %.0f",
		r.Runs, r.Ours.Set, r.TCP.Set, r.Ours.Get, r.TCP.Get)}
}

func roundTrips(way sockets.Way) func(*sockets.Document, int) Measurement {
	return func(d *sockets.Document, size int) Measurement {
		own, tcp := d.Of(way, size), d.Of(sockets.TCP, size)
		return Measurement{Value: float64(tcp.Median) / float64(own.Median), Note: fmt.Sprintf("medians of %d: TCP %v, %s %v", 20*d.Rounds, tcp.Median, way, own.Median)}
	}
}

func rates(way, other sockets.Way) func(*sockets.Document, int) Measurement {
	return func(d *sockets.Document, size int) Measurement {
		a, b := d.Of(way, size), d.Of(other, size)
		return Measurement{Value: a.Rate / b.Rate, Note: fmt.Sprintf("medians of %d: %s %.2f, %s %.2f MB/s", d.Rounds, way, a.Rate/1e6, other, b.Rate/1e6)}
	}
}

func cpus(way sockets.Way) func(*sockets.Document, int) Measurement {
	return func(d *sockets.Document, size int) Measurement {
		own, tcp := d.Of(way, size), d.Of(sockets.TCP, size)
		return Measurement{Value: tcp.CPU / own.CPU, Note: fmt.Sprintf("medians of %d: TCP %.1f, %s %.1f ns; drivers, which turn with the simulation, %.0f and %.0f ns; rates %.2f and %.2f MB/s",
			d.Rounds, tcp.CPU, way, own.CPU, tcp.Driver, own.Driver, tcp.Rate/1e6, own.Rate/1e6)}
	}
}

func connections(d *sockets.Document, _ int) Measurement {
	var rate [2]float64
	for _, o := range d.Opened {
		if o.Way == sockets.Ours {
			rate[0] = o.Rate
		} else {
			rate[1] = o.Rate
		}
	}
	return Measurement{Value: rate[0] / rate[1], Note: fmt.Sprintf("%.0f and %.0f a second", rate[0], rate[1])}
}
