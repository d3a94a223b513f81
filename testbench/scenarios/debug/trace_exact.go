package debug

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// What happens at a port stands in a record with the clock, counted from reset, in which its last symbol is on the pins, and as much more.
const (
	awake      = 64 // clocks of reset
	strayDelay = 2
	wordDelay  = 5
	stopDelay  = 3
)

// exact knows every symbol that reaches a network interface, and so what its trace buffer must hold.
type exact struct {
	*harness.Harness
	cables  []*watched // by port
	control uint64     // when the last write of CONTROL has come
	starts  []uint64   // clocks that RUN may take from then on, as far as is known
	lost    int
}

// watched is a cable towards the network interface.
type watched struct {
	*harness.Inserter
	deframer *linkproto.Deframer
	stopped  bool
	happened map[uint64]uint32 // events, by the clock of their record
}

// traceExactly has strays, damaged words, STOP and GO come by all ports at once, as densely as they can, in recordings of all kinds.
func traceExactly(s *harness.Harness) {
	x := &exact{Harness: s, starts: anyDelay()}
	for port := range s.Params.Links + 1 {
		x.watch(port)
	}
	for round := range 24 {
		try.Wrap(try.Run(x.record), "recording %d", round)
	}
	if x.lost == 0 || len(x.starts) != 1 {
		try.Failf("%d records, %d lost, RUN takes %v clocks: the run tests too little", s.Suite.Stats.Packets, x.lost, x.starts)
	}
}

func (x *exact) port(n int) *ni.Port {
	if n == 0 {
		return x.Node.Host.Port
	}
	return x.Peer(n)
}

// watch notes what a port's cable brings.
func (x *exact) watch(n int) {
	p := x.port(n)
	c := &watched{Inserter: x.Insert(p), deframer: linkproto.NewDeframer(x.Params.MaxPacket()), happened: map[uint64]uint32{}}
	c.deframer.SetKey(harness.KeyOf(p.Link))
	x.cables = append(x.cables, c)
	p.Tap = func(toNI bool, clock uint64, s linkproto.Symbol) {
		if !toNI {
			return
		}
		clock -= awake
		for n := 0; n == 0; {
			var ev linkproto.Event
			ev, n = c.deframer.Next([]linkproto.Symbol{s})
			note := func(delay uint64, e linkproto.TraceEvent) { c.happened[clock+delay] |= e.Bit() }
			switch ev.Kind {
			case linkproto.EventStray:
				note(strayDelay, linkproto.TraceEvent(linkproto.CntRxStray))
			case linkproto.EventBadWord:
				delay := uint64(wordDelay)
				if ev.Reason == linkproto.WordCut {
					delay--
				}
				note(delay, linkproto.TraceEvent(linkproto.CntBadWord))
			case linkproto.EventWord:
				switch {
				case ev.Word.Stop && !c.stopped:
					note(stopDelay, linkproto.EvPeerStop)
				case !ev.Word.Stop && c.stopped:
					note(stopDelay, linkproto.EvPeerGo)
				}
				c.stopped = ev.Word.Stop
			case linkproto.EventFrame:
				var p linkproto.Packet
				if p.Decode(ev.Payload) == nil && p.Type == linkproto.TypeRegWrite && p.Reg == linkproto.TraceControl.Reg() {
					x.control = clock
				}
			}
		}
	}
}

// stray is a line of n symbols that bring no packet, of which a share does something.
func (x *exact) stray(port, n int, share float64) []linkproto.Symbol {
	var line []linkproto.Symbol
	for len(line) < n {
		word := func(stop bool) []linkproto.Symbol {
			end := x.port(port).Link
			return linkproto.AppendWord(nil, harness.KeyOf(end), linkproto.Word{Stop: stop, Value: uint8(end.Counter(linkproto.CntRxPackets))})
		}
		switch what := x.Rand.IntN(20); {
		case !x.Rand.Chance(share):
			line = append(line, linkproto.SymIdle)
		case what == 0:
			damaged := word(false)
			damaged[x.Rand.Between(2, len(damaged)-1)] ^= 1 << x.Rand.IntN(8)
			line = append(line, damaged...)
		case what == 1: // cut off
			line = append(line, linkproto.SymLSW, linkproto.Data(byte(x.Rand.IntN(64))), linkproto.SymAbort)
		case what < 4 && port > 0:
			line = append(line, word(x.Rand.Bool())...)
		case what < 6:
			line = append(line, linkproto.SymEOP)
		default:
			line = append(line, linkproto.Data(byte(x.Rand.Uint32())))
		}
	}
	return line
}

// happen has something happen at ports, and returns at once.
func (x *exact) happen(ports []int, n int) {
	for _, p := range ports {
		x.cables[p].Insert = append(x.cables[p].Insert, x.stray(p, n, testbench.Pick(x.Rand, 0.02, 0.3, 0.7, 1))...)
	}
}

// some picks from a list; nil, which stands for all, now and then.
func some[T any](rng *testbench.Rand, of ...T) []T {
	if rng.IntN(4) == 0 {
		return nil
	}
	list := []T{}
	for _, item := range of {
		if rng.IntN(3) > 0 {
			list = append(list, item)
		}
	}
	return list
}

// record makes a recording, and compares it.
func (x *exact) record() {
	links, all := []int{1, 2}, []int{0, 1, 2}
	known := []linkproto.TraceEvent{linkproto.TraceEvent(linkproto.CntRxStray), linkproto.TraceEvent(linkproto.CntBadWord), linkproto.EvPeerStop, linkproto.EvPeerGo}
	setup := linkproto.TraceSetup{Events: some(x.Rand, known...), Ports: some(x.Rand, all...), Trigger: some(x.Rand, known...), TriggerPorts: some(x.Rand, all...),
		Post: testbench.Pick[uint16](x.Rand, 0, 1, 2, 5, 100)}
	if setup.Events == nil {
		setup.Events = known
	}
	if x.Rand.Bool() {
		setup.Trigger = nil
	}
	command := func(v uint32) {
		x.happen(links, 200)
		try.OK(x.Run(x.Rand.IntN(100)), x.WriteRegister(0, linkproto.TraceControl.Reg(), v))
	}
	x.happen(links, x.Rand.Between(500, 1000))
	try.OK(x.StartTrace(0, setup))
	for range x.Rand.IntN(3) { // anew
		command(linkproto.TraceRun.In(1))
	}
	started, asked := x.control, x.Rand.IntN(3) == 0
	if asked {
		command(linkproto.TraceTriggered.In(1))
	}
	x.happen(all, testbench.Pick(x.Rand, 20, 100, 300, 800))
	for _, c := range x.cables {
		try.OK(x.Until(100_000, "the symbols to pass", c.Idle))
	}
	try.OK(x.Run(200))
	r := x.read(setup)
	r.asked = asked
	x.starts = narrow(x.starts, func(delay uint64) { x.check(r, started+delay) })
	x.Suite.Stats.Packets += uint64(len(r.records))
	x.lost += int(r.lost)
}

// narrow keeps of the delays those with which a check passes, which is at least one.
func narrow(delays []uint64, check func(uint64)) (left []uint64) {
	var failed error
	for _, d := range delays {
		if err := try.Run(func() { check(d) }); err != nil {
			failed = err
		} else {
			left = append(left, d)
		}
	}
	if left == nil {
		try.OK(failed)
	}
	return left
}

// anyDelay is where narrow begins.
func anyDelay() (delays []uint64) {
	for d := range uint64(100) {
		delays = append(delays, d)
	}
	return delays
}
