package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// mixedParams are the parameters of all, but for what carries ROUTEs.
var mixedParams = rtl.Params{Links: 2, Frames: 8, PageBytes: 128, ReplayBytes: 512, RxBytes: 512}

// Network interfaces of the mixed network: two that carry out virtual links, behind each other in front of the uplink of a host, whose other one is in a ring of three that
// carry no ROUTEs.
const (
	first = iota
	second
	uplink
	ringed
	board
	far
	interfaces
)

// mixedCables: link 2 of each leads to link 1 of the next, the ring's last to its first.
var mixedCables = []modelsim.Cable{
	{A: first, LinkA: 2, B: second, LinkB: 1}, {A: second, LinkA: 2, B: uplink, LinkB: 1},
	{A: ringed, LinkA: 2, B: board, LinkB: 1}, {A: board, LinkA: 2, B: far, LinkB: 1}, {A: far, LinkA: 2, B: ringed, LinkB: 1},
}

// Numbers of nodes. The uplink's is that of the first in the ring.
var numbers = [interfaces]uint16{first: 1, second: 2, uplink: 3, ringed: 3, board: 4, far: 5}

// mixed opens the host's cable of one of them.
type mixed func(i int) (hostdrv.Transport, error)

// mixedNodes starts a node on each of the mixed network's hosts, with a virtual link to every other one. The program is the same for all.
func mixedNodes(t *testing.T, w mixed) (nodes []*hostdrv.Node) {
	t.Helper()
	var nis []*hostdrv.NI
	for i := range interfaces {
		n := check.Must(hostdrv.New(t.Context(), check.Must(w(i))(t), hostdrv.Options{Seed: uint64(i + 1), NodeID: numbers[i]}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		nis = append(nis, n)
	}
	routes := func(i int, to map[uint16]uint32) {
		for dest, port := range to {
			check.Fatal(t, nis[i].WriteRegister(t.Context(), linkproto.RouteReg(dest), port))
		}
	}
	routes(first, map[uint16]uint32{2: 2, 3: 2, 4: 2, 5: 2})
	routes(second, map[uint16]uint32{1: 1, 3: 2, 4: 2, 5: 2})
	relay := map[int]map[uint16]int{ringed: {4: 2, 5: 1}, board: {1: 1, 2: 1, 3: 1, 5: 2}, far: {1: 2, 2: 2, 3: 2, 4: 1}}
	for i, n := range nis {
		if i == uplink {
			continue
		}
		o := hostdrv.NodeOptions{Seed: uint64(i + 1), Relay: relay[i]}
		if i == ringed {
			o.Uplink = nis[uplink]
		}
		for to := range uint16(5) {
			if to+1 != numbers[i] {
				o.Peers = append(o.Peers, hostdrv.Peer{Node: to + 1})
			}
		}
		if i >= ringed {
			o.Frames = []int{0, 0, 1, 1, 1, 1}
		}
		nodes = append(nodes, check.Must(hostdrv.Start(t.Context(), n, o))(t))
	}
	return nodes
}

// mixedRTL has the Verilog of each of the three kinds.
func mixedRTL(t *testing.T) mixed {
	t.Helper()
	var cables []ni.Cable
	for _, c := range mixedCables {
		cables = append(cables, ni.Cable{A: c.A, LinkA: c.LinkA, B: c.B, LinkB: c.LinkB})
	}
	rack := check.Must(rtlsim.NewRack(interfaces, cables))(t)
	t.Cleanup(func() { check.Error(t, rack.Close()) })
	routes, carries := mixedParams, mixedParams
	routes.Links, routes.Routes = 1, true
	carries.Links, carries.Routes, carries.Router, carries.Virtual = 1, true, 2, 3
	return func(i int) (hostdrv.Transport, error) {
		p := mixedParams
		switch i {
		case first, second:
			p = carries
		case uplink:
			p = routes
		}
		return rack.Place(t.Context(), i, p)
	}
}

func mixedModels(t *testing.T) mixed {
	t.Helper()
	plain := model.Config{Links: 2, Frames: 8, PageBytes: mixedParams.PageBytes, ReplayBytes: 512, RxBytes: 2048}
	routes, carries := plain, plain
	routes.Links, routes.Routes = 1, true
	carries.Links, carries.Router, carries.Virtual = 1, 2, 3
	w := check.Must(modelsim.New(modelsim.Config{NIs: interfaces, Cables: mixedCables, NI: plain,
		Each: map[int]model.Config{first: carries, second: carries, uplink: routes}}))(t)
	t.Cleanup(func() { w.Close() })
	return func(i int) (hostdrv.Transport, error) { return w.Host(i) }
}

// TestUplink pages ports, and exchanges messages, between all nodes of a network some of whose network interfaces carry out virtual links while others carry no ROUTEs at all.
func TestUplink(t *testing.T) {
	for name, open := range map[string]func(*testing.T) mixed{"model": mixedModels, "rtl": mixedRTL} {
		t.Run(name, func(t *testing.T) {
			nodes := mixedNodes(t, open(t))
			testMixedPorts(t, nodes)
			testMixedMessages(t, nodes)
			if s := nodes[2].Stats(); s.Relayed == 0 || s.Malformed > 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestUplinkConforms runs the conformance suite between a node whose network interface carries out its virtual links and one in the ring, both by their sockets.
func TestUplinkConforms(t *testing.T) {
	nodes := mixedNodes(t, mixedModels(t))
	var sockets []string
	for _, at := range []int{0, 4} {
		l := check.Must(serve.Listen(drivertest.Socket(t), ""))(t)
		check.Background(t, func(ctx context.Context) error {
			if err := serve.Serve(ctx, nodes[at], l, serve.Options{}); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		sockets = append(sockets, "unix:"+l.Path())
	}
	r := check.Must(conformance.Execute(t.Context(), sockets[0], conformance.Options{Peer: sockets[1], Filter: "^(ports|paging|policies)/"}))(t)
	for _, x := range r.Results {
		if x.Verdict == conformance.Fail {
			t.Errorf("%s: %s", x.Name, x.Reason)
		}
	}
	if passed := r.Count(conformance.Pass); passed < 11 {
		t.Errorf("only %d of %d cases passed", passed, len(r.Results))
	}
}

// TestUplinkCloses: when its node has closed, an uplink tells its program nothing any more that is for others; a second node that wants it meanwhile is refused.
func TestUplinkCloses(t *testing.T) {
	w := mixedModels(t)
	open := func(i int) *hostdrv.NI {
		n := check.Must(hostdrv.New(t.Context(), check.Must(w(i))(t), hostdrv.Options{Seed: uint64(i + 1), NodeID: numbers[i]}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		return n
	}
	up := open(uplink)
	control := func() uint32 { return check.Must(up.ReadRegister(t.Context(), linkproto.RegControl))(t) }
	o := hostdrv.NodeOptions{Seed: 1, Relay: map[uint16]int{4: 2}, Peers: []hostdrv.Peer{{Node: 4}}, Uplink: up}
	node := check.Must(hostdrv.Start(t.Context(), open(ringed), o))(t)
	check.Equal(t, "CONTROL of the uplink", control(), linkproto.ControlGateway.In(1))
	another := check.Must(hostdrv.New(t.Context(), check.Must(w(board))(t), hostdrv.Options{Seed: 9, NodeID: numbers[uplink]}))(t)
	t.Cleanup(func() { check.Error(t, another.Close()) })
	_, err := hostdrv.Start(t.Context(), another, o)
	check.Fails(t, "an uplink of two nodes", err, hostdrv.ErrOption, "another node's already")
	check.Equal(t, "CONTROL of the uplink of the first", control(), linkproto.ControlGateway.In(1))
	check.Fatal(t, up.SetNotify(t.Context(), true))
	check.Equal(t, "CONTROL of an uplink that reports writes", control(), linkproto.ControlGateway.In(1)|linkproto.ControlNotify.In(1))
	check.Fatal(t, node.Close())
	check.Equal(t, "CONTROL when its node has closed", control(), linkproto.ControlNotify.In(1))
}

// TestUplinkTellsPeers: a node that closes tells the peers of its contexts, also those to which its uplink leads.
func TestUplinkTellsPeers(t *testing.T) {
	nodes := mixedNodes(t, mixedModels(t))
	const behind = 2 // the uplink
	var contexts []*message.Context
	for i, n := range nodes {
		c := check.Must(message.Open(t.Context(), n, 7, message.Options{Seed: uint64(i + 1)}))(t)
		if i != behind {
			contexts = append(contexts, c)
			check.Fatal(t, c.PostSend(message.Send{Node: numbers[ringed], Data: make([]byte, 20_000)})) // for which there is no descriptor
		}
	}
	clock := nodes[0].NI()
	check.Fatal(t, clock.Sleep(t.Context(), 3*time.Millisecond))
	check.Fatal(t, nodes[behind].Close())
	check.Fatal(t, clock.Sleep(t.Context(), 200*time.Microsecond)) // less than one RETRY
	for i, c := range contexts {
		check.Equal(t, fmt.Sprint("sends that failed, of peer ", i), check.Must(c.Stats())(t).Failed, 1)
	}
}

func testMixedPorts(t *testing.T, nodes []*hostdrv.Node) {
	t.Helper()
	for from := range nodes {
		for to := range nodes {
			if from == to {
				continue
			}
			for k := range 2 { // more than there are frames
				send, receive := drivertest.Channel(t, nodes[from], nodes[to], check.Must(nodes[from].LinkTo(uint16(to+1)))(t), fmt.Sprint(k))
				want := bytes.Repeat([]byte{byte(40*from + 8*to + k + 1)}, mixedParams.PageBytes)
				check.Fatal(t, errors.Join(send.WritePage(t.Context(), want, 0), send.Sync(t.Context())))
				limit, cancel := nodes[to].WithTimeout(t.Context(), 20*time.Millisecond)
				if err := receive.Wait(limit, func(page []byte) bool { return bytes.Equal(page, want) }); err != nil {
					t.Errorf("a page from node %d to %d: %v", from+1, to+1, err)
				}
				cancel()
			}
		}
	}
}

func testMixedMessages(t *testing.T, nodes []*hostdrv.Node) {
	t.Helper()
	const size = 1000
	var contexts []*message.Context
	for i, n := range nodes {
		c := check.Must(message.Open(t.Context(), n, 7, message.Options{Seed: uint64(i + 1)}))(t)
		contexts = append(contexts, c)
		for range len(nodes) - 1 {
			check.Fatal(t, c.PostReceive(message.Receive{Data: make([]byte, size)}))
		}
	}
	for from, c := range contexts {
		for to := range nodes {
			if to != from {
				check.Fatal(t, c.PostSend(message.Send{Node: uint16(to + 1), Tag: uint32(from), Data: bytes.Repeat([]byte{byte(from), byte(to)}, size/2)}))
			}
		}
	}
	for at, c := range contexts {
		for range 2 * (len(nodes) - 1) {
			done := check.Must(c.Wait(t.Context()))(t)
			check.Fatal(t, done.Err)
			if done.Received {
				check.Equal(t, "message", bytes.Equal(done.Data, bytes.Repeat([]byte{byte(done.Node - 1), byte(at)}, size/2)), true)
			}
		}
	}
}
