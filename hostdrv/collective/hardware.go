package collective

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/routing"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/linkproto"
)

// Hardware is the name of barriers that the network's routers carry out, for Options.Barrier.
const Hardware = "hardware"

// ErrHardware is wrapped by what a first barrier fails with that was to be carried out by routers which cannot.
var ErrHardware = errors.New("no barriers by hardware")

// hardware is a member's end of barriers that routers carry out. The first barrier of the group sets them up, by messages: the members tell the first one which numbers
// are free at their network interfaces, and it finds one that is free at the switches too.
type hardware struct {
	node     *hostdrv.Node
	topology *topology.Topology
	places   []int // by rank: its node in the topology
	required bool  // else what is missing leaves the group with messages
	tried    bool
	group    hostdrv.BarrierGroup
	barrier  *hostdrv.Barrier // nil: there is none
}

// newHardware is nil if the options do not ask for barriers by hardware.
func newHardware(node *hostdrv.Node, o Options) (*hardware, error) {
	if o.Topology == nil || o.Barrier != "" && o.Barrier != Hardware || len(o.Members) < 2 {
		return nil, nil
	}
	h := &hardware{node: node, topology: o.Topology, required: o.Barrier == Hardware}
	for _, m := range o.Members {
		place := -1
		for i, n := range o.Topology.Nodes {
			if n.Kind == topology.NI && n.ID == m {
				place = i
			}
		}
		if place < 0 {
			return nil, fmt.Errorf("%w: no network interface of the topology is node %d", ErrOption, m)
		}
		h.places = append(h.places, place)
	}
	return h, nil
}

// mix continues a hash by what members must agree about.
func (h *hardware) mix(hash uint32) uint32 {
	if h == nil {
		return hash
	}
	for _, n := range h.topology.Nodes {
		hash = mix(mix(hash, int(n.Kind)), int(n.ID))
	}
	for _, c := range h.topology.Cables {
		for _, e := range c.Ends {
			hash = mix(mix(hash, e.Node), e.Port)
		}
	}
	return hash
}

// plan makes the tree, of which this member's part is in h.group then.
func (h *hardware) plan(rank int) error {
	ports, err := routing.BarrierTree(h.topology, h.places)
	if err != nil {
		return err
	}
	h.group = hostdrv.BarrierGroup{Ports: ports[h.places[rank]], Make: rank == 0}
	for i, n := range h.topology.Nodes {
		switch {
		case ports[i] == 0 || ports[i]&1 != 0:
		case n.Kind == topology.NI:
			return fmt.Errorf("%s is on the way between members and is none, so nobody tells its router: have it be a member", n.Name)
		default:
			h.group.Switches = append(h.group.Switches, hostdrv.BarrierSwitch{Node: n.ID, Ports: ports[i]})
		}
	}
	return nil
}

// note is what members and the first one tell each other while a group is set up: a number, and what is wrong, if something is.
type note struct {
	value uint32
	wrong string
}

const noteBytes = 256

func (n note) bytes() []byte {
	b := binary.LittleEndian.AppendUint32(make([]byte, 0, noteBytes), n.value)
	b = append(b, n.wrong[:min(len(n.wrong), noteBytes-len(b))]...)
	return b[:noteBytes]
}

func noteOf(b []byte) note {
	return note{binary.LittleEndian.Uint32(b), string(bytes.TrimRight(b[4:], "\x00"))}
}

// consult brings the first member a note of each, and all of them what it makes of these.
func (g *Group) consult(own note, decide func(of []note) note) (note, error) {
	take := func(rank int) (got note, err error) {
		err = g.receive(rank, noteBytes, func(_ int, part []byte) { got = noteOf(part) })
		return got, err
	}
	if g.rank > 0 {
		if err := g.send(0, own.bytes()); err != nil {
			return note{}, err
		}
		return take(0)
	}
	notes := []note{own}
	for rank := 1; rank < len(g.members); rank++ {
		n, err := take(rank)
		if err != nil {
			return note{}, err
		}
		notes = append(notes, n)
	}
	verdict := decide(notes)
	for rank := 1; rank < len(g.members); rank++ {
		if err := g.send(rank, verdict.bytes()); err != nil {
			return note{}, err
		}
	}
	return verdict, nil
}

