package ethernet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/stafflink/lmmc/testbench"
)

// TAP is a network interface of the kernel, whose frames go to a design and come from it. What the kernel sends, and when, is not decided by the seed.
type TAP struct {
	file   io.ReadWriteCloser
	name   string
	frames chan []byte
	failed chan error
	done   chan struct{} // closed by Close
	once   sync.Once
}

// OpenTAP makes an interface of a name, which lasts until Close. It takes Linux and CAP_NET_ADMIN. It is down and has no address:
// ip addr add 10.1.1.1/24 dev NAME; ip link set NAME up.
func OpenTAP(name string) (*TAP, error) {
	file, err := openTAP(name)
	if err != nil {
		return nil, fmt.Errorf("ethernet: TAP %q: %w", name, err)
	}
	t := &TAP{file: file, name: name, frames: make(chan []byte, 64), failed: make(chan error, 1), done: make(chan struct{})}
	go t.read()
	return t, nil
}

// Close removes the interface.
func (t *TAP) Close() error {
	t.once.Do(func() { close(t.done) })
	return t.file.Close()
}

// read takes frames of the kernel until the interface is closed.
func (t *TAP) read() {
	for {
		frame := make([]byte, 1<<16)
		n, err := t.file.Read(frame)
		if err != nil {
			if !errors.Is(err, os.ErrClosed) {
				t.failed <- err
			}
			return
		}
		select {
		case t.frames <- frame[:n]:
		case <-t.done:
			return
		}
	}
}

// Connect joins the interface to both ends of a design from now on: what the kernel sends goes to the source, padded, and what the sink receives goes to the
// kernel, unless it has an error. Frames for which the kernel has no room are lost, as on a wire.
func (t *TAP) Connect(b *testbench.Bench, source *Source, sink *Sink) {
	b.Background("TAP "+t.name, func(c *testbench.Task) {
		for {
			select {
			case f := <-t.frames:
				source.Put(Frame{Data: Pad(f)})
			case err := <-t.failed:
				c.Fatalf("TAP %s: %w", t.name, err)
			default:
			}
			for len(sink.frames) > 0 {
				f := sink.frames[0]
				sink.frames = sink.frames[1:]
				if f.Error || f.BadFCS {
					continue
				}
				if _, err := t.file.Write(f.Data); err != nil && !isFull(err) {
					c.Fatalf("TAP %s: %w", t.name, err)
				}
			}
			c.Cycles(1)
		}
	})
}
