package switches

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Transcript is what happened in one round, by lane: lines in order, which depend neither on time nor on other lanes.
type Transcript struct {
	Round   int
	Lanes   map[string][]string
	Packets int // that have come out
}

// player carries a program out on a world.
type player struct {
	*World
	p     Program
	rng   *testbench.Rand
	cut   uint32
	noise float64
	slow  []float64
	out   *Transcript
	tag   uint8
	reply []byte            // to the manager
	heard []map[string]bool // BARRIERs, by port, since listen; nil: they are not kept
	began map[int]uint32    // PHASE of groups for barriers, before anything was said in the round
	left  map[int]uint32    // and in its end
	// What has been written, as the switch takes it.
	node   uint16
	table  [nodes]uint32
	groups [groups]uint32
}

// newPlayer gives the switch its nonce and waits for its links.
func newPlayer(w *World, p Program) *player {
	a := &player{World: w, p: p, rng: testbench.NewRand(p.Seed).Split("player"), slow: make([]float64, p.Params.Ports+1)}
	nonce := ni.Nonce(a.rng)
	if w.host != nil {
		a.out = &Transcript{Lanes: map[string][]string{}}
		for frame := range frames { // memory that may hold anything
			a.askHost(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: uint32(frame * w.Params.PageBytes), Data: make([]byte, w.Params.PageBytes)})
		}
		a.askHost(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.RegNonce, Value: nonce})
		w.host.Routed = a.told
	} else {
		w.nonce(nonce)
	}
	for i, port := range w.ports[1:] {
		bit := uint32(2) << i
		spoil := func(line []linkproto.Symbol) []linkproto.Symbol {
			if a.cut&bit != 0 {
				return nil
			}
			for i := range line {
				if a.noise > 0 && a.rng.Chance(a.noise) {
					line[i] ^= 1 << a.rng.IntN(9)
				}
			}
			return line
		}
		port.Mangle, port.Swallow = spoil, spoil
	}
	return a
}

// play plays a round. It ends when as many packets have come out as are wanted; if that is less than 0, when nothing is left.
func (a *player) play(round, want int) (*Transcript, error) {
	r := a.p.Rounds[round]
	a.out = &Transcript{Round: round, Lanes: map[string][]string{}}
	err := try.Run(func() {
		a.cable(r.Cut)
		for _, w := range r.Writes {
			done := a.ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: w.Reg, Value: w.Value})
			a.line("writes", "%v: %v", w.Reg, done.Status)
			a.written(w)
		}
		if a.Params.Barriers {
			a.began = a.phases()
		}
		a.noise, a.slow = r.Noise, r.Slow
		a.say(r.Sayings, a.began)
		a.traffic(r.Packets, want)
		a.noise, a.slow = 0, make([]float64, a.Params.Ports+1)
		a.wait(noticed) // what noise has damaged is sent again
		a.restart(r)
		a.say(r.Sayings, a.began) // also this
		a.listen()
		since := a.clocks
		a.registers(round)
		if a.Params.Barriers {
			a.wait(max(since+barrierTurns-a.clocks, 0))
			a.barrierRegisters()
		}
		if a.host != nil {
			a.buffer()
		}
	})
	return a.out, err
}

// written notes what the switch has taken.
func (a *player) written(w Write) {
	port := func(f linkproto.Bits) uint32 {
		if p := f.Of(w.Value); int(p) <= a.Params.Ports {
			return f.In(p)
		}
		return 0
	}
	switch {
	case w.Reg == linkproto.RegNodeID:
		a.node = uint16(w.Value)
	case w.Reg >= linkproto.RegFrameTable && w.Reg < linkproto.RegPortCounters:
	case w.Reg >= linkproto.RegBarrier && w.Reg < linkproto.RegGroupTable:
	case w.Reg >= linkproto.RegGroupTable:
		a.groups[w.Reg-linkproto.RegGroupTable] = w.Value & (2<<a.Params.Ports - 1)
	default:
		a.table[w.Reg-linkproto.RegRouteTable] = port(linkproto.RoutePort) | port(linkproto.RouteAlternate)
	}
}

func (a *player) line(lane, format string, args ...any) {
	a.out.Lanes[lane] = append(a.out.Lanes[lane], fmt.Sprintf(format, args...))
}

// cable pulls cables and puts them back, and waits until both ends have noticed.
func (a *player) cable(cut uint32) {
	a.cut = cut
	settled := func() bool {
		for port := 1; port <= a.Params.Ports; port++ {
			if up := a.ports[port].Link.Status().Up; up == (cut>>port&1 != 0) {
				return false
			}
		}
		return true
	}
	a.until(100_000, fmt.Sprintf("the links, of which %b are cut", cut), settled)
	a.wait(noticed)
}

