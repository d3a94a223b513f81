package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	ni "github.com/stafflink/lmmc/testbench/model"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// networked is the session of the first of two nodes that are joined by a virtual link over a router, and page ports and exchange messages by it.
func networked(t *testing.T, c ni.Config) *record.Session {
	t.Helper()
	between := c
	between.Routes, between.Router, between.Virtual = false, 2, 0
	w := check.Must(modelsim.New(modelsim.Config{NIs: 3, NI: c, Each: map[int]ni.Config{2: between}, Cables: []modelsim.Cable{{LinkA: 1, B: 2, LinkB: 1}, {A: 1, LinkA: 1, B: 2, LinkB: 2}}}))(t)
	t.Cleanup(func() { check.Error(t, w.Close()) })
	router := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(2))(t), hostdrv.Options{Seed: 3, NodeID: 3}))(t)
	t.Cleanup(func() { check.Error(t, router.Close()) })
	check.Fatal(t, errors.Join(router.WriteRegister(t.Context(), linkproto.RouteReg(1), 1), router.WriteRegister(t.Context(), linkproto.RouteReg(2), 2)))
	var file bytes.Buffer
	recorder := record.New(&file)
	var nodes [2]*hostdrv.Node
	var contexts [2]*message.Context
	for i := range nodes {
		o := hostdrv.Options{Seed: uint64(i + 1), NodeID: uint16(i + 1)}
		if i == 0 {
			o = recorder.Options(o)
		}
		n := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(i))(t), o))(t)
		t.Cleanup(func() { n.Close() })
		if c.Router > 0 {
			check.Fatal(t, n.WriteRegister(t.Context(), linkproto.RouteReg(uint16(2-i)), 1))
		}
		nodes[i] = check.Must(hostdrv.Start(t.Context(), n, hostdrv.NodeOptions{Seed: uint64(i + 1), Peers: []hostdrv.Peer{{Node: uint16(2 - i)}}, Frames: granted(c)}))(t)
		contexts[i] = check.Must(message.Open(t.Context(), nodes[i], 1, message.Options{Seed: uint64(i + 1)}))(t)
	}
	link := check.Must(nodes[0].LinkTo(2))(t)
	for k := range 6 { // more than there are frames
		for from := range nodes {
			send, receive := drivertest.Channel(t, nodes[from], nodes[1-from], link, fmt.Sprint(k, from))
			want := bytes.Repeat([]byte{byte(8*from + k + 1)}, c.PageBytes)
			check.Fatal(t, errors.Join(send.WritePage(t.Context(), want, 0), send.Sync(t.Context())))
			limit, cancel := nodes[0].WithTimeout(t.Context(), 20*time.Millisecond)
			check.Fatal(t, receive.Wait(limit, func(page []byte) bool { return bytes.Equal(page, want) }))
			cancel()
			check.Fatal(t, contexts[1-from].PostReceive(message.Receive{Data: make([]byte, 700)}))
			check.Fatal(t, contexts[from].PostSend(message.Send{Node: uint16(2 - from), Data: make([]byte, 700)}))
			check.Fatal(t, check.Must(contexts[1-from].Wait(t.Context()))(t).Err)
		}
	}
	check.Fatal(t, errors.Join(nodes[0].Close(), recorder.Close()))
	return check.Must(record.Read(&file))(t)[0]
}

// granted are half of them for the virtual link, behind the cable unless that leads to a router.
func granted(c ni.Config) []int {
	if c.Router > 0 {
		return []int{4}
	}
	return []int{0, 4}
}

// TestVirtualLinks replays a session with a virtual link that the driver carried out, finds a bit that is wrong in it, and refuses one of a link of the network interface.
func TestVirtualLinks(t *testing.T) {
	c := ni.Config{Links: 1, Routes: true, Frames: 8, PageBytes: 128, ReplayBytes: 512, RxBytes: 2048}
	s := networked(t, c)
	const target = "model:?links=1&frames=8&page=128&replay=512&rx=2048&routes=1"
	run := func(s *record.Session, target hostdrv.Transport) (replay.Result, error) {
		defer target.Close()
		return replay.Run(t.Context(), s, target)
	}
	r := check.Must(run(s, check.Must(hostdrv.Dial(t.Context(), target))(t)))(t)
	if r.Divergence != nil || r.Compared < 50 {
		t.Errorf("%d answers compared: %+v", r.Compared, r.Divergence)
	}
	c.Routes, c.Router, c.Virtual = false, 1, 3
	check.Fails(t, "a link of the network interface", check.Err(run(networked(t, c), check.Must(hostdrv.Dial(t.Context(), target))(t))), replay.ErrVirtual, "lmmc trace")
}
