package cluster_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// nodes starts a node with ports on each of the world's network interfaces, with virtual links to all others.
func nodes(t *testing.T, w *cluster.World, nis []*hostdrv.NI) []*hostdrv.Node {
	t.Helper()
	var list []*hostdrv.Node
	for i, n := range nis {
		o := hostdrv.NodeOptions{Seed: uint64(i + 1)}
		for other := range nis {
			if other != i {
				o.Peers = append(o.Peers, hostdrv.Peer{Node: number(w, other)})
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
func TestVirtualPorts(t *testing.T) { onRungs(t, testVirtualPorts) }

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
