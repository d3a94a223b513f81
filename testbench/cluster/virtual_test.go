package cluster_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// nodes starts a node with ports on each of the world's network interfaces, with virtual links to all others.
func nodes(t *testing.T, w *cluster.World, nis []*hostdrv.NI) []*hostdrv.Node {
	t.Helper()
	var list []*hostdrv.Node
	for i, n := range nis {
		o := hostdrv.NodeOptions{Seed: uint64(i + 1), Relay: map[uint16]int{}} // which these do not need: a program for those that do runs unchanged
		for other := range nis {
			if other != i {
				o.Peers = append(o.Peers, hostdrv.Peer{Node: number(w, other)})
				o.Relay[number(w, other)] = 1
			}
		}
		list = append(list, check.Must(hostdrv.Start(t.Context(), n, o))(t))
	}
	return list
}

// number is the number of the node of a network interface.
func number(w *cluster.World, i int) uint16 {
	return w.Cluster.Topology.Nodes[w.Cluster.NIs[i].Node].ID
}

// TestVirtualPorts pages many ports between all nodes of a network at once, over virtual links that the drivers carry out, and wants every byte right.
func TestVirtualPorts(t *testing.T) {
	onRungs(t, testVirtualPorts)
	for _, rung := range []string{offloading, inRTL, mixed} {
		t.Run(rung, func(t *testing.T) { testVirtualPorts(t, rung) })
	}
}

func testVirtualPorts(t *testing.T, rung string) {
	w, nis := programs(t, 3, rung)
	list := nodes(t, w, nis)
	const perWay = 12 // more than there are frames
	page := nis[0].Identity().PageBytes
	type port struct {
		send, receive *hostdrv.Window
		want          []byte
	}
	var writers sync.WaitGroup
	var all [][]port
	for from := range list {
		for to := range list {
			if from == to {
				continue
			}
			var ports []port
			for range perWay {
				p := port{want: make([]byte, page)}
				p.send, p.receive = drivertest.Channel(t, list[from], list[to], check.Must(list[from].LinkTo(number(w, to)))(t), "")
				ports = append(ports, p)
			}
			all = append(all, ports)
		}
	}
	for way, ports := range all {
		writers.Go(func() {
			rng := testbench.NewRand(uint64(way))
			for range 60 {
				p := &ports[rng.IntN(len(ports))]
				off := rng.IntN(page)
				data := rng.Bytes(1 + rng.IntN(page-off))
				copy(p.want[off:], data)
				if err := p.send.WritePage(t.Context(), data, off); err != nil {
					t.Error(err)
					return
				}
			}
			check.Error(t, ports[0].send.Sync(t.Context()))
		})
	}
	writers.Wait()
	for way, ports := range all {
		for i, p := range ports {
			ctx, cancel := list[0].WithTimeout(t.Context(), 10*time.Millisecond)
			var have []byte
			if err := p.receive.Wait(ctx, func(page []byte) bool { have = bytes.Clone(page); return bytes.Equal(page, p.want) }); err != nil {
				t.Errorf("way %d port %d: %v: holds % x, want % x", way, i, err, have[:16], p.want[:16])
			}
			cancel()
		}
	}
	for i, n := range list {
		if s := n.Stats(); s.PageOuts < 20 || s.PageIns < 20 || s.Malformed+s.Discarded+s.Restarted > 0 {
			t.Errorf("node %d: %+v", i, s)
		}
	}
}

// TestVirtualLinkOutlivesCut pulls a node's cable while a port is written, and puts it back: all arrives without a word to the writer, unless it takes so long that
// the virtual link gives up, which is reported, and what is written then arrives.
func TestVirtualLinkOutlivesCut(t *testing.T) {
	for _, c := range []struct {
		name    string
		rung    string
		outage  int // clocks
		reports bool
	}{{"short", cluster.Model, 200_000, false}, {"long", cluster.Model, 6_000_000, true},
		{"short, " + offloading, offloading, 200_000, false}, {"long, " + offloading, offloading, 6_000_000, true}} {
		t.Run(c.name, func(t *testing.T) {
			w, nis := programs(t, 3, c.rung)
			list := nodes(t, w, nis)
			ctx := t.Context()
			send, receive := drivertest.Channel(t, list[0], list[2], check.Must(list[0].LinkTo(number(w, 2)))(t), "")
			check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{1}, 0), send.Sync(ctx)))
			check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(2, true) }))
			check.Fatal(t, send.WritePage(ctx, []byte{2, 3}, 0))
			check.Fatal(t, list[0].NI().Sleep(ctx, time.Duration(float64(c.outage)/125e6*1e9)))
			check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(2, false) }))
			err := send.Sync(ctx)
			var loss *hostdrv.LossError
			if errors.As(err, &loss) != c.reports || !c.reports && err != nil {
				t.Fatalf("Sync after the outage: %v", err)
			}
			if c.reports {
				check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{4, 5}, 0), send.Sync(ctx)))
			}
			want := []byte{2, 3}
			if c.reports {
				want = []byte{4, 5}
			}
			limit, cancel := list[2].WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			check.Fatal(t, receive.Wait(limit, func(page []byte) bool { return bytes.Equal(page[:2], want) }))
		})
	}
}

