package ip_test

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// namespace is a network namespace of its own: a thread in it, which does what it is given.
type namespace struct{ do chan func() }

// newNamespace makes one until the test ends, or skips the test where that cannot be.
func newNamespace(t *testing.T) *namespace {
	t.Helper()
	n := &namespace{make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine, and the namespace with the thread
		ready <- unix.Unshare(unix.CLONE_NEWNET)
		for do := range n.do {
			do()
		}
	}()
	t.Cleanup(func() { close(n.do) })
	if err := <-ready; err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	check.Fatal(t, n.run(ip.Loopback))
	return n
}

// run does something in the namespace.
func (n *namespace) run(do func() error) error {
	done := make(chan error)
	n.do <- func() { done <- do() }
	return <-done
}

// command is a program that runs in the namespace.
type command struct {
	*exec.Cmd
	out bytes.Buffer
}

func (n *namespace) start(t *testing.T, name string, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.CommandContext(t.Context(), name, args...)}
	c.Stdout, c.Stderr, c.WaitDelay = &c.out, &c.out, time.Second
	check.Fatal(t, n.run(c.Start))
	return c
}

// wait waits for a program, which must succeed.
func (c *command) wait(t *testing.T) string {
	t.Helper()
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, c.out.String())
	}
	return c.out.String()
}

// need skips the test where it cannot run.
func need(t *testing.T, programs ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("an interface takes root")
	}
	if _, err := os.Stat("/dev/net/tun"); err != nil {
		t.Skip(err)
	}
	for _, p := range programs {
		if _, err := lookPath(p); err != nil {
			t.Skip(err)
		}
	}
}

// network is a star of two nodes, each with a namespace and an interface in it.
type network struct {
	*live.Network
	targets    []string
	spaces     []*namespace
	interfaces []*ip.Interface
}

// begin makes a network until the test ends; bits of its cables arrive wrong at a rate.
func begin(t *testing.T, rung string, errorRate float64, o live.Options) *network {
	t.Helper()
	top := check.Must(topology.Generate("star", []int{2}, 1))(t)
	for i := range top.Cables {
		top.Cables[i].BitErrorRate = errorRate
	}
	c := check.Must(cluster.Open(t.Context(), cluster.Config{Topology: top, Seed: 1, Rung: rung}))(t)
	o.Seed, o.Dir = 1, check.Must(os.MkdirTemp("", "lmmc"))(t)
	t.Cleanup(func() { check.Error(t, os.RemoveAll(o.Dir)) })
	n := &network{Network: check.Must(live.Open(t.Context(), c, o))(t)}
	t.Cleanup(func() { check.Error(t, n.Close()) })
	background(t, n.Run)
	_, n.targets = n.Targets()
	for _, target := range n.targets {
		n.spaces = append(n.spaces, newNamespace(t))
		n.interfaces = append(n.interfaces, n.up(t, target, n.spaces[len(n.spaces)-1]))
	}
	return n
}

// background runs until the test ends, or an interface is removed.
func background(t *testing.T, run func(context.Context) error) {
	t.Helper()
	check.Background(t, func(ctx context.Context) error {
		if err := run(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, ip.ErrGone) {
			return err
		}
		return nil
	})
}

var prefix = netip.MustParsePrefix("10.0.0.0/24")

// up makes an interface of a node in a namespace until the test ends.
func (n *network) up(t *testing.T, target string, space *namespace) (f *ip.Interface) {
	t.Helper()
	node := n.open(t, target)
	check.Fatal(t, space.run(func() (err error) {
		f, err = ip.Up(t.Context(), node, ip.Options{Name: "lm0", Addresses: []netip.Prefix{prefix}})
		return err
	}))
	background(t, f.Run)
	return f
}

func (n *network) open(t *testing.T, target string) *hostdrv.Node {
	t.Helper()
	node := check.Must(hostdrv.OpenNode(t.Context(), target, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	t.Cleanup(func() { check.Error(t, node.Close()) })
	return node
}

// address is that of a node's interface.
func (n *network) address(i int) string { return n.interfaces[i].Addresses()[0].Addr().String() }

// tell shows the interfaces' counters.
func (n *network) tell(t *testing.T) {
	for i, f := range n.interfaces {
		t.Logf("node %d: %+v", i+1, f.Counts())
	}
}

// lookPath finds a program for administrators too.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/" + name)
	}
	return path, err
}
