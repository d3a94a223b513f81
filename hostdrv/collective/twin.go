package collective

import (
	"context"
	"errors"
	"math/bits"
	"time"

	"github.com/stafflink/lmmc/hostdrv/message"
)

// twin is a Transport over two networks. All messages between two members go by one of them, which follows from their ranks, so that they stay in order. Algorithms whose
// stages go from member to member at distances that double take the networks by turns.
type twin struct {
	ends    [2]Transport
	numbers [2]map[uint16]uint16 // of a member: from its number in the first network to that in this one, and back
	of      map[uint16]int       // by number in the first network, the one by which messages go
	waiting []message.Completion
}

// NetworkOf is by which of two networks members send to each other, 0 or 1, by the distance of their ranks: by the second one if that has an even number of bits.
func NetworkOf(distance int) int { return (bits.Len(uint(max(distance, -distance))) + 1) % 2 }

// newTwin makes a Transport of those of a member in two networks.
func newTwin(first, second Transport, rank int, members, seconds []uint16) Transport {
	t := &twin{ends: [2]Transport{first, second}, of: map[uint16]int{}}
	for i := range t.numbers {
		t.numbers[i] = map[uint16]uint16{}
	}
	for other, m := range members {
		t.of[m] = NetworkOf(other - rank)
		t.numbers[0][m], t.numbers[1][seconds[other]] = seconds[other], m
	}
	return t
}

func (t *twin) PostSend(s message.Send) error {
	by := t.of[s.Node]
	if by == 1 {
		s.Node = t.numbers[0][s.Node]
	}
	return t.ends[by].PostSend(s)
}

// PostReceive gives the networks every other room.
func (t *twin) PostReceive(r message.Receive) error { return t.ends[r.Cookie%2].PostReceive(r) }

// Wait waits at both networks.
func (t *twin) Wait(ctx context.Context) (message.Completion, error) {
	if len(t.waiting) > 0 {
		done := t.waiting[0]
		t.waiting = t.waiting[1:]
		return done, nil
	}
	either, cancel := context.WithCancel(ctx)
	defer cancel()
	var done [2]message.Completion
	var errs [2]error
	other := make(chan struct{})
	go func() {
		defer close(other)
		done[1], errs[1] = t.ends[1].Wait(either)
		cancel()
	}()
	done[0], errs[0] = t.ends[0].Wait(either)
	cancel()
	<-other
	done[1].Node = t.numbers[1][done[1].Node]
	for i, err := range errs {
		if err == nil {
			t.waiting = append(t.waiting, done[i])
		} else if !errors.Is(err, context.Canceled) || ctx.Err() != nil {
			return message.Completion{}, err
		}
	}
	return t.Wait(ctx)
}

func (t *twin) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return t.ends[0].WithTimeout(ctx, d)
}

func (t *twin) Close() error { return errors.Join(t.ends[0].Close(), t.ends[1].Close()) }
