package parts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
)

// Work is a worker: it connects to a coordinator at an address, takes part in its simulation until that ends, and returns nil if it ended well.
func Work(ctx context.Context, address, token, version string, build Build) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("parts: the coordinator at %s: %w", address, err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	// Others reach this worker by the address by which it reaches the coordinator.
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return err
	}
	defer listener.Close()
	name, _ := os.Hostname()
	w := &worker{coordinator: newStream(conn), listener: listener, token: token, peers: map[int]*stream{}}
	hello := greeting{token, version, listener.Addr().String(), fmt.Sprintf("process %d on %s", os.Getpid(), name)}
	if err := w.coordinator.out.Encode(hello); err != nil {
		return fmt.Errorf("parts: the coordinator at %s: %w", address, err)
	}
	var to welcome
	if err := w.coordinator.receive(&to, 0); err != nil {
		return fmt.Errorf("parts: the coordinator at %s: %w", address, err)
	}
	if to.Refused != "" {
		return fmt.Errorf("parts: the coordinator at %s refused this worker: %s", address, to.Refused)
	}
	w.part = to.Part
	return w.serve(ctx, to, build)
}

type worker struct {
	part        int
	token       string
	coordinator *stream
	listener    net.Listener
	site        Site
	peers       map[int]*stream
}

// meet is what a worker says first to another.
type meet struct {
	Token string
	Part  int
}

func (w *worker) serve(ctx context.Context, to welcome, build Build) (err error) {
	w.site, err = build(to.Part, len(to.Listen), to.Setup)
	if w.site != nil {
		defer func() { err = errors.Join(err, w.site.Close()) }()
	}
	if err == nil {
		err = w.meetPeers(ctx, to.Listen)
	}
	defer func() {
		for _, s := range w.peers {
			s.Close()
		}
	}()
	for first := true; ; first = false {
		a, o := answer{}, order{}
		if !first {
			if err := w.coordinator.receive(&o, 0); errors.Is(err, io.EOF) {
				return nil // the coordinator has what it wants
			} else if err != nil {
				return fmt.Errorf("parts: the coordinator: %w", err)
			}
			a.Data, err = w.site.Do(o.Data, o.Clocks, func() error { return w.run(o.Clocks) })
		}
		if err != nil {
			a.Err = err.Error()
		}
		if failed := w.coordinator.out.Encode(a); err != nil || failed != nil {
			return errors.Join(err, failed)
		}
	}
}

// meetPeers connects to the workers with which something is exchanged: a later part calls an earlier one.
func (w *worker) meetPeers(ctx context.Context, addresses []string) error {
	expected := 0
	for _, part := range w.site.Peers() {
		if part > w.part {
			expected++
			continue
		}
		conn, err := (&net.Dialer{Timeout: greetWithin}).DialContext(ctx, "tcp", addresses[part])
		if err != nil {
			return fmt.Errorf("parts: part %d: %w", part, err)
		}
		w.peers[part] = newStream(conn)
		if err := w.peers[part].out.Encode(meet{w.token, w.part}); err != nil {
			return fmt.Errorf("parts: part %d: %w", part, err)
		}
	}
	stop := context.AfterFunc(ctx, func() { w.listener.Close() })
	defer stop()
	for expected > 0 {
		conn, err := w.listener.Accept()
		if err != nil {
			return err
		}
		s, m := newStream(conn), meet{}
		if err := s.receive(&m, greetWithin); err != nil || m.Token != w.token || w.peers[m.Part] != nil {
			conn.Close() // whoever that was
			continue
		}
		w.peers[m.Part] = s
		expected--
	}
	return nil
}

// run runs the site, and exchanges with the others at least every Lookahead clocks, all at the same clocks.
func (w *worker) run(clocks int) error {
	for clocks > 0 {
		n := min(clocks, w.site.Lookahead())
		if err := w.site.Run(n); err != nil {
			return err
		}
		if err := w.exchange(); err != nil {
			return err
		}
		clocks -= n
	}
	return nil
}

func (w *worker) exchange() error {
	var sending sync.WaitGroup
	failed := make(map[int]error)
	var mutex sync.Mutex
	for part, s := range w.peers {
		samples := w.site.Take(part, nil)
		sending.Go(func() { // while it sends to us
			if err := s.out.Encode(samples); err != nil {
				mutex.Lock()
				failed[part] = err
				mutex.Unlock()
			}
		})
	}
	var err error
	for part, s := range w.peers {
		var samples []uint64
		if e := s.receive(&samples, 0); e != nil {
			err = errors.Join(err, gone(part, e))
		} else {
			err = errors.Join(err, w.site.Put(part, samples))
		}
	}
	sending.Wait()
	for part, e := range failed {
		err = errors.Join(err, gone(part, e))
	}
	return err
}

// errGone is the error of a part whose peer is gone, which is not the first to fail.
var errGone = errors.New("is gone")

func gone(part int, err error) error { return fmt.Errorf("part %d %w: %w", part, errGone, err) }
