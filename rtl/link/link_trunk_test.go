package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Without errors nothing is dropped, sent twice or miscounted over lanes that differ.
func TestTrunkClean(t *testing.T) {
	for _, c := range []struct {
		name         string
		lanes, width int
		skew         int
		period       int
		offer, take  float64
		clocks       int
		port         uint8
	}{
		{"four lanes", 4, 4, 3, 1, 1, 1, 30000, 1},
		{"six lanes", 6, 8, 11, 1, 1, 1, 30000, 0},
		{"slow readers", 4, 4, 10, 1, 1, 0.2, 30000, 1},
		{"slow writers", 2, 4, 40, 1, 0.02, 1, 30000, 1},
		{"serial", 8, 1, 1, 12, 1, 1, 60000, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTrunkAt(t, c.port, c.lanes, c.width, func(lane int) int { return 2 + c.skew*lane })
			m.period, m.offer, m.take = c.period, c.offer, c.take
			m.clocks(c.clocks)
			m.settle()
			check.Equal(t, "a frame comes on an idle link", *m.pins.Coming, false)
			if m.period == 1 {
				for k, says := range m.says(2 * linkproto.LaneSkew) {
					if says[linkproto.KindLost] > 0 || says[linkproto.KindAck] == 0 {
						t.Errorf("lane %d says %v, of which none is lost", k, says)
					}
				}
			}
			for cnt := range linkproto.Counter(linkproto.NumCounters) {
				rtl, peer := m.seen[cnt], int(m.peer.Counter(cnt))
				switch cnt {
				case linkproto.CntRxPackets:
					if rtl != int(m.peer.Counter(linkproto.CntTxPackets)) || rtl != len(m.down.offered) {
						t.Errorf("RTL received %d, Go sent %d of %d", rtl, m.peer.Counter(linkproto.CntTxPackets), len(m.down.offered))
					}
				case linkproto.CntTxPackets:
					if rtl != int(m.peer.Counter(linkproto.CntRxPackets)) || rtl != len(m.up.offered) {
						t.Errorf("RTL sent %d, Go received %d of %d", rtl, m.peer.Counter(linkproto.CntRxPackets), len(m.up.offered))
					}
				case linkproto.CntStops:
				default:
					if rtl != 0 || peer != 0 {
						t.Errorf("%v: RTL %d, Go %d, want none", cnt, rtl, peer)
					}
				}
			}
			t.Logf("%d and %d packets", m.up.next, m.down.next)
		})
	}
}

// skewed has lanes differ by some symbol times.
func skewed(lane int) int { return 3 + 7*lane }

// Whatever lanes do to symbols, and however they die, one way or both, packets arrive once and in order, or are reported lost, and in the end all
// lanes are open.
func TestTrunkFaults(t *testing.T) {
	all := faults{flip: 0.0003, drop: 0.0003, repeat: 0.0003, burst: 0.0001, cut: 0.00005}
	for _, c := range []struct {
		name   string
		faults faults
		on     int // lanes that have them, a bit each
		period int
		must   linkproto.Counter // of the RTL's counters: what must have happened
	}{
		{"flips on one", faults{flip: 0.002}, 2, 1, linkproto.CntReplays},
		{"drops", faults{drop: 0.0005}, 15, 1, linkproto.CntRxCRC},
		{"repeats", faults{repeat: 0.0005}, 15, 1, linkproto.CntRxCRC},
		{"one unplugged", faults{cut: 0.0005}, 4, 1, linkproto.CntReplays},
		{"unplugged", faults{cut: 0.0002}, 15, 1, linkproto.CntReplays},
		{"all", all, 15, 1, linkproto.CntRxStray},
		{"all, slowly", all, 15, 3, linkproto.CntReplays},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newTrunk(t, 4, 4, skewed)
			m.period = c.period
			for round := range 6 {
				for k := range m.lanes {
					if c.on>>k&1 != 0 {
						m.out[k].faults, m.in[k].faults = c.faults, c.faults
					}
				}
				m.offer, m.take = testbench.Pick(m.rng, 1, 0.3, 0.02), testbench.Pick(m.rng, 1, 0.3)
				m.clocks(5000)
				if round%3 == 2 {
					m.settle()
				}
			}
			if m.seen[c.must] == 0 {
				t.Errorf("%v never happened", c.must)
			}
			t.Logf("%d and %d packets, RTL's counters %v", m.up.next, m.down.next, m.seen)
		})
	}
}

// Either end may start again at any time, with faults too.
func TestTrunkRestarts(t *testing.T) {
	for _, f := range []faults{{}, {flip: 0.0005, drop: 0.0005}} {
		m := newTrunk(t, 4, 4, skewed)
		for range 40 {
			for k := range m.lanes {
				m.out[k].faults, m.in[k].faults = f, f
			}
			m.offer, m.take = testbench.Pick(m.rng, 1, 0.1), testbench.Pick(m.rng, 1, 0.2)
			m.clocks(m.rng.Between(1, 900))
			switch m.rng.IntN(3) {
			case 0:
				m.replacePeer()
			case 1:
				m.resetRTL()
			case 2:
				m.replacePeer()
				m.clocks(m.rng.Between(0, 40))
				m.resetRTL()
			}
			if m.rng.Chance(0.2) {
				m.settle()
			}
		}
		m.settle()
	}
}

