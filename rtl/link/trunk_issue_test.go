package link_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// issue is trunk_issue with a replay buffer of packets of ten bytes, and two lanes.
type issue struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Tick, Up, Restart, Look, LookDone, Acked, Lost, Progress, MaySend, GiveUp, EvReplay, EvRetry *bool   `port:"*"`
		BaseSeq, LoadSeq, LookSeq, SentSeq, Ready, Give, Seq, Sends, Done                                 *uint8  `port:"*"`
		Base, LookLast, First, Last, DoneSeqs                                                             *uint16 `port:"*"`
		Seqs                                                                                              *uint32 `port:"*"`
	}
	lanes   [2]int // frames in them; -1: none
	given   []uint8
	replays int
	retries int
	rng     *testbench.Rand // of irregular ticks; nil: one each clock
	ticks   int
}

func newIssue(t *testing.T) *issue {
	m := &issue{t: t, lanes: [2]int{-1, -1}}
	m.b = moduletest.Open(t, "trunk_issue", params{"LANES": 2, "POINTER": 13, "RETRY": 2000, "RETRY_LIMIT": 3}, &m.pins)
	*m.pins.Up, *m.pins.MaySend, *m.pins.LoadSeq, *m.pins.Tick = true, true, 120, true
	return m
}

// clock lets a clock pass; the frame of a lane that is in done leaves it.
func (m *issue) clock(done uint8) {
	p := &m.pins
	if *p.Tick = m.rng == nil || m.rng.Chance(0.5); *p.Tick {
		m.ticks++
	}
	*p.Done, *p.Sends, *p.Ready = 0, 0, 0
	for k, seq := range m.lanes {
		if seq < 0 {
			*p.Ready |= 1 << k
			continue
		}
		*p.Sends |= 1 << (2 * k)
		*p.Seqs = *p.Seqs&^(0xFF<<(16*k)) | uint32(seq)<<(16*k)
		*p.DoneSeqs = *p.DoneSeqs&^(0xFF<<(8*k)) | uint16(seq)<<(8*k)
		if done>>k&1 != 0 {
			*p.Done |= 1 << k
			m.lanes[k] = -1
		}
	}
	check.Fatal(m.t, m.b.Model().Eval())
	look, seq := *p.Look, *p.LookSeq
	for k := range m.lanes {
		if *p.Give>>k&1 != 0 {
			if first, last := *p.First, *p.Last; last-first != 9 || first != 10*uint16(*p.Seq)+1 {
				m.t.Fatalf("packet %d is given from %d to %d", *p.Seq, first, last)
			}
			m.lanes[k] = int(*p.Seq)
			m.given = append(m.given, *p.Seq)
		}
	}
	m.b.Step(1)
	*p.LookDone, *p.LookLast = look, 10*uint16(seq)+10
	if *p.EvReplay {
		m.replays++
	}
	if *p.EvRetry {
		m.retries++
	}
	*p.Acked, *p.Progress = false, false
}

func (m *issue) run(clocks int, done uint8) {
	for range clocks {
		m.clock(done)
	}
}

// acked acknowledges the frames before n.
func (m *issue) acked(n uint8, lost bool) {
	p := &m.pins
	*p.Progress = *p.BaseSeq != n
	*p.BaseSeq, *p.Base, *p.Lost = n, 10*uint16(n), lost
	m.clock(0)
	m.clock(0)
	*p.Acked = true
	m.clock(0)
}

// trunk_issue gives packets to the lanes in their order, each once.
func TestTrunkIssue(t *testing.T) {
	m := newIssue(t)
	m.run(1200, 3)
	check.Equal(t, "packets given", len(m.given), 120)
	for i, seq := range m.given {
		check.Equal(t, "number", seq, uint8(i))
	}
	check.Equal(t, "sent_seq", *m.pins.SentSeq, 120)
}

