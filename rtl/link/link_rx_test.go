package link_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Each way in which a frame can be right or wrong.
func TestRxFrames(t *testing.T) { eachReceiver(t, testRxFrames) }

func testRxFrames(t *testing.T, width, early int) {
	ok := packet(1, 20)
	short := []byte{1, 0}
	wrong := packet(1, 20)
	wrong[1]++
	less, more := packet(1, 20), packet(1, 20)
	less[1]--
	more[2]++
	damaged := framed(0, ok)
	damaged[9] ^= 4
	err := framed(0, ok)
	err[9] = linkproto.SymErr
	cut := append(framed(0, ok)[:9], framed(0, ok)...)
	abort := []linkproto.Symbol{linkproto.SymAbort}
	for _, c := range []struct {
		name     string
		symbols  []linkproto.Symbol
		want     rxEvents
		expected int
		lost     bool
	}{
		{"good", framed(0, ok), rxEvents{packet: 1}, 1, false},
		{"shortest", framed(0, packet(0, 3)), rxEvents{packet: 1}, 1, false},
		{"longest", framed(0, packet(0, maxPacket)), rxEvents{packet: 1}, 1, false},
		{"too short", framed(0, short), rxEvents{crc: 1}, 0, true},
		{"no payload", framed(0, nil), rxEvents{crc: 1}, 0, true},
		{"empty", []linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP}, rxEvents{crc: 1}, 0, true},
		{"too long", framed(0, packet(0, maxPacket+1)), rxEvents{crc: 1, stray: 1}, 0, true},
		{"much too long", framed(0, packet(0, maxPacket+40)), rxEvents{crc: 1, stray: 40}, 0, true},
		{"wrong CRC", damaged, rxEvents{crc: 1}, 0, true},
		{"ERR inside", err, rxEvents{crc: 1, stray: len(err) - 10}, 0, true},
		{"ERR for EOP", append(err[:0:0], append(framed(0, ok)[:26], linkproto.SymErr)...), rxEvents{crc: 1}, 0, true},
		{"ERR before", append([]linkproto.Symbol{linkproto.SymErr}, framed(0, ok)...), rxEvents{packet: 1}, 1, false},
		{"SOP inside", cut, rxEvents{packet: 1, crc: 1}, 1, false},
		{"two SOP", append([]linkproto.Symbol{linkproto.SymSOP}, framed(0, ok)...), rxEvents{packet: 1, crc: 1}, 1, false},
		{"taken back", slices.Concat(framed(0, ok)[:16], abort), rxEvents{}, 0, false},
		{"taken back at once", []linkproto.Symbol{linkproto.SymSOP, linkproto.SymAbort}, rxEvents{}, 0, false},
		{"taken back before EOP", slices.Concat(framed(0, ok)[:26], abort), rxEvents{}, 0, false},
		{"taken back, then whole", slices.Concat(framed(0, packet(7, 20))[:16], abort, framed(0, ok)), rxEvents{packet: 1}, 1, false},
		{"damaged, then taken back", slices.Concat(err[:16], abort), rxEvents{crc: 1, stray: 6}, 0, true},
		{"ABORT behind", slices.Concat(framed(0, ok), abort), rxEvents{packet: 1}, 1, false},
		{"stray", []linkproto.Symbol{1, 2, linkproto.SymEOP, linkproto.SymErr}, rxEvents{stray: 3}, 0, false},
		{"one ahead", framed(1, ok), rxEvents{gap: 1}, 0, true},
		{"127 ahead", framed(127, ok), rxEvents{gap: 1}, 0, true},
		{"128 behind", framed(128, ok), rxEvents{dup: 1}, 0, false},
		{"one behind", framed(255, ok), rxEvents{dup: 1}, 0, false},
		{"wrong length field", framed(0, wrong), rxEvents{malformed: 1}, 1, false},
		{"length field too small", framed(0, less), rxEvents{malformed: 1}, 1, false},
		{"length field much too large", framed(0, more), rxEvents{malformed: 1}, 1, false},
		{"wrong length field of another", framed(5, wrong), rxEvents{gap: 1}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newReceiverOf(t, width, early)
			r.feed(c.symbols)
			r.expect(c.name, c.want, c.expected, c.lost)
			if c.want.dup+c.want.gap > 0 && r.voids > 0 {
				t.Error("a frame out of sequence is shown")
			}
			r.frame(c.expected, ok) // and the next frame is as good as ever
			c.want.packet++
			r.expect("the next frame", c.want, c.expected+1, false)
			r.idle(200)
			if len(r.packets) != c.want.packet || !bytes.Equal(r.packets[len(r.packets)-1], ok) {
				t.Errorf("packets % x", r.packets)
			}
		})
	}
}

// A frame that is damaged is known to be lost at the damaged symbol already, not at the next SOP.
func TestRxDropsAtOnce(t *testing.T) {
	r := newReceiver(t)
	r.feed([]linkproto.Symbol{linkproto.SymSOP, 0, 1, 2, linkproto.SymErr})
	r.expect("ERR", rxEvents{crc: 1}, 0, true)
	long := framed(0, packet(0, maxPacket+1))
	r.feed(long[:len(long)-1])
	r.expect("too long", rxEvents{crc: 2}, 0, true)
}

