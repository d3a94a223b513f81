package paging

import (
	"bytes"
	"errors"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// pagers are the hosts and peers of a fabric, which page ports in and out of each other's receive buffers.
type pagers struct {
	*ni.Fabric
	run     *suite.Run
	rng     *testbench.Rand
	hosts   []*host
	senders []*sender
}

// sender writes to the ports of one link of a node, more than there are frames, and manages that link's frames.
type sender struct {
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

// portBase makes port numbers that use all bytes.
const portBase = 0x5A010203

func newPagers(f *ni.Fabric, r *suite.Run) *pagers {
	p := &pagers{Fabric: f, run: r, rng: testbench.NewRand(r.Seed).Split("pagers")}
	for node, n := range f.Nodes {
		h := &host{p: p, node: node, tasks: map[int]*task{}, saved: map[int][][]byte{}, at: map[int]int{}}
		n.Host.Received = h.received
		h.shadow = p.rng.Bytes(f.Params.BufferBytes())
		try.OK(f.FillBuffer(node, h.shadow))
		try.OK(f.WriteRegister(node, linkproto.RegControl, 1))
		p.hosts = append(p.hosts, h)
	}
	for _, w := range f.Wires {
		host, via := f.Nodes[w.From.Node].Host, w.From.Link
		s := &sender{to: w.To}
		s.offer = func(q linkproto.Packet, _ []byte) error {
			q.Via = uint8(via)
			return host.Forward(q)
		}
		s.settled = func() bool { return host.Credit(via).Outstanding() == 0 }
		p.senders = append(p.senders, s)
	}
	for _, socket := range f.Config.Peers {
		link := f.Peers[socket].Link
		s := &sender{to: socket, raw: true}
		s.offer = func(_ linkproto.Packet, raw []byte) error { return link.Send(raw) }
		s.settled = func() bool { return link.Queued() == 0 }
		p.senders = append(p.senders, s)
	}
	for _, s := range p.senders {
		p.grant(s)
	}
	return p
}

// grant gives a sender its frames, with a port in each, and some ports more that are out.
func (p *pagers) grant(s *sender) {
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
		try.OK(p.WriteRegister(s.to.Node, linkproto.FrameReg(frame), 1<<31|uint32(s.to.Link)))
	}
	h.saved[s.to.Link] = make([][]byte, s.ports)
	for range 3 {
		s.images = append(s.images, p.rng.Bytes(page))
		h.saved[s.to.Link] = append(h.saved[s.to.Link], bytes.Clone(s.images[s.ports]))
		s.ports++
	}
}

// draw puts the sender's next packets in its queue.
func (p *pagers) draw(s *sender) {
	page, frames := p.Params.PageBytes, p.Params.Frames
	add := func(q linkproto.Packet) { s.queue = append(s.queue, q) }
	switch x := p.rng.IntN(100); {
	case x < 5:
		add(linkproto.Packet{Type: linkproto.TypeConnect, Port: p.rng.Uint32(), Data: p.rng.Bytes(p.rng.IntN(min(linkproto.MaxParams, page-2) + 1))})
	case x < 8: // no such frame: malformed
		add(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frames + p.rng.IntN(1<<16-frames)), Port: p.rng.Uint32()})
	case x < 11 && frames > 1: // not this link's
		add(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32((frames - 1) * page), Data: p.rng.Bytes(1 + p.rng.IntN(page))})
		s.denied++
	default:
		port := p.rng.IntN(s.ports)
		frame := s.frameOf(port)
		if frame < 0 { // page it in
			frame = s.frames[p.rng.IntN(len(s.frames))]
			s.at[frame] = port
			add(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(frame), Port: portBase + uint32(port)})
		}
		for range 1 + p.rng.IntN(4) {
			data := p.rng.Bytes(p.rng.IntN(page + 1))
			if p.rng.Bool() {
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
	if p.rng.Bool() {
		kind, n = linkproto.TypeConnect, p.rng.IntN(4)
		if p.rng.Bool() {
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
		for len(s.queue) > 0 {
			q := s.queue[0]
			raw := stimulus.Encode(q)
			wrong := s.raw && p.rng.IntN(20) == 0
			if wrong {
				raw = p.malformed()
			}
			err := s.offer(q, raw)
			if errors.Is(err, ni.ErrBusy) || errors.Is(err, ni.ErrNoCredit) || errors.Is(err, flowctl.ErrFull) {
				break
			}
			try.Wrap(err, "%v to link %d of node %d", q.Type, s.to.Link, s.to.Node)
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
func (p *pagers) send(packets int) {
	goal := make([]int, len(p.senders))
	for i, s := range p.senders {
		goal[i] = s.sent + packets
	}
	try.OK(p.Until(packets*20_000+1_000_000, "all pages to be written", func() bool {
		done := true
		for i, s := range p.senders {
			if s.sent < goal[i] && len(s.queue) == 0 && p.rng.IntN(8) > 0 {
				p.draw(s)
			}
			done = done && s.sent >= goal[i] && len(s.queue) == 0 && s.settled() && len(s.traps) == 0
		}
		p.serve()
		return done && p.atRest()
	}))
	// What has been acknowledged may still be in a receive FIFO, and its NOTIFY underway.
	for range 2 {
		rest := p.Cycles + uint64(4*p.Params.RxBytes+4000)
		try.OK(p.Until(1_000_000, "the last NOTIFY", func() bool {
			p.serve()
			return p.Cycles >= rest && p.atRest()
		}))
	}
	for _, s := range p.senders {
		p.run.Stats.Packets += uint64(s.sent)
	}
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
func (p *pagers) check(clean bool) {
	page := p.Params.PageBytes
	buffers := make([][]byte, len(p.hosts))
	for i, h := range p.hosts {
		have := try.Get(p.ReadBuffer(i))
		if !bytes.Equal(have, h.shadow) {
			at := 0
			for have[at] == h.shadow[at] {
				at++
			}
			try.Failf("node %d frame %d offset %d: the host was not notified of the last change", i, at/page, at%page)
		}
		buffers[i] = have
	}
	for _, s := range p.senders {
		h := p.hosts[s.to.Node]
		in := map[int]int{}
		for _, f := range s.frames {
			if h.at[f] != s.at[f] {
				try.Failf("node %d frame %d: its host has port %d in it, the sender %d", s.to.Node, f, h.at[f], s.at[f])
			}
			in[s.at[f]] = f + 1
		}
		for port, want := range s.images {
			have := h.saved[s.to.Link][port]
			if f := in[port]; f > 0 {
				have = buffers[s.to.Node][(f-1)*page : f*page]
			}
			if !bytes.Equal(have, want) {
				try.Failf("node %d link %d port %d (frame %d): its page holds\n% x, want\n% x", s.to.Node, s.to.Link, port, in[port]-1, have, want)
			}
			p.run.Stats.Bytes += uint64(page)
		}
		checks := map[linkproto.Counter]int{linkproto.CntRxPackets: s.sent, linkproto.CntBadPacket: s.bad, linkproto.CntDenied: s.denied, linkproto.CntLostPackets: 0}
		if clean {
			for _, n := range []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxGap, linkproto.CntRxDup, linkproto.CntRxOverrun, linkproto.CntRestarts, linkproto.CntReplays} {
				checks[n] = 0
			}
		}
		try.OK(p.CheckCounters(s.to, checks))
	}
	served := 0
	for _, h := range p.hosts {
		served += h.served
	}
	if served == 0 {
		try.Failf("no trap was served")
	}
}

// frameOf is the frame that has a port in it, or -1.
func (s *sender) frameOf(port int) int {
	if i := slices.IndexFunc(s.frames, func(f int) bool { return s.at[f] == port }); i >= 0 {
		return s.frames[i]
	}
	return -1
}

// unhindered sends writes that need no PAGE and wants them acknowledged soon.
func (p *pagers) unhindered(s *sender) {
	frame, port := s.frames[0], s.at[s.frames[0]]
	for range 20 {
		data := p.rng.Bytes(p.Params.PageBytes)
		copy(s.images[port], data)
		s.queue = append(s.queue, linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * p.Params.PageBytes), Data: data})
	}
	try.OK(p.Until(40*p.Params.MaxPacket()+10_000, "a link beside trapped ones", func() bool {
		p.serve()
		return len(s.queue) == 0 && s.settled()
	}))
}