// TestVirtualLinksFlap pulls one node's cable after the other, again and again, shortly, while pages are written over virtual links of network interfaces. What the
// network has lost comes again: nothing is reported, and the pages are right.
func TestVirtualLinksFlap(t *testing.T) {
	for _, rung := range []string{offloading, mixed} {
		t.Run(rung, func(t *testing.T) {
			w, nis := programs(t, 3, rung)
			list := nodes(t, w, nis)
			ctx := t.Context()
			rng := testbench.NewRand(testbench.TestSeed(t))
			type pair struct {
				send, receive *hostdrv.Window
				want          []byte
			}
			var pairs []pair
			for from := range list {
				to := (from + 1) % len(list)
				p := pair{want: make([]byte, nis[0].Identity().PageBytes)}
				p.send, p.receive = drivertest.Channel(t, list[from], list[to], check.Must(list[from].LinkTo(number(w, to)))(t), "")
				pairs = append(pairs, p)
			}
			for round := range 8 {
				check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(round%3, round%2 == 0) }))
				for _, p := range pairs {
					off := rng.IntN(len(p.want) - 100)
					copy(p.want[off:], rng.Bytes(100))
					check.Fatal(t, p.send.WritePage(ctx, p.want[off:][:100], off))
				}
				check.Fatal(t, list[0].NI().Sleep(ctx, time.Duration(rng.IntN(400))*time.Microsecond))
				check.Fatal(t, w.Between(func() error { return w.Cluster.Cut(round%3, false) }))
			}
			var counts [2]uint32
			for i := range counts {
				counts[i] = check.Must(nis[0].ReadRegister(ctx, linkproto.VLRegCounts.Reg(1+i)))(t)
			}
			if linkproto.VLCountsReplays.Of(counts[0])+linkproto.VLCountsReplays.Of(counts[1]) == 0 {
				t.Error("nothing was sent again: no cut has hit a packet")
			}
			for i, p := range pairs {
				check.Error(t, p.send.Sync(ctx))
				limit, cancel := list[0].WithTimeout(ctx, 20*time.Millisecond)
				if err := p.receive.Wait(limit, func(page []byte) bool { return bytes.Equal(page, p.want) }); err != nil {
					t.Errorf("page %d is wrong: %v", i, err)
				}
				cancel()
			}
		})
	}
}

// TestVirtualLinkNewProgram ends the program of one node and starts another: the other node's ports end, and new ones can be opened.
func TestVirtualLinkNewProgram(t *testing.T) {
	for _, rung := range []string{cluster.Model, offloading} {
		t.Run(rung, func(t *testing.T) { testVirtualLinkNewProgram(t, rung) })
	}
}

func testVirtualLinkNewProgram(t *testing.T, rung string) {
	w, nis := programs(t, 3, rung)
	list := nodes(t, w, nis)
	ctx := t.Context()
	link := check.Must(list[0].LinkTo(number(w, 1)))(t)
	send, _ := drivertest.Channel(t, list[0], list[1], link, "")
	check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{1}, 0), send.Sync(ctx)))
	check.Fatal(t, list[1].Close())
	again := check.Must(hostdrv.New(ctx, check.Must(w.Host(1))(t), hostdrv.Options{Seed: 99}))(t)
	t.Cleanup(func() { check.Error(t, again.Close()) })
	nis[1] = again
	other := check.Must(hostdrv.Start(ctx, again, hostdrv.NodeOptions{Seed: 98, Peers: []hostdrv.Peer{{Node: number(w, 0)}}}))(t)
	ended := func() bool {
		select {
		case <-send.Port().Done():
			return true
		default:
			return false
		}
	}
	for n := 0; !ended(); n++ {
		if check.Fatal(t, list[0].NI().Sleep(ctx, time.Millisecond)); n > 100 {
			t.Fatal("the port of the node that is gone has not ended")
		}
	}
	send, receive := drivertest.Channel(t, list[0], other, link, "")
	check.Fatal(t, errors.Join(send.WritePage(ctx, []byte{7}, 0), send.Sync(ctx)))
	check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return page[0] == 7 }))
}

// TestVirtualPeers refuses virtual links that cannot be.
func TestVirtualPeers(t *testing.T) {
	w, nis := programs(t, 2, cluster.Model)
	for _, c := range []struct {
		peers []hostdrv.Peer
		is    error
		text  string
	}{
		{[]hostdrv.Peer{{Node: number(w, 0)}}, hostdrv.ErrRange, "node 1 from node 1"},
		{[]hostdrv.Peer{{Node: 0}}, hostdrv.ErrRange, "to node 0"},
		{[]hostdrv.Peer{{Node: 5000}}, hostdrv.ErrRange, "to node 5000"},
		{[]hostdrv.Peer{{Node: 2}, {Node: 2}}, hostdrv.ErrOption, "two virtual links"},
		{[]hostdrv.Peer{{Node: 2, Link: 3}}, hostdrv.ErrRange, "no link 3"},
	} {
		check.Fails(t, c.text, check.Err(hostdrv.Start(t.Context(), nis[0], hostdrv.NodeOptions{Peers: c.peers})), c.is, c.text)
	}
	node := check.Must(hostdrv.Start(t.Context(), nis[0], hostdrv.NodeOptions{Peers: []hostdrv.Peer{{Node: 2}, {Node: 2, Channel: 7}}}))(t)
	check.Equal(t, "links", fmt.Sprint(node.Links()), "[{1 0} {2 2} {3 2}]")
	check.Fails(t, "a link that there is not", check.Err(node.CreatePort(4, hostdrv.Send)), hostdrv.ErrRange, "no link 4, there are 3")
	check.Fails(t, "a node", check.Err(node.LinkTo(9)), hostdrv.ErrRange, "no virtual link leads to node 9")
}
