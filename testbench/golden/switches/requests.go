package switches

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// DrawRequests draws a program for one of some switches in which all packets are requests to the switch, or nearly so, from all ports at once. What is written by one
// port is read by the same only, so that it is the same in any order. In the end of the program one port's end takes no more answers.
func DrawRequests(seed uint64, of []Params, rounds, packets int) Program {
	p := Program{Seed: seed, Params: of[seed%uint64(len(of))]}
	d := &drawer{Rand: testbench.NewRand(seed).Split("switch requests"), Params: p.Params}
	if p.Self = uint16(d.Between(d.Ports+1, groups/2-1)); seed%3 == 0 { // in the others a group differs from it in its upper bits only
		p.Self = testbench.Pick[uint16](d.Rand, self, linkproto.MaxNode)
	}
	p.Deaf = d.Between(2, d.Ports)
	d.self = p.Self
	for i := range rounds + 1 {
		r := Round{Packets: make([][][]byte, d.Ports+1), Slow: make([]float64, d.Ports+1)}
		if i == 1 {
			r.Writes = append(r.Writes, Write{linkproto.RegNodeID, uint32(p.Self) | d.Uint32()<<16})
		}
		if i > 0 {
			for group := range groups / 2 {
				r.Writes = append(r.Writes, Write{linkproto.GroupReg(group), 1 | d.Uint32()<<(d.Ports+1)}) // only the switch
			}
			r.Noise = testbench.Pick(d.Rand, 0, 0.0004)
		}
		for port := 1; port <= d.Ports; port++ {
			if i == 0 && port == p.Deaf {
				r.Packets[port] = append(r.Packets[port], d.hollow())
			}
			for range packets {
				if i == 0 {
					r.Packets[port] = append(r.Packets[port], d.nameless(port))
				} else {
					r.Packets[port] = append(r.Packets[port], d.named(port))
				}
			}
		}
		p.Rounds = append(p.Rounds, r)
	}
	return p
}

// Nodes whose entries are written: none is an end's.
const firstEntry, lastEntry = 10, unset - 1

// access is a request to read or write a register that is the port's alone, or that cannot be written.
func (d *drawer) access(port int) linkproto.Packet {
	mine := func(from, to int) int { return from + d.Ports*d.IntN((to-from+1)/d.Ports) + port - 1 }
	p := linkproto.Packet{Type: linkproto.TypeRegRead, Tag: uint8(d.Uint32()), Value: d.Uint32()}
	if d.Bool() {
		p.Type = linkproto.TypeRegWrite
	}
	fixed := testbench.Pick(d.Rand, linkproto.RegMagic, linkproto.RegVersion, linkproto.RegLinks, linkproto.RegFeatures, linkproto.RegNonce, linkproto.RegFrames, linkproto.RegControl,
		linkproto.PortStatusReg(d.Ports+1), linkproto.PortPeerReg(d.Ports+1), linkproto.RouteReg(nodes), linkproto.GroupReg(groups), linkproto.RouterCounter(0).Reg(d.Ports+1),
		linkproto.PortCounterReg(d.Ports+1, 0), linkproto.Reg(d.Between(0x4000, 0x7000)))
	p.Reg = testbench.Pick(d.Rand, fixed, linkproto.RouteReg(uint16(mine(firstEntry, lastEntry))), linkproto.GroupReg(mine(groups/2, groups-1)))
	switch {
	case p.Type == linkproto.TypeRegRead && d.IntN(8) == 0:
		p.Reg = linkproto.RegNodeID
	case port == 1 && d.IntN(4) == 0:
		p.Reg = linkproto.RegScratch
	}
	return p
}

// named is a request to a switch that has a number: to that, to one that is like it, or to a group that the switch is in.
func (d *drawer) named(port int) []byte {
	like := d.self
	for like == d.self || like >= firstEntry && like <= lastEntry {
		like = d.self ^ 1<<d.IntN(12)
	}
	group := linkproto.MulticastBase + uint16(d.IntN(groups/2))
	dest := testbench.Pick(d.Rand, d.self, d.self, d.self, d.self, d.self, group, linkproto.MulticastBase+d.self%(groups/2), like)
	return d.ask(port, dest, d.access(port))
}

// nameless is a request to a switch that has no number yet and so takes any: but its number only if that has no hops left.
func (d *drawer) nameless(port int) []byte {
	if d.IntN(8) == 0 {
		name := linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: uint8(d.Uint32()), Reg: linkproto.RegNodeID, Value: d.Uint32()}
		r := linkproto.Route{
			Dest: uint16(d.IntN(linkproto.MulticastBase)), Src: uint16(unset + port), Hops: uint8(d.Between(2, linkproto.MaxHops)), State: linkproto.RouteDatagram, Packet: try.Get(name.Append(nil)),
		}
		return try.Get(r.Append(nil))
	}
	return d.ask(port, uint16(d.Between(1, linkproto.MaxNode)), d.access(port))
}

// hollow is a datagram around nothing, whose CRC would be the header of a request, if that had the length that is left for it.
func (d *drawer) hollow() []byte {
	r := linkproto.Route{Hops: 5, State: linkproto.RouteDatagram}
	for {
		r.Dest, r.Src = uint16(d.IntN(linkproto.MulticastBase)), uint16(d.Between(1, linkproto.MaxNode))
		raw := try.Get(r.Append(nil))
		crc := raw[len(raw)-linkproto.CRCBytes:]
		if info := linkproto.Type(crc[0] & (1<<linkproto.TypeBits - 1)).Info(); info != nil && info.Dir == linkproto.ToNI && crc[1] == 0x100-linkproto.HeaderBytes && crc[2] == 0xFF {
			return raw
		}
	}
}

// deaf has the end of a port ask for a while without taking answers: the switch drops those that have waited too long, and sends all others.
func (a *player) deaf(port int) {
	const while = 60_000
	counters := func() (of [3]uint32) {
		for i, c := range []linkproto.Counter{linkproto.CntRxPackets, linkproto.CntTxPackets, linkproto.CntLostPackets} {
			of[i] = a.register(linkproto.PortCounterReg(0, c))
		}
		return of
	}
	before := counters()
	p := linkproto.Packet{Type: linkproto.TypeRegRead, Reg: linkproto.RegMagic}
	r := linkproto.Route{Dest: a.p.Self, Src: uint16(unset + port), State: linkproto.RouteDatagram, Packet: try.Get(p.Append(nil))}
	raw := try.Get(r.Append(nil))
	link := a.ports[port].Link
	a.slow[port] = 1
	end := a.clocks + while
	a.until(while+look, "time to pass", func() bool {
		for link.Queued() < 8 && link.Send(raw) == nil {
		}
		return a.clocks >= end
	})
	a.slow[port] = 0
	a.until(impatience, "all to be answered or dropped", func() bool { return link.Queued() == 0 })
	a.wait(2 * patience)
	after := counters()
	asked, answered, lost := after[0]-before[0], after[1]-before[1], after[2]-before[2]
	if lost == 0 || asked != answered+lost {
		try.Failf("port %d took no answers for %d clocks: of %d requests %d were answered, and of %d the answer was dropped", port, while, asked, answered, lost)
	}
}

// patience is how long an answer waits for room.
const patience = 4096
