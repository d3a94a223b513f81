// Package lockstep makes transports of a simulation in which several network interfaces (NIs) advance together, each with a driver of
// its own or none.
//
// A turn, some ticks of the whole simulation, takes place when every driver has said what it sends and one of them waits for
// something. So time stands still while the program does something else, and what a program sees that waits for one thing after the other
// does not depend on the speed of the machine. With several drivers that holds for programs which say so by Host.Work: else time passes for a
// program between two calls while another one waits.
package lockstep

import (
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Line is what the host's cable of one NI carries during a turn.
type Line struct {
	Out []linkproto.Symbol // to the NI, in order; the line idles after them
	In  []linkproto.Symbol // from the NI, without IDLEs; to be set, and left alone until the next turn
}

// Simulation is what runs the NIs.
type Simulation interface {
	// Turn runs everything for n ticks, or for longer if a line takes longer to send its Out, and returns how many that were. No Out is
	// longer than n. lines are those of the NIs in their order.
	Turn(n int, lines []Line) (passed int, err error)
	// Close is called once, when no turn runs and none will.
	Close() error
}

// World is a simulation with its drivers.
type World struct {
	sim    Simulation
	least  int // ticks of a turn
	most   int
	timing hostdrv.Timing
	gather int // Gather
	rest   rest

	mu      sync.Mutex
	change  sync.Cond // for Between and Close: no turn runs
	hosts   []*Host   // by NI, nil where there is no driver
	lines   []Line
	present []*Host // in the turn that runs
	looks   []*Host // of them, those of which it looks at what programs ask for
	running bool
	between int // calls of Between that wait
	closed  bool
	err     error
	ticks   uint64
	events  []*event
}

// event is what happens every so many ticks.
type event struct {
	every, next uint64
	do          func() error
}

// patience is how many ticks a link may take to come up: some round trips of the shortest messages, or a few retries.
const patience = 8 * linkproto.DefaultRetry * linkproto.DefaultRetryLimit

// New makes a world of a simulation of some NIs, with a nominal rate of ticks a second. A turn is least ticks long, and up to most if
// drivers have so much to send.
func New(sim Simulation, nis, least, most int, rate float64) *World {
	w := &World{sim: sim, least: least, most: most, hosts: make([]*Host, nis), lines: make([]Line, nis)}
	w.timing = hostdrv.Timing{TicksPerSecond: rate, Burst: most, LinkTimeout: patience, VirtualTime: true}
	w.change.L = &w.mu
	return w
}

// Gather lets a driver that receives without a gap have up to so many ticks of that at once, as it could do little with the parts of a packet. It is for before the
// first Exchange.
func (w *World) Gather(ticks int) { w.gather = ticks }

// Host is the transport to one NI of a world. A zero Host is closed.
type Host struct {
	world  *World
	ni     int
	own    bool // closing it closes the world
	x      *hostdrv.Exchange
	change sync.Cond // of what its Exchange looks at
	done   bool
	woken  bool
	closed bool
	in     []linkproto.Symbol // what has arrived in several turns

	taking  bool // part in the turn that runs
	leaves  bool // after it
	patient bool // Patient
	waited  int  // ticks since its Exchange began

	working int // programs for which time stands still while nobody waits for the NI
}

// Host returns the transport to an NI, for one driver. When that is closed there can be another.
func (w *World) Host(ni int) (*Host, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, net.ErrClosed
	case ni < 0 || ni >= len(w.hosts):
		return nil, fmt.Errorf("lockstep: no network interface %d, there are %d", ni, len(w.hosts))
	case w.hosts[ni] != nil:
		return nil, fmt.Errorf("lockstep: network interface %d is busy: a driver has it", ni)
	}
	h := &Host{world: w, ni: ni}
	h.change.L = &w.mu
	w.hosts[ni] = h
	w.rouse()
	return h, nil
}

// Sole returns the transport to the first NI of a world that ends with it.
func (w *World) Sole() (*Host, error) {
	h, err := w.Host(0)
	if err == nil {
		h.own = true
	}
	return h, err
}

// Patient makes Exchange return not before what ends it does, where it would do so after each turn in which others send or receive: for who only lets time pass. It is
// for before the first one.
func (h *Host) Patient() { h.patient = true }

// Ticks is how many ticks have passed.
func (w *World) Ticks() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ticks
}

// Between calls do while no turn runs.
func (w *World) Between(do func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.between++; w.running; {
		w.rouse()
		w.change.Wait()
	}
	w.between--
	if w.closed {
		return net.ErrClosed
	}
	return do()
}

// Every calls do, while no turn runs, each time so many ticks have passed. How fast programs are does not matter, as it does for Between. The world fails with do's error.
func (w *World) Every(ticks uint64, do func() error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, &event{ticks, w.ticks + ticks, do})
}

// pass lets ticks pass.
func (w *World) pass(ticks int) {
	w.ticks += uint64(ticks)
	for _, e := range w.events {
		if w.ticks >= e.next && w.err == nil {
			e.next = w.ticks + e.every
			w.err = e.do()
		}
	}
}

