package main

import (
	"bytes"
	"context"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
)

// interrupting is a transport that interrupts a command at one of its exchanges.
type interrupting struct {
	hostdrv.Transport
	left      atomic.Int64
	interrupt func()
}

func (i *interrupting) Exchange(x *hostdrv.Exchange) error {
	if i.left.Add(-1) == 0 {
		i.interrupt()
	}
	return i.Transport.Exchange(x)
}

// TestTraceInterrupted interrupts lmmc trace at each exchange with the target: it ends in order.
func TestTraceInterrupted(t *testing.T) {
	const scheme = "interrupting"
	var last *interrupting
	at, interrupt := int64(0), func() {}
	hostdrv.Register(scheme, func(ctx context.Context, _ *url.URL) (hostdrv.Transport, error) {
		target, err := hostdrv.Dial(ctx, "rtl:?links=2&frames=4&page=128&replay=512&rx=512&trace=256")
		last = &interrupting{Transport: target, interrupt: interrupt}
		last.left.Store(at)
		return last, err
	})
	file := filepath.Join(t.TempDir(), "x.pcapng")
	for at = 1; at == 1 || last.left.Load() <= 0; at += 1 + at/4 {
		ctx, cancel := context.WithCancel(t.Context())
		interrupt = cancel
		var out, errs bytes.Buffer
		err := newApp(&out, &errs, fakes()).RunContext(ctx, []string{"lmmc", "trace", "--for=10us", "--trigger=stops", "--output=" + file, scheme + ":"})
		cancel()
		if code := exitCode(err); ctx.Err() != nil && code != exitOK && code != exitInterrupted && code != exitFailed {
			t.Errorf("interrupted at exchange %d: exit code %d (%v)", at, code, err)
		}
	}
	check.Equal(t, "interrupted often", at > 10, true)
}
