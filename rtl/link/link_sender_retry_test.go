package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// With the times that a network interface is built with: the unanswered frame goes out again every RETRY ticks, and RETRY_LIMIT times of silence
// in a row end the session, whatever was counted in the session before.
func TestSenderGivesUp(t *testing.T) {
	const limit = 8
	for _, retry := range []int{16384, 16385} {
		s := newSenderWith(t, replay, retry, limit)
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
