package soak

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// network is a run of a case on a network: CONNECTs between all hosts, faults amid them, and an account of every packet.
type network struct {
	*cluster.Cluster
	ctx   context.Context
	fault fault
	rate  float64
	rng   *testbench.Rand // of the traffic
	plans *testbench.Rand // of the faults
	hosts []*netHost

	sick    []int   // by cable: the lane that has faults of its own
	load    float64 // share of the looks at which hosts have something to send
	hot     int     // host that gets most; -1: none
	outages []outage
	mending []uint64 // when the faults ended that are not recovered from yet

	barriers   *cluster.BarrierGroup // that the hosts are members of; nil: they make no barriers
	generation int                   // how often it has been made anew
	begun      uint64                // barriers before that

	virtual   bool            // the hosts speak over virtual links
	flows     bool            // by MESSAGEs only, none of which traps
	seen      map[uint64]bool // packets that have come
	reported  map[uint64]bool // and those that a virtual link has given up
	injected  uint64
	recovery  histogram
	delivered uint64
	started   uint64 // clocks
}

// outage is something that is out, and is to be put back.
type outage struct {
	until uint64
	back  func() error
}

// turn is how many clocks pass between two looks at the hosts.
const turn = 32

type netShape struct {
	name  string
	size  []int
	links int
}

var (
	netShapes = []netShape{{"star", []int{6}, 1}, {"hyper-crossbar", []int{3, 2}, 2}, {"fat-tree", []int{2, 3}, 1}, {"mesh", []int{3, 2}, 1}, {"tree", []int{3, 2}, 1}, {"ring", []int{5}, 1}}
	rtlShapes = []netShape{{"ring", []int{4}, 1}, {"mesh", []int{2, 2}, 1}, {"star", []int{3}, 1}, {"hyper-crossbar", []int{2, 2}, 1}}
)

// netPatience is how long network interfaces with a router wait for their hosts before they drop packets. A RESUME may have to wait for what the host
// has sent before, and for a host that stalls.
const netPatience = 20_000

// onNetwork does one run of a case on a network.
func onNetwork(ctx context.Context, c Case, l link, f fault, seed uint64) (x outcome, err error) {
	rng := testbench.NewRand(seed).Split(c.String())
	shape, rung := netShapes[seed%uint64(len(netShapes))], cluster.Model
	if l.rtl {
		shape, rung = rtlShapes[seed%uint64(len(rtlShapes))], cluster.RTL
	}
	err = campaign.Protect(func() (err error) {
		top, err := topology.Generate(shape.name, shape.size, shape.links)
		if err != nil {
			return err
		}
		lanes := 1
		switch {
		case f.lanes && !l.rtl:
			lanes = 2 + rng.IntN(3)
		case f.lanes && !l.offload: // RTL carries out virtual links over links of one lane
			lanes = 1 + rng.IntN(2)
		}
		for i := range top.Cables {
			top.Cables[i].Lanes, top.Cables[i].Latency = lanes, 1+rng.IntN(100)
			if f.name == "noise" || f.name == "mixed" {
				top.Cables[i].BitErrorRate = c.Rate
			}
		}
		for i := range top.Nodes { // what a switch counts is read where it is, as packets to ask for it would count too
			if top.Nodes[i].Kind == topology.Switch {
				top.Nodes[i].Rung = cluster.Model
			}
		}
		o := cluster.Config{Topology: top, Rung: rung, Seed: rng.Uint64(), Params: rtl.Params{Patience: netPatience}, Barriers: l.barriers}
		if l.offload {
			o.Virtual, o.InSoftware = 4, some(rng.Split("software"), top)
		}
		net, err := cluster.Open(ctx, o)
		if err != nil {
			return err
		}
		n := newNetwork(ctx, net, f, c.Rate, rng)
		if l.virtual {
			n.openVirtual()
		}
		if l.barriers {
			if n.barriers, err = net.NewBarrierGroup(barrierGroup, barrierGeneration, net.NIs); err != nil {
				return errors.Join(err, net.Close())
			}
		}
		if err = net.BeginAccount(); err == nil {
			err = try.Run(func() { n.campaign(l.symbols) })
		}
		x.Row, x.Recovery = n.row()
		return errors.Join(err, net.Close())
	})
	return x, x.Row.judge(ctx, err)
}

