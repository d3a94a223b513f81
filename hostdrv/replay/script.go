package replay

import (
	"maps"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
)

// settleTicks is how long a pause lasts in a replay at most: by then every NI is quiet.
const settleTicks = 1 << 15

// script is a session as it is replayed.
type script struct {
	steps    []step
	requests []int // the steps that are answered, in order
	refusals []told
	traps    [linkproto.MaxLinks][]told
	notes    []told
	end      uint64 // ticks
	virtual  bool   // there are VIRTUALs in it
	restarts int    // of the recorded link: what the NI said at these may be missing

	page, queue, window int // bytes of a page and of a link's queue, packets of it; 0: the recording does not say
}

// step is a packet that the host sent.
type step struct {
	record.Packet
	packet linkproto.Packet // Raw, as far as it can be decoded
	place  int              // among the requests; -1: it is none
	needs  marks            // what the host had received before
	pause  uint64           // ticks since that, or since the step before
	calm   uint64           // ticks since the NI last said that something of the host's was done
	other  bool             // something else than answers arrived since the step before
	answer *told            // nil: none was recorded
	freed  uint64           // of a packet for a link: the tick at which SPACE had counted it; 0: it never did
}

// marks count what an NI has said.
type marks struct {
	answers  int // of requests, by their place: all up to this one that were answered at all
	refusals int
	notes    int
	traps    [linkproto.MaxLinks]int
	freed    [linkproto.MaxLinks]uint64 // packets
}

// told is a packet that the recorded NI sent.
type told struct {
	raw    []byte
	packet linkproto.Packet
	at     uint64 // tick
	steps  int    // sent before
	again  bool   // a TRAP of which only what RETRAP brought is known
	from   uint64 // a TRAP: the tick from which on the link may have waited
}

func newScript(s *record.Session) *script {
	packets, restarts := s.Packets()
	c := &script{restarts: restarts}
	r := scriptReader{script: c}
	for _, p := range packets {
		c.virtual = c.virtual || linkproto.Type(p.Raw[0]&(1<<linkproto.TypeBits-1)) == linkproto.TypeVirtual
		if p.ToNI {
			r.sent(p)
		} else {
			r.received(p)
		}
		c.end = max(c.end, p.End)
	}
	return c
}

// Sizes returns what the network interface of a session said about itself, as far as the host asked, by register.
func Sizes(s *record.Session) map[linkproto.Reg]uint32 {
	sizes := map[linkproto.Reg]uint32{}
	for _, step := range newScript(s).steps {
		if step.answer != nil && step.answer.packet.Type == linkproto.TypeRegData && step.answer.packet.Reg < linkproto.RegScratch {
			sizes[step.answer.packet.Reg] = step.answer.packet.Value
		}
	}
	return sizes
}

// scriptReader makes a script of packets in their order.
type scriptReader struct {
	*script
	seen  marks
	last  uint64 // the tick at which something was received, or sent
	done  uint64 // the tick of the last SPACE or DONE
	other bool
	open  int // of requests: the first that may still be answered
	space [linkproto.MaxLinks]account
	stood [linkproto.MaxLinks]stand
}

// account is what SPACE says of a link.
type account struct {
	steps   []int // packets sent to it
	counter uint8 // the last
	freed   uint64
}

// take takes a SPACE and returns the packets freed since the last; what is told before anything was sent is where the account begins.
func (a *account) take(p *linkproto.Packet, sent uint64) {
	if sent > 0 {
		a.freed = min(a.freed+uint64(p.Packets-a.counter), sent)
	}
	a.counter = p.Packets
}

// forward reports whether a packet of the host is one for a link, which the NI does not answer.
func forward(raw []byte) (via int, ok bool) {
	kind := linkproto.Type(raw[0] & (1<<linkproto.TypeBits - 1))
	via = int(raw[0] >> linkproto.TypeBits)
	return via, kind < linkproto.TypeRegRead && via > 0
}

func (r *scriptReader) sent(p record.Packet) {
	s := step{Packet: p, needs: r.seen, other: r.other, place: -1}
	_ = s.packet.Decode(p.Raw)
	if p.Start > r.last {
		s.pause = min(p.Start-r.last, settleTicks)
	}
	s.calm = p.Start - min(p.Start, r.done)
	switch stood := &r.stood[s.packet.Via]; s.packet.Type {
	case linkproto.TypeResume:
		*stood = stand{since: p.End}
	case linkproto.TypeRetrap:
		stood.asked = true
	}
	if via, ok := forward(p.Raw); ok {
		r.space[via].steps = append(r.space[via].steps, len(r.steps))
	} else {
		s.place = len(r.requests)
		r.requests = append(r.requests, len(r.steps))
	}
	r.steps = append(r.steps, s)
	r.last, r.other = max(r.last, p.End), false
}

func (r *scriptReader) received(p record.Packet) {
	t := told{raw: p.Raw, at: p.End, steps: len(r.steps)}
	if t.packet.Decode(p.Raw) != nil {
		return // the driver ends the session there
	}
	r.last = max(r.last, p.End)
	via := t.packet.Via
	switch t.packet.Type {
	case linkproto.TypeRegData, linkproto.TypeBufData, linkproto.TypeDone:
		r.answered(t)
		return
	case linkproto.TypeTrap:
		stood := &r.stood[via]
		if stood.told {
			break // what RETRAP has brought
		}
		stood.told = true
		if t.from, t.again = t.at, stood.asked; t.again {
			t.from = stood.since
		}
		r.traps[via] = append(r.traps[via], t)
		r.seen.traps[via]++
	case linkproto.TypeNotify:
		r.notes = append(r.notes, t)
		r.seen.notes++
	case linkproto.TypeSpace:
		r.done = t.at
		a := &r.space[via]
		before := a.freed
		a.take(&t.packet, uint64(len(a.steps)))
		for _, i := range a.steps[before:a.freed] {
			r.steps[i].freed = t.at
		}
		r.seen.freed[via] = a.freed
	}
	r.other = true
}