// A frame for anyone else, whose key differs in any bit, is damaged. The key that counts is that of the frame's beginning.
func TestRxKeys(t *testing.T) {
	r := newReceiver(t)
	var want rxEvents
	for bit := range 32 {
		r.feed(linkproto.AppendFrame(nil, frameKey^1<<bit, 0, packet(0, r.rng.Between(3, 40))))
		want.crc++
		r.expect(fmt.Sprint("bit ", bit), want, 0, true)
	}
	f := framed(0, packet(0, 20))
	r.feed(f[:2])
	*r.pins.Key = ^uint32(frameKey)
	r.feed(f[2:])
	want.packet++
	r.expect("the key of its beginning counts", want, 1, false)
}

// link_rx counts and delivers as the Go deframer and the rules for sequence numbers say, whatever comes.
func TestRxRandom(t *testing.T) { eachReceiver(t, testRxRandom) }

func testRxRandom(t *testing.T, width, early int) {
	r := newReceiverOf(t, width, early)
	rng := r.b.Rand("frames")
	deframer := frames()
	var want rxEvents
	var packets [][]byte
	expected, lost := 0, false
	for range 1500 {
		seq := expected + testbench.Pick(rng, 0, 0, 0, 0, 1, -1, 127, -128, rng.IntN(256))
		p := packet(rng.IntN(1000), testbench.Pick(rng, 3, 4, maxPacket, rng.Between(3, maxPacket), rng.Between(3, maxPacket), maxPacket+1))
		if rng.Chance(0.08) {
			p[1+rng.IntN(2)]++
		}
		if rng.Chance(0.05) {
			p = p[:rng.IntN(5)]
		}
		symbols := framed(seq, p)
		for rng.Chance(0.2) {
			i := rng.IntN(len(symbols))
			switch rng.IntN(4) {
			case 0:
				symbols[i] = testbench.Pick(rng, linkproto.SymErr, linkproto.SymSOP, linkproto.SymEOP)
			case 1:
				symbols[i] = linkproto.Data(byte(rng.IntN(256)))
			case 2:
				symbols = slices.Delete(symbols, i, min(len(symbols), i+rng.Between(1, 3)))
			case 3:
				symbols = slices.Insert(symbols, i, testbench.Pick(rng, linkproto.SymErr, linkproto.SymSOP, linkproto.SymEOP, linkproto.SymIdle, 0))
			}
			if len(symbols) == 0 {
				break
			}
		}
		r.feed(symbols)
		for len(symbols) > 0 {
			ev, n := deframer.Next(symbols)
			symbols = symbols[n:]
			switch ahead := ev.Seq - uint8(expected); {
			case ev.Kind == linkproto.EventStray:
				want.stray++
			case ev.Kind == linkproto.EventBadFrame:
				want.crc++
				lost = true
			case ev.Kind != linkproto.EventFrame:
			case ahead >= 128:
				want.dup++
			case ahead > 0:
				want.gap++
				lost = true
			default:
				expected, lost = expected+1, false
				if linkproto.LengthFits(ev.Payload) {
					want.packet++
					packets = append(packets, slices.Clone(ev.Payload))
				} else {
					want.malformed++
				}
			}
		}
		if rng.Chance(0.3) {
			r.expect("random", want, expected, lost)
		}
	}
	r.idle(2 * maxPacket)
	if !slices.EqualFunc(packets, r.packets, bytes.Equal) {
		t.Errorf("%d packets delivered, want %d, or others", len(r.packets), len(packets))
	}
	if want.packet < 300 || want.crc < 100 || want.dup < 100 || want.gap < 100 || want.malformed < 20 || want.stray < 100 {
		t.Errorf("not all cases were seen: %+v", want)
	}
}

// STOP rises with the byte that makes HIGH, that of an unfinished frame included, and falls with the one that leaves LOW.
func TestRxWatermarks(t *testing.T) {
	for _, n := range []int{3, 50, maxPacket} {
		t.Run(fmt.Sprint(n, " bytes"), func(t *testing.T) {
			r := newReceiver(t)
			r.take = 0
			used := 0
			for seq := 0; !*r.pins.Stop; seq++ {
				for i, s := range framed(seq, packet(seq, n)) {
					r.clock(s)
					// A byte is counted when another one has followed it.
					if i >= 3 && i < 3+n {
						used++
					}
					r.idle(6)
					if stop := used >= high+waiting; *r.pins.Stop != stop {
						t.Fatalf("%d bytes used, stop %v", used, *r.pins.Stop)
					}
				}
			}
			r.take = 1
			for *r.pins.Stop {
				r.clock(linkproto.SymIdle)
				used--
				if used < 0 {
					t.Fatal("STOP for ever")
				}
			}
			// Two are behind the memory then, and two more leave while `used` and `stop` follow.
			check.Equal(t, "bytes left at GO", used, low)
			check.Equal(t, "frames dropped", r.seen.overrun+r.seen.crc, 0)
		})
	}
}