// some are network interfaces whose hosts carry out virtual links themselves: a third, more or less.
func some(rng *testbench.Rand, top *topology.Topology) (names []string) {
	for _, node := range top.Nodes {
		if node.Kind == topology.NI && rng.Chance(1.0/3) {
			names = append(names, node.Name)
		}
	}
	return names
}

func newNetwork(ctx context.Context, c *cluster.Cluster, f fault, rate float64, rng *testbench.Rand) *network {
	n := &network{
		Cluster: c, ctx: ctx, fault: f, rate: rate, rng: rng.Split("traffic"), plans: rng.Split("faults"), hot: -1,
		seen: map[uint64]bool{}, reported: map[uint64]bool{}, recovery: histogram{}, started: c.Cycles,
	}
	n.load = 0.1 + 0.9*n.rng.Float64()
	for _, cable := range c.Topology.Cables {
		n.sick = append(n.sick, n.plans.IntN(cable.Lanes))
	}
	for i, x := range c.NIs {
		h := &netHost{NI: x, net: n, number: i, last: map[int]uint64{}}
		x.Received = h.received
		n.hosts = append(n.hosts, h)
	}
	return n
}

// campaign does the run.
func (n *network) campaign(clocks int) {
	for n.Cycles-n.started < uint64(clocks) {
		if n.rng.Chance(turn / 20_000.0) {
			n.hot = testbench.Pick(n.rng, -1, -1, n.rng.IntN(len(n.hosts)))
		}
		n.disturb()
		n.step(true)
	}
	n.settle()
	n.exchange()
	if n.virtual {
		n.judgeVirtual()
		return
	}
	n.judge()
}

// step lets a turn pass.
func (n *network) step(offering bool) {
	for _, h := range n.hosts {
		h.turn(offering && n.rng.Chance(n.load))
	}
	try.OK(n.Run(turn))
	n.outages = slices.DeleteFunc(n.outages, func(o outage) bool {
		if n.Cycles < o.until {
			return false
		}
		try.OK(o.back())
		n.mending = append(n.mending, n.Cycles)
		return true
	})
	if len(n.mending) == 0 || len(n.outages) > 0 || !n.Up() {
		return
	}
	n.mending = slices.DeleteFunc(n.mending, func(ended uint64) bool {
		if n.Cycles < ended {
			return false
		}
		n.recovery[n.Cycles-ended]++
		return true
	})
}

// disturb begins the faults that are due.
func (n *network) disturb() {
	due := func(kind bool) bool { return kind && n.plans.Chance(-math.Expm1(turn*math.Log1p(-n.rate))) }
	if due(n.fault.unplug) {
		i := n.plans.IntN(len(n.Topology.Cables))
		n.out(func(out bool) error { return n.Cut(i, out) })
	}
	if due(n.fault.pull) {
		var routers []int
		for i, node := range n.Topology.Nodes {
			if node.Kind == topology.Switch || node.Ports > 1 {
				routers = append(routers, i)
			}
		}
		i := testbench.Pick(n.plans, routers...)
		n.out(func(out bool) error { return n.Pull(i, out) })
	}
	if i := n.plans.IntN(len(n.Topology.Cables)); n.Topology.Cables[i].Lanes > 1 && due(n.fault.lanes) {
		n.lane(i)
	}
	if n.barriers != nil && due(n.fault.restart) {
		n.restartMember()
	}
	if due(n.fault.stall) {
		h := n.hosts[n.plans.IntN(len(n.hosts))]
		h.stalled = n.Cycles + uint64(n.plans.Between(1, 10_000))
		n.injected++
		n.mending = append(n.mending, h.stalled)
		if h.Params.Router > 0 && n.plans.Chance(0.1) { // dead, till the end of the faults
			h.stalled = math.MaxUint64
		}
	}
}

// lane cuts or damages the sick lane of a cable, one way or both. While one lane is out another stays whole, so that nothing is lost.
func (n *network) lane(cable int) {
	ways := testbench.Pick(n.plans, []int{0}, []int{1}, []int{0, 1})
	damages := n.plans.Chance(0.3)
	n.out(func(out bool) (err error) {
		for _, way := range ways {
			l := cluster.LaneWay{Cable: cable, Way: way, Lane: n.sick[cable]}
			switch {
			case !damages:
				err = errors.Join(err, n.CutLane(l, out))
			case out:
				err = errors.Join(err, n.DamageLane(l, 1e-3))
			default:
				err = errors.Join(err, n.DamageLane(l, n.Topology.Cables[cable].BitErrorRate))
			}
		}
		return err
	})
}

