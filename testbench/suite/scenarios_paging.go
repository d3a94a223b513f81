package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

func init() {
	scenarios = append(scenarios,
		Scenario{Name: "paging", Doc: "a ring of NIs with more ports than frames, hosts that change pages late: every byte of every page right, every change notified", Seeds: 3,
			Run: paging(func(rng *rand.Rand) pagingPlan {
				return pagingPlan{config: Ring(3, ni.Params{Links: 2, Frames: 5, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024}, 1+rng.IntN(40)), packets: 150, clean: true}
			})},
		Scenario{Name: "paging-peers", Doc: "the same from three peers at one NI with the smallest pages, with malformed PAGEs and CONNECTs", Seeds: 3,
			Run: paging(func(rng *rand.Rand) pagingPlan {
				p := ni.Params{Links: 3, Frames: 7, PageBytes: 64, ReplayBytes: 256, RxBytes: 512}
				return pagingPlan{config: ni.Config{Params: p, Nodes: 1, Peers: []ni.Socket{{Link: 1}, {Link: 2}, {Link: 3}}}, packets: 250}
			})},
		Scenario{Name: "paging-faults", Doc: "the same between two NIs over links with bit errors, drops, bursts and unplugged cables: nothing lost", Seeds: 3,
			Run: paging(func(rng *rand.Rand) pagingPlan {
				c := pair(ni.Params{Frames: 3, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024}, 1+rng.IntN(40))
				return pagingPlan{config: c, packets: 200, errorRate: rate(rng, 1e-6, 1e-4), hostErrorRate: rate(rng, 1e-6, 1e-5), faults: 20}
			})},
		Scenario{Name: "paging-mutual", Doc: "two NIs trapped on each other for long: acknowledgements, the hosts and the third link go on, both resume, no deadlock", Seeds: 2,
			Run: mutualTrap},
	)
}

// pagingPlan is one run of remote paging.
type pagingPlan struct {
	config        ni.Config
	packets       int // by each sender
	errorRate     float64
	hostErrorRate float64
	faults        int
	clean         bool // nothing but deliveries may happen on the links
}

func paging(draw func(*rand.Rand) pagingPlan) func(context.Context, *Run) error {
	return func(ctx context.Context, r *Run) error {
		plan := draw(rand.New(rand.NewPCG(r.Seed, 6)))
		plan.config.Seed = r.Seed
		return onFabric(ctx, r, plan.config, func(f *ni.Fabric) error {
			p, err := newPagers(f, r)
			if err != nil {
				return err
			}
			for _, w := range f.Wires {
				if err := w.SetBitErrorRate(plan.errorRate); err != nil {
					return err
				}
				if err := w.Inject(faultPlan(p.rng, f.Params, w.Stats().Samples, plan.faults, plan.packets*400)...); err != nil {
					return err
				}
			}
			for _, n := range f.Nodes {
				if plan.hostErrorRate > 0 {
					n.Host.Mangle, n.Host.Swallow = flipBits(p.rng, plan.hostErrorRate), flipBits(p.rng, plan.hostErrorRate)
				}
			}
			if err := p.send(plan.packets); err != nil {
				return err
			}
			return p.check(plan.clean)
		})
	}
}

// pagers are the hosts and peers of a fabric, which page ports in and out of each other's receive buffers.
type pagers struct {
	*ni.Fabric
	run     *Run
	rng     *rand.Rand
	hosts   []*pagedHost
	senders []*pageSender
	failed  error
}

// pageSender writes to the ports of one link of a node, more than there are frames, and manages that link's frames.
type pageSender struct {
	to      ni.Socket
	offer   func(linkproto.Packet, []byte) error // ni.ErrBusy: later
	settled func() bool                          // everything has been acknowledged
	frames  []int
	at      map[int]int // frame to port
	ports   int
	images  [][]byte // what each port's page must hold in the end
	queue   []linkproto.Packet
	traps   [][]byte // sent and not yet reported at the receiver
	raw     bool     // may send what no host would
	sent    int
	bad     int
	denied  int
}