// failover cuts a lane in some ways and reports how many packets arrive at the Go end in so many symbol times before, and without it.
func (m *trunk) failover(lane, ways, symbols int) (before, without int) {
	m.clocks(3000)
	arrives := func() int {
		was := m.up.next
		m.clocks(symbols)
		return m.up.next - was
	}
	before = arrives()
	m.out[lane].cut, m.in[lane].cut = ways&1 != 0, ways&2 != 0
	m.clocks(3 * trunkTimer)
	m.wants(m.lanes - 1)
	return before, arrives()
}

// A lane that dies, one way or both, is left out by both ends within 3 WORD_TIMER, the others carry their full rate, and nothing is lost. When it is
// good again for long enough it carries its share.
func TestTrunkFailover(t *testing.T) {
	for ways := 1; ways <= 3; ways++ {
		m := newTrunk(t, 4, 4, skewed)
		m.up.least, m.down.least = maxPacket-1, maxPacket-1
		lane := m.rng.IntN(4)
		before, without := m.failover(lane, ways, 4000)
		if without < before*3/4*97/100 {
			t.Errorf("lane %d cut, ways %b: %d packets over three lanes, %d over four", lane, ways, without, before)
		}
		m.out[lane].cut, m.in[lane].cut = false, false
		m.clocks((linkproto.LaneTrialTimers + 1) * trunkTimer)
		m.wants(4)
		m.settle()
		for _, c := range []linkproto.Counter{linkproto.CntRestarts, linkproto.CntLostPackets} {
			check.Equal(t, c.String(), [2]int{m.seen[c], int(m.peer.Counter(c))}, [2]int{})
		}
	}
}

// A lane that damages many frames counts as dead most of the time, and so does one that comes and goes.
func TestTrunkHalfDead(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.in[1].faults.flip, m.out[2].faults.flip = 0.01, 0.01
	m.clocks(6 * trunkTimer)
	open := 0
	for range 200 {
		m.clocks(100)
		rtl, _ := m.open()
		open += rtl
	}
	if open > 200*5/2 {
		t.Errorf("%.2f lanes open on average, two of four are bad", float64(open)/200)
	}
	m.settle()
	check.Equal(t, "restarts", m.seen[linkproto.CntRestarts], 0)
}

// Lanes may be crossed. One that is cabled to another end is reported as foreign, and the others carry on.
func TestTrunkCables(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.to = []int{2, 1, 3, 0}
	m.clocks(4000)
	m.wants(4)
	stranger := m.cfg
	stranger.Node, stranger.Nonce = 9, 12345
	other := check.Must(flowctl.NewTrunk(stranger))(t)
	m.out[3].cut, m.in[3].cut = true, true
	for range 4 * trunkTimer {
		s := [1]linkproto.Symbol{linkproto.SymIdle}
		other.Emit(0, s[:])
		other.Tick(1)
		m.arrived[3] = append(m.arrived[3][:0], s[0])
		m.clock()
	}
	m.wants(3)
	check.Equal(t, "foreign lanes", *m.pins.Foreign, 8)
	check.Equal(t, "status says foreign", linkproto.StatusForeign.Of(uint32(*m.pins.Status)), 1)
	m.settle()
	check.Equal(t, "restarts", m.seen[linkproto.CntRestarts], 0)
}

// The link comes up over any one of eight lanes, and BARRIERs pass it, whoever the peer is; and any lane that dies is left out.
func TestTrunkEachLane(t *testing.T) {
	m := newTrunk(t, 8, 8, skewed)
	cut := func(lane int, cut bool) { m.out[lane].cut, m.in[lane].cut = cut, cut }
	for _, nonce := range []uint32{0x5555_5555, 0xAAAA_AAAA} {
		for k := range m.lanes {
			name := fmt.Sprintf("lane %d alone, nonce %#x: ", k, nonce)
			for i := range m.lanes {
				cut(i, i != k)
			}
			m.cfg.Nonce = nonce
			m.replacePeer()
			m.resetRTL()
			m.clocks(2 * trunkTimer)
			rtl, peer := m.open()
			check.Equal(t, name+"open lanes, foreign lanes", [3]int{rtl, peer, int(*m.pins.Foreign)}, [3]int{1, 1, 0})
			word := uint16(m.rng.IntN(1 << 13))
			m.told, *m.pins.Say = nil, 1<<13|word
			m.peer.Say(uint8(word>>8)^5, uint8(word)^0x5A)
			m.clocks(150)
			group, value, ok := m.peer.Heard()
			check.Equal(t, name+"heard by the Go end", []any{uint16(group)<<8 | uint16(value), ok}, []any{word, true})
			check.Equal(t, name+"heard by the RTL", m.told, []uint16{word ^ 0x55A})
		}
	}
	m.settle()
	for k := m.lanes - 1; k > 0; k-- {
		cut(k, true)
		m.clocks(3 * trunkTimer)
		m.wants(k)
	}
	m.settle()
}

