package figures

import (
	"context"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/messages"
)

var messageFigures = []Figure{
	{Name: "msg_rtt_0", Doc: "message without bytes from host port to host port and back over one cable, hosts that answer at once", Unit: "cycles",
		Must: new(250.0), Aim: new(125.0), Better: Lower, Published: smallestRoundTrips, Long: true, Measure: messageTrip(messages.Cabled)},
	{Name: "msg_rtt_0_switch", Doc: "the same through one switch", Unit: "cycles", Must: new(310.0), Aim: new(165.0), Better: Lower,
		Long: true, Measure: messageTrip(func() *topology.Topology { return try.Get(topology.Generate("star", []int{2}, 1)) })},
	{Name: "vl_write_latency_8", Doc: "8-byte write by a virtual link that NIs carry out, through one switch: first symbol into the sender's host port to the last byte in the receive buffer",
		Unit: "cycles", Must: new(110.0), Aim: new(70.0), Better: Lower, Long: true, Measure: trips(func(ctx context.Context, n int) ([]int, error) { return messages.Writes(ctx, 8, n) })},
	{Name: "msg_share_1500", Doc: "messages of 1500 bytes both ways at once between two drivers through a switch: payload as a share of what a link carries, the worse direction",
		Must: new(0.96), Aim: new(0.98), Published: GigaEPM.String(), Long: true, Measure: steps(messageShare)},
	{Name: "mcast_share", Doc: "messages of 1500 bytes from one node to a group of 15 behind one switch, acknowledged by each: payload as a share of what the sender's link carries, at the slowest of them",
		Must: new(0.95), Aim: new(0.98), Long: true, Measure: steps(func(ctx context.Context) Measurement {
			return Measurement{Value: try.Get(messages.Casts(ctx, cluster.RTL, 15, 1500, 150, true)), Note: "a ROUTE, a MESSAGE, a CastWord and a tag around each cost 43 bytes, a frame 7"}
		})},
	{Name: "msg_cpu_64", Doc: "CPU time of a driver for a 64-byte message, the mean of the sender's and the receiver's, without the network interfaces, models on a cable",
		Unit: "ns", Must: new(1000.0), Aim: new(300.0), Better: Lower, Timed: true, Measure: steps(messageCPU64)},
	{Name: "msg_engine_cpu_64", Doc: "the same of contexts that the NIs carry out (Options.Engine), against it in the same run", Better: Lower, Timed: true, Long: true,
		Measure: steps(engineCost)},
	{Name: "msg_allocs_64", Doc: "memory that the two drivers allocate for such a message", Unit: "objects", Must: new(0.0), Better: Lower, Alone: true, Measure: steps(messageAllocations)},
}

func messageTrip(of func() *topology.Topology) func(context.Context) (Measurement, error) {
	return trips(func(ctx context.Context, n int) ([]int, error) { return messages.Trips(ctx, of(), n) })
}

// trips takes the median of an odd number of trips, which come sorted.
func trips(measure func(ctx context.Context, n int) (clocks []int, err error)) func(context.Context) (Measurement, error) {
	return steps(func(ctx context.Context) Measurement {
		const n = 101
		clocks := try.Get(measure(ctx, n))
		return Measurement{Value: float64(clocks[n/2]), Note: fmt.Sprintf("median of %d, %d to %d", n, clocks[0], clocks[n-1])}
	})
}

func messageShare(ctx context.Context) Measurement {
	p := try.Get(messages.Measure(ctx, cluster.RTL, []int{1500}, 1, func(string) {}))[0]
	return Measurement{Value: p.BothWays, Note: fmt.Sprintf("one way %.4f; %.1f and %.1f MB/s at 125 MHz", p.OneWay, messages.Clock*p.BothWays, messages.Clock*p.OneWay)}
}
