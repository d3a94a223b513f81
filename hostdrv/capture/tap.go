package capture

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/linkproto"
)

// Tap is where to listen to the cable of one target while a driver uses it. Its Options let it in.
type Tap struct {
	watched atomic.Bool

	mu     sync.Mutex
	header record.Header
	ticks  uint64 // since header.Time
	cables map[*Cable]bool
}

// NewTap makes a tap for a target, which is named in captures.
func NewTap(target string) *Tap {
	return &Tap{header: record.Header{Target: target, Time: time.Now(), TicksPerSecond: 1}, cables: map[*Cable]bool{}}
}

// Options returns o with the tap in the cable of what it opens, once.
func (t *Tap) Options(o hostdrv.Options) hostdrv.Options {
	inner := o.Wrap
	o.Wrap = func(target string, transport hostdrv.Transport) hostdrv.Transport {
		if inner != nil {
			transport = inner(target, transport)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		t.header.Time, t.header.TicksPerSecond = time.Now(), transport.Timing().TicksPerSecond
		for c := range t.cables {
			c.header = t.header
		}
		return &tapped{Transport: transport, tap: t}
	}
	return o
}

// Began is when the target was opened, which NI.Now counts from.
func (t *Tap) Began() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.header.Time
}

// Listen writes a capture to w, with all records or without those that Cable leaves out, until it is stopped, which tells the first error of writing. Writes come from the goroutine that moves symbols,
// which waits for them. It may be called before the target is opened, to miss nothing.
func (t *Tap) Listen(w io.Writer, all bool) (stop func() error) {
	writer := NewWriter(w)
	t.mu.Lock()
	defer t.mu.Unlock()
	c := writer.Cable(t.header, all)
	if t.ticks > 0 {
		c.join()
	}
	if t.cables == nil {
		t.cables = map[*Cable]bool{}
	}
	t.cables[c] = true
	t.watched.Store(true)
	return func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.cables, c)
		t.watched.Store(len(t.cables) > 0)
		return writer.Err()
	}
}

// tapped is a transport with a tap in it.
type tapped struct {
	hostdrv.Transport
	tap *Tap
	out []linkproto.Symbol
}

// Exchange lets those who listen know what was exchanged.
func (t *tapped) Exchange(x *hostdrv.Exchange) error {
	watched := t.tap.watched.Load()
	t.out = t.out[:0]
	if watched { // its memory may be another's once it is taken
		t.out = append(t.out, x.Out...)
	}
	err := t.Transport.Exchange(x)
	if !x.Taken {
		t.out = t.out[:0]
	}
	t.tap.mu.Lock()
	defer t.tap.mu.Unlock()
	for c := range t.tap.cables {
		if watched {
			c.now = t.tap.ticks
			c.Exchange(t.out, x.In, uint64(x.Ticks))
		}
	}
	t.tap.ticks += uint64(x.Ticks)
	return err
}
