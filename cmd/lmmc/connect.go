package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

const portHelp = "The end that sends writes the text given with --send, waits until the far end's network interface has it, and deletes the port; the\n" +
	"end that receives shows the page each time that it has changed, until then."

var (
	sendFlag = &cli.StringFlag{Name: "send", Usage: "write `TEXT` to the page of the port that sends"}
	waitFlag = &cli.DurationFlag{Name: "timeout", Usage: "give up after `TIME` of the target's (default: never)"}
)

const negativeTimeout = "--timeout %v: want a time above 0, or 0 for none"

func connectCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "connect",
		Usage:     "connect a port to the node at the far end of a link, and send or receive its page",
		ArgsUsage: "[TARGET]",
		Description: targetHelp + sharedHelp + ".\nThe far end must accept the port, as lmmc accept does. " + portHelp + "\n" +
			"Unless the target is shared, its frame table is reset: earlier ports are gone.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "link", Usage: "connect to the far end of link `N`", Value: 1},
			&cli.BoolFlag{Name: "receive", Usage: "receive the page instead of sending it"},
			&cli.StringFlag{Name: "params", Usage: "send `TEXT` with the request"},
			&cli.BoolFlag{Name: "here", Usage: "also accept the port, for a link that is cabled back to the same network interface, as all of model: and rtl: are"},
			sendFlag, waitFlag, jsonFlag, recordFlag,
		},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			here := ctx.Bool("here") || isAlone(target)
			switch {
			case ctx.Bool("receive") && ctx.IsSet("send") && !here:
				return usagef("--send cannot go with --receive: the far end sends")
			case len(ctx.String("params")) > hostdrv.MaxParams:
				return usagef("--params: want at most %d bytes", hostdrv.MaxParams)
			case ctx.Duration("timeout") < 0:
				return usagef(negativeTimeout, ctx.Duration("timeout"))
			}
			return withSession(ctx, target, func(c context.Context, s *session) {
				if !here {
					s.connect(c, ctx)
					return
				}
				c, cancel := context.WithCancel(c)
				defer cancel()
				s.both(func() { s.accept(c, "") }, func() {
					err := try.Run(func() { s.connect(c, ctx) })
					if err != nil {
						cancel() // nobody will ask
					}
					try.OK(err)
				})
			})
		}),
	}, sharedTarget)
}

func acceptCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "accept",
		Usage:     "accept or refuse the requests of other nodes to connect a port",
		ArgsUsage: "TARGET",
		Description: targetForms + sharedHelp + ".\n" + portHelp + "\n" +
			"Unless the target is shared, its frame table is reset: earlier ports are gone.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "count", Usage: "accept `N` ports", Value: 1},
			&cli.StringFlag{Name: "refuse", Usage: "refuse the requests, with `REASON`"},
			sendFlag, waitFlag, jsonFlag, recordFlag,
		},
		Action: onTarget(func(ctx *cli.Context, target string) error {
			switch {
			case ctx.NArg() == 0:
				return usagef("accept takes a target; see lmmc accept --help")
			case isAlone(target):
				return usagef("%s runs in this process, where no other node can connect to it: use lmmc connect, which is both ends", target)
			case ctx.IsSet("refuse") && ctx.IsSet("send"):
				return usagef("--send and --refuse exclude each other")
			case ctx.Duration("timeout") < 0:
				return usagef(negativeTimeout, ctx.Duration("timeout"))
			case len(ctx.String("refuse")) > hostdrv.MaxParams:
				return usagef("--refuse: want at most %d bytes", hostdrv.MaxParams)
			}
			return withSession(ctx, target, func(c context.Context, s *session) {
				s.say("waiting for requests: %d\n", ctx.Int("count"))
				s.both(slices.Repeat([]func(){func() { s.accept(c, ctx.String("refuse")) }}, ctx.Int("count"))...)
			})
		}),
	}, sharedTarget)
}

// isAlone reports whether a target is one network interface that nobody else can reach.
func isAlone(target string) bool {
	return strings.HasPrefix(target, "model:") || strings.HasPrefix(target, "rtl:") || strings.HasPrefix(target, "vboard:") && !strings.HasPrefix(target, "vboard://")
}

// portReport is what lmmc connect and accept tell of a port.
type portReport struct {
	Port      uint32   `json:"port,omitempty"`
	Link      int      `json:"link"`
	Direction string   `json:"direction"`
	Params    string   `json:"params"`
	Refused   string   `json:"refused,omitempty"`  // why
	Sent      int      `json:"sent,omitempty"`     // bytes
	Received  hexBytes `json:"received,omitempty"` // what the page held at last, without the zeros at its end
}

