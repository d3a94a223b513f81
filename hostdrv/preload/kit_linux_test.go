package preload_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/preload"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// network is a star of two nodes, each with the daemon of its programs' connections.
type network struct {
	*live.Network
	library string
	rung    string // of its nodes
	at      [2]int // which nodes clients and servers are at
	dir     string // for what the test needs
	nodes   []*hostdrv.Node
	paths   []string // of the daemons' sockets
	daemons []*preload.Daemon
	stop    []func() error // ends a daemon
}

// Addresses of the nodes.
const first, second = "10.0.0.1", "10.0.0.2"

// library builds the library once for all tests.
var library = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "library.so")
	c := exec.Command("./build", path)
	c.Stderr = os.Stderr
	return path, c.Run()
})

// built is where that is.
var built string

func TestMain(m *testing.M) {
	apart()
	var err error
	if built, err = os.MkdirTemp("", "lmmc"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(built)
	if err = os.Chmod(built, 0o755); err != nil { // other users load it too
		panic(err)
	}
	m.Run()
}

// apart has the tests run in a network namespace of their own, if they may: programs bind ports of the nodes' addresses at the system's stack too.
func apart() {
	const own = "LMMC_TEST_NAMESPACE"
	if os.Getenv(own) == "" {
		c := exec.Command("/proc/self/exe", os.Args[1:]...)
		c.Env, c.Stdin, c.Stdout, c.Stderr = append(os.Environ(), own+"=1"), os.Stdin, os.Stdout, os.Stderr
		c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		runtime.LockOSThread() // whose end that signal tells
		defer runtime.UnlockOSThread()
		if err := c.Start(); errors.Is(err, syscall.EPERM) {
			return
		} else if err != nil {
			panic(err)
		}
		_ = c.Wait()                                                                    // the exit code says it
		os.Exit(cmp.Or(max(c.ProcessState.ExitCode(), 0), c.ProcessState.ExitCode()&1)) // killed: 1
	}
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		var fd int
		if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err == nil {
			err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
			unix.Close(fd)
		}
	}
	if err != nil {
		panic(err)
	}
}

func begin(t *testing.T, rung string) *network {
	t.Helper()
	return beginOn(t, rung, check.Must(topology.Generate("star", []int{2}, 1))(t))
}

func beginOn(t *testing.T, rung string, top *topology.Topology) *network {
	t.Helper()
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: 1, Rung: rung}))(t)
	n := &network{rung: rung, at: [2]int{0, 1}, dir: check.Must(os.MkdirTemp("", "lmmc"))(t)}
	t.Cleanup(func() { check.Error(t, os.RemoveAll(n.dir)) })
	n.Network = check.Must(live.Open(t.Context(), c, live.Options{Seed: 1, Dir: n.dir}))(t)
	t.Cleanup(func() { check.Error(t, n.Close()) })
	check.Background(t, func(ctx context.Context) error {
		if err := n.Run(ctx); !errors.Is(err, context.Canceled) {
			return err
		}
		return nil
	})
	n.library = check.Must(library())(t)
	_, targets := n.Targets()
	for _, target := range targets {
		node := check.Must(hostdrv.OpenNode(t.Context(), target, hostdrv.Options{}, hostdrv.NodeOptions{NoPorts: true}))(t)
		t.Cleanup(func() { check.Error(t, node.Close()) })
		n.nodes = append(n.nodes, node)
		path := strings.TrimPrefix(target, "unix:") + ".sockets"
		o := socket.Options{Prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}, Peers: []uint16{1, 2}, Patience: 50 * time.Millisecond}
		d := check.Must(preload.Open(t.Context(), node, check.Must(serve.Listen(path, ""))(t), o))(t)
		ctx, cancel := context.WithCancel(context.Background())
		ended := check.Go(func() error { return d.Run(ctx) })
		stop := sync.OnceValue(func() error { cancel(); return <-ended })
		t.Cleanup(func() { _ = stop() }) // what the node's end does a test tells
		n.paths, n.daemons, n.stop = append(n.paths, path), append(n.daemons, d), append(n.stop, stop)
	}
	return n
}

// address is that of the clients' node, 0, or of the servers', 1.
func (n *network) address(node int) string { return fmt.Sprint("10.0.0.", 1+n.at[node]) }

func (n *network) file(name string) string { return filepath.Join(n.dir, name) }

// command is a program that runs at a node.
type command struct {
	*exec.Cmd
	out bytes.Buffer
}

// start starts a program at a node: 0 or 1, as of network.at.
func (n *network) start(t *testing.T, node int, name string, args ...string) *command {
	t.Helper()
	p := check.Must(preload.Join(n.paths[n.at[node]], name, ""))(t)
	t.Cleanup(func() { p.Close() })
	c := &command{Cmd: exec.CommandContext(t.Context(), find(t, name), args...)}
	c.Stdout, c.Stderr, c.WaitDelay = &c.out, &c.out, time.Second
	c.Env = append(os.Environ(), p.Environment(n.library, false)...)
	check.Fatal(t, c.Start())
	return c
}

// serve starts a program that listens at a node, and waits until it does. It is ended with the test, or by what is returned.
func (n *network) serve(t *testing.T, node int, port uint16, name string, args ...string) (c *command, end func()) {
	t.Helper()
	c = n.start(t, node, name, args...)
	over := check.Go(c.Wait)
	end = sync.OnceFunc(func() {
		_ = c.Process.Signal(os.Interrupt)
		<-over
	})
	t.Cleanup(end)
	for len(over) == 0 {
		if n.has(t, node, port) {
			return c, end
		}
		time.Sleep(5 * time.Millisecond)
	}
	end()
	t.Fatalf("%v does not listen: %v\n%s", args, c.ProcessState, c.out.String())
	return nil, nil
}

// has says whether a program listens at a port of a node, or has it for datagrams.
func (n *network) has(t *testing.T, node int, port uint16) bool {
	return slices.ContainsFunc(check.Must(preload.List(n.paths[n.at[node]]))(t), func(e preload.Entry) bool {
		return e.State != preload.Established && e.State != preload.Connecting && e.Local.Port() == port
	})
}

// run runs a program at a node, which must succeed, and returns what it prints.
func (n *network) run(t *testing.T, node int, name string, args ...string) string {
	t.Helper()
	c := n.start(t, node, name, args...)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, c.out.String())
	}
	return c.out.String()
}

// await waits until a program has written so many lines to a file, and returns them.
func await(t *testing.T, path string, count int) []string {
	t.Helper()
	for ; t.Context().Err() == nil; time.Sleep(time.Millisecond) {
		text, _ := os.ReadFile(path) // which is not there at first
		if lines := strings.Split(string(text), "\n"); len(lines) > count {
			return lines[:count]
		}
	}
	return make([]string, count)
}

// find finds a program, those of administrators too.
func find(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && !strings.Contains(name, "/") {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	if err != nil {
		t.Skipf("not installed: %v", err)
	}
	return path
}

// compile compiles a program of testdata.
func (n *network) compile(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("gcc", "-O1", "-D_FORTIFY_SOURCE=2", "-o", n.file(name), filepath.Join("testdata", name+".c")).CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return n.file(name)
}
