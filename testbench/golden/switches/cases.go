package switches

import (
	"fmt"
	"math/bits"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// Point is a quantity of routing, and its cases.
type Point struct {
	Name string
	Bins []string
}

// Points are the cases that Check tells of.
var Points = []Point{
	{"routed packet", []string{"by its port", "by the alternate", "back by the port that it came by", "to the switch itself", "to a multicast group"}},
	{"routed packet dropped", []string{"no ROUTE", "ROUTE with via", "too short", "a number without an entry", "a number behind the table", "number 0",
		"its cable cut, no alternate", "both cables cut", "no hops left", "a group without members", "all members' cables cut",
		"no member but where it came from", "a group behind the table"}},
	{"multicast", []string{"one copy", "two copies", "three copies or more", "to the switch too", "not back to a member that sent it", "without a member whose cable is cut",
		"no hops left"}},
	{"hops left", []string{"none, to the switch", "1", "62", "63"}},
	{"ROUTE, unseen by routers", []string{"a wrong CRC", "another state than a datagram's", "from a number of somebody else", "class 0", "class 1", "class 2", "class 3"}},
	{"ROUTE, size", []string{"the shortest", "odd", "even", "the longest"}},
	{"ROUTE for the host of a network interface", []string{"an answer in a datagram", "of a virtual link, by a cable", "of a virtual link, from the host itself",
		"around nothing", "the longest", "a datagram's CRC", "another CRC"}},
	{"request to a switch", []string{"REG_READ", "REG_WRITE", "of a wrong register", "of a wrong length", "of another type", "answered where it came from, without an entry"}},
	{"no request to a switch", []string{"a wrong CRC", "no datagram", "a length field that does not fit", "no type of requests", "from no number", "from its own number",
		"from a number behind the table"}},
	{"switch without a number", []string{"a request", "no request", "a ROUTE for any node", "a multicast packet", "no ROUTE"}},
	{"barrier", []string{"a phase that all have entered", "the same amid noise", "the same while links start again", "entered by the node itself", "a word of another phase", "a word of another generation", "MEMBERS written"}},
	{"round of a switch", []string{"cables cut", "noise", "a slow end", "all for two nodes", "tables changed"}},
}

type event struct{ point, bin string }

// judge names the cases that come up in a round.
type judge struct {
	*player
	seen map[event]int
}

func (j *judge) hit(point, bin string) { j.seen[event{point, bin}]++ }

func (j *judge) hitIf(holds bool, point, bin string) {
	if holds {
		j.hit(point, bin)
	}
}

// round names what a round is.
func (j *judge) round(r Round) {
	j.hitIf(r.Cut != 0, "round of a switch", "cables cut")
	j.hitIf(r.Hot, "round of a switch", "all for two nodes")
	j.hitIf(r.Noise > 0, "round of a switch", "noise")
	for _, share := range r.Slow {
		j.hitIf(share > 0, "round of a switch", "a slow end")
	}
	j.hitIf(len(r.Writes) > 0, "round of a switch", "tables changed")
}

// passed names what a packet is, by what the model has done with it.
func (j *judge) passed(o model.Passage) {
	var r linkproto.Route
	wrong := r.Decode(o.Packet)
	if o.From == 0 || wrong == nil && r.Src == manager {
		return
	}
	if j.node == 0 {
		j.unnumbered(o, r, wrong)
		return
	}
	if o.Ways == 0 {
		j.hit("routed packet dropped", j.dropped(o, r))
		return
	}
	group := r.Dest >= linkproto.MulticastBase
	if !group && o.Ways == 1 {
		j.hit("routed packet", "to the switch itself")
		j.hitIf(r.Hops == 0, "hops left", "none, to the switch")
		j.toSwitch(r, wrong)
		return
	}
	if group {
		j.hit("routed packet", "to a multicast group")
		j.multicast(o, j.groups[r.Dest-linkproto.MulticastBase])
	} else {
		j.hit("routed packet", map[bool]string{false: "by its port", true: "by the alternate"}[o.Alternate])
		j.hitIf(o.Ways == 1<<o.From, "routed packet", "back by the port that it came by")
	}
	j.unseen(r, wrong, len(o.Packet))
	if r.Hops == 1 || r.Hops >= 62 {
		j.hit("hops left", fmt.Sprint(r.Hops))
	}
}

func (j *judge) unnumbered(o model.Passage, r linkproto.Route, wrong error) {
	const point = "switch without a number"
	switch {
	case o.Ways == 0:
		j.hit(point, "no ROUTE")
	case r.Dest == self && wrong == nil && r.VL == 0 && r.State == linkproto.RouteDatagram:
		j.hit(point, "a request")
	case r.Dest == self:
		j.hit(point, "no request")
	case r.Dest >= linkproto.MulticastBase:
		j.hit(point, "a multicast packet")
	default:
		j.hit(point, "a ROUTE for any node")
	}
}

// dropped says why a packet was.
func (j *judge) dropped(o model.Passage, r linkproto.Route) string {
	dest := int(r.Dest)
	switch group := dest - linkproto.MulticastBase; {
	case o.Drop == linkproto.RouterBad && o.Packet[0] == byte(linkproto.TypeRoute):
		return "too short"
	case o.Drop == linkproto.RouterBad && o.Packet[0]&(1<<linkproto.TypeBits-1) == byte(linkproto.TypeRoute):
		return "ROUTE with via"
	case o.Drop == linkproto.RouterBad:
		return "no ROUTE"
	case o.Drop == linkproto.RouterHops:
		j.hitIf(group >= 0, "multicast", "no hops left")
		return "no hops left"
	case group >= groups:
		return "a group behind the table"
	case group >= 0 && j.groups[group] == 0:
		return "a group without members"
	case group >= 0 && j.groups[group] == 1<<o.From:
		return "no member but where it came from"
	case group >= 0:
		return "all members' cables cut"
	case dest == 0:
		return "number 0"
	case dest >= nodes:
		return "a number behind the table"
	case j.table[dest] == 0:
		return "a number without an entry"
	case linkproto.RouteAlternate.Of(j.table[dest]) == 0:
		return "its cable cut, no alternate"
	}
	return "both cables cut"
}

func (j *judge) multicast(o model.Passage, group uint32) {
	j.hit("multicast", []string{"one copy", "two copies", "three copies or more"}[min(bits.OnesCount32(o.Ways), 3)-1])
	j.hitIf(o.Ways&1 != 0, "multicast", "to the switch too")
	j.hitIf(group>>o.From&1 != 0, "multicast", "not back to a member that sent it")
	j.hitIf(group&j.cut != 0, "multicast", "without a member whose cable is cut")
}

// unseen names what routers do not look at.
func (j *judge) unseen(r linkproto.Route, wrong error, size int) {
	const point = "ROUTE, unseen by routers"
	j.hitIf(wrong != nil, point, "a wrong CRC")
	j.hitIf(r.State != linkproto.RouteDatagram, point, "another state than a datagram's")
	j.hitIf(int(r.Src) != 100+int(r.VL&31), point, "from a number of somebody else")
	j.hit(point, fmt.Sprintf("class %d", r.Class))
	switch {
	case size == linkproto.RouteExtra:
		j.hit("ROUTE, size", "the shortest")
	case size == linkproto.MaxRoute(j.Params.PageBytes):
		j.hit("ROUTE, size", "the longest")
	default:
		j.hit("ROUTE, size", []string{"even", "odd"}[size%2])
	}
}

// dealt names what a network interface has given to its host.
func (j *judge) dealt(o model.Observation) {
	if o.Outcome != model.Told {
		return
	}
	const point = "ROUTE for the host of a network interface"
	var r linkproto.Route
	wrong := r.Decode(o.Packet)
	switch {
	case r.State == linkproto.RouteDatagram:
		j.hit(point, "an answer in a datagram")
		return
	case r.VL&31 == 0 && r.Src == self:
		j.hit(point, "of a virtual link, from the host itself")
	default:
		j.hit(point, "of a virtual link, by a cable")
	}
	j.hitIf(len(r.Packet) == 0, point, "around nothing")
	j.hitIf(len(o.Packet) == linkproto.MaxRoute(j.Params.PageBytes), point, "the longest")
	j.hit(point, map[bool]string{true: "a datagram's CRC", false: "another CRC"}[wrong == nil])
}

// toSwitch names what has come for the switch itself.
func (j *judge) toSwitch(r linkproto.Route, wrong error) {
	const point, none = "request to a switch", "no request to a switch"
	if r.VL != 0 || r.State != linkproto.RouteDatagram {
		j.hit(none, "no datagram")
		return
	}
	var p linkproto.Packet
	malformed := p.Decode(r.Packet)
	info := p.Type.Info()
	switch {
	case wrong != nil:
		j.hit(none, "a wrong CRC")
	case !linkproto.LengthFits(r.Packet):
		j.hit(none, "a length field that does not fit")
	case r.Src == 0:
		j.hit(none, "from no number")
	case r.Src == self:
		j.hit(none, "from its own number")
	case r.Src > linkproto.MaxNode:
		j.hit(none, "from a number behind the table")
	case info == nil || info.Dir != linkproto.ToNI:
		j.hit(none, "no type of requests")
	case p.Type != linkproto.TypeRegRead && p.Type != linkproto.TypeRegWrite:
		j.hit(point, "of another type")
	case malformed != nil:
		j.hit(point, "of a wrong length")
	default:
		j.hit(point, p.Type.String())
		j.hitIf(p.Reg == linkproto.RouteReg(nodes) || p.Reg == linkproto.RegFrames, point, "of a wrong register")
		j.hitIf(r.Src > unset, point, "answered where it came from, without an entry")
	}
}