// traffic sends the packets of a round.
func (a *player) traffic(packets [][][]byte, want int) {
	left := slices.Clone(packets)
	done := func() bool {
		resting := want < 0 || a.out.Packets >= want
		for port := 1; port <= a.Params.Ports; port++ {
			link := a.ports[port].Link
			link.Lost()
			for len(left[port]) > 0 && link.Queued() < 4 && link.Send(left[port][0]) == nil {
				left[port] = left[port][1:]
			}
			resting = resting && len(left[port]) == 0 && link.Queued() == 0
		}
		if a.host != nil {
			left[0] = a.hostSends(left[0])
			resting = resting && len(left[0]) == 0 && a.host.Credit(1).Outstanding() == 0
		}
		return resting && (want >= 0 || a.rest())
	}
	err := try.Run(func() { a.until(impatience, "packets to come", done) })
	if late := new(ni.Timeout); err != nil && !errors.As(err, &late) { // what has not come shows
		try.OK(err)
	}
	a.wait(someTime)
}

// until lets time pass until done.
func (a *player) until(limit int, what string, done func() bool) {
	for start := a.clocks; !done(); {
		if a.clocks-start > limit {
			try.OK(&ni.Timeout{Since: uint64(start), Clocks: uint64(limit), What: what})
		}
		try.OK(a.step())
		a.receive()
	}
}

func (a *player) wait(clocks int) {
	end := a.clocks + clocks
	a.until(clocks+look, "time to pass", func() bool { return a.clocks >= end })
}

// receive takes what has come out.
func (a *player) receive() {
	a.hear()
	for port := 1; port <= a.Params.Ports; port++ {
		for !a.rng.Chance(a.slow[port]) {
			raw, ok := a.ports[port].Link.Receive()
			if !ok {
				break
			}
			a.came(port, raw)
		}
	}
}

// came writes down a packet. Those that have been sent have the port by which they came in VL; answers have none, and those to one number are in order.
func (a *player) came(port int, raw []byte) {
	var r linkproto.Route
	wrong := r.Decode(raw)
	from := fmt.Sprintf("port %d", r.VL&31)
	if r.VL == 0 {
		if from = fmt.Sprintf("the switch, to node %d", r.Dest); wrong == nil && r.Dest == manager && port == 1 {
			a.reply = bytes.Clone(r.Packet)
			return
		}
	}
	if r.Dest >= linkproto.MulticastBase { // whatever its CRC
		from += ", to groups" // which are in order among themselves
	}
	a.line(fmt.Sprintf("from %s by port %d", from, port), "%x", raw)
	a.out.Packets++
}

// ask asks the switch, and waits for its answer.
func (a *player) ask(p linkproto.Packet) (answer linkproto.Packet) {
	if a.host != nil {
		return a.askHost(p)
	}
	a.tag++
	p.Tag, a.reply = a.tag, nil
	r := linkproto.Route{Dest: a.p.Self, Src: manager, State: linkproto.RouteDatagram, Packet: try.Get(p.Append(nil))}
	raw := try.Get(r.Append(nil))
	a.until(10_000, "room for a request", func() bool { return !errors.Is(a.ports[1].Link.Send(raw), flowctl.ErrFull) })
	a.until(50_000, fmt.Sprintf("the answer to %v of %v", p.Type, p.Reg), func() bool { return a.reply != nil })
	try.OK(answer.Decode(a.reply))
	if answer.Tag != p.Tag {
		try.Failf("an answer has tag %d, want %d", answer.Tag, p.Tag)
	}
	return answer
}

// register is what a register reads.
func (a *player) register(reg linkproto.Reg) uint32 {
	answer := a.ask(linkproto.Packet{Type: linkproto.TypeRegRead, Reg: reg})
	if answer.Type != linkproto.TypeRegData {
		try.Failf("register %v: %v %v", reg, answer.Type, answer.Status)
	}
	return answer.Value
}

// counted are the counters that do not depend on time.
var counted = []linkproto.Counter{linkproto.CntRxPackets, linkproto.CntTxPackets, linkproto.CntBadPacket, linkproto.CntLostPackets}

// registers writes down what the switch says of itself.
func (a *player) registers(round int) {
	for port := range a.Params.Ports + 1 {
		lane := fmt.Sprintf("registers of port %d", port)
		for c := range linkproto.RouterCounter(linkproto.NumRouterCounters) {
			a.line(lane, "%v %d", c, a.register(c.Reg(port)))
		}
		for _, c := range counted {
			a.line(lane, "%v %d", c, a.register(linkproto.PortCounterReg(port, c)))
		}
		a.line(lane, "UP %d", linkproto.StatusUp.Of(a.register(linkproto.PortStatusReg(port))))
		if a.cut>>port&1 == 0 { // a cut one may have heard half of a beginning
			a.line(lane, "peer %#x", a.register(linkproto.PortPeerReg(port)))
		}
	}
	for node := round % 4; node < nodes; node += 4 {
		a.line("table", "node %d: %#x", node, a.register(linkproto.RouteReg(uint16(node))))
	}
	a.line("table", "group %d: %#x", round%groups, a.register(linkproto.GroupReg(round%groups)))
}