// Close ends the simulation; drivers that are still there see their target gone.
func (w *World) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.sim == nil {
		return nil
	}
	w.closed = true
	w.tell()
	for w.running {
		w.change.Wait()
	}
	return w.sim.Close()
}

// Exchange takes part in a turn.
func (h *Host) Exchange(x *hostdrv.Exchange) error {
	w := h.world
	if w == nil {
		return net.ErrClosed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(x.Out) > w.most {
		return fmt.Errorf("lockstep: %d symbols in a turn of %d", len(x.Out), w.most)
	}
	h.x, h.done, h.waited = x, false, 0
	defer func() { h.x = nil }()
	for {
		switch {
		case h.done:
			return w.err
		case h.taking:
		case h.closed || w.closed:
			return net.ErrClosed
		case w.err != nil:
			return w.err
		case h.woken && x.Idle:
			h.woken = false
			x.Ticks = h.waited
			return nil
		case !w.running && w.due():
			w.turn()
			continue
		}
		h.change.Wait()
	}
}

// tell has all who wait look again.
func (w *World) tell() {
	w.rouse()
	w.change.Broadcast()
	for _, h := range w.hosts {
		if h != nil {
			h.change.Signal()
		}
	}
}

// due reports whether everybody is here and somebody waits.
func (w *World) due() bool {
	wanted := false
	for _, h := range w.hosts {
		switch {
		case h == nil:
		case h.x == nil || h.done || h.x.Idle && (h.woken || h.working > 0): // woken, it leaves to say what it sends
			return false
		case !h.x.Idle:
			wanted = true
		}
	}
	return wanted
}

// turn runs a turn, and more of them as long as nobody sends, nothing arrives that a driver can do something with, nobody is woken and nobody wants to look at the time: so
// that drivers which wait for something far away need not be asked each time.
func (w *World) turn() {
	w.present = append(w.present[:0], w.hosts...)
	present := w.present
	length, most := w.least, 1<<20 // ticks
	for i, h := range present {
		w.lines[i].Out = nil
		if h != nil {
			w.lines[i].Out = h.x.Out
			length = max(length, len(h.x.Out))
			most = min(most, h.x.Wait-h.waited)
			if len(h.x.Out) > 0 || h.woken {
				most = 0
			}
			h.in, h.taking, h.leaves, h.woken = h.in[:0], true, h.woken || len(h.x.Out) > 0, false
		}
	}
	passed, still, lag := 0, true, 0
	if w.rest.most > 0 { // waking a driver costs more than a turn does
		lag = slice
	}
	for more := true; more; {
		if passed+w.gather < most && w.pause() {
			break
		}
		w.running = true
		w.mu.Unlock()
		n, err := w.sim.Turn(length, w.lines)
		w.mu.Lock()
		w.running, w.err = false, errors.Join(w.err, err)
		w.pass(n)
		passed += n
		more, still = passed < most && w.err == nil && !w.closed && w.between == 0, true
		for i, h := range present {
			in := w.lines[i].In
			still = still && len(in)+len(w.lines[i].Out) == 0
			w.lines[i].Out = nil
			if h == nil {
				more = more && len(in) == 0
				continue
			}
			more = more && (len(in)+len(h.in) == 0 || len(in) == n && passed < w.gather) && !h.woken && !h.closed
			h.in = append(h.in, in...)
		}
		w.rest.count(n, still)
	}
	over := w.err != nil || w.closed
	for _, h := range present {
		if h == nil {
			continue
		}
		h.taking, h.waited = false, h.waited+passed
		if h.leaves || h.woken || len(h.in) > 0 || h.waited >= h.x.Wait || !h.patient && h.waited >= lag {
			h.x.Taken, h.x.In, h.x.Ticks, h.done = true, h.in, h.waited, true
			h.change.Signal()
		}
		over = over || h.closed
	}
	w.change.Broadcast()
	if over { // who goes on may be another one
		w.tell()
	}
}

// Wake is as Transport has it.
func (h *Host) Wake() {
	if h.world == nil {
		return
	}
	h.world.mu.Lock()
	h.woken, h.world.rest.rested = true, h.world.rest.rested && h.patient
	h.change.Signal()
	h.world.rouse()
	h.world.mu.Unlock()
}

// Work has time stand still, until over is called, while nothing waits for this NI although others wait for theirs: so that a program computes in no time of the simulation.
func (h *Host) Work() (over func()) {
	h.work(1)
	return func() { h.work(-1) }
}

func (h *Host) work(programs int) {
	if h.world == nil {
		return
	}
	h.world.mu.Lock()
	h.working += programs
	h.world.tell()
	h.world.mu.Unlock()
}

// Timing is that of the world.
func (h *Host) Timing() hostdrv.Timing {
	if h.world == nil {
		return hostdrv.Timing{}
	}
	return h.world.timing
}

// Close ends the driver's part in the simulation, which goes on for the others.
func (h *Host) Close() error {
	w := h.world
	if w == nil {
		return net.ErrClosed
	}
	w.mu.Lock()
	if !h.closed {
		h.closed = true
		if w.hosts[h.ni] == h {
			w.hosts[h.ni] = nil
		}
		h.change.Signal()
		w.tell()
	}
	w.mu.Unlock()
	if h.own {
		return w.Close()
	}
	return nil
}
