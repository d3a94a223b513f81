package cluster

import (
	"context"
	"errors"
	"time"

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
func (n *Cluster) Programs() *World { return together(quantum, n) }

// LivePrograms is Programs for those who go by real time, not by the clocks: a turn takes up to longTurn clocks when drivers have so much to send or receive without a gap,
// as each has its price.
func (n *Cluster) LivePrograms() *World {
	w := together(longTurn, n)
	w.Gather(longTurn)
	settle := 0
	if n.net != nil { // what is in the middle of RTL is not seen
		settle = settled
	}
	w.Rest(longRest, settle, n.busy)
	return w
}

const (
	longRest = 2 * time.Millisecond // for programs that answer
	settled  = 1 << 12              // clocks
)

// busy reports whether something is under way, or time passes as it does elsewhere.
func (n *Cluster) busy() bool {
	if n.Outsiders() > 0 || n.group != nil {
		return true
	}
	for i := range n.cables {
		for _, ways := range n.cables[i].ways {
			for _, w := range ways {
				if w.line != nil && w.line.busy > 0 {
					return true
				}
			}
		}
	}
	look := n.Look()
	return look.Busy()
}

// longTurn is half of the room that network interfaces have above the mark at which they say STOP.
const longTurn = 128

// Together is Programs for clusters that run side by side, such as two networks of the same nodes: first are the network interfaces of the first one, then those of the next.
func Together(clusters ...*Cluster) *World { return together(quantum, clusters...) }

func together(turn int, clusters ...*Cluster) *World {
	all, places := &sideBySide{}, 1
	for _, n := range clusters {
		n.ctx = context.WithoutCancel(n.ctx)
		s := &programs{cluster: n}
		for _, host := range n.NIs {
			end := &program{}
			host.Far = end
			s.ends = append(s.ends, end)
		}
		places += len(s.ends)
		all.ends = append(all.ends, len(s.ends))
		if n.config.Wrap != nil {
			all.clusters = append(all.clusters, n.config.Wrap(s))
		} else {
			all.clusters = append(all.clusters, s)
		}
	}
	return &World{lockstep.New(all, places, quantum, turn, rtlsim.Rate), clusters[0]}
}

// Link is the link by which packets of a network interface leave for another node: with a router the network, link 1.
func (n *Cluster) Link(from *NI, to int) int { return int(n.via(from, to)) }

// sideBySide is the simulation of a World.
type sideBySide struct {
	clusters []lockstep.Simulation
	ends     []int // of each
}

// Turn runs all clusters for the same time.
func (t *sideBySide) Turn(n int, lines []lockstep.Line) (passed int, err error) {
	for i, c := range t.clusters {
		var failed error
		passed, failed = c.Turn(n, lines[:t.ends[i]])
		err, lines = errors.Join(err, failed), lines[t.ends[i]:]
	}
	return passed, err
}

// Close ends them.
func (t *sideBySide) Close() (err error) {
	for _, c := range t.clusters {
		err = errors.Join(err, c.Close())
	}
	return err
}

// programs is the simulation of a cluster.
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
