package shared

import (
	"context"
	"time"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/internal/wait"
)

// WithTimeout returns a context that ends when d of the target's time has passed.
func (c *Client) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	limited, expire, cancel := wait.Limit(ctx)
	c.Mu.Lock()
	defer c.Mu.Unlock()
	c.begin(func() {
		if c.sleep(limited, d, 0) == nil {
			expire()
		}
	})
	return limited, cancel
}

// begin has do work beside, unless nothing works any more: Close waits for what has begun before, and WaitGroup allows no more then. It is for Mu held.
func (c *Client) begin(do func()) {
	if c.err == nil {
		c.work.Go(do)
	}
}

// Doze waits until so much of the target's time has passed, in no hurry.
func (c *Client) Doze(ctx context.Context, d time.Duration) error { return c.sleep(ctx, d, 1) }

// sleep waits until so much of the target's time has passed.
func (c *Client) sleep(ctx context.Context, d time.Duration, patient uint32) error {
	_, err := c.Call(ctx, "the target's time", sharing.Message{Op: sharing.OpSleep, Port: patient, Value: uint64(max(d, 1))})
	return err
}

// Every calls tick under Mu each time that so much of the target's time has passed, until it returns false or stop is called; both are for
// Mu held.
func (c *Client) Every(d time.Duration, tick func() bool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	again := func() bool {
		if c.sleep(ctx, d, 0) != nil {
			return false
		}
		c.Mu.Lock()
		defer c.Mu.Unlock()
		return ctx.Err() == nil && tick()
	}
	c.begin(func() {
		defer cancel()
		for again() {
		}
	})
	return cancel
}
