package usb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// stream is a channel of a chip as a stream of bytes that may be closed while it is read and written.
type stream struct {
	bus  bus
	dev  device    // nil before it is open
	ends endpoints // nil before they are claimed

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	users  sync.RWMutex // held by Read and Write
	once   sync.Once
	closed error

	buf  []byte // of a transfer; Read's
	rest []byte // of buf, not yet returned
}

// open opens and sets up what is wanted. Whatever it returns the stream has to be closed.
func (s *stream) open(ctx context.Context, w wanted) (rate float64, err error) {
	s.ctx, s.cancel = context.WithCancel(context.Background())
	d, dev, err := find(ctx, s.bus, w)
	if err != nil {
		return 0, err
	}
	s.dev = dev
	c, known := chips[d.release]
	if !known {
		return 0, fmt.Errorf("%w: %v has release number %04x", ErrChip, d, d.release)
	}
	channel := w.channel
	if channel < 0 {
		channel = min(1, c.channels-1)
	}
	if channel >= c.channels {
		return 0, fmt.Errorf("%w: %v, %s, has no interface %c: the last is %c", ErrNoDevice, d, c.name, 'A'+channel, 'A'+c.channels-1)
	}
	if s.ends, err = dev.claim(channel); err != nil {
		return 0, explain(fmt.Errorf("%w: interface %c", err, 'A'+channel), d)
	}
	if p := s.ends.packet(); p <= statusBytes {
		return 0, fmt.Errorf("%w: %v has packets of %d bytes", ErrChip, d, p)
	}
	s.buf = make([]byte, readPackets*s.ends.packet())
	if rate, err = c.setUp(dev, channel, w.baud); err != nil {
		return 0, explain(err, d)
	}
	return rate, ctx.Err()
}

// Read waits until there is something, or Close.
func (s *stream) Read(b []byte) (int, error) {
	s.users.RLock()
	defer s.users.RUnlock()
	for len(s.rest) == 0 {
		if s.ctx.Err() != nil {
			return 0, os.ErrClosed
		}
		n, err := s.ends.read(s.ctx, s.buf)
		s.rest = strip(s.buf[:n], s.ends.packet())
		if err != nil && len(s.rest) == 0 {
			return 0, s.because(err)
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Write returns when the chip has taken all of b, or is about to.
func (s *stream) Write(b []byte) (written int, err error) {
	s.users.RLock()
	defer s.users.RUnlock()
	for written < len(b) {
		if s.ctx.Err() != nil {
			return written, os.ErrClosed
		}
		n, err := s.ends.write(s.ctx, b[written:])
		written += n
		if err == nil && n == 0 {
			err = errors.New("the chip accepts no data")
		}
		if err != nil {
			return written, s.because(err)
		}
	}
	return written, nil
}

// because says why a transfer failed.
func (s *stream) because(err error) error {
	if s.ctx.Err() != nil {
		return os.ErrClosed
	}
	return fmt.Errorf("usb: %w", err)
}

// Close ends a Read and a Write in progress, and gives the chip back.
func (s *stream) Close() error {
	s.once.Do(func() {
		s.cancel()
		s.users.Lock()
		defer s.users.Unlock()
		if s.ends != nil {
			s.closed = s.ends.close()
		}
		if s.dev != nil {
			s.closed = errors.Join(s.closed, s.dev.close())
		}
		s.closed = errors.Join(s.closed, s.bus.close())
	})
	return s.closed
}