// pagedHost is a host that serves traps late and follows its receive buffer by NOTIFY alone.
type pagedHost struct {
	p       *pagers
	node    int
	tasks   map[int]*pageTask // by link
	saved   map[int][][]byte  // by link: the pages of ports that are out
	at      map[int]int       // frame to port
	shadow  []byte            // what the host knows of its buffer
	changed []linkproto.Packet
	reading int
	hurry   bool // answers at once
	idle    bool // does not answer at all
	served  int
}

// pageTask is a trap that is being served.
type pageTask struct {
	steps []func(done func(linkproto.Packet)) error
	due   uint64
	asked bool
}

// portBase makes port numbers that use all bytes.
const portBase = 0x5A010203

func newPagers(f *ni.Fabric, r *Run) (*pagers, error) {
	r.Stats = Stats{}
	p := &pagers{Fabric: f, run: r, rng: rand.New(rand.NewPCG(r.Seed, 7))}
	for node, n := range f.Nodes {
		h := &pagedHost{p: p, node: node, tasks: map[int]*pageTask{}, saved: map[int][][]byte{}, at: map[int]int{}}
		n.Host.Received = h.received
		h.shadow = p.random(f.Params.BufferBytes())
		if err := f.FillBuffer(node, h.shadow); err != nil {
			return nil, err
		}
		if err := f.WriteRegister(node, linkproto.RegControl, 1); err != nil {
			return nil, err
		}
		p.hosts = append(p.hosts, h)
	}
	for _, w := range f.Wires {
		host, via := f.Nodes[w.From.Node].Host, w.From.Link
		s := &pageSender{to: w.To}
		s.offer = func(q linkproto.Packet, _ []byte) error {
			q.Via = uint8(via)
			return host.Forward(q)
		}
		s.settled = func() bool { return host.Outstanding(via) == 0 }
		p.senders = append(p.senders, s)
	}
	for _, socket := range f.Config.Peers {
		link := f.Peers[socket].Link
		s := &pageSender{to: socket, raw: true}
		s.offer = func(_ linkproto.Packet, raw []byte) error { return link.Send(raw) }
		s.settled = func() bool { return link.Queued() == 0 }
		p.senders = append(p.senders, s)
	}
	for _, s := range p.senders {
		if err := p.grant(s); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// grant gives a sender its frames, with a port in each, and some ports more that are out.
func (p *pagers) grant(s *pageSender) error {
	h, page := p.hosts[s.to.Node], p.Params.PageBytes
	s.at = map[int]int{}
	for frame := s.to.Link - 1; frame < p.Params.Frames; frame += p.Params.Links {
		if frame > 0 && frame == p.Params.Frames-1 {
			break // nobody's
		}
		s.frames = append(s.frames, frame)
		s.at[frame], h.at[frame] = s.ports, s.ports
		s.images = append(s.images, bytes.Clone(h.shadow[frame*page:][:page]))
		s.ports++
		if err := p.WriteRegister(s.to.Node, linkproto.FrameReg(frame), 1<<31|uint32(s.to.Link)); err != nil {
			return err
		}
	}
	h.saved[s.to.Link] = make([][]byte, s.ports)
	for range 3 {
		s.images = append(s.images, p.random(page))
		h.saved[s.to.Link] = append(h.saved[s.to.Link], bytes.Clone(s.images[s.ports]))
		s.ports++
	}
	return nil
}

func (p *pagers) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(p.rng.Uint32())
	}
	return b
}

func (p *pagers) fail(format string, args ...any) {
	if p.failed == nil {
		p.failed = fmt.Errorf(format, args...)
	}
}

