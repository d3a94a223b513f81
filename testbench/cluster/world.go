package cluster

import (
	"context"

	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// World is a cluster whose hosts are programs: Host is the transport to a network interface, by its place in Cluster.NIs. One place more, the last, has no
// network interface: whoever takes its transport lets time pass. What else uses the cluster does so by Between.
type World struct {
	*lockstep.World
	Cluster *Cluster
}

// Programs gives the hosts of a cluster to programs. Closing the world closes the cluster, which no context ends any more.
func (n *Cluster) Programs() *World { return n.programs(quantum) }

// LivePrograms is Programs for those who go by real time, not by the clocks: a turn takes up to longTurn clocks when drivers have so much to send or receive without a gap,
// as each has its price.
func (n *Cluster) LivePrograms() *World {
	w := n.programs(longTurn)
	w.Gather(longTurn)
	return w
}

// longTurn is half of the room that network interfaces have above the mark at which they say STOP.
const longTurn = 128

func (n *Cluster) programs(turn int) *World {
	n.ctx = context.WithoutCancel(n.ctx)
	s := &programs{cluster: n}
	for _, host := range n.NIs {
		end := &program{}
		host.Far = end
		s.ends = append(s.ends, end)
	}
	var run lockstep.Simulation = s
	if n.config.Wrap != nil {
		run = n.config.Wrap(s)
	}
	return &World{lockstep.New(run, len(s.ends)+1, quantum, turn, rtlsim.Rate), n}
}

// Link is the link by which packets of a network interface leave for another node: with a router the network, link 1.
func (n *Cluster) Link(from *NI, to int) int { return int(n.via(from, to)) }

// programs is the simulation of a World.
type programs struct {
	cluster *Cluster
	ends    []*program // by network interface
}

// program is the end of a host's cable that a program has, of one lane.
type program struct{ out, in []linkproto.Symbol }

// Emit sends what the program does.
func (p *program) Emit(_ int, dst []linkproto.Symbol) int {
	n := copy(dst, p.out)
	p.out = p.out[n:]
	return n
}

// Feed takes what is for the program.
func (p *program) Feed(_ int, in []linkproto.Symbol) { p.in = append(p.in, in...) }

// Tick lets time pass.
func (*program) Tick(int) {}

// Turn runs the cluster.
func (s *programs) Turn(n int, lines []lockstep.Line) (passed int, err error) {
	for i, end := range s.ends {
		end.out = append(end.out, lines[i].Out...)
	}
	before := s.cluster.Cycles
	err = s.cluster.Run(n)
	for i, end := range s.ends {
		lines[i].In, end.in = end.in, lines[i].In[:0]
	}
	return int(s.cluster.Cycles - before), err
}

// Close ends the cluster.
func (s *programs) Close() error { return s.cluster.Close() }
