package serve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestServerEnds ends the server, or its NI, while a client waits in every way there is.
func TestServerEnds(t *testing.T) {
	for name, end := range map[string]func(*served) error{
		"stopped":       func(s *served) error { return s.stop() },
		"its NI closed": func(s *served) error { return errors.Join(s.node.Close(), s.stop()) },
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, model, serve.Options{})
			node := s.open(t)
			go connectAll(t.Context(), s.node)
			send := check.Must(accepted(t.Context(), node, "send"))(t)
			receive := check.Must(accepted(t.Context(), node, "receive"))(t)
			lonely := check.Must(node.CreatePort(2, hostdrv.Send))(t)
			page := check.Must(receive.Bytes())(t)
			forever, cancel := node.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			var users sync.WaitGroup
			for name, use := range map[string]func(context.Context) error{
				"write":   func(ctx context.Context) error { return send.WritePage(ctx, make([]byte, 100), 0) },
				"sync":    func(ctx context.Context) error { return send.Sync(ctx) },
				"wait":    func(ctx context.Context) error { return receive.Wait(ctx, func([]byte) bool { return false }) },
				"read":    func(ctx context.Context) error { return receive.ReadPage(ctx, make([]byte, 9), 0) },
				"accept":  func(ctx context.Context) error { _, err := node.Accept(ctx); return err },
				"connect": func(ctx context.Context) error { return lonely.Connect(ctx, []byte("nobody takes this")) },
				"report":  func(ctx context.Context) error { _, err := node.Report(ctx); return err },
			} {
				users.Go(func() {
					var err error
					for err == nil {
						err = use(forever)
					}
					if !errors.Is(err, hostdrv.ErrGone) || errors.Is(err, context.Canceled) {
						t.Errorf("%s ends with %v", name, err)
					}
				})
			}
			for range 20 {
				check.Fatal(t, receive.ReadPage(t.Context(), make([]byte, 1), 0))
			}
			check.Fails(t, "Serve", end(s), nil)
			users.Wait()
			_ = page[0] // still there
			check.Error(t, errors.Join(receive.Unmap(), node.Close()))
			check.Fails(t, "open after the server has ended", check.Err(hostdrv.OpenNode(t.Context(), s.target, hostdrv.Options{}, hostdrv.NodeOptions{})), nil)
		})
	}
}

// connectAll makes the other ends of a send port and a receive port, in this order.
func connectAll(ctx context.Context, node *hostdrv.Node) {
	for i, name := range []string{"send", "receive"} {
		if p, err := node.CreatePort(1, hostdrv.Receive-hostdrv.Direction(i)); err == nil {
			p.Connect(ctx, []byte(name))
		}
	}
}

// TestEveryRequestIsAnswered has programs wait for requests and think better of it at random: whoever connects is accepted or refused, and
// never forgotten.
func TestEveryRequestIsAnswered(t *testing.T) {
	const asked, takers = 60, 4
	s := begin(t, model, serve.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range takers {
		node := s.open(t)
		work.Go(func() {
			rng := rand.New(rand.NewPCG(6, uint64(i)))
			for ctx.Err() == nil {
				short, cancel := node.WithTimeout(ctx, time.Duration(rng.IntN(20_000)))
				r, err := node.AcceptPrefix(short, []byte{'0' + byte(i)})
				cancel()
				if err == nil && rng.IntN(2) == 0 {
					err = r.Refuse("not today")
				} else if err == nil {
					_, err = r.Accept()
				}
				if err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		})
	}
	node := s.open(t)
	answers := map[string]int{}
	for i := range asked {
		p := check.Must(node.CreatePort(1, hostdrv.Send))(t)
		var refused *hostdrv.RefusedPortError
		switch err := p.Connect(ctx, fmt.Append(nil, i%takers)); {
		case err == nil:
			answers["accepted"]++
		case errors.As(err, &refused):
			answers["refused"]++
		default:
			t.Fatal(err)
		}
	}
	cancel()
	work.Wait()
	if answers["accepted"] == 0 || answers["refused"] == 0 {
		t.Errorf("%v", answers)
	}
}

// TestConnectIsTakenUpAgain connects a port whose earlier call was answered while the program gave it up.
func TestConnectIsTakenUpAgain(t *testing.T) {
	s := begin(t, model, serve.Options{})
	r := s.greeted(t)
	p, _ := r.ask(sharing.Message{Op: sharing.OpCreate, Value: 1 << 1})
	again := sharing.Message{Op: sharing.OpConnect, Call: 1, Port: p.Port}
	r.say(again)
	check.Must(accepted(t.Context(), s.node, ""))(t)
	r.done(r.hear())
	r.say(sharing.Message{Op: sharing.OpCancel, Call: 1})
	r.done(r.ask(again))
	r.done(r.ask(sharing.Message{Op: sharing.OpMap, Port: p.Port}))
}

// TestRefusedTargets holds what cannot be done with a target that is served.
func TestRefusedTargets(t *testing.T) {
	s := begin(t, model, serve.Options{})
	node := s.open(t)
	ctx := t.Context()
	if id := node.Identity(); id != s.node.Identity() || node.NI() != nil {
		t.Errorf("identity %+v", id)
	}
	check.Fails(t, "the NI as a whole", check.Err(hostdrv.Open(ctx, s.target, hostdrv.Options{})), hostdrv.ErrTarget)
	check.Fails(t, "an option", check.Err(hostdrv.OpenNode(ctx, s.target+"?x=1", hostdrv.Options{}, hostdrv.NodeOptions{})), hostdrv.ErrTarget)
	check.Fails(t, "another NI", check.Err(hostdrv.OpenNode(ctx, s.target, hostdrv.Options{Hash: 1}, hostdrv.NodeOptions{})), hostdrv.ErrIdentity)
	l := check.Must(serve.Listen(drivertest.Socket(t), ""))(t)
	check.Fails(t, "serve what is another's", serve.Serve(ctx, node, l, serve.Options{}), nil)
}
