package parts

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Group is the coordinator of workers. Not for several goroutines at once.
type Group struct {
	workers []*remote
	wait    time.Duration // for the others' reasons, once one has failed
	stop    func() bool
}

// remote is a worker.
type remote struct {
	*stream
	where string
}

// Start listens at an address (port 0: any) and has `launch` start as many workers as there are parts, each of which is to call Work with the address and
// the token. It returns when all have built their sites. When ctx ends, all end.
func Start(ctx context.Context, listen string, parts int, version string, setup []byte, launch func(address, token string) error) (*Group, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("parts: %w", err)
	}
	defer listener.Close()
	g := &Group{wait: 5 * time.Second, stop: context.AfterFunc(ctx, func() { listener.Close() })}
	token := rand.Text()
	if err := launch(listener.Addr().String(), token); err != nil {
		g.stop()
		return nil, err
	}
	hellos, err := g.gather(ctx, listener, parts, token, version)
	if err == nil {
		addresses := make([]string, parts)
		for i, h := range hellos {
			addresses[i] = h.Listen
		}
		err = g.all(func(part int, w *remote) error {
			if err := w.out.Encode(welcome{Part: part, Listen: addresses, Setup: setup}); err != nil {
				return err
			}
			return w.answer(&answer{})
		})
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, errors.Join(err, g.Close())
	}
	g.stop()
	g.stop = context.AfterFunc(ctx, func() {
		for _, w := range g.workers {
			w.Conn.Close()
		}
	})
	return g, nil
}

// gather takes in the workers, whoever comes first is part 0.
func (g *Group) gather(ctx context.Context, l net.Listener, parts int, token, version string) (hellos []greeting, err error) {
	for len(g.workers) < parts {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			return nil, fmt.Errorf("parts: %d of %d parts have come: %w", len(g.workers), parts, err)
		}
		s, hello := newStream(conn), greeting{}
		if err := s.receive(&hello, greetWithin); err != nil || hello.Token != token {
			conn.Close() // whoever that was
			continue
		}
		if hello.Version != version {
			s.out.Encode(welcome{Refused: fmt.Sprintf("it is version %q, the coordinator is %q: start the same program", hello.Version, version)})
			conn.Close()
			return nil, partError(len(g.workers), hello.Where, fmt.Errorf("it is version %q, this program is %q: start the same program everywhere", hello.Version, version))
		}
		g.workers = append(g.workers, &remote{s, hello.Where})
		hellos = append(hellos, hello)
	}
	return hellos, nil
}

func (w *remote) answer(a *answer) error {
	err := w.receive(a, 0)
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, syscall.ECONNRESET} { // a reset if it left orders unread
		if errors.Is(err, end) {
			return errors.New("it has ended")
		}
	}
	if err != nil {
		return fmt.Errorf("its connection: %w", err)
	}
	if a.Err != "" {
		return errors.New(a.Err)
	}
	return nil
}

// all does the same with all workers at once, and returns the errors of those that failed by themselves.
func (g *Group) all(do func(part int, w *remote) error) error {
	errs := make([]error, len(g.workers))
	var group sync.WaitGroup
	var once sync.Once
	for i, w := range g.workers {
		group.Go(func() {
			if err := do(i, w); err != nil {
				errs[i] = partError(i, w.where, err)
				once.Do(func() { // the others may wait for what never comes
					for _, other := range g.workers {
						other.SetReadDeadline(time.Now().Add(g.wait))
					}
				})
			}
		})
	}
	group.Wait()
	var first, later error
	for _, err := range errs {
		if err != nil && strings.Contains(err.Error(), errGone.Error()) {
			later = errors.Join(later, err)
		} else {
			first = errors.Join(first, err)
		}
	}
	if first != nil {
		return first
	}
	return later
}

// Do gives each part its order and returns their answers. With clocks > 0 all run for so many. After an error the group is of no further use.
func (g *Group) Do(orders [][]byte, clocks int) (answers [][]byte, err error) {
	answers = make([][]byte, len(g.workers))
	err = g.all(func(part int, w *remote) error {
		o := order{Clocks: clocks}
		if part < len(orders) {
			o.Data = orders[part]
		}
		if err := w.out.Encode(o); err != nil {
			return errors.New("it has ended")
		}
		var a answer
		err := w.answer(&a)
		answers[part] = a.Data
		return err
	})
	return answers, err
}

// Close ends the workers.
func (g *Group) Close() error {
	g.stop()
	for _, w := range g.workers {
		w.Conn.Close()
	}
	return nil
}