// draw puts the sender's next packets in its queue.
func (p *pagers) draw(s *pageSender) {
	page, frames := p.Params.PageBytes, p.Params.Frames
	add := func(q linkproto.Packet) { s.queue = append(s.queue, q) }
	switch x := p.rng.IntN(100); {
	case x < 5:
		add(linkproto.Packet{Type: linkproto.TypeConnect, Port: p.rng.Uint32(), Data: p.random(p.rng.IntN(min(linkproto.MaxParams, page-2) + 1))})
	case x < 8: // no such frame: malformed
		add(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frames + p.rng.IntN(1<<16-frames)), Port: p.rng.Uint32()})
	case x < 11 && frames > 1: // not this link's
		add(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32((frames - 1) * page), Data: p.random(1 + p.rng.IntN(page))})
		s.denied++
	default:
		port, frame := p.rng.IntN(s.ports), -1
		for _, f := range s.frames {
			if s.at[f] == port {
				frame = f
			}
		}
		if frame < 0 { // page it in
			frame = s.frames[p.rng.IntN(len(s.frames))]
			s.at[frame] = port
			add(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: portBase + uint32(port)})
		}
		for range 1 + p.rng.IntN(4) {
			data := p.random(p.rng.IntN(page + 1))
			if p.rng.IntN(2) == 0 {
				data = data[:min(len(data), 1+p.rng.IntN(9))]
			}
			offset := p.rng.IntN(page - max(len(data), 1) + 1)
			copy(s.images[port][offset:], data)
			add(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*page + offset), Data: data})
		}
	}
}

// malformed is a PAGE or CONNECT of a length that it must not have.
func (p *pagers) malformed() []byte {
	n, kind := p.rng.IntN(p.Params.PageBytes), linkproto.TypePage
	if p.rng.IntN(2) == 0 {
		kind, n = linkproto.TypeConnect, p.rng.IntN(4)
		if p.rng.IntN(2) == 0 {
			n = p.Params.MaxPacket() - linkproto.HeaderBytes - p.rng.IntN(2)
		}
	} else if n == 6 {
		n++
	}
	return append([]byte{byte(kind), byte(n), byte(n >> 8)}, make([]byte, n)...)
}

// serve sends what there is room for, and lets the hosts do their work.
func (p *pagers) serve() {
	for _, s := range p.senders {
		for len(s.queue) > 0 && p.failed == nil {
			q := s.queue[0]
			raw := encode(q)
			wrong := s.raw && p.rng.IntN(20) == 0
			if wrong {
				raw = p.malformed()
			}
			err := s.offer(q, raw)
			if errors.Is(err, ni.ErrBusy) || errors.Is(err, ni.ErrNoCredit) || errors.Is(err, flowctl.ErrFull) {
				break
			}
			if err != nil {
				p.fail("%v to link %d of node %d: %w", q.Type, s.to.Link, s.to.Node, err)
				return
			}
			s.sent++
			if wrong {
				s.bad++
				continue
			}
			s.queue = s.queue[1:]
			switch {
			case q.Type == linkproto.TypePage && int(q.Frame) >= p.Params.Frames:
				s.bad++
			case q.Type != linkproto.TypeWrite:
				s.traps = append(s.traps, raw)
			}
		}
	}
	for _, h := range p.hosts {
		h.work()
	}
}

// send lets every sender send about packets, and waits until all has been carried out, reported and read.
func (p *pagers) send(packets int) error {
	goal := make([]int, len(p.senders))
	for i, s := range p.senders {
		goal[i] = s.sent + packets
	}
	err := p.Until(packets*20_000+1_000_000, "all pages to be written", func() bool {
		done := true
		for i, s := range p.senders {
			if s.sent < goal[i] && len(s.queue) == 0 && p.rng.IntN(8) > 0 {
				p.draw(s)
			}
			done = done && s.sent >= goal[i] && len(s.queue) == 0 && s.settled() && len(s.traps) == 0
		}
		p.serve()
		return p.failed != nil || done && p.atRest()
	})
	if err = errors.Join(err, p.failed); err != nil {
		return err
	}
	// What has been acknowledged may still be in a receive FIFO, and its NOTIFY underway.
	for range 2 {
		rest := p.Cycles + uint64(4*p.Params.RxBytes+4000)
		err = p.Until(1_000_000, "the last NOTIFY", func() bool {
			p.serve()
			return p.failed != nil || p.Cycles >= rest && p.atRest()
		})
	}
	for _, s := range p.senders {
		p.run.Stats.Packets += uint64(s.sent)
	}
	return errors.Join(err, p.failed)
}