// A peer that does not obey STOP is cut off; what was delivered before is whole, what comes after is as good as ever, and
// frames out of sequence neither take room nor are taken for overruns.
func TestRxOverrun(t *testing.T) {
	r := newReceiver(t)
	r.take = 0
	seq := 0
	var want rxEvents
	for ; (seq+1)*100 <= fifoBytes; seq++ {
		r.frame(seq, packet(seq, 100))
		want.packet++
	}
	r.expect("full", want, seq, false)
	r.frame(seq-1, packet(seq-1, 100))
	want.dup++
	r.expect("duplicate", want, seq, false)
	f := framed(seq, packet(seq, 100))
	r.feed(f[:2+12+waiting+2]) // so many bytes have room
	r.idle(4)
	want.overrun++
	r.expect("overrun, at the first byte too many", want, seq, true)
	r.feed(f[2+12+waiting+2:])
	want.stray += len(f) - (2 + 12 + waiting + 2)
	r.expect("its rest", want, seq, true)
	r.frame(seq+1, packet(seq+1, 100))
	want.gap++
	r.expect("the next", want, seq, true)
	r.frame(seq, packet(seq, 12+waiting)) // fills the FIFO to its last byte
	want.packet++
	r.expect("the last bytes", want, seq+1, false)
	r.frame(seq+1, packet(0, 3))
	want.overrun++
	r.idle(4)
	check.Equal(t, "overruns", r.seen.overrun, want.overrun)
	r.take = 1
	r.idle(2 * fifoBytes)
	for i, p := range r.packets {
		n := 100
		if i == seq {
			n = 12 + waiting
		}
		check.Equal(t, fmt.Sprint("packet ", i), p, packet(i, n))
	}
	check.Equal(t, "packets", len(r.packets), seq+1)
}

// When the session ends, the frame in progress is dropped and its room freed; delivered packets stay. Frames of which any
// part falls into INIT are stray, once each.
func TestRxRestart(t *testing.T) { eachReceiver(t, testRxRestart) }

func testRxRestart(t *testing.T, width, early int) {
	long := framed(1, packet(1, maxPacket))
	r := newReceiverOf(t, width, early)
	for at := 1; at < len(long); at++ {
		r.b.Reset("rst", 1)
		r.seen, r.packets, r.coming = rxEvents{}, nil, nil
		r.take = 0
		r.frame(0, packet(0, 130))
		r.feed(long[:at])
		r.idle(6)
		counted := at - 7
		switch early {
		case 0: // what another byte has followed
			counted = min(at-3, maxPacket)
		case 2: // all bytes but the last, which waits
			counted = min(at-2, maxPacket-1)
		}
		if stop := counted >= high+waiting-130; width == 1 && *r.pins.Stop != stop {
			t.Fatalf("after %d symbols: stop %v", at, *r.pins.Stop)
		}
		r.restart()
		if at%2 == 0 {
			r.idle(6)
			if *r.pins.Stop {
				t.Fatalf("after %d symbols: STOP for a frame that is no more", at)
			}
		}
		*r.pins.Up = true
		r.feed(long[at:])
		r.idle(4)
		if *r.pins.Expected != 0 || *r.pins.Lost || *r.pins.Stop || r.seen.packet != 1 || r.seen.stray != 1 || r.seen.crc+r.seen.overrun+r.seen.gap > 0 {
			t.Fatalf("restart after %d symbols: expects %d, lost %v, stop %v, %+v", at, *r.pins.Expected, *r.pins.Lost, *r.pins.Stop, r.seen)
		}
		r.frame(0, packet(2, 100))
		r.take = 1
		r.idle(300)
		if len(r.packets) != 2 || !bytes.Equal(r.packets[0], packet(0, 130)) || !bytes.Equal(r.packets[1], packet(2, 100)) {
			t.Fatalf("restart after %d symbols: packets % x", at, r.packets)
		}
	}
}

// A peer that obeys STOP within HEADROOM bytes never overruns the FIFO, whatever the reader does.
func TestRxNeverOverruns(t *testing.T) { eachReceiver(t, testRxNeverOverruns) }

func testRxNeverOverruns(t *testing.T, width, early int) {
	for _, n := range []int{3, 40, maxPacket} {
		r := newReceiverOf(t, width, early)
		rng := r.b.Rand(fmt.Sprint(n))
		var line []linkproto.Symbol
		delay := make([]bool, headroom) // STOP on its way to where frames begin, and the frames on theirs back
		seq := 0
		for clock := range 30000 {
			if clock%500 == 0 {
				r.take = testbench.Pick(rng, 0, 0.1, 0.5, 1)
			}
			delay = append(delay[1:], *r.pins.Stop)
			if delay[0] {
				r.clock(linkproto.SymIdle)
				continue
			}
			if len(line) == 0 {
				line = framed(seq, packet(seq, n))
				seq++
			}
			r.clock(line[0])
			line = line[1:]
		}
		if want := (rxEvents{packet: r.seen.packet}); r.seen != want || r.seen.packet < seq-2 {
			t.Errorf("%d frames of %d bytes: %+v", seq, n, r.seen)
		}
	}
}
