package link_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// laneRx is lane_rx with a reader.
type laneRx struct {
	t    *testing.T
	b    *testbench.Bench
	pins struct {
		Rst, Sop, Eop, Aborted, Data, Err, Up, Restart, HValid, HReady, HLast, HMalformed, HDoomed, Waits, EvGood, EvCrc, EvOverrun, EvStray *bool   `port:"*"`
		ByteQ, HSeq                                                                                                                          *uint8  `port:"*"`
		Key                                                                                                                                  *uint32 `port:"*"`
	}
	out                          *moduletest.Beats
	good, crc, overrun, stray, n int
}

func newLaneRx(t *testing.T) *laneRx { return newLaneRxOf(t, 512, maxPacket) }

func newLaneRxOf(t *testing.T, skew, most int) *laneRx {
	l := &laneRx{t: t}
	l.b = moduletest.Open(t, "lane_rx", params{"SKEW_BYTES": skew, "MAX_PACKET": most, "WIDTH": 4}, &l.pins)
	l.out = moduletest.NewBeats(t, l.b, "h", 4)
	*l.pins.Up, *l.pins.Key = true, uint32(frameKey)
	return l
}

func (l *laneRx) feed(symbols ...linkproto.Symbol) {
	p := &l.pins
	for _, s := range append(symbols, linkproto.SymIdle, linkproto.SymIdle, linkproto.SymIdle, linkproto.SymIdle) {
		*p.Sop, *p.Eop, *p.Aborted, *p.Data, *p.Err = s == linkproto.SymSOP, s == linkproto.SymEOP, s == linkproto.SymAbort, s.IsData(), s == linkproto.SymErr
		*p.ByteQ = byte(s)
		l.b.Step(1)
		for _, e := range []struct {
			pulse bool
			count *int
		}{{*p.EvGood, &l.good}, {*p.EvCrc, &l.crc}, {*p.EvOverrun, &l.overrun}, {*p.EvStray, &l.stray}} {
			if e.pulse {
				*e.count++
			}
		}
	}
}

// head is a frame that waits.
type head struct {
	seq       uint8
	doomed    bool
	malformed bool
	packet    []byte
}

// read takes all that waits.
func (l *laneRx) read() (heads []head) {
	p := &l.pins
	for quiet := 0; quiet < 6; quiet++ {
		var h head
		for *p.HValid {
			quiet = 0
			h.seq, h.doomed, h.malformed = *p.HSeq, *p.HDoomed, *p.HMalformed
			h.packet = append(h.packet, l.out.Get()...)
			last := *p.HLast
			*p.HReady = true
			l.b.Step(1)
			if *p.HReady = false; last {
				heads = append(heads, h)
				h = head{}
			}
		}
		l.b.Step(1)
	}
	check.Equal(l.t, "frames wait", *p.Waits, false)
	return heads
}

// lane_rx keeps good frames of any numbers, and no others; one with an earlier number dooms those that wait before it.
func TestLaneRx(t *testing.T) {
	l := newLaneRx(t)
	rng := l.b.Rand("frames")
	for range 400 {
		var want []head
		room := 512 - 4*maxPacket/4 // beats that are not full count as such
		for n := rng.Between(1, 6); n > 0; n-- {
			h := head{seq: uint8(rng.Uint32()), packet: packet(rng.IntN(1000), rng.Between(3, 60))}
			if room -= len(h.packet) + 4; room < 0 {
				break
			}
			frame := framed(int(h.seq), h.packet)
			switch rng.IntN(6) {
			case 0:
				frame[rng.Between(1, len(frame)-2)] ^= 1 << rng.IntN(8)
			case 1:
				frame = append(frame[:rng.Between(2, len(frame)-2)], linkproto.SymAbort)
			case 2:
				h.packet[1]++
				h.malformed = true
				frame = framed(int(h.seq), h.packet)
				fallthrough
			default:
				if len(want) > 0 && int8(h.seq-want[len(want)-1].seq) < 0 {
					for i := range want {
						want[i].doomed = true
					}
				}
				want = append(want, h)
			}
			l.feed(frame...)
		}
		l.b.Step(8)
		heads := l.read()
		if len(heads) != len(want) {
			t.Fatalf("%d frames wait, want %d", len(heads), len(want))
		}
		for i, h := range heads {
			if h.seq != want[i].seq || h.doomed != want[i].doomed || h.malformed != want[i].malformed || !bytes.Equal(h.packet, want[i].packet) {
				t.Fatalf("frame %d of %d is %+v, want %+v", i, len(want), h, want[i])
			}
		}
		l.n += len(heads)
	}
	if l.overrun+l.stray > 0 || l.crc < 50 || l.good != l.n {
		t.Errorf("%d good and %d read, %d damaged, %d overruns, %d strays", l.good, l.n, l.crc, l.overrun, l.stray)
	}
}

// A frame that finds no room dooms all that wait, and one behind it is good again. While the link is down frames are strays; a restart empties the FIFO.
func TestLaneRxOverrun(t *testing.T) {
	l := newLaneRx(t)
	for n := 0; l.overrun == 0; n++ {
		l.feed(framed(n, packet(n, 100))...)
	}
	check.Equal(t, "good frames", l.good, 5)
	heads := l.read()
	check.Equal(t, "frames", len(heads), 5)
	for _, h := range heads {
		check.Equal(t, "doomed", h.doomed, true)
	}
	l.feed(framed(9, packet(9, 100))...)
	l.b.Step(8)
	heads = l.read()
	check.Equal(t, "frame behind", len(heads) == 1 && !heads[0].doomed && heads[0].seq == 9, true)
	l.feed(framed(10, packet(10, 100))...)
	*l.pins.Restart = true
	l.b.Step(1)
	*l.pins.Restart, *l.pins.Up = false, false
	l.stray = 0
	l.feed(framed(11, packet(11, 100))...)
	check.Equal(t, "frames behind a restart", len(l.read()), 0)
	check.Equal(t, "strays", l.stray, 1)
}

// Of a long packet all of the length field counts.
func TestLaneRxLong(t *testing.T) {
	l := newLaneRxOf(t, 4096, 1032)
	for i, n := range []int{259, 260, 300, 515, 516, 1031, 1032} {
		for bit := -1; bit < 16; bit++ {
			p := packet(i, n)
			if bit >= 0 {
				p[1+bit/8] ^= 1 << (bit % 8)
			}
			l.feed(framed(i, p)...)
			l.b.Step(8)
			heads := l.read()
			if len(heads) != 1 || heads[0].malformed != (bit >= 0) || !bytes.Equal(heads[0].packet, p) {
				t.Fatalf("%d bytes, bit %d of the length wrong: %d frames, %+v", n, bit, len(heads), heads)
			}
		}
	}
}

// As many short frames wait as the window has.
func TestLaneRxMany(t *testing.T) {
	l := newLaneRx(t)
	for n := range 120 {
		l.feed(framed(n, packet(n, 3))...)
		check.Equal(t, "frames wait", *l.pins.Waits, true)
	}
	for i, h := range l.read() {
		if int(h.seq) != i || h.doomed || h.malformed {
			t.Fatalf("frame %d is %+v", i, h)
		}
		l.n++
	}
	check.Equal(t, "frames", l.n, 120)
}