func (p *pagers) atRest() bool {
	for _, h := range p.hosts {
		if len(h.tasks) > 0 || len(h.changed) > 0 || h.reading > 0 {
			return false
		}
	}
	return true
}

// check compares every port's page, in its frame or where its host saved it, and what the hosts know by NOTIFY.
func (p *pagers) check(clean bool) error {
	page := p.Params.PageBytes
	buffers := make([][]byte, len(p.hosts))
	for i, h := range p.hosts {
		have, err := p.ReadBuffer(i)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, h.shadow) {
			at := 0
			for have[at] == h.shadow[at] {
				at++
			}
			return fmt.Errorf("node %d frame %d offset %d: the host was not notified of the last change", i, at/page, at%page)
		}
		buffers[i] = have
	}
	for _, s := range p.senders {
		h := p.hosts[s.to.Node]
		in := map[int]int{}
		for _, f := range s.frames {
			if h.at[f] != s.at[f] {
				return fmt.Errorf("node %d frame %d: its host has port %d in it, the sender %d", s.to.Node, f, h.at[f], s.at[f])
			}
			in[s.at[f]] = f + 1
		}
		for port, want := range s.images {
			have := h.saved[s.to.Link][port]
			if f := in[port]; f > 0 {
				have = buffers[s.to.Node][(f-1)*page : f*page]
			}
			if !bytes.Equal(have, want) {
				return fmt.Errorf("node %d link %d port %d (frame %d): its page holds\n% x, want\n% x", s.to.Node, s.to.Link, port, in[port]-1, have, want)
			}
			p.run.Stats.Bytes += uint64(page)
		}
		c, err := p.Counters(s.to.Node, s.to.Link)
		if err != nil {
			return err
		}
		checks := map[linkproto.Counter]int{linkproto.CntRxPackets: s.sent, linkproto.CntBadPacket: s.bad, linkproto.CntDenied: s.denied, linkproto.CntLostPackets: 0}
		if clean {
			for _, n := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxGap, linkproto.CntRxDup, linkproto.CntRxOverrun, linkproto.CntRestarts, linkproto.CntReplays} {
				checks[n] = 0
			}
		}
		for n, want := range checks {
			if int(c[n]) != want {
				return fmt.Errorf("node %d link %d: counter %v is %d, want %d", s.to.Node, s.to.Link, n, c[n], want)
			}
		}
	}
	served := 0
	for _, h := range p.hosts {
		served += h.served
	}
	if served == 0 {
		return errors.New("no trap was served")
	}
	return nil
}

func (h *pagedHost) received(q linkproto.Packet) {
	switch q.Type {
	case linkproto.TypeNotify:
		h.changed = append(h.changed, q)
	case linkproto.TypeTrap:
		for _, s := range h.p.senders {
			if s.to != (ni.Socket{Node: h.node, Link: int(q.Via)}) {
				continue
			}
			if len(s.traps) == 0 || !bytes.Equal(s.traps[0], q.Data) {
				h.p.fail("node %d link %d: TRAP of % x, want the first of % x", h.node, q.Via, q.Data, s.traps)
				return
			}
			s.traps = s.traps[1:]
			if h.tasks[int(q.Via)] != nil {
				h.p.fail("node %d link %d: TRAP of % x before the last was resumed", h.node, q.Via, q.Data)
				return
			}
			var trapped linkproto.Packet
			if err := trapped.Decode(q.Data); err != nil {
				h.p.fail("node %d link %d: TRAP of % x: %w", h.node, q.Via, q.Data, err)
				return
			}
			h.trap(int(q.Via), trapped)
			return
		}
		h.p.fail("node %d: TRAP of link %d, to which nobody sends", h.node, q.Via)
	default:
		h.p.fail("node %d: unexpected %v", h.node, q.Type)
	}
}