// wrongs is a note of the first member for whom something is wrong, or else one of the value.
func (g *Group) wrongs(of []note, value uint32) note {
	for rank, n := range of {
		if n.wrong != "" {
			return note{wrong: fmt.Sprintf("node %d: %s", g.members[rank], n.wrong)}
		}
	}
	return note{value: value}
}

// prepare sets the group up, or finds out that it cannot be, which all members find out.
func (g *Group) prepare() error {
	h := g.hardware
	h.tried = true
	wrong := ""
	if err := h.plan(g.rank); err != nil {
		wrong = err.Error() // the same at all members
	} else if wrong, err = g.agree(); err != nil {
		return err
	}
	if wrong == "" {
		return nil
	}
	if h.barrier != nil {
		if err := h.barrier.Dissolve(g.ctx); err != nil {
			return err
		}
		h.barrier = nil
	}
	if h.required {
		return fmt.Errorf("%w: %s", ErrHardware, wrong)
	}
	return nil
}

// agree finds a number for the group, and opens it at all members. It returns what is wrong, the same at all members.
func (g *Group) agree() (wrong string, err error) {
	h := g.hardware
	free, _, err := h.node.FreeBarriers(g.ctx, 1<<linkproto.BarrierGroups-1, nil)
	own := note{value: free}
	if errors.Is(err, hostdrv.ErrNoBarriers) || errors.Is(err, hostdrv.ErrLimit) {
		own.wrong = err.Error()
	} else if err != nil {
		return "", err
	}
	found, err := g.consult(own, g.choose)
	if err != nil || found.wrong != "" {
		return found.wrong, err
	}
	h.group.Number, h.group.Generation = int(found.value>>linkproto.BarrierBits), uint8(found.value&(1<<linkproto.BarrierBits-1))
	own = note{}
	if g.rank > 0 { // the first one has
		if h.barrier, err = h.node.OpenBarrier(g.ctx, h.group); err != nil {
			h.barrier, own.wrong = nil, err.Error()
		}
	}
	opened, err := g.consult(own, func(of []note) note {
		verdict := g.wrongs(of, 0)
		if verdict.wrong == "" {
			if _, err := h.look(g.ctx); err != nil { // a switch may have been reset meanwhile
				verdict.wrong = err.Error()
			}
		}
		return verdict
	})
	return opened.wrong, err
}

// choose finds a number and a generation, and opens the group at the first member and all switches.
func (g *Group) choose(of []note) note {
	free := uint32(1<<linkproto.BarrierGroups - 1)
	for _, n := range of {
		free &= n.value
	}
	if wrong := g.wrongs(of, 0); wrong.wrong != "" {
		return wrong
	}
	var switches []uint16
	for _, s := range g.hardware.group.Switches {
		switches = append(switches, s.Node)
	}
	// Groups that are made at the same time look at numbers in different orders.
	first, step := int(g.identity), int(g.identity/linkproto.BarrierGroups|1)
	for i := range linkproto.BarrierGroups {
		number := (first + i*step) % linkproto.BarrierGroups
		if free>>number&1 == 0 {
			continue
		}
		have, generation, err := g.hardware.node.FreeBarriers(g.ctx, 1<<number, switches)
		if err != nil {
			return note{wrong: err.Error()}
		}
		if have == 0 {
			continue
		}
		h := g.hardware
		h.group.Number, h.group.Generation = number, generation
		if h.barrier, err = h.node.OpenBarrier(g.ctx, h.group); err == nil {
			return note{value: uint32(number)<<linkproto.BarrierBits | uint32(generation)}
		}
		if h.barrier = nil; !errors.Is(err, hostdrv.ErrLimit) { // else another group has claimed it meanwhile
			return note{wrong: err.Error()}
		}
	}
	return note{wrong: fmt.Sprintf("none of the numbers of barrier groups is free at all members and switches: close groups, or reset switches with groups of programs that have died (free at the members: %#x)", free)}
}

