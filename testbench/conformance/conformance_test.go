package conformance_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
	_ "github.com/stafflink/lmmc/testbench/modelsim"
	_ "github.com/stafflink/lmmc/testbench/rtlsim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conform runs the suite on a target, on which as many cases are to be skipped.
func conform(t *testing.T, target string, skips int) {
	t.Helper()
	r := check.Must(conformance.Execute(t.Context(), target, conformance.Options{}))(t)
	for _, x := range r.Results {
		switch x.Verdict {
		case conformance.Fail:
			t.Errorf("%s: %s\nagain: %s", x.Name, x.Reason, x.Again)
		default:
			t.Logf("%-24s %6.3f s  %s  %s", x.Name, x.Seconds, x.Verdict, x.Reason)
		}
	}
	for _, x := range r.Results {
		for _, m := range x.Measured {
			t.Logf("%s: %v", x.Name, m)
		}
	}
	if n := r.Count(conformance.Skip); n != skips {
		t.Errorf("%d cases were skipped, want %d", n, skips)
	}
	t.Logf("%.1f s; %v", r.Seconds, r.Links)
}

func TestModel(t *testing.T) {
	conform(t, "model:?links=3&frames=8", 5)
	conform(t, "model:?links=2&page=64&replay=512&rx=2048", 5)
}

// TestNetwork has the two ends three hops apart in networks: by routers of network interfaces, and by switches.
func TestNetwork(t *testing.T) {
	line, tree := topologyFile(t, "line", 4), topologyFile(t, "tree", 2, 2)
	conform(t, "net:"+line+"?rung=model", networkSkips)
	conform(t, "net:"+tree+"?rung=model&nodes=n3,n0", networkSkips)
	conform(t, "net:"+line+"?rung=model&virtual=3&contexts=2", networkSkips-1)
	passes(t, "net:"+topologyFile(t, "line", 2)+"?virtual=3&contexts=2", "^contexts/")
	r := passes(t, "net:"+line, "^(ports|waits|policies)/|^paging/[^g]|^network/(lossy|short-cuts|datagrams)")
	check.Equal(t, "link", r.Links, []conformance.Link{{Link: 2, Up: true, Node: "n3", Hops: 3}})
}

// passes runs some cases of the suite on a target, of which none is to be skipped.
func passes(t *testing.T, target, filter string) *conformance.Report {
	t.Helper()
	r := check.Must(conformance.Execute(t.Context(), target, conformance.Options{Filter: filter}))(t)
	if len(r.Results) == 0 {
		t.Errorf("%s: no cases match %s", target, filter)
	}
	for _, x := range r.Results {
		if x.Verdict != conformance.Pass {
			t.Errorf("%s: %s\nagain: %s", x.Name, x.Reason, x.Again)
		}
	}
	return r
}

// networkSkips is how many cases are about a cable, a target that can be reset, or time that stands still.
const networkSkips = 34

func topologyFile(t *testing.T, shape string, size ...int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), shape+".toml")
	file := check.Must(os.Create(name))(t)
	check.Fatal(t, errors.Join(check.Must(topology.Generate(shape, size, 1))(t).Write(file), file.Close()))
	return name
}

// TestNetworkRefused: targets that are no two nodes of a network.
func TestNetworkRefused(t *testing.T) {
	line := topologyFile(t, "star", 2)
	alone, none := filepath.Join(t.TempDir(), "alone.toml"), filepath.Join(t.TempDir(), "none.toml")
	switches := "[[node]]\nname = \"s0\"\nkind = \"switch\"\n[[node]]\nname = \"s1\"\nkind = \"switch\"\n[[cable]]\nfrom = \"s0:1\"\nto = \"s1:1\"\n"
	check.Fatal(t, errors.Join(os.WriteFile(none, []byte(switches), 0o666),
		os.WriteFile(alone, []byte(switches+"[[node]]\nname = \"n0\"\nkind = \"ni\"\n[[cable]]\nfrom = \"n0:1\"\nto = \"s1:2\"\n"), 0o666)))
	for _, c := range []struct{ target, want string }{
		{"net:" + none, "this one has 0 network interfaces"},
		{"net:" + alone + "?rung=model", "this one has 1 network interfaces"},
		{"net:none.toml", "none.toml"},
		{"net:" + line + "?nodes=n0", "nodes=n0: want two of the network"},
		{"net:" + line + "?nodes=n0,n0", "want two of the network"},
		{"net:" + line + "?nodes=n0,s0", `no network interface "s0"`},
		{"net:" + line + "?links=3", "want nodes=NAME,NAME, rung=RUNG"},
		{"net:" + line + "?rung=gates", "gates"},
		{"net:" + line + "?rung=model&virtual=12", "virtual=12: want 1 to 11"},
		{"net:" + line + "?rung=model&contexts=2", "contexts=2 without virtual=BITS"},
	} {
		check.Fails(t, c.target, check.Err(conformance.Execute(t.Context(), c.target, conformance.Options{})), nil, c.want)
	}
}

func TestOneLink(t *testing.T) { conform(t, "model:", 7) }

// TestTCP has the target in a server, which keeps nothing from one connection to the next.
func TestTCP(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- tcp.Serve(ctx, l, func(ctx context.Context) (hostdrv.Transport, error) {
			return hostdrv.Dial(ctx, "model:?links=3&page=256")
		})
	}()
	conform(t, "tcp:"+l.Addr().String(), 7) // it cannot be reset, and its time does not stand still
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRTL(t *testing.T)  { conform(t, "rtl:?links=3&frames=8", 5) }
func TestWide(t *testing.T) { conform(t, "rtl:?links=3&frames=8&width=8", 5) }
