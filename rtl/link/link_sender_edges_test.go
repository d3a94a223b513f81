package link_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// The end of a packet that is loaded around the clock in which the sender goes back to another belongs to its own packet.
func TestSenderRewindWhileLoading(t *testing.T) {
	for _, size := range []int{5, 20} {
		for _, take := range []float64{1, 0.5} {
			s := newSender(t)
			s.take = take
			for delay := range 60 {
				n := 2 * delay
				s.offer(1, 20)
				s.until(5)
				s.word(n, true)
				s.clocks(delay)
				s.offer(1, size)
				s.expect(append(span(n, n+1), span(n, n+2)...)...)
				s.word(n+2, false)
			}
			check.Equal(t, fmt.Sprint("replays of packets of ", size, " bytes"), s.seen.replay, 60)
		}
	}
}

// A packet that is taken back while it is loaded leaves nothing behind, whenever that comes: its frame has not begun, is being sent, or waits for
// the next byte, alone or behind another frame, also while the sender goes back. ABORT ends its frame, if it has one, and the next packet has its
// number and its place in the buffer.
func TestSenderCancel(t *testing.T) {
	for _, before := range []int{0, 1, 2} {
		for _, lost := range []bool{false, true} {
			s, n, aborts := newSender(t), 0, 0
			for _, loaded := range []int{1, 2, 3, 4, 10, 19} {
				for delay := range 40 {
					s.offer(before, 20)
					s.offer(1, 20)
					for len(s.queue) > 1 || s.pos < loaded {
						s.clock()
					}
					s.write = 0
					s.clocks(delay)
					if lost {
						s.word(n, true)
					}
					s.cancel = 1
					s.clock()
					s.cancel = 0
					if s.clocks(4); before == 0 && *s.pins.Queued {
						t.Fatalf("%d bytes, %d clocks, LOST %t: a packet is held when the only one has been taken back", loaded, delay, lost)
					}
					s.write = 1
					for len(s.queue) > 0 {
						s.clock()
					}
					s.clocks(4 * maxPacket)
					for _, symbol := range s.line {
						if symbol == linkproto.SymAbort {
							aborts++
						}
					}
					whole := s.frames()
					n += before + 1
					slices.Sort(whole) // what was sent again counts once
					want := span(n-before-1, n)
					slices.Sort(want)
					if whole = slices.Compact(whole); !slices.Equal(whole, want) {
						t.Fatalf("%d bytes, %d clocks, LOST %t: frames %q, want %q", loaded, delay, lost, whole, want)
					}
					s.word(n, false)
				}
			}
			if s.canceled != 240 || aborts < 200-100*before || aborts > 240 {
				t.Errorf("%d packets before, LOST %t: %d packets taken back, %d ABORTs", before, lost, s.canceled, aborts)
			}
		}
	}
}

// After a restart the rest of the packet that was being loaded is dropped as it comes. However long that takes, whatever the numbers were before and
// whatever words the peer sends meanwhile, the first frame of the new session carries the first packet that begins in it.
func TestSenderRestartAmidPacket(t *testing.T) {
	for _, sent := range []int{0, 1, 127, 128, 129, 200, 255} {
		for _, lost := range []bool{false, true} {
			for _, rest := range []int{1, 10} { // bytes of the packet still to come when the peer is back
				s := newSender(t)
				for n := range sent {
					s.offer(1, 5)
					s.expect(span(n, n+1)...)
					s.word(n+1, false)
				}
				s.offer(1, 20)
				for s.pos < 9 {
					s.clock()
				}
				s.write = 0
				s.clocks(30)
				s.restart()
				s.clocks(10)
				*s.pins.Up = true
				s.write = 1
				for s.pos < 20-rest {
					s.clock()
				}
				s.write = 0
				s.clocks(5)
				if lost {
					s.word(0, true)
				}
				s.write = 1
				s.offer(3, 20)
				var want []string
				for i := range 3 {
					want = append(want, fmt.Sprint(i, "=", sent+1+i))
				}
				if sent == 255 {
					want = span(0, 3) // serial numbers that are the same modulo 256
				}
				s.expect(want...)
			}
		}
	}
}

