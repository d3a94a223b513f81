package conformance

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// shape is what the script of Compare may use of two targets.
type shape struct {
	ids    [2]hostdrv.Identity
	loops  []loop
	frames int // from 0 on
	page   int
	ahead  int // bytes that may wait behind a trap on a loop
	window int // packets that may
}

// mostFrames is how many frames a script uses: enough to take one for another.
const mostFrames = 16

// step is a part of a script.
type step struct {
	do string
	// run returns what the target says: a text, bytes that were read, an error, or nil if it was carried out.
	run func(ctx context.Context, s *side) any
}

// script makes up steps. It knows what is underway, and has it come to rest before it asks for something that depends on it.
type script struct {
	shape
	rng     *rand.Rand
	first   []step // that come before all others
	ways    []*way
	sends   int  // that follow each other
	moving  bool // something has been sent since all was quiet
	notify  bool
	owed    bool // notifications have not been told, since no loop was free
	last    int  // address
	choices []choice
}

// way is a loop, and what waits on it.
type way struct {
	loop
	waits []parcel // a trap, and what was sent behind it
	told  bool     // the trap is
}

// parcel is what waits of a step.
type parcel struct {
	packets, bytes int
	trap           bool
}

// choice makes a step; ok says whether that is possible now.
type choice struct {
	weight int
	make   func(*script) (_ step, ok bool)
}

func newScript(seed uint64, c shape) *script {
	s := &script{shape: c, rng: rand.New(rand.NewPCG(seed, 1))}
	for _, l := range c.loops {
		s.ways = append(s.ways, &way{loop: l})
	}
	for frame := range c.frames {
		s.first = append(s.first, s.writeBuffer(frame*c.page, c.page), s.setFrame(frame, s.loops[s.rng.IntN(len(s.loops))].at))
	}
	count, _ := s.counts()
	s.first = append(s.first, count)
	s.choices = []choice{
		{16, (*script).send}, {16, (*script).resume}, {8, (*script).readBuffer}, {3, (*script).setBuffer}, {4, (*script).setAnyFrame},
		{3, (*script).readFrames}, {3, (*script).status}, {4, (*script).counts}, {2, (*script).setNotify}, {2, (*script).scratch},
		{2, (*script).hole}, {1, (*script).readOnly}, {1, (*script).readIdentity}, {2, (*script).batch}, {1, (*script).reopen},
	}
	return s
}

// next returns the next step.
func (s *script) next() step {
	if len(s.first) > 0 {
		first := s.first[0]
		s.first = s.first[1:]
		return first
	}
	if s.sends > 0 {
		s.sends--
		if step, ok := s.send(); ok {
			return step
		}
	}
	if s.moving {
		s.sends = 0
		return s.settle()
	}
	sum := 0
	for _, c := range s.choices {
		sum += c.weight
	}
	for {
		n := s.rng.IntN(sum)
		i := slices.IndexFunc(s.choices, func(c choice) bool { n -= c.weight; return n < 0 })
		if step, ok := s.choices[i].make(s); ok {
			return step
		}
	}
}

// settle lets all come to rest.
func (s *script) settle() step {
	s.moving = false
	var q quiet
	for _, w := range s.ways {
		switch {
		case len(w.waits) == 0:
			q.free = append(q.free, w.loop)
		case !w.told:
			w.told = true
			q.traps = append(q.traps, w.at)
		}
	}
	q.fence = s.notify && len(q.free) > 0
	s.owed = s.notify && !q.fence
	return step{"wait until all is quiet", func(ctx context.Context, s *side) any {
		return s.settle(ctx, q)
	}}
}

// calm reports whether no loop waits at a trap.
func (s *script) calm() bool {
	return !slices.ContainsFunc(s.ways, func(w *way) bool { return len(w.waits) > 0 })
}

// noise returns random bytes.
func (s *script) noise(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(s.rng.Uint32())
	}
	return p
}

// spot is an address in the frames, mostly near the last one, so that the order of writes shows.
func (s *script) spot() int {
	if s.rng.IntN(4) == 0 {
		s.last = s.rng.IntN(s.frames * s.page)
	}
	return min(s.last+s.rng.IntN(8), s.frames*s.page-1)
}

// size is mostly small, and up to most.
func (s *script) size(most int) int {
	if s.rng.IntN(4) > 0 {
		most = min(most, 20)
	}
	return s.rng.IntN(most + 1)
}