// waitHardware makes a barrier. When it has waited for long it looks whether the other members and the switches are there.
func (g *Group) waitHardware() error {
	h := g.hardware
	if err := h.barrier.Enter(g.ctx); err != nil {
		return err
	}
	var silence context.Context // ends when members have been late for Options.Silence
	for patience := g.patience; ; patience = g.patience / 8 {
		limit, cancel := g.transport.WithTimeout(g.ctx, patience)
		err := h.barrier.Wait(limit)
		over := limit.Err() != nil
		cancel()
		if err == nil {
			return nil
		}
		if over && g.ctx.Err() == nil {
			if silence == nil && g.silence >= 0 {
				var end context.CancelFunc
				silence, end = g.transport.WithTimeout(g.ctx, max(g.silence-patience, 0))
				defer end()
			}
			var missing []uint16
			if missing, err = h.look(g.ctx); err == nil {
				err = g.hear(g.patience / 8)
			}
			if err == nil && missing != nil && silence != nil && silence.Err() != nil && g.ctx.Err() == nil {
				err = g.silent(g.silence, missing...)
			}
		}
		if err != nil && g.ctx.Err() != nil {
			missing, _ := h.look(context.WithoutCancel(g.ctx))
			return fmt.Errorf("%s: %w", h.waiting(missing), err)
		} else if err != nil {
			return err
		}
	}
}

// hear asks the other members whether they are there, and takes what comes for a time: what they say if they do not take part.
func (g *Group) hear(patience time.Duration) error {
	g.probe()
	limit, cancel := g.transport.WithTimeout(g.ctx, patience)
	defer cancel()
	for {
		done, err := g.transport.Wait(limit)
		if err != nil && limit.Err() != nil && g.ctx.Err() == nil {
			break
		} else if err != nil {
			return err
		}
		if err := g.take(done); err != nil {
			return err
		}
	}
	for rank, came := range g.came {
		if len(came) > 0 && uint16(came[0].tag>>serialShift) == g.serial {
			return g.disagree(rank, came[0])
		}
	}
	return nil
}

// waiting says for whom a member waits.
func (h *hardware) waiting(missing []uint16) string {
	var names []string
	for _, n := range h.topology.Nodes {
		if n.Kind == topology.NI && slices.Contains(missing, n.ID) {
			names = append(names, fmt.Sprintf("node %d (%s)", n.ID, n.Name))
		}
	}
	if names == nil {
		return "waiting for the release of a barrier"
	}
	return "waiting for " + strings.Join(names, ", ")
}

// look looks at the routers. It fails if one of them does not have the group, and else says which members have not entered the phase.
func (h *hardware) look(ctx context.Context) (missing []uint16, err error) {
	states, err := h.barrier.States(ctx)
	if err != nil {
		return nil, err
	}
	peers := h.topology.Peers()
	for i, s := range states {
		place, ports := -1, h.group.Ports
		for at, n := range h.topology.Nodes {
			if n.ID == s.Node {
				place = at
			}
		}
		if i > 0 {
			ports = h.group.Switches[i-1].Ports
		}
		switch name := h.topology.Nodes[place].Name; {
		case s.Silent:
			return nil, fmt.Errorf("%s, node %d, on the way to members of barrier group %d does not answer: look at its cables, and whether it was reset", name, s.Node, h.group.Number)
		case s.Lost:
			return nil, fmt.Errorf("%s, node %d, does not have barrier group %d any more: it was reset, or another group was made there: make the group anew", name, s.Node, h.group.Number)
		case s.Phase != states[0].Phase:
			continue
		}
		for left := ports &^ s.Entered &^ 1; left != 0; left &= left - 1 {
			if n := h.topology.Nodes[peers[place][bits.TrailingZeros32(left)]]; n.Kind == topology.NI {
				missing = append(missing, n.ID)
			}
		}
	}
	return missing, nil
}
