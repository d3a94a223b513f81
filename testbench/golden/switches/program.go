package switches

import (
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Program is what is played on a switch.
type Program struct {
	Seed   uint64
	Params Params
	Self   uint16 // number of the switch
	Rounds []Round
	Deaf   int // port whose end asks in the end, and takes no answer; 0: none
}

// Round is a part of a program at whose end everything rests.
type Round struct {
	Cut     uint32     // ports whose cables are out, a bit each; never port 1, from which the switch is managed
	Writes  []Write    // of registers, before the packets
	Packets [][][]byte // by port, in order
	Slow    []float64  // by port: the share of looks at which its end takes nothing
	Hot     bool       // all packets are for two nodes
	Noise   float64    // the share of symbols that are damaged on all cables
	Sayings []Saying
	Restart uint32 // ports whose links start again, a bit each, while all is said once more; as in Cut never port 1
}

// Write is the write of a register.
type Write struct {
	Reg   linkproto.Reg
	Value uint32
}

// Numbers of nodes. Those from unset on have no entry in the table, but each port's end asks under one of them.
const (
	self    = 61 // the switch, but where all packets are requests
	manager = 62
	unset   = 40
)

// Shapes are the switches that programs are for, in turn of their seeds.
var Shapes = []Params{{Ports: 5, PageBytes: 64, Slots: 4, Barriers: true}, {Ports: 3, PageBytes: 128, Slots: 2, Width: 8}}

// Interfaces are the network interfaces with a router that programs are for.
var Interfaces = []Params{{Ports: 3, PageBytes: 64, NI: true, Barriers: true}, {Ports: 2, PageBytes: 128, Width: 8, NI: true}}

// drawer draws a program.
type drawer struct {
	*testbench.Rand
	Params
	table  [nodes][2]int // port and alternate
	groups [groups]uint32
	cut    uint32
	self   uint16
	number uint16 // packets drawn
}

// Draw draws a program for one of some switches, or network interfaces, of some rounds, in each of which about so many packets come by each port.
func Draw(seed uint64, of []Params, rounds, packets int) Program {
	p := Program{Seed: seed, Params: of[seed%uint64(len(of))], Self: self}
	d := &drawer{Rand: testbench.NewRand(seed).Split("switch program"), Params: p.Params, self: p.Self}
	p.Rounds = append(p.Rounds, d.unnumbered())
	for i := range rounds {
		p.Rounds = append(p.Rounds, d.round(i == 0, packets))
	}
	return p
}

// unnumbered is a round in which the switch has no number yet, and takes all packets for its own.
func (d *drawer) unnumbered() Round {
	r := Round{Packets: make([][][]byte, d.Ports+1), Slow: make([]float64, d.Ports+1)}
	for port := 1; port <= d.Ports; port++ {
		for range 6 {
			r.Packets[port] = append(r.Packets[port], testbench.Pick(d.Rand, d.request, d.routed, d.multicast, d.malformed)(port))
		}
	}
	return r
}

func (d *drawer) round(first bool, packets int) Round {
	r := Round{Packets: make([][][]byte, d.Ports+1), Slow: make([]float64, d.Ports+1)}
	if first {
		r.Writes = append(r.Writes, Write{linkproto.RegNodeID, self})
		if d.NI {
			r.Writes = append(r.Writes, Write{linkproto.FrameReg(0), linkproto.FrameValid.In(1) | linkproto.FrameLink.In(1)})
		}
	} else if d.Bool() {
		r.Cut = d.Uint32() & d.Uint32() & (1<<(d.Ports+1) - 1) &^ 3
	}
	d.cut = r.Cut
	for node := 1; node < unset; node++ {
		if first || d.Chance(0.15) {
			d.table[node] = [2]int{d.port(), d.IntN(2) * d.port()}
			value := linkproto.RoutePort.In(uint32(d.table[node][0])) | linkproto.RouteAlternate.In(uint32(d.table[node][1]))
			if d.Chance(0.05) {
				d.table[node], value = [2]int{}, linkproto.RoutePort.In(uint32(d.Between(d.Ports+1, 255)))
			}
			r.Writes = append(r.Writes, Write{linkproto.RouteReg(uint16(node)), value})
		}
	}
	for group := range groups / 2 {
		if first || d.Chance(0.3) {
			d.groups[group] = d.Uint32() & (d.Uint32() | d.Uint32()) & (1<<(d.Ports+1) - 1)
			r.Writes = append(r.Writes, Write{linkproto.GroupReg(group), d.groups[group] | d.Uint32()<<(d.Ports+1)})
		}
	}
	r.Hot = d.IntN(4) == 0
	for port := 1; port <= d.Ports; port++ {
		if d.Chance(0.2) {
			r.Slow[port] = 0.9
		}
		for range packets {
			if d.cut>>port&1 != 0 {
				break
			}
			if r.Hot {
				r.Packets[port] = append(r.Packets[port], d.finish(port, linkproto.Route{Dest: 1 + uint16(d.IntN(2))}))
				continue
			}
			if d.NI && d.IntN(4) == 0 {
				r.Packets[port] = append(r.Packets[port], d.write(port))
				continue
			}
			if d.NI && d.IntN(12) == 0 {
				r.Packets[port] = append(r.Packets[port], d.linked(port))
				continue
			}
			draw := testbench.Pick(d.Rand, d.routed, d.routed, d.routed, d.routed, d.multicast, d.multicast, d.malformed, d.request)
			r.Packets[port] = append(r.Packets[port], draw(port))
		}
	}
	for range packets {
		if d.NI {
			r.Packets[0] = append(r.Packets[0], d.ofHost())
		}
	}
	if d.IntN(4) == 0 {
		r.Noise = 0.0004
	}
	if d.Barriers {
		d.barriers(&r, first)
		d.restarts(&r)
	}
	return r
}

func (d *drawer) port() int { return d.Between(1, d.Ports) }

// routed is a packet for some node, or for a number that nobody has.
func (d *drawer) routed(port int) []byte {
	dest := testbench.Pick(d.Rand, d.Between(1, unset-1), d.Between(1, unset-1), d.Between(1, unset-1), d.Between(1, unset-1),
		d.Between(unset, self-1), 0, self, testbench.Pick(d.Rand, nodes, nodes+1+d.IntN(200), linkproto.MaxNode, linkproto.MaxNode+1+d.IntN(100), linkproto.MulticastBase-1))
	return d.finish(port, linkproto.Route{Dest: uint16(dest)})
}

// multicast is a packet for a group, or for one that does not exist.
func (d *drawer) multicast(port int) []byte {
	group := testbench.Pick(d.Rand, d.IntN(groups/2), d.IntN(groups/2), d.IntN(groups/2), d.IntN(groups), groups, groups+d.IntN(4096-groups))
	return d.finish(port, linkproto.Route{Dest: linkproto.MulticastBase + uint16(group)})
}

// finish fills in what routers do not look at. Number and port of the packet stand in VL and Seq.
func (d *drawer) finish(port int, r linkproto.Route) []byte {
	d.number++
	r.VL, r.Seq, r.Next = uint16(port)|d.number<<5, uint8(d.number>>11), uint8(d.Uint32())
	r.Src = testbench.Pick(d.Rand, uint16(100+port), uint16(d.IntN(nodes)), uint16(d.Uint32()))
	r.Hops = testbench.Pick(d.Rand, 0, 1, 2, 61, 62, 63, uint8(d.Between(1, 63)), uint8(d.Between(1, 63)))
	r.Class = uint8(d.IntN(4))
	r.State = testbench.Pick(d.Rand, linkproto.RouteDatagram, linkproto.RouteDatagram, uint8(d.Uint32()))
	most := linkproto.MaxPacket(d.PageBytes)
	r.Packet = d.Bytes(testbench.Pick(d.Rand, 0, linkproto.MinPacket, most, most-1, d.Between(linkproto.MinPacket, most), d.Between(linkproto.MinPacket, 20)))
	raw := try.Get(r.Append(nil))
	if d.Chance(0.2) { // a wrong CRC
		raw[d.Between(linkproto.RoutePathAt+1, len(raw)-1)] ^= uint8(1 << d.IntN(8))
		raw[linkproto.RoutePathAt+1], raw[linkproto.RoutePathAt+2] = uint8(r.VL), uint8(r.VL>>8)
	}
	return raw
}

// malformed is a packet that is no ROUTE, or too short for one.
func (d *drawer) malformed(port int) []byte {
	dest := func() uint16 {
		return uint16(testbench.Pick(d.Rand, d.Between(1, unset-1), d.Between(1, unset-1), self))
	}
	good := linkproto.Route{Dest: dest(), Src: 100, Hops: 5, Class: 1, State: linkproto.RouteDatagram, Packet: d.Bytes(d.Between(3, 40))}
	for tries := 0; tries < 50 && !d.goes(int(good.Dest)); tries++ { // what is too short, and has no way either, may count as one or the other
		good.Dest = dest()
	}
	raw := try.Get(good.Append(nil))
	switch d.IntN(3) {
	case 0:
		raw[0] = byte(d.Pick(linkproto.TypeWrite, linkproto.TypeRegRead, linkproto.TypeTrap, linkproto.Type(d.IntN(32))&^linkproto.TypeRoute))
	case 1:
		raw[0] |= byte(d.Between(1, linkproto.MaxVia) << linkproto.TypeBits)
	default:
		if !d.goes(int(good.Dest)) {
			raw[0] = 0
			break
		}
		raw = raw[:testbench.Pick(d.Rand, linkproto.HeaderBytes, linkproto.RoutePathAt, linkproto.RoutePathAt+1, linkproto.RouteExtra-1, d.Between(3, linkproto.RouteExtra-1))]
	}
	raw[1], raw[2] = uint8(len(raw)-linkproto.HeaderBytes), uint8((len(raw)-linkproto.HeaderBytes)>>8)
	return raw
}

// Pick picks a type of packet.
func (d *drawer) Pick(types ...linkproto.Type) linkproto.Type { return types[d.IntN(len(types))] }

// goes reports whether packets for a node have a way.
func (d *drawer) goes(node int) bool {
	if node == self {
		return true
	}
	for _, port := range d.table[node] {
		if port > 0 && d.cut>>port&1 == 0 {
			return true
		}
	}
	return false
}

// request is one to the switch, right or wrong. Each port's end asks under two numbers of its own: one may have an entry in the table, and the other has
// none, so that the answer goes back by the port.
func (d *drawer) request(port int) []byte {
	tag := uint8(d.Uint32())
	reg := testbench.Pick(d.Rand, linkproto.RegMagic, linkproto.RegLinks, linkproto.RegFeatures, linkproto.RouteReg(uint16(d.IntN(unset))), linkproto.GroupReg(d.IntN(groups)),
		linkproto.RegFrames, linkproto.PortStatusReg(d.Ports+1), linkproto.RouteReg(nodes), linkproto.GroupReg(groups), linkproto.Reg(d.Between(0x4000, 0x7000)))
	p := testbench.Pick(d.Rand,
		linkproto.Packet{Type: linkproto.TypeRegRead, Tag: tag, Reg: reg},
		linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: tag, Reg: testbench.Pick(d.Rand, linkproto.RegScratch, linkproto.RegMagic, linkproto.PortStatusReg(1), linkproto.RouteReg(nodes))},
		linkproto.Packet{Type: testbench.Pick(d.Rand, linkproto.TypeBufRead, linkproto.TypeResume, linkproto.TypeRetrap), Tag: tag},
		linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: tag, Data: d.Bytes(d.IntN(20))})
	return d.ask(port, self, p)
}

