package serve_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/drivertest"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

// roleVar makes the test program another program: one of the roles.
const roleVar = "LMMC_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		goleak.VerifyTestMain(m)
	}
	ctx := context.Background()
	if err := try.Run(func() {
		roles[role](ctx, try.Get(hostdrv.OpenNode(ctx, os.Args[1], hostdrv.Options{}, hostdrv.NodeOptions{})))
	}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// onEach runs a test with a model and with the RTL, whose links are cabled to each other.
func onEach(t *testing.T, run func(t *testing.T, target string)) {
	t.Run("model", func(t *testing.T) { run(t, model) })
	t.Run("rtl", func(t *testing.T) { run(t, "rtl:?links=2&frames=8&page=128&replay=512&rx=512") })
}

const model = "model:?links=2&frames=8&page=128"

// served is an NI that is served.
type served struct {
	node   *hostdrv.Node
	target string      // for clients
	events chan string // what the log says, but for its first word on who
	stop   func() error
}

// news is a log that sends messages.
type news chan string

func (news) Enabled(context.Context, slog.Level) bool        { return true }
func (n news) Handle(_ context.Context, r slog.Record) error { n <- r.Message; return nil }
func (n news) WithAttrs([]slog.Attr) slog.Handler            { return n }
func (n news) WithGroup(string) slog.Handler                 { return n }
func (s *served) expect(t *testing.T, events ...string) {
	t.Helper()
	for _, want := range events {
		select {
		case have := <-s.events:
			check.Equal(t, "log", have, want)
		case <-t.Context().Done():
			t.Fatal("the log does not say ", want)
		}
	}
}

// begin serves a target, to a group's members too if one is given, until the test ends or stop is called.
func begin(t *testing.T, target string, o serve.Options, group ...string) *served {
	t.Helper()
	o.Tap = capture.NewTap(target)
	return beginNode(t, check.Must(hostdrv.OpenNode(t.Context(), target, o.Tap.Options(hostdrv.Options{Seed: 3}), hostdrv.NodeOptions{Seed: 3}))(t), o, group...)
}

// beginNode is begin for a node that is there.
func beginNode(t *testing.T, node *hostdrv.Node, o serve.Options, group ...string) *served {
	t.Helper()
	path := drivertest.Socket(t)
	l := check.Must(serve.Listen(path, strings.Join(group, "")))(t)
	s := &served{node: node, target: "unix:" + path, events: make(chan string, 1000)}
	o.Log = slog.New(news(s.events))
	ctx, cancel := context.WithCancel(context.Background())
	ended := check.Go(func() error { return serve.Serve(ctx, node, l, o) })
	s.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-ended, node.Close())
	})
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *served) open(t *testing.T) *hostdrv.Node {
	t.Helper()
	node := check.Must(hostdrv.OpenNode(t.Context(), s.target, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	t.Cleanup(func() { node.Close() })
	return node
}

// process is another program.
type process struct {
	*exec.Cmd
	said *bufio.Scanner
}

// command is this program in a role.
func (s *served) command(t *testing.T, role string) *exec.Cmd {
	program := check.Must(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), program, s.target)
	cmd.Env = append(os.Environ(), roleVar+"="+role, "GOCOVERDIR="+t.TempDir())
	cmd.Stderr = os.Stderr
	return cmd
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd, bufio.NewScanner(check.Must(cmd.StdoutPipe())(t))}
	check.Fatal(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return p
}

// says wants a line of the program.
func (p *process) says(t *testing.T, want string) {
	t.Helper()
	if !p.said.Scan() || p.said.Text() != want {
		t.Fatalf("the program said %q, want %q (%v)", p.said.Text(), want, p.said.Err())
	}
}