// A frame that was on a lane as it died is told as lost though none comes behind it: it is sent again long before RETRY.
func TestTrunkLastFrame(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.clocks(3000)
	m.settle()
	m.in[0].cut = true // the lane that is asked for a frame first
	p := packet(len(m.down.offered), 20)
	m.down.offered = append(m.down.offered, p)
	check.Fatal(t, m.peer.Send(p))
	m.clocks(100)
	check.Equal(t, "packets on the dead lane", len(m.down.offered)-m.down.next, 1)
	m.clocks(3*trunkTimer + 2*linkproto.LaneSkew)
	check.Equal(t, "packets missing", len(m.down.offered)-m.down.next, 0)
	check.Equal(t, "retries", m.peer.Counter(linkproto.CntRetries), 0)
}

// The RTL goes back once for a lost frame, however late the other lanes report the loss. The numbers of the frames that are lost have bit 5 set.
func TestTrunkLostOnce(t *testing.T) {
	m := newTrunk(t, 4, 4, func(lane int) int { return 3 + 30*lane })
	m.offer = 0
	m.clocks(3000)
	m.wants(4)
	for n := range 40 {
		m.loading = packet(n, 20)
		m.up.offered = append(m.up.offered, m.loading)
		if n < 32 {
			m.clocks(60)
			continue
		}
		m.damage()
		m.clocks(3 * trunkTimer)
		check.Equal(t, fmt.Sprintf("frame %d is lost: packets arrived, replays, retries", n),
			[3]int{m.up.next, m.seen[linkproto.CntReplays], m.seen[linkproto.CntRetries]}, [3]int{n + 1, n - 31, 0})
	}
}

// A damaged word counts once, whichever lane it comes by, and nothing else does.
func TestTrunkBadWords(t *testing.T) {
	m := newTrunk(t, 4, 4, skewed)
	m.offer = 0
	m.clocks(3000)
	m.wants(4)
	for k := range m.lanes {
		m.in[k].cut = true
	}
	m.clocks(100) // all that was underway has come
	want := m.seen
	for k := range m.lanes {
		word := linkproto.AppendWord(nil, m.key(linkproto.LifeOf(m.cfg.Nonce, m.port, m.cfg.Epoch)), linkproto.Word{})
		word[m.rng.Between(2, len(word)-1)] ^= 1 << m.rng.IntN(8)
		m.arrived[k] = append(m.arrived[k], word...)
		want[linkproto.CntBadWord]++
		m.clocks(60)
		check.Equal(t, fmt.Sprintf("counters behind a damaged word on lane %d", k), m.seen, want)
	}
}

// A word that says less than one of a faster lane did is passed over, LOST or not, also while the packets that the faster one named are freed.
func TestTrunkOvertaken(t *testing.T) {
	m := newTrunk(t, 2, 4, skewed)
	m.offer = 0
	m.clocks(3000)
	m.wants(2)
	m.in[0].cut, m.in[1].cut = true, true
	key := m.key(linkproto.LifeOf(m.cfg.Nonce, m.port, m.cfg.Epoch))
	say := func(lane, wait int, kind linkproto.Kind, number int) {
		for range wait {
			m.arrived[lane] = append(m.arrived[lane], linkproto.SymIdle)
		}
		m.arrived[lane] = linkproto.AppendWord(m.arrived[lane], key, linkproto.Word{Kind: kind, Value: uint8(number)})
	}
	for later := 8; later < 26; later++ {
		for i, kinds := range [][2]linkproto.Kind{{linkproto.KindAck, linkproto.KindLost}, {linkproto.KindLost, linkproto.KindAck}} {
			first := len(m.up.offered)
			for n := range 20 {
				m.loading = packet(first+n, 20)
				m.up.offered = append(m.up.offered, m.loading)
				for len(m.loading) > 0 {
					m.clock()
				}
			}
			m.clocks(300)
			before := m.seen
			say(0, 0, kinds[0], first+13)
			say(1, later, kinds[1], first+10)
			m.clocks(300)
			check.Equal(t, fmt.Sprintf("%v behind %v by %d clocks: packets, replays, bad words", kinds[1], kinds[0], later),
				[3]int{m.seen[linkproto.CntTxPackets] - before[linkproto.CntTxPackets], m.seen[linkproto.CntReplays] - before[linkproto.CntReplays],
					m.seen[linkproto.CntBadWord] - before[linkproto.CntBadWord]}, [3]int{13, i, 0})
			say(0, 0, linkproto.KindAck, first+20)
			say(1, 0, linkproto.KindAck, first+20)
			m.clocks(50)
		}
	}
}