// silence is how long an end hears nothing before it takes its peer for gone.
const silence = linkproto.SilentTimers * linkproto.DefaultWordTimer

// out takes something out, as often as not for so long that the links start again.
func (n *network) out(take func(out bool) error) {
	clocks := n.plans.Between(1, 4000)
	if n.plans.Bool() {
		clocks = silence + n.plans.Between(2000, 20_000)
	}
	try.OK(take(true))
	n.injected++
	n.outages = append(n.outages, outage{n.Cycles + uint64(clocks), func() error { return take(false) }})
}

// settle ends all faults and runs until nothing is underway.
func (n *network) settle() {
	for i := range n.outages {
		n.outages[i].until = 0
	}
	for _, h := range n.hosts {
		h.stalled = 0
	}
	quiet, last := uint64(0), len(n.seen)
	for began := n.Cycles; quiet < silence || len(n.mending) > 0; {
		if n.Cycles-began > 2_000_000 {
			try.Failf("%w: %d clocks after the last fault %s", ErrWedged, n.Cycles-began, n.state())
		}
		n.step(false)
		if quiet += turn; last != len(n.seen) || !n.Resting() || slices.ContainsFunc(n.hosts, (*netHost).busy) {
			quiet, last = 0, len(n.seen)
		}
	}
}

// exchange sends a packet from each host to each other, all of which must come.
func (n *network) exchange() {
	before, want := len(n.seen), 0
	for _, h := range n.hosts {
		for to := range n.hosts {
			if to != h.number {
				h.queue = append(h.queue, to)
				want++
			}
		}
	}
	for began := n.Cycles; len(n.seen)-before < want; n.step(false) {
		if n.Cycles-began > 1_000_000 {
			try.Failf("%w: of %d packets that were sent when all cables were whole %d have come; %s", ErrWedged, want, len(n.seen)-before, n.state())
		}
	}
	n.settle()
}

// judge compares what hosts have sent and seen with what the network has counted.
func (n *network) judge() {
	a, err := n.Account()
	if err != nil {
		try.Failf("%w: %w", ErrCount, err)
	}
	sent := uint64(0)
	for _, h := range n.hosts {
		sent += h.sent - uint64(h.Credit(1).Refused)
	}
	n.delivered = uint64(len(n.seen))
	if a.Sent != sent || a.Delivered != n.delivered {
		try.Failf("%w: hosts have sent %d packets and got %d, the network counts %+v", ErrCount, sent, n.delivered, a)
	}
	missing := a.Missing()
	if n.fault.stall { // some are dead
		missing -= a.Late
	}
	if missing > 0 && !n.fault.unplug && !n.fault.pull {
		try.Failf("%w: %d packets, though no cable was out: %+v", ErrLost, missing, a)
	}
}

func (n *network) state() string {
	s := fmt.Sprintf("all links up: %v, at rest: %v", n.Up(), n.Resting())
	for _, h := range n.hosts {
		if h.busy() {
			s += fmt.Sprintf("; %s has %d bytes of %d packets underway", n.Topology.Nodes[h.Node].Name, h.Credit(1).Outstanding(), h.sent)
			for _, end := range h.ends {
				if end != nil && end.busy() {
					s += fmt.Sprintf(", its virtual link to host %d %v", end.account().peer, end)
				}
			}
		}
	}
	return s
}

// row is what the run has counted.
func (n *network) row() (Row, histogram) {
	row := Row{Runs: 1, Packets: n.delivered, Bytes: n.delivered * netBytes, Cycles: n.Cycles - n.started, Injected: n.injected, Recovered: n.recovery.count(),
		Barriers: n.hosts[0].left, Counters: map[string]uint64{}}
	a, err := n.Account()
	switch {
	case n.virtual:
		row.Reported = uint64(len(n.reported))
	case err == nil:
		row.Reported = a.Missing()
	}
	for name, count := range map[string]uint64{"lost on cables": a.OnCables, "lost": a.Lost, "late": a.Late} {
		if count > 0 {
			row.Counters[name] = count
			row.Detected += count
		}
	}
	return row, n.recovery
}
