package hostdrv_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

var update = flag.Bool("update", false, "write testdata/states.txt anew")

const statesFile = "testdata/states.txt"

// TestStates makes every call of Node, Port, Window and Request in every state, and compares what it returns with testdata/states.txt, which
// is the same for each target and for a node whose NI is another process's.
func TestStates(t *testing.T) {
	want, err := os.ReadFile(statesFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	onEachShared(t, func(t *testing.T, open func(*testing.T, plan) *network) {
		have := allStates(t, open)
		if *update && strings.HasSuffix(t.Name(), "/model") {
			check.Fatal(t, os.WriteFile(statesFile, []byte(have), 0o666))
			want = []byte(have)
		}
		lines, wanted := strings.Split(have, "\n"), strings.Split(string(want), "\n")
		if len(lines) != len(wanted) {
			t.Fatalf("%d calls, want %d (go test -run TestStates -update writes %s anew)", len(lines), len(wanted), statesFile)
		}
		for i, line := range lines {
			check.Equal(t, "call", line, wanted[i])
		}
	})
}

// states of a port, and what brings one into it that is connected.
var states = []struct {
	name  string
	enter func(*stateTest)
}{
	{"connected", func(*stateTest) {}},
	{"deleted", func(s *stateTest) { s.must(s.port.Delete()) }},
	{"deleted by peer", func(s *stateTest) {
		s.must(s.peer.Delete())
		s.await(s.port)
	}},
	{"deleted by both", func(s *stateTest) {
		s.must(s.peer.Delete())
		s.await(s.port)
		s.must(s.port.Delete())
	}},
	{"node closed", func(s *stateTest) { s.must(s.a.Close()) }},
	{"target gone", func(s *stateTest) {
		s.must(s.world.Close())
		for end := time.Now().Add(time.Minute); s.port.Err() == nil && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
	}},
}

// stateTest is a port in a state.
type stateTest struct {
	t     *testing.T
	out   *strings.Builder
	world *network
	a, b  *hostdrv.Node

	state, kind string
	port, peer  *hostdrv.Port
	window      *hostdrv.Window
}

func allStates(t *testing.T, open func(*testing.T, plan) *network) string {
	out := &strings.Builder{}
	for _, kind := range []string{"send", "late", "receive"} {
		a, b, world := startPair(t, open, 0, 0)
		s := &stateTest{t: t, out: out, world: world, a: a, b: b, kind: kind, state: "zero", port: new(hostdrv.Port), window: new(hostdrv.Window)}
		s.calls()
		s.state = "created"
		s.port, s.window = s.create(), nil
		s.calls()
		s.refused()
		for _, state := range states {
			if state.name == "node closed" || state.name == "target gone" {
				s.a, s.b, s.world = startPair(t, open, 0, 0)
			}
			s.state = state.name
			s.connect()
			state.enter(s)
			s.calls()
			if kind == "send" {
				s.nodeCalls()
			}
		}
	}
	return out.String()
}

func (s *stateTest) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatalf("%s, %s: %v", s.kind, s.state, err)
	}
}

// await waits until a port has ended, while time goes on.
func (s *stateTest) await(p *hostdrv.Port) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	over := make(chan struct{})
	go func() {
		s.b.AcceptPrefix(ctx, []byte("nobody says this"))
		close(over)
	}()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		s.t.Errorf("%s, %s: the port does not end", s.kind, s.state)
	}
	cancel()
	<-over
}

func (s *stateTest) create() *hostdrv.Port {
	s.t.Helper()
	d := hostdrv.Send
	if s.kind == "receive" {
		d = hostdrv.Receive
	}
	p, err := s.a.CreatePort(1, d)
	s.must(err)
	return p
}

// connect makes a port that is connected, mapped, and of the right policy.
func (s *stateTest) connect() {
	s.t.Helper()
	s.port = s.create()
	accepted := check.Go(func() error {
		r, err := s.b.AcceptPrefix(s.t.Context(), []byte("state"))
		if err == nil {
			s.peer, err = r.Accept()
		}
		return err
	})
	s.must(s.port.Connect(s.t.Context(), []byte("state")))
	s.must(<-accepted)
	var err error
	s.window, err = s.port.Window()
	s.must(err)
	if s.kind == "late" {
		s.must(s.port.SetWritePolicy(hostdrv.Late))
		s.must(s.window.StoreUint32(s.t.Context(), 8, 1))
	}
}

// refused tries a port that the other node refuses, and one whose connecting is given up and taken up again.
func (s *stateTest) refused() {
	s.t.Helper()
	s.state = "refused"
	s.port = s.create()
	go func() {
		if r, err := s.b.AcceptPrefix(s.t.Context(), []byte("refuse")); err == nil {
			r.Refuse("not today")
			r.Refuse("twice")
		}
	}()
	s.say("Connect", s.port.Connect(s.t.Context(), []byte("refuse")))
	s.say("Err", s.port.Err())
	s.say("Window", check.Err(s.port.Window()))

	s.state = "given up"
	s.port = s.create()
	accepted := make(chan error)
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	go func() {
		r, err := s.b.AcceptPrefix(s.t.Context(), []byte("later"))
		cancel()
		s.say("Connect", <-accepted)
		if err == nil {
			_, err = r.Accept()
		}
		s.say("Request.Accept", err)
		_, err = r.Accept()
		s.say("Request.Accept again", err)
		s.say("Request.Refuse then", r.Refuse("no"))
		accepted <- nil
	}()
	accepted <- s.port.Connect(ctx, []byte("later"))
	<-accepted
	s.say("Window", check.Err(s.port.Window()))
	s.say("Connect again", s.port.Connect(s.t.Context(), nil))
	s.say("Window", check.Err(s.port.Window()))
}