// Every place of the largest buffer is sent from, and gone back to.
func TestSenderLargest(t *testing.T) { moduletest.EachWidth(t, testSenderLargest) }

func testSenderLargest(t *testing.T, width int) {
	const largest = 32768
	const symbols = maxPacket + linkproto.FrameOverhead
	s := newSenderWith(t, width, largest, senderRetry, senderLimit)
	for n := 0; n*maxPacket < 3*largest; n += 6 {
		s.offer(6, maxPacket)
		s.until(3*symbols + 5)
		s.word(n+2, true)
		s.expect(append(span(n, n+4), span(n+2, n+6)...)...)
		s.word(n+6, false)
		s.clocks(8)
		if want := uint16((n + 6) * maxPacket); *s.pins.FreedBytes != want {
			t.Fatalf("%d bytes freed, want %d", *s.pins.FreedBytes, want)
		}
	}
}

// With the times that a network interface is built with: the unanswered frame goes out again every RETRY ticks, and RETRY_LIMIT times of silence
// in a row end the session, whatever was counted in the session before.
func TestSenderGivesUp(t *testing.T) {
	const limit = 8
	for _, retry := range []int{16384, 16385} {
		s := newSenderWith(t, 1, replay, retry, limit)
		silence := func(times int) {
			t.Helper()
			s.offer(1, 20)
			s.until(27)
			s.seen = senderEvents{}
			for n := range times {
				s.line = s.line[:0]
				start, timeouts := s.b.Cycle(), s.seen.retry
				for s.seen.retry == timeouts {
					s.clock()
					if s.b.Cycle()-start > uint64(retry)+40 {
						t.Fatalf("RETRY %d: no timeout %d within %d clocks of the last", retry, n+1, retry+40)
					}
				}
				if took := int(s.b.Cycle() - start); took < retry-40 {
					t.Fatalf("RETRY %d: timeout %d after %d clocks", retry, n+1, took)
				}
				if n < limit-1 {
					s.until(27)
					s.expectNow("0")
				}
			}
			s.clocks(40)
			want := senderEvents{retry: times, replay: min(times, limit-1), giveUp: times / limit}
			check.Equal(t, fmt.Sprintf("events with RETRY %d after %d times of silence", retry, times), s.seen, want)
		}
		again := func() {
			s.restart()
			s.clocks(10)
			s.queue, s.loaded, *s.pins.Up = nil, nil, true
		}
		silence(5)
		again()
		silence(limit)
		again()
		silence(limit)
	}
}

// Going back for a LOST is no retry. RETRY_LIMIT times RETRY without an acknowledgement end the session, also if LOSTs have frames sent again all the
// time. A LOST for which nothing is sent again does nothing.
func TestSenderLostForEver(t *testing.T) {
	for _, pause := range []int{50, 100, senderRetry - 500} {
		s := newSender(t)
		s.offer(2, 10)
		s.expect("0", "1")
		start := s.b.Cycle()
		for s.seen.giveUp == 0 {
			s.word(0, true)
			s.clocks(pause)
			if s.b.Cycle()-start > 2*senderLimit*senderRetry {
				t.Fatalf("LOSTs, pauses of %d clocks: not given up; events %+v", pause, s.seen)
			}
		}
		s.clocks(20)
		took := int(s.b.Cycle() - start)
		if least := senderLimit * (senderRetry - 1); took < least || took > least+senderLimit*20+2*pause+200 || s.seen.retry != senderLimit || s.seen.giveUp != 1 {
			t.Errorf("LOSTs, pauses of %d clocks: events %+v after %d clocks, want %d retries and one end in %d times %d", pause, s.seen, took, senderLimit, senderLimit, senderRetry)
		}
	}
	s := newSender(t)
	for range 2 * senderLimit {
		s.word(0, true)
		s.clocks(50)
	}
	check.Equal(t, "events of LOSTs with nothing sent", s.seen, senderEvents{})
}