// answered finds the request that an answer is for. The NI answers in order; what the link's restarts cost is passed over.
func (r *scriptReader) answered(t told) {
	if t.packet.Type == linkproto.TypeDone {
		r.done = t.at
	}
	if t.packet.Tag == linkproto.TagNone {
		r.refusals = append(r.refusals, t)
		r.seen.refusals++
		r.other = true
		return
	}
	for i := r.open; i < len(r.requests); i++ {
		if s := &r.steps[r.requests[i]]; s.packet.Tag == t.packet.Tag {
			s.answer = &t
			r.learn(&t.packet)
			r.open = i + 1
			r.seen.answers = r.open
			return
		}
	}
}

// learn takes the sizes that the host has asked for.
func (r *scriptReader) learn(p *linkproto.Packet) {
	size := int(min(p.Value, 1<<20))
	switch {
	case p.Type != linkproto.TypeRegData:
	case p.Reg == linkproto.RegPageBytes:
		r.page = size
	case p.Reg == linkproto.RegReplayBytes:
		r.queue = size
	case p.Reg == linkproto.RegWindow:
		r.window = size
	}
}

// named returns writes that give another NI the node id and the nonce that the recorded one had in the beginning, as far as the host has asked. Without
// a nonce its links carry nothing.
func named(steps []step) (writes []linkproto.Packet) {
	for _, r := range []linkproto.Reg{linkproto.RegNodeID, linkproto.RegNonce} {
		first := slices.IndexFunc(steps, func(s step) bool {
			return s.packet.Reg == r && (s.packet.Type == linkproto.TypeRegWrite || s.packet.Type == linkproto.TypeRegRead && s.answer != nil)
		})
		if first >= 0 && steps[first].packet.Type == linkproto.TypeRegRead && steps[first].answer.packet.Value != 0 {
			writes = append(writes, linkproto.Packet{Type: linkproto.TypeRegWrite, Reg: r, Value: steps[first].answer.packet.Value})
		}
	}
	return writes
}

// initial returns what the receive buffer of the recorded NI held in the beginning, where the host has read it: as writes of the host
// that give another NI the same content. What nobody has read does not matter.
//
// A byte that reads as a remote write of before would have put it there is left alone: so a target that loses the write is found.
func (c *script) initial() (writes []linkproto.Packet) {
	content, settled := shadow{}, shadow{}
	written := map[uint32][]*linkproto.Packet{} // the remote writes so far, by the largest page there can be
	given := map[linkproto.Reg]bool{}           // the frames that some link may write, by register
	for i := range c.steps {
		s := &c.steps[i]
		switch p := &s.packet; {
		case p.Type == linkproto.TypeWrite && p.Via > 0:
			if c.page == 0 || given[linkproto.FrameReg(int(p.Addr)/c.page)] {
				written[p.Addr/linkproto.MaxPageBytes] = append(written[p.Addr/linkproto.MaxPageBytes], p)
			}
		case s.answer == nil:
		case p.Type == linkproto.TypeRegWrite && p.Reg >= linkproto.RegFrameTable:
			given[p.Reg] = linkproto.FrameValid.Of(p.Value) != 0
		case p.Type == linkproto.TypeBufWrite:
			for i := range p.Data {
				settled.set(p.Addr+uint32(i), 0)
			}
		case s.answer.packet.Type == linkproto.TypeBufData:
			for i, b := range s.answer.packet.Data {
				addr := p.Addr + uint32(i)
				if _, known := settled.get(addr); known {
					continue
				}
				settled.set(addr, 0)
				if !puts(written[addr/linkproto.MaxPageBytes], addr, b) {
					content.set(addr, b)
				}
			}
		}
	}
	for _, block := range slices.Sorted(maps.Keys(content)) {
		writes = append(writes, runs(block*256, content[block])...)
	}
	return writes
}

// puts reports whether one of the writes puts a byte there.
func puts(writes []*linkproto.Packet, addr uint32, b byte) bool {
	return slices.ContainsFunc(writes, func(p *linkproto.Packet) bool {
		offset := addr - p.Addr
		return offset < uint32(len(p.Data)) && p.Data[offset] == b
	})
}

// runs makes writes of the known bytes of a block, none across the end of a page of any size.
func runs(addr uint32, block *[256]uint16) (writes []linkproto.Packet) {
	for i := 0; i < len(block); i++ {
		if block[i] < isKnown {
			continue
		}
		at := addr + uint32(i)
		if n := len(writes); n == 0 || writes[n-1].Addr+uint32(len(writes[n-1].Data)) != at || at%linkproto.MinPageBytes == 0 {
			writes = append(writes, linkproto.Packet{Type: linkproto.TypeBufWrite, Addr: at})
		}
		last := &writes[len(writes)-1]
		last.Data = append(last.Data, byte(block[i]))
	}
	return writes
}
