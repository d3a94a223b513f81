package virtuallink

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
)

// nodeLook is how many clocks pass between two looks at what a network interface says.
const nodeLook = 32

// side is one of the two network interfaces, with its host and what is at the end of its cables.
type side struct {
	name   string
	host   *ni.Host
	ports  []*ni.Port
	step   func() error
	clock  int
	began  int                 // clock of the latest step
	said   map[string][]saying // what must come in this order, by who says it
	before map[string]int      // clock in which it was said
	latest map[string]string   // and what it was
	state  map[string]string   // what may be said again, or not, if it has changed again: the latest
	given  [nodeLinks]uint8    // MESSAGEs to the host, by virtual link
	tops   map[uint16]uint8    // by the peer's number of a virtual link: one past the highest packet that has come to it
}

// saidByLink begins the names of virtual links by which ROUTEs are sent, at their times.
const saidByLink = "ROUTEs "

// toFar names what is said by a virtual link.
func toFar(number, node uint16, port int) string {
	return fmt.Sprintf(saidByLink+"to number %d of node %d by link %d", number, node, port+1)
}

func (e *farEnd) said() string { return toFar(e.theirs, e.node, int(e.node%2)) }

// saying is something that a network interface says.
type saying struct {
	text   string
	since  [2]int // clocks since the step began, and since what it said before
	behind string // what it said before
	spare  bool   // the other side may not have said it
}

func newSide(name string, host *ni.Host, ports []*ni.Port, step func() error) *side {
	s := &side{name: name, host: host, ports: ports, step: step, said: map[string][]saying{}, before: map[string]int{}, latest: map[string]string{}, state: map[string]string{}, tops: map[uint16]uint8{}}
	host.Received, host.Routed = s.received, func(_ linkproto.Route, raw []byte) { s.say("ROUTEs to the host", fmt.Sprintf("%x", raw)) }
	return s
}

// room reports whether the host has room for a request.
func (s *side) room() bool { return s.host.Queued() < 8 }

// say notes what the network interface has said.
func (s *side) say(who, text string) {
	s.said[who] = append(s.said[who], saying{text: text, since: [2]int{s.clock - s.began, s.clock - s.before[who]}, behind: s.latest[who]})
	s.before[who], s.latest[who] = s.clock, text
}

// look runs for a while, and takes what has been said.
func (s *side) look() error {
	if err := s.step(); err != nil {
		return err
	}
	s.clock += nodeLook
	for i, p := range s.ports {
		for raw, ok := p.Link.Receive(); ok; raw, ok = p.Link.Receive() {
			var r linkproto.Route
			try.OK(r.Open(raw))
			raw[linkproto.RoutePathAt] = r.Class // hops: the model's router has taken one
			s.say(toFar(r.VL, r.Dest, i), fmt.Sprintf("%x", raw))
			if state, ok := linkproto.DecodeVLState(r.State); ok && state.Packet && int8(r.Seq+1-s.tops[r.VL]) > 0 {
				s.tops[r.VL] = r.Seq + 1
			}
		}
	}
	return nil
}

// received takes what the host gets.
func (s *side) received(p linkproto.Packet) {
	switch p.Type {
	case linkproto.TypeVirtual:
		var q linkproto.Packet
		try.OK(q.Decode(p.Data))
		who := fmt.Sprintf("virtual link %d to the host", p.VL)
		if q.Type == linkproto.TypeSpace {
			s.state[who] = fmt.Sprintf("%d freed, status %#x", q.Packets, q.Bytes&uint16(linkproto.VLUp.In(1)|linkproto.VLLost.In(1)|linkproto.VLOpen.In(1)))
			return
		}
		if s.say(who, fmt.Sprintf("%x", p.Data)); q.Type == linkproto.TypeMessage {
			s.given[p.VL]++
		}
	case linkproto.TypeCompleted:
		s.state[fmt.Sprintf("completions of context %d", p.Context)] = fmt.Sprint(p.Count)
	default:
		s.say("others to the host", fmt.Sprintf("%v of %d, tag %#x, status %v", p.Type, p.Via, p.Tag, p.Status))
	}
}

// forget begins the next step.
func (s *side) forget() {
	clear(s.said)
	s.began = s.clock
}

// says reports whether another has said the same.
func (s *side) says(other *side, late map[string]bool) bool { return s.differs(other, late) == nil }

// mark finds the ROUTEs that the other side may not have said: those that have no packet and say what one with a packet says just before or behind them.
// Whether the two are one depends on when what they say has come: each side may be nodeSlack late, and says what has come within an AckDelay.
func mark(said []saying) {
	const bound = linkproto.DefaultAckDelay + nodeSlack
	for i := range said {
		a := &said[i]
		a.spare = a.repeats(a.behind) && a.since[1] < bound || i+1 < len(said) && a.repeats(said[i+1].text) && said[i+1].since[1] < bound
	}
}

// repeats reports whether it is a ROUTE without a packet that says what another with a packet says.
func (a saying) repeats(other string) bool {
	const state, next = 2 * (linkproto.RoutePathAt + 3), 2 * (linkproto.RoutePathAt + 4)
	return other != "" && a.text[state+1] == '0' && other[state+1] == '1' && a.text[state] == other[state] && a.text[next:next+2] == other[next:next+2]
}

// all are those who have said something.
func (s *side) all(other *side) []string {
	both := maps.Clone(s.said)
	maps.Copy(both, other.said)
	return slices.Sorted(maps.Keys(both))
}

// differs returns the first difference from another. Who is late may say something again a RETRY later.
func (s *side) differs(other *side, late map[string]bool) error {
	for _, who := range s.all(other) {
		have, want, timed := s.said[who], other.said[who], strings.HasPrefix(who, saidByLink)
		most := nodeSlack
		if late[who] {
			most += harness.Messages.VLRetry
		}
		if timed {
			mark(have)
			mark(want)
		}
		for len(have) > 0 || len(want) > 0 {
			same := len(have) > 0 && len(want) > 0 && have[0].text == want[0].text
			switch {
			case same && (!timed || have[0].inTime(want[0], most)):
				have, want = have[1:], want[1:]
			case len(have) > 0 && have[0].spare:
				have = have[1:]
			case len(want) > 0 && want[0].spare:
				want = want[1:]
			case same:
				return fmt.Errorf("%s: the RTL says %s %d clocks after the step began, and %d after what is before; the model after %d and %d",
					who, have[0].text, have[0].since[0], have[0].since[1], want[0].since[0], want[0].since[1])
			default:
				return fmt.Errorf("%s: the RTL says %v, and the model %v", who, have, want)
			}
		}
	}
	if !maps.Equal(s.state, other.state) {
		return fmt.Errorf("the RTL's host knows %v, the model's %v", s.state, other.state)
	}
	return nil
}

// inTime reports whether it is said when the model says it, or as long behind what was said before it.
func (a saying) inTime(model saying, most int) bool {
	within := func(n int) bool {
		by := a.since[n] - model.since[n]
		return by <= most && -by <= nodeSlack
	}
	return within(0) || within(1)
}
