package hostdrv

import (
	"context"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// TestCancelledWhenDone: a call whose context ends just when it has done its work leaves no limit for the next one.
func TestCancelledWhenDone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	limits := make(chan time.Time, 2)
	limit := func(until time.Time) error {
		if !until.IsZero() {
			time.Sleep(10 * time.Millisecond) // the call has done its work
		}
		limits <- until
		return nil
	}
	check.Fatal(t, new(sharedDatagrams).while(ctx, "", limit, func() error { cancel(); return nil }))
	<-limits
	check.Equal(t, "last limit", <-limits, time.Time{})
}
