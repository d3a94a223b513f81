package harness

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// Tally is a link's counters against what they were.
type Tally struct {
	Want [linkproto.NumCounters]uint32 // by how much they must have gone up
	s    *Harness
	link int
	base [linkproto.NumCounters]uint32
}

// Tally begins one.
func (s *Harness) Tally(link int) *Tally {
	return &Tally{s: s, link: link, base: try.Get(s.Counters(0, link))}
}

// QuietTally waits for the link to be quiet before it begins one.
func (s *Harness) QuietTally(link int) *Tally {
	try.OK(s.Run(s.rest()))
	return s.Tally(link)
}

// rest is for how many symbol times a link is not quiet yet whose ends have nothing more to send: the last frame and its acknowledgement are on
// their way, and what those have caused.
func (s *Harness) rest() int { return min(4*s.Params.AckDelay, 2000) }

// Check compares the counters named, all but those of the sending side if none.
func (t *Tally) Check(names ...linkproto.Counter) error {
	now := try.Get(t.s.Counters(0, t.link))
	if names == nil {
		names = []linkproto.Counter{linkproto.CntRxPackets, linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun,
			linkproto.CntRxStray, linkproto.CntBadWord, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied,
			linkproto.CntNoSpace}
	}
	var errs []error
	for _, c := range names {
		if have := now[c] - t.base[c]; have != t.Want[c] {
			errs = append(errs, fmt.Errorf("link %d: counter %v went up by %d, want %d", t.link, c, have, t.Want[c]))
		}
	}
	return errors.Join(errs...)
}