var number = regexp.MustCompile(`port \d+`)

// say notes what a call has returned.
func (s *stateTest) say(call string, err error) {
	text := "nil"
	if err != nil {
		text = number.ReplaceAllString(err.Error(), "port N")
		for _, is := range []struct {
			name string
			err  error
		}{{"ErrPortClosed", hostdrv.ErrPortClosed}, {"ErrPort", hostdrv.ErrPort}, {"ErrRange", hostdrv.ErrRange}, {"ErrGone", hostdrv.ErrGone}, {"ErrClosed", hostdrv.ErrClosed}} {
			if errors.Is(err, is.err) {
				text += " [" + is.name + "]"
				break
			}
		}
	}
	fmt.Fprintf(s.out, "%-7s | %-15s | %-20s | %s\n", s.kind, s.state, call, text)
}

// calls makes every call of a port and of its window, those last that change something.
func (s *stateTest) calls() {
	ctx := s.t.Context()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	p, w := s.port, s.window
	s.say("Err", p.Err())
	s.say("Connect", p.Connect(ended, nil))
	s.say("Connect too long", p.Connect(ended, make([]byte, hostdrv.MaxParams+1)))
	s.say("Window", check.Err(p.Window()))
	s.say("SetWritePolicy 7", p.SetWritePolicy(7))
	s.say("FlushEvery", p.FlushEvery(0))
	if w != nil {
		b := make([]byte, 4)
		s.say("WritePage", w.WritePage(ctx, b, 0))
		s.say("WritePage -1", w.WritePage(ctx, b, -1))
		s.say("StoreUint64 behind", w.StoreUint64(ctx, w.Size()-4, 1))
		s.say("Flush", w.Flush(ctx))
		s.say("Sync", w.Sync(ctx))
		s.say("ReadPage", w.ReadPage(ctx, b, 0))
		s.say("ReadPage -1", w.ReadPage(ctx, b, -1))
		s.say("LoadUint32", check.Err(w.LoadUint32(ctx, 0)))
		s.say("LoadUint64 behind", check.Err(w.LoadUint64(ctx, w.Size())))
		s.say("Wait", w.Wait(ctx, func([]byte) bool { return true }))
		if s.state != "connected" {
			s.say("Wait in vain", w.Wait(ctx, forever))
		}
		s.say("Bytes", check.Err(w.Bytes()))
		s.say("SetWritePolicy now", p.SetWritePolicy(hostdrv.Immediate))
		s.say("Unmap", w.Unmap())
		s.say("Unmap again", w.Unmap())
	}
	s.say("SetWritePolicy late", p.SetWritePolicy(hostdrv.Late))
	s.say("Delete", p.Delete())
	s.say("Delete again", p.Delete())
	s.say("Err then", p.Err())
}

// nodeCalls makes the calls of a node.
func (s *stateTest) nodeCalls() {
	ctx := s.t.Context()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	n := s.a
	for _, link := range []int{-1, 0, 3} {
		s.say(fmt.Sprintf("CreatePort %d", link), check.Err(n.CreatePort(link, hostdrv.Send)))
	}
	s.say("CreatePort 7", check.Err(n.CreatePort(1, 7)))
	p, err := n.CreatePort(1, hostdrv.Send)
	s.say("CreatePort", err)
	if err == nil {
		s.must(p.Delete())
	}
	s.say("Dial", check.Err(n.Dial(ended, 1, hostdrv.Send, nil)))
	s.say("Accept", check.Err(n.Accept(ended)))
	s.say("Report", check.Err(n.Report(ctx)))
	s.say("StartTrace", n.StartTrace(ctx, linkproto.TraceSetup{}))
	s.say("TraceState", check.Err(n.TraceState(ctx)))
	s.say("ReadTrace", check.Err(n.ReadTrace(ctx)))
}

// TestSharedOnly holds what a client of another process's NI cannot have: it is refused.
func TestSharedOnly(t *testing.T) {
	a, b, _ := startPair(t, models, 0, 0)
	client := share(t, a)
	_, w := drivertest.Channel(t, b, client, 1, "")
	check.Fails(t, "share what is another's", check.Err(w.Share()), hostdrv.ErrPort)
	check.Fails(t, "wait for what is not shared", w.WaitChange(t.Context(), 0), hostdrv.ErrPort)
	if client.NI() != nil {
		t.Error("it has the NI")
	}
	for name, open := range map[string]struct {
		o  hostdrv.Options
		no hostdrv.NodeOptions
	}{
		"LinkTimeout": {o: hostdrv.Options{LinkTimeout: 1}}, "Options.Seed": {o: hostdrv.Options{Seed: 1}}, "Reopen": {o: hostdrv.Options{Reopen: 1}},
		"Wrap":             {o: hostdrv.Options{Wrap: func(_ string, t hostdrv.Transport) hostdrv.Transport { return t }}},
		"NodeOptions.Seed": {no: hostdrv.NodeOptions{Seed: 1}},
		"Frames":           {no: hostdrv.NodeOptions{Frames: []int{1, 1}}},
		"Replacement":      {no: hostdrv.NodeOptions{Replacement: hostdrv.NewClock}},
	} {
		check.Fails(t, name, check.Err(hostdrv.OpenNode(t.Context(), "unix:nowhere", open.o, open.no)), hostdrv.ErrOption, name)
	}
}
