package paging

import (
	"bytes"
	"errors"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// host is a host that serves traps late and follows its receive buffer by NOTIFY alone.
type host struct {
	p       *pagers
	node    int
	tasks   map[int]*task    // by link
	saved   map[int][][]byte // by link: the pages of ports that are out
	at      map[int]int      // frame to port
	shadow  []byte           // what the host knows of its buffer
	changed []linkproto.Packet
	reading int
	hurry   bool // answers at once
	idle    bool // does not answer at all
	served  int
}

// task is a trap that is being served.
type task struct {
	steps []func(done func(linkproto.Packet)) error
	due   uint64
	asked bool
}

func (h *host) received(q linkproto.Packet) {
	switch q.Type {
	case linkproto.TypeNotify:
		h.changed = append(h.changed, q)
	case linkproto.TypeTrap:
		for _, s := range h.p.senders {
			if s.to != (ni.Socket{Node: h.node, Link: int(q.Via)}) {
				continue
			}
			if len(s.traps) == 0 || !bytes.Equal(s.traps[0], q.Data) {
				try.Failf("node %d link %d: TRAP of % x, want the first of % x", h.node, q.Via, q.Data, s.traps)
			}
			s.traps = s.traps[1:]
			if h.tasks[int(q.Via)] != nil {
				try.Failf("node %d link %d: TRAP of % x before the last was resumed", h.node, q.Via, q.Data)
			}
			var trapped linkproto.Packet
			if err := trapped.Decode(q.Data); err != nil {
				try.Failf("node %d link %d: TRAP of % x: %w", h.node, q.Via, q.Data, err)
			}
			h.trap(int(q.Via), trapped)
			return
		}
		try.Failf("node %d: TRAP of link %d, to which nobody sends", h.node, q.Via)
	default:
		try.Failf("node %d: unexpected %v", h.node, q.Type)
	}
}

// trap plans what is to be done about a trap: for a PAGE lock the frame, save its page, restore the other, unlock; then RESUME.
func (h *host) trap(link int, trapped linkproto.Packet) {
	task := &task{due: h.p.Cycles + h.pause(20_000)}
	h.tasks[link] = task
	ask := func(q linkproto.Packet, then func(linkproto.Packet)) {
		task.steps = append(task.steps, func(done func(linkproto.Packet)) error {
			q := q
			if q.Type == linkproto.TypeBufWrite {
				q.Data = h.saved[link][int(trapped.Port-portBase)]
			}
			return h.p.Nodes[h.node].Host.Request(q, func(a linkproto.Packet) {
				if a.Type == linkproto.TypeDone && a.Status != linkproto.StatusOK {
					try.Failf("node %d refused %v: %v", h.node, q.Type, a.Status)
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
			try.Failf("node %d link %d: PAGE of port %d", h.node, link, port)
		}
		addr := uint32(frame * page)
		lock := h.p.rng.Bool()
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
				try.Failf("node %d link %d: RESUME: %v", h.node, link, a.Status)
			}
		})
		if err == nil {
			delete(h.tasks, link)
			h.served++
		}
		return err
	})
}

func (h *host) pause(most int) uint64 {
	if h.hurry || h.p.rng.Bool() {
		return 0
	}
	return uint64(h.p.rng.IntN(most / (1 + h.p.rng.IntN(20))))
}

// work does what is due of the tasks, and reads what NOTIFY has named.
func (h *host) work() {
	for link := 1; link <= h.p.Params.Links; link++ {
		task := h.tasks[link]
		if task == nil || task.asked || task.due > h.p.Cycles || h.idle {
			continue
		}
		err := task.steps[0](func(linkproto.Packet) {
			task.asked, task.due = false, h.p.Cycles+h.pause(500)
		})
		if errors.Is(err, ni.ErrBusy) {
			continue
		}
		try.Wrap(err, "node %d link %d", h.node, link)
		task.steps, task.asked = task.steps[1:], true
	}
	for len(h.changed) > 0 && h.reading < 4 {
		n := h.changed[0]
		if int(n.Frame) >= h.p.Params.Frames || n.First > n.Last || int(n.Last) >= h.p.Params.PageBytes {
			try.Failf("node %d: NOTIFY of frame %d, bytes %d to %d", h.node, n.Frame, n.First, n.Last)
		}
		q := linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(int(n.Frame)*h.p.Params.PageBytes + int(n.First)), Count: n.Last - n.First + 1}
		err := h.p.Nodes[h.node].Host.Request(q, func(a linkproto.Packet) {
			h.reading--
			if copy(h.shadow[a.Addr:], a.Data) != int(q.Count) {
				try.Failf("node %d: a read of %d bytes gave %d", h.node, q.Count, len(a.Data))
			}
		})
		if errors.Is(err, ni.ErrBusy) {
			return
		}
		try.Wrap(err, "node %d", h.node)
		h.reading++
		h.changed = h.changed[1:]
	}
}