// ask is a request from the end of a port, or what is none.
func (d *drawer) ask(port int, dest uint16, p linkproto.Packet) []byte {
	r := linkproto.Route{
		Dest: dest, Src: testbench.Pick(d.Rand, uint16(port), uint16(unset+port)), Hops: uint8(d.IntN(64)), Class: uint8(d.IntN(4)),
		State: linkproto.RouteDatagram, Packet: try.Get(p.Append(nil)),
	}
	switch d.IntN(12) {
	case 0: // a wrong length
		n := len(r.Packet) + testbench.Pick(d.Rand, -1, 1)
		r.Packet = append(r.Packet, 0)[:n]
		r.Packet[1] = uint8(n - linkproto.HeaderBytes)
	case 1: // a length field that does not fit
		r.Packet[1]++
	case 2:
		r.Src = testbench.Pick(d.Rand, 0, d.self, linkproto.MaxNode+1)
	case 3:
		r.State = uint8(d.Uint32())
	case 4: // an answer, or a packet of a link
		r.Packet[0] = byte(d.Pick(linkproto.TypeRegData, linkproto.TypeDone, linkproto.TypeWrite, 0x1F, 0))
	}
	raw := try.Get(r.Append(nil))
	if d.Chance(0.1) {
		raw[len(raw)-1] ^= 1
	}
	return raw
}