// trap plans what is to be done about a trap: for a PAGE lock the frame, save its page, restore the other, unlock; then RESUME.
func (h *pagedHost) trap(link int, trapped linkproto.Packet) {
	task := &pageTask{due: h.p.Cycles + h.pause(20_000)}
	h.tasks[link] = task
	ask := func(q linkproto.Packet, then func(linkproto.Packet)) {
		task.steps = append(task.steps, func(done func(linkproto.Packet)) error {
			q := q
			if q.Type == linkproto.TypeBufWrite {
				q.Data = h.saved[link][int(trapped.Port-portBase)]
			}
			return h.p.Nodes[h.node].Host.Request(q, func(a linkproto.Packet) {
				if a.Type == linkproto.TypeDone && a.Status != linkproto.StatusOK {
					h.p.fail("node %d refused %v: %v", h.node, q.Type, a.Status)
				}
				then(a)
				done(a)
			})
		})
	}
	nothing := func(linkproto.Packet) {}
	if trapped.Type == linkproto.TypePage {
		frame, port, page := int(trapped.Frame), int(trapped.Port-portBase), h.p.Params.PageBytes
		if port < 0 || port >= len(h.saved[link]) {
			h.p.fail("node %d link %d: PAGE of port %d", h.node, link, port)
			return
		}
		addr := uint32(frame * page)
		lock := h.p.rng.IntN(2) == 0
		if lock {
			ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(frame)}, nothing)
		}
		ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: addr, Count: uint16(page)}, func(a linkproto.Packet) {
			h.saved[link][h.at[frame]] = bytes.Clone(a.Data)
		})
		ask(linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: addr}, func(linkproto.Packet) {
			copy(h.shadow[addr:], h.saved[link][port])
			h.at[frame] = port
		})
		if lock {
			ask(linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: linkproto.FrameReg(frame), Value: 1<<31 | uint32(link)}, nothing)
		}
	}
	// The next trap may be reported before the answer is here.
	task.steps = append(task.steps, func(func(linkproto.Packet)) error {
		err := h.p.Nodes[h.node].Host.Request(linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(link)}, func(a linkproto.Packet) {
			if a.Status != linkproto.StatusOK {
				h.p.fail("node %d link %d: RESUME: %v", h.node, link, a.Status)
			}
		})
		if err == nil {
			delete(h.tasks, link)
			h.served++
		}
		return err
	})
}

func (h *pagedHost) pause(most int) uint64 {
	if h.hurry || h.p.rng.IntN(2) == 0 {
		return 0
	}
	return uint64(h.p.rng.IntN(most / (1 + h.p.rng.IntN(20))))
}

// work does what is due of the tasks, and reads what NOTIFY has named.
func (h *pagedHost) work() {
	for link := 1; link <= h.p.Params.Links; link++ {
		task := h.tasks[link]
		if task == nil || task.asked || task.due > h.p.Cycles || h.idle || h.p.failed != nil {
			continue
		}
		err := task.steps[0](func(linkproto.Packet) {
			task.asked, task.due = false, h.p.Cycles+h.pause(500)
		})
		if errors.Is(err, ni.ErrBusy) {
			continue
		}
		if err != nil {
			h.p.fail("node %d link %d: %w", h.node, link, err)
			return
		}
		task.steps, task.asked = task.steps[1:], true
	}
	for len(h.changed) > 0 && h.reading < 4 && h.p.failed == nil {
		n := h.changed[0]
		if int(n.Frame) >= h.p.Params.Frames || n.First > n.Last || int(n.Last) >= h.p.Params.PageBytes {
			h.p.fail("node %d: NOTIFY of frame %d, bytes %d to %d", h.node, n.Frame, n.First, n.Last)
			return
		}
		q := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(int(n.Frame)*h.p.Params.PageBytes + int(n.First)), Count: n.Last - n.First + 1}
		err := h.p.Nodes[h.node].Host.Request(q, func(a linkproto.Packet) {
			h.reading--
			if copy(h.shadow[a.Addr:], a.Data) != int(q.Count) {
				h.p.fail("node %d: a read of %d bytes gave %d", h.node, q.Count, len(a.Data))
			}
		})
		if errors.Is(err, ni.ErrBusy) {
			return
		}
		if err != nil {
			h.p.fail("node %d: %w", h.node, err)
			return
		}
		h.reading++
		h.changed = h.changed[1:]
	}
}