// While a frame is in a lane no other begins that is half the numbers ahead, however far the acknowledgements are; and not for SKEW behind it.
func TestTrunkIssueWindow(t *testing.T) {
	m := newIssue(t)
	m.run(1200, 1) // lane 1 keeps packet 0
	check.Equal(t, "packets given", len(m.given), 120)
	m.acked(100, false)
	*m.pins.LoadSeq = 220
	m.run(2000, 1)
	check.Equal(t, "packets given, one of before still in a lane", len(m.given), linkproto.MaxWindow-1)
	m.clock(2)
	m.run(linkproto.LaneSkew-10, 3)
	check.Equal(t, "just behind it", len(m.given), linkproto.MaxWindow-1)
	m.run(1000, 3)
	check.Equal(t, "packets given in the end", len(m.given), 220)
}

// LOST has it go back unless the oldest frame is in a lane, has just left, or has not begun again.
func TestTrunkIssueLost(t *testing.T) {
	m := newIssue(t)
	m.run(60, 1) // lane 1 keeps packet 0
	m.acked(0, true)
	m.run(20, 1)
	check.Equal(t, "went back for a frame that is being sent", m.replays, 0)
	m.clock(2)
	m.run(20, 3)
	m.acked(0, true)
	m.run(20, 3)
	check.Equal(t, "went back for a frame that has just left", m.replays, 0)
	m.run(linkproto.LaneSkew, 3)
	m.lanes = [2]int{-1, -1}
	m.acked(0, true)
	at := len(m.given)
	m.run(10, 0)
	check.Equal(t, "went back", m.replays, 1)
	check.Equal(t, "first one again", slices.Contains(m.given[at:], 0), true)
}

// Without an acknowledgement it goes back when all has been sent, and gives up the third time, in whichever clock it begins.
func TestTrunkIssueRetry(t *testing.T) {
	for later := range 2 {
		m := newIssue(t)
		*m.pins.LoadSeq = 0
		m.run(10+later, 3) // reset is over by then
		*m.pins.LoadSeq = 5
		var gaveUp []int // with which retries
		for range 6500 {
			if m.clock(3); *m.pins.GiveUp {
				gaveUp = append(gaveUp, m.retries)
			}
		}
		check.Equal(t, fmt.Sprintf("begun %d clocks later: gave up with retries", later), gaveUp, []int{3})
		check.Equal(t, fmt.Sprintf("begun %d clocks later: retries, replays", later), [2]int{m.retries, m.replays}, [2]int{3, 2})
	}
}

// That the oldest frame has just left a lane is known of any number and lane.
func TestTrunkIssueLeft(t *testing.T) {
	for _, n := range []int{8, 9, 10, 11, 12, 13, 14, 15, 37, 42, 85, 90} {
		m := newIssue(t)
		lane := -1
		for lane < 0 {
			m.clock(3)
			lane = slices.Index(m.lanes[:], n)
		}
		its := uint8(1) << lane
		m.run(20, 3&^its)
		m.acked(uint8(n), true)
		m.run(20, 3&^its)
		check.Equal(t, fmt.Sprint("went back for frame ", n, ", which is being sent"), m.replays, 0)
		m.clock(its)
		m.run(20, 3)
		m.acked(uint8(n), true)
		m.run(20, 3)
		check.Equal(t, fmt.Sprint("went back for frame ", n, ", which has just left"), m.replays, 0)
	}
}

// LOST of a frame that has left is heeded SKEW symbol times later, whatever clocks they take.
func TestTrunkIssueSkew(t *testing.T) {
	for round := range 5 {
		m := newIssue(t)
		m.rng = m.b.Rand(fmt.Sprint("ticks", round))
		m.run(60, 1) // lane 1 keeps packet 0
		m.clock(2)
		for m.ticks = 0; m.replays == 0 && m.ticks < 3*linkproto.LaneSkew; {
			m.acked(0, true)
			m.run(3, 3)
		}
		if m.ticks < linkproto.LaneSkew-2 || m.ticks > linkproto.LaneSkew+12 {
			t.Errorf("round %d: went back %d symbol times behind the frame", round, m.ticks)
		}
	}
}