// send is a packet, or a write that may be several, and often the first of some.
func (s *script) send() (_ step, ok bool) {
	w := s.ways[s.rng.IntN(len(s.ways))]
	p, split := s.packet(), false
	if p.Type == linkproto.TypeWrite && s.rng.IntN(2) == 0 { // anywhere: split at the ends of pages, and not as NI.Write does, which looks at the size of a side's queue
		at := s.spot()
		p.Addr, p.Data, split = uint32(at), s.noise(s.size(min(2*s.page, s.frames*s.page-at))), true
	}
	parcel := parcel{packets: 1, trap: p.Type == linkproto.TypeConnect || p.Type == linkproto.TypePage && int(p.Frame) < s.frames}
	if split {
		parcel.packets += (int(p.Addr)%s.page + len(p.Data)) / s.page
	}
	parcel.bytes = len(p.Data) + parcel.packets*overhead
	if len(w.waits) > 0 {
		packets, bytes := parcel.packets, parcel.bytes
		for _, x := range w.waits {
			packets, bytes = packets+x.packets, bytes+x.bytes
		}
		if packets > s.window || bytes > s.ahead {
			return step{}, false
		}
	}
	if parcel.trap || len(w.waits) > 0 {
		w.waits = append(w.waits, parcel)
	}
	if !s.moving {
		s.moving, s.sends = true, s.rng.IntN(8)
	}
	what := fmt.Sprintf("%d bytes at %#x", len(p.Data), p.Addr)
	switch p.Type {
	case linkproto.TypePage:
		what = fmt.Sprintf("port %d to frame %d", p.Port, p.Frame)
	case linkproto.TypeConnect:
		what = fmt.Sprintf("port %d, %d bytes of parameters", p.Port, len(p.Data))
	}
	packets := []linkproto.Packet{p}
	if split {
		addr, n := int(p.Addr), min(len(p.Data), s.page-int(p.Addr)%s.page)
		packets = []linkproto.Packet{write(addr, p.Data[:n])}
		for data := range slices.Chunk(p.Data[n:], s.page) {
			packets = append(packets, write(addr+n, data))
			n += len(data)
		}
	}
	return step{fmt.Sprintf("send %v by link %d: %s", p.Type, w.via, what), func(ctx context.Context, s *side) any {
		for _, p := range packets {
			if err := s.ni.Send(ctx, w.via, p); err != nil {
				return err
			}
		}
		return nil
	}}, true
}

// overhead is at least what a packet takes of a queue besides its data.
const overhead = 2*linkproto.HeaderBytes + 8

// packet makes one up that may be sent by a link.
func (s *script) packet() linkproto.Packet {
	frame := s.rng.IntN(s.frames)
	switch n := s.rng.IntN(20); {
	case n == 0:
		most := min(linkproto.MaxParams, s.ids[0].MaxPacket()-2*linkproto.HeaderBytes-4)
		return linkproto.Packet{Type: linkproto.TypeConnect, Port: s.rng.Uint32(), Data: s.noise(s.rng.IntN(most + 1))}
	case n < 3:
		return linkproto.Packet{Type: linkproto.TypePage, Port: s.rng.Uint32(), Frame: uint16(frame)}
	case n == 3: // none has this frame
		return linkproto.Packet{Type: linkproto.TypePage, Port: s.rng.Uint32(), Frame: 1<<16 - 1 - uint16(s.rng.IntN(16))}
	case n == 4: // nor this address
		beyond := max(s.ids[0].BufferBytes(), s.ids[1].BufferBytes())
		addr := s.spot() | 1<<(bits.Len(uint(beyond-1))+s.rng.IntN(32-bits.Len(uint(beyond-1))))
		return linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: s.noise(s.size(s.page))}
	case n == 5: // across the end of a page
		at := 1 + s.rng.IntN(s.page-1)
		return linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*s.page + at), Data: s.noise(s.page - at + 1 + s.rng.IntN(at))}
	}
	addr := s.spot()
	return linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(addr), Data: s.noise(s.size(s.page - addr%s.page))}
}

// resume is a RESUME, mostly of a link that waits.
func (s *script) resume() (step, bool) {
	w := s.ways[s.rng.IntN(len(s.ways))]
	if len(w.waits) == 0 && s.rng.IntN(8) > 0 {
		return step{}, false
	}
	if len(w.waits) > 0 {
		next := slices.IndexFunc(w.waits[1:], func(p parcel) bool { return p.trap })
		if next < 0 {
			w.waits = nil
		} else {
			w.waits = w.waits[1+next:]
		}
		w.told, s.moving, s.sends = false, true, 0
	}
	return step{fmt.Sprintf("RESUME of link %d", w.at), func(ctx context.Context, s *side) any {
		return s.ni.Resume(ctx, w.at)
	}}, true
}

func (s *script) setNotify() (step, bool) {
	if s.owed || s.held() { // what is told late would be of another time
		return step{}, false
	}
	s.notify = !s.notify
	on := s.notify
	return step{fmt.Sprintf("set NOTIFY to %t", on), func(ctx context.Context, s *side) any {
		return s.ni.SetNotify(ctx, on)
	}}, true
}

// held reports whether all loops wait at traps.
func (s *script) held() bool {
	return !slices.ContainsFunc(s.ways, func(w *way) bool { return len(w.waits) == 0 })
}

// reopen has another program open the network interface, when nothing waits that would not be told to it.
func (s *script) reopen() (step, bool) {
	if !s.calm() || s.owed {
		return step{}, false
	}
	return step{"close the driver and open another", func(ctx context.Context, s *side) any {
		s.reopen(ctx)
		s.events = try.Get(s.ni.Events())
		return s.identity(s.ni.Identity())
	}}, true
}

func (s *script) status() (step, bool) {
	loops := s.loops
	return step{"read LINK_STATUS", func(ctx context.Context, s *side) any {
		var all []string
		for _, l := range loops {
			status := try.Get(s.ni.LinkStatus(ctx, l.at))
			all = append(all, fmt.Sprintf("link %d up %t trapped %t", l.at, status.Up, status.Trapped))
		}
		return strings.Join(all, ", ")
	}}, true
}

// counts reads counters, when none of them depends on how far packets have come.
func (s *script) counts() (step, bool) {
	loops := s.loops
	return step{"read COUNTERS, since the beginning", func(ctx context.Context, s *side) any {
		return s.counts(ctx, loops)
	}}, s.calm()
}