// mutualTrap lets two network interfaces trap on each other on two of three cables and leaves them so until their queues are full.
func mutualTrap(ctx context.Context, r *Run) error {
	p := ni.Params{Links: 3, Frames: 7, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024}
	c := ni.Config{Params: p, Nodes: 2, Seed: r.Seed}
	for l := 1; l <= 3; l++ {
		c.Cables = append(c.Cables, ni.Cable{A: 0, LinkA: l, B: 1, LinkB: l, Latency: 3 * l})
	}
	return onFabric(ctx, r, c, func(f *ni.Fabric) error {
		p, err := newPagers(f, r)
		if err != nil {
			return err
		}
		for round := range 3 {
			for _, h := range p.hosts {
				h.idle = true
			}
			var free []*pageSender
			for _, s := range p.senders {
				if s.to.Link == 3 {
					free = append(free, s)
					continue
				}
				// A port that is out, then far more than the receive FIFO and the queue hold.
				out := 0
				for s.isIn(out) {
					out++
				}
				frame := s.frames[round%len(s.frames)]
				s.at[frame] = out
				s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: portBase + uint32(out)})
				for range 60 {
					data := p.random(p.Params.PageBytes)
					copy(s.images[out], data)
					s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * p.Params.PageBytes), Data: data})
				}
			}
			for range 60_000 / f.Config.Quantum { // longer than the retries take
				p.serve()
				if err := f.Run(1); err != nil || p.failed != nil {
					return errors.Join(err, p.failed)
				}
			}
			for node := range f.Nodes {
				for link := 1; link <= 3; link++ {
					status, err := f.ReadRegister(node, linkproto.LinkStatusReg(link))
					if err != nil {
						return err
					}
					if linkproto.StatusUp.Of(status) != 1 || int(linkproto.StatusTrapped.Of(status)) != 1-link/3 || int(linkproto.StatusPeerStop.Of(status)) != 1-link/3 {
						return fmt.Errorf("node %d link %d: status %#x while links 1 and 2 are trapped and full", node, link, status)
					}
				}
			}
			// The third cable does not feel it.
			for _, s := range free {
				if err := p.unhindered(s); err != nil {
					return err
				}
			}
			for _, h := range p.hosts {
				h.idle = false
			}
			if err := p.send(20); err != nil {
				return err
			}
		}
		return p.check(true)
	})
}

func (s *pageSender) isIn(port int) bool {
	for _, f := range s.frames {
		if s.at[f] == port {
			return true
		}
	}
	return false
}

// unhindered sends writes that need no PAGE and wants them acknowledged soon.
func (p *pagers) unhindered(s *pageSender) error {
	frame, port := s.frames[0], s.at[s.frames[0]]
	for range 20 {
		data := p.random(p.Params.PageBytes)
		copy(s.images[port], data)
		s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * p.Params.PageBytes), Data: data})
	}
	err := p.Until(40*p.Params.MaxPacket()+10_000, "a link beside trapped ones", func() bool {
		p.serve()
		return p.failed != nil || len(s.queue) == 0 && s.settled()
	})
	return errors.Join(err, p.failed)
}