// session is a node at work for a command.
type session struct {
	node *hostdrv.Node
	send []byte
	say  func(format string, args ...any) // what happens, unless that is to be JSON

	mu    sync.Mutex
	ports []*portReport
}

// withSession starts a node on a target for do, and tells what became of its ports.
func withSession(c *cli.Context, target string, do func(context.Context, *session)) error {
	s := &session{send: []byte(c.String("send")), ports: []*portReport{}}
	s.say = func(format string, args ...any) {
		if !c.Bool("json") {
			s.mu.Lock()
			defer s.mu.Unlock()
			fmt.Fprintf(c.App.Writer, format, args...)
		}
	}
	err := try.Run(func() {
		withNode(c, target, func(node *hostdrv.Node) {
			s.node = node
			ctx, cancel := c.Context, context.CancelFunc(func() {})
			if d := c.Duration("timeout"); d > 0 {
				ctx, cancel = node.WithTimeout(ctx, d)
			}
			defer cancel()
			do(ctx, s)
		})
	})
	if c.Bool("json") && s.node != nil {
		err = errors.Join(err, writeJSON(c.App.Writer, s.ports))
	}
	return err
}

// both does things at the same time.
func (s *session) both(things ...func()) {
	errs := make([]error, len(things))
	var all sync.WaitGroup
	for i, do := range things {
		all.Go(func() { errs[i] = try.Run(do) })
	}
	all.Wait()
	var told []error
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			told = append(told, err)
		}
	}
	try.OK(told...)
	try.OK(errs...)
}

func (s *session) report(link int, d hostdrv.Direction, params string) *portReport {
	r := &portReport{Link: link, Direction: d.String(), Params: params}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ports = append(s.ports, r)
	return r
}

func (s *session) connect(ctx context.Context, c *cli.Context) {
	d := hostdrv.Send
	if c.Bool("receive") {
		d = hostdrv.Receive
	}
	link, params := c.Int("link"), c.String("params")
	p := try.Get(s.node.CreatePort(link, d))
	if n := s.node.NI(); n != nil {
		try.Get(comesUp(ctx, n, link))
	}
	if !try.Get(s.node.Report(ctx)).Links[link].Status.Up { // as before a program opens the far end
		s.say("%v; waiting for it\n", errDown(link))
	}
	r := s.report(link, d, params)
	r.Port = p.ID()
	err := p.Connect(ctx, []byte(params))
	if refused := new(hostdrv.RefusedPortError); errors.As(err, &refused) {
		r.Refused = refused.Reason
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%w: run lmmc accept at the far end, or add --here if link %d is cabled back to this network interface", err, link)
	}
	try.OK(err)
	s.say("port %d on link %d, %v: accepted\n", p.ID(), link, d)
	s.use(ctx, p, r)
}

func (s *session) accept(ctx context.Context, refuse string) {
	request := try.Get(s.node.Accept(ctx))
	r := s.report(request.Link(), request.Direction(), string(request.Params()))
	if refuse != "" {
		r.Refused = refuse
		s.say("request on link %d: %v port%s: refused\n", r.Link, request.Direction(), withText(r.Params))
		try.OK(request.Refuse(refuse))
		return
	}
	p := try.Get(request.Accept())
	r.Port = p.ID()
	s.say("request on link %d: %v port %d%s\n", r.Link, request.Direction(), r.Port, withText(r.Params))
	s.use(ctx, p, r)
}

// withText quotes the text of a request, if it has one.
func withText(params string) string {
	if params == "" {
		return ", no text"
	}
	return fmt.Sprintf(", %q", params)
}

// use sends what there is to send by a port and deletes it, or shows what comes until the other node deletes it.
func (s *session) use(ctx context.Context, p *hostdrv.Port, r *portReport) {
	w := try.Get(p.Window())
	if p.Direction() == hostdrv.Send {
		if len(s.send) > 0 {
			try.OK(w.WritePage(ctx, s.send, 0), w.Sync(ctx))
			r.Sent = len(s.send)
			s.say("port %d: %d bytes sent and acknowledged\n", r.Port, r.Sent)
		}
		try.OK(p.Delete())
		return
	}
	page := make([]byte, w.Size())
	for {
		err := w.Wait(ctx, func(now []byte) bool {
			changed := !bytes.Equal(now, page)
			copy(page, now)
			return changed
		})
		if errors.Is(err, hostdrv.ErrPortClosed) {
			s.say("port %d: deleted by the peer\n", r.Port)
			return
		}
		try.OK(err)
		r.Received = bytes.Clone(bytes.TrimRight(page, "\x00"))
		s.say("port %d:\n%s", r.Port, dump(0, r.Received))
	}
}
