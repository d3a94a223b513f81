package hostdrv

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// broken is a Transport that has gone.
type broken struct{ Transport }

func (broken) Exchange(*Exchange) error { return errors.New("it has gone") }
func (broken) Timing() Timing           { return Timing{TicksPerSecond: 1} }
func (broken) Wake()                    {}
func (broken) Close() error             { return nil }

// TestReopenClosed: a target that is opened again just when it is closed stays closed.
func TestReopenClosed(t *testing.T) {
	dialled := make(chan struct{})
	r := reopen(broken{}, time.Hour, func(ctx context.Context) (Transport, error) {
		close(dialled)
		<-ctx.Done() // by Close
		return broken{}, nil
	})
	check.Fatal(t, r.Exchange(&Exchange{Wait: 1})) // which finds out that it has gone
	<-dialled
	check.Error(t, r.Close())
	check.Fails(t, "exchange after Close", r.Exchange(&Exchange{Wait: 1}), nil, "closed while it was away")
}
