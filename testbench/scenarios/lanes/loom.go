package lanes

import (
	"fmt"
	"math"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// loom is the cable of a link of several lanes between a network interface and a peer in Go. It follows what the interface says.
type loom struct {
	flowctl.End             // the peer
	other       flowctl.End // another end, to which foreign lanes are cabled; nil: none is
	now         *uint64     // clocks, to a quantum
	lanes       []*strand
	whole       map[uint8]uint64 // when the last copy of a frame left, by its number
	begun       map[uint8]begin  // frames, in this quantum
	next        uint8            // frame, unless it goes back
	back        int              // times that it has gone back
	base        uint8            // the oldest frame that the peer has not told of
	baseAt      uint64           // since when
	err         error            // what was wrong at first with what the interface says
}

// begin is how a frame begins.
type begin struct {
	wrong error   // if it goes back to this frame
	other *strand // that is sending it, which is wrong if it goes on
}

// strand is a lane.
type strand struct {
	toNI, fromNI func([]linkproto.Symbol) // what it does to symbols; nil: nothing
	late         int                      // quanta that it takes longer than the others, each way
	insert       []linkproto.Symbol       // that are to come amid silence
	amid         bool                     // of insert some have come
	foreign      bool
	kinds        map[linkproto.Kind]int // words of the interface

	said, heard     *linkproto.Deframer
	twice           error // is wrong if the frame ends
	sends           bool  // a frame, of which the last symbol came at seen
	seq             uint8
	seen            uint64
	waiting, coming [][]linkproto.Symbol // from and to the interface, by quantum
}

func newLoom(end flowctl.End, now *uint64) *loom {
	x := &loom{End: end, now: now, whole: map[uint8]uint64{}, begun: map[uint8]begin{}}
	for range end.Config().Lanes {
		s := &strand{kinds: map[linkproto.Kind]int{}, said: linkproto.NewDeframer(end.Config().MaxPacket),
			heard: linkproto.NewDeframer(end.Config().MaxPacket)}
		s.said.TakeAny()
		s.heard.TakeAny()
		x.lanes = append(x.lanes, s)
	}
	return x
}

// at is who is cabled to a lane.
func (x *loom) at(lane int) flowctl.End {
	if x.lanes[lane].foreign {
		return x.other
	}
	return x.End
}

// later passes lines on as many quanta late.
func later(queue *[][]linkproto.Symbol, late int, line []linkproto.Symbol) []linkproto.Symbol {
	*queue = append(*queue, line)
	var out []linkproto.Symbol
	for len(*queue) > late {
		out = append(out, (*queue)[0]...)
		*queue = (*queue)[1:]
	}
	return out
}

// Emit is what reaches the interface.
func (x *loom) Emit(lane int, dst []linkproto.Symbol) int {
	s := x.lanes[lane]
	n := 0
	if !s.amid {
		n = x.at(lane).Emit(lane, dst)
	}
	if n == 0 {
		n = copy(dst, s.insert)
		s.insert = s.insert[n:]
		s.amid = len(s.insert) > 0 // and the peer waits
	}
	if s.late > 0 || len(s.coming) > 0 {
		n = copy(dst, later(&s.coming, s.late, slices.Clone(dst[:n])))
	}
	if s.toNI != nil {
		s.toNI(dst[:n])
	}
	for _, symbol := range dst[:n] {
		if ev, _ := s.heard.Next([]linkproto.Symbol{symbol}); ev.Kind == linkproto.EventWord && int8(ev.Word.Value-x.base) > 0 {
			x.base, x.baseAt = ev.Word.Value, *x.now
		}
	}
	return n
}

// Feed is what the interface says.
func (x *loom) Feed(lane int, in []linkproto.Symbol) {
	s := x.lanes[lane]
	for _, symbol := range in {
		x.follow(s, symbol)
	}
	line := later(&s.waiting, s.late, slices.Clone(in))
	if s.fromNI != nil {
		s.fromNI(line)
	}
	x.at(lane).Feed(lane, line)
}

// Tick passes time on.
func (x *loom) Tick(n int) {
	x.End.Tick(n)
	if x.other != nil {
		x.other.Tick(n)
	}
	first, last := 0, math.MinInt8
	for seq := range x.begun {
		ahead := int(int8(seq - x.next))
		first, last = min(first, ahead), max(last, ahead+1)
	}
	if first < 0 {
		x.back++
		b := x.begun[x.next+uint8(first)]
		x.fail(b.wrong)
		if b.other != nil {
			b.other.twice = fmt.Errorf("clock %d: it went back to frame %d while that was being sent", *x.now, b.other.seq)
		}
	}
	if len(x.begun) > 0 {
		x.next += uint8(last)
	}
	clear(x.begun)
}

func (x *loom) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

// follow takes note of what the interface says. It must not go back to the oldest frame while that is being sent, nor within SKEW.
func (x *loom) follow(s *strand, symbol linkproto.Symbol) {
	const quantum = 32
	ev, _ := s.said.Next([]linkproto.Symbol{symbol})
	switch ev.Kind {
	case linkproto.EventWord:
		s.kinds[ev.Word.Kind]++
	case linkproto.EventInit:
		s.kinds[linkproto.KindInit]++
	case linkproto.EventFrame:
		x.whole[ev.Seq] = *x.now
		x.fail(s.twice)
	case linkproto.EventBadWord, linkproto.EventStray:
		x.fail(fmt.Errorf("clock %d: the network interface says what is wrong: %w", *x.now, ev.Reason))
	}
	seq, _, ok := s.said.Pending()
	if ok && !s.sends {
		var b begin
		if at, left := x.whole[seq]; left && *x.now-at < linkproto.LaneSkew-2*quantum && at > x.baseAt+quantum {
			b.wrong = fmt.Errorf("clock %d: it goes back to frame %d %d clocks after it was sent", *x.now, seq, *x.now-at)
		}
		for _, other := range x.lanes {
			if other != s && other.sends && other.seq == seq && *x.now-other.seen <= quantum {
				b.other = other
			}
		}
		x.begun[seq] = b
		s.twice = nil
	}
	s.sends, s.seq, s.seen = ok, seq, *x.now
}
