package link_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// On a line so slow that the timer runs out while frames are still to be sent, it counts but does not go back before all has been sent; after
// RETRY_LIMIT times in a row the session ends, be all sent or not.
func TestSenderRetryBusy(t *testing.T) {
	const retry, packets = 900, 7
	const symbols = maxPacket + linkproto.FrameOverhead
	for seed, take := range []float64{0.05, 0.1, 0.11, 0.12, 0.13, 0.15} {
		s := newSenderWith(t, 1, replay, retry, 1000)
		s.take = take
		s.offer(packets, maxPacket)
		s.until(packets * symbols)
		retries := s.seen.retry
		if s.seen.replay > 0 || retries < 3 {
			t.Errorf("line %d: %+v while frames are sent for the first time", seed, s.seen)
		}
		s.expectNow(span(0, packets)...)
		s.take = 1
		s.until(1)
		if extra := s.seen.retry - retries; extra > 1 || s.seen.replay != 1 {
			t.Errorf("line %d: %+v when they are sent again", seed, s.seen)
		}
		s.until(packets * symbols)
		s.expectNow(span(0, packets)...)

		s = newSenderWith(t, 1, replay, retry, 3)
		s.take = take / 3
		s.offer(packets, maxPacket)
		for s.seen.giveUp == 0 {
			if s.clock(); len(s.line) == packets*symbols {
				t.Fatalf("line %d: %+v, and all is sent", seed, s.seen)
			}
		}
		check.Equal(t, fmt.Sprintf("line %d: events when the session ends", seed), s.seen, senderEvents{retry: 3, giveUp: 1})
	}
}

// A line that takes none of the last symbols of what is sent for ever so long gets them before the timer has the sender go back.
func TestSenderRetryHalted(t *testing.T) {
	const symbols = 20 + linkproto.FrameOverhead
	for left := 1; left <= symbols; left++ {
		s := newSender(t)
		s.offer(3, 20)
		s.until(3*symbols - left)
		s.take = 0
		s.clocks((senderLimit-1)*senderRetry + senderRetry/2)
		check.Equal(t, fmt.Sprintf("events with %d symbols to go", left), s.seen, senderEvents{retry: senderLimit - 1})
		s.take = 1
		s.until(3 * symbols)
		s.expectNow(span(0, 3)...)
	}
}

// A whole window of which nothing arrives is sent again, though more waits behind it.
func TestSenderRetryWindow(t *testing.T) {
	s := newSender(t)
	s.offer(200, 5)
	s.until((window - 1) * (5 + linkproto.FrameOverhead))
	s.expectNow(span(0, window-1)...)
	s.until((window - 1) * (5 + linkproto.FrameOverhead))
	s.expectNow(span(0, window-1)...)
	check.Equal(t, "events", s.seen, senderEvents{retry: 1, replay: 1})
}
