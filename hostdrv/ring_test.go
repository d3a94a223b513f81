package hostdrv_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/modelsim"
)

// round is so many NIs with two links in a ring: link 2 of each leads to link 1 of the next.
func round(n int) plan {
	p := plan{nis: n}
	for i := range n {
		p.cables = append(p.cables, modelsim.Cable{A: i, LinkA: 2, B: (i + 1) % n, LinkB: 1})
	}
	return p
}

// around are the options of a node, by its place, in a ring of so many: the other nodes are peers, each by the shorter way.
func around(i, n int) hostdrv.NodeOptions {
	o := hostdrv.NodeOptions{Seed: uint64(i + 1), Relay: map[uint16]int{}}
	for d := 1; d < n; d++ {
		number := uint16((i+d)%n + 1)
		if o.Relay[number] = 2; d > n/2 {
			o.Relay[number] = 1
		}
		o.Peers = append(o.Peers, hostdrv.Peer{Node: number})
	}
	return o
}

// startRound opens NIs in a ring, each behind a cable, and starts a node on each.
func startRound(t *testing.T, w *network, n int) (list []*hostdrv.Node, cables []*drivertest.Cable) {
	t.Helper()
	for i := range n {
		c := &drivertest.Cable{RNG: rand.New(rand.NewPCG(uint64(i), 3))}
		list = append(list, startAround(t, w, i, n, c))
		cables = append(cables, c)
	}
	return list, cables
}

func startAround(t *testing.T, w *network, i, n int, c *drivertest.Cable) *hostdrv.Node {
	t.Helper()
	c.Transport = check.Must(w.Host(i))(t)
	w.opens++
	ni := check.Must(hostdrv.New(t.Context(), c, hostdrv.Options{Seed: 6 + w.opens, NodeID: uint16(i + 1)}))(t)
	t.Cleanup(func() { ni.Close() })
	o := around(i, n)
	o.Seed = w.opens
	return check.Must(hostdrv.Start(t.Context(), ni, o))(t)
}

// TestRelay pages ports between all nodes of a ring of NIs that carry no ROUTEs, at once, and wants every byte right; those who are not neighbours reach each other by the
// programs of those between them.
func TestRelay(t *testing.T) {
	onEach(t, func(t *testing.T, open func(*testing.T, plan) *network) {
		const nodes, perWay = 4, 3
		w := open(t, round(nodes))
		list, _ := startRound(t, w, nodes)
		type port struct {
			send, receive *hostdrv.Window
			want          []byte
		}
		var ways [][]port
		for from := range list {
			for to := range list {
				if from == to {
					continue
				}
				var ports []port
				for range perWay {
					p := port{want: make([]byte, small.PageBytes)}
					p.send, p.receive = drivertest.Channel(t, list[from], list[to], check.Must(list[from].LinkTo(uint16(to+1)))(t), "")
					ports = append(ports, p)
				}
				ways = append(ways, ports)
			}
		}
		var writers sync.WaitGroup
		for way, ports := range ways {
			writers.Go(func() {
				rng := rand.New(rand.NewPCG(12, uint64(way)))
				for range 30 {
					p := &ports[rng.IntN(len(ports))]
					off := rng.IntN(small.PageBytes)
					data := drivertest.Random(rng, p.want[off:off+rng.IntN(small.PageBytes-off)+1])
					if err := p.send.WritePage(t.Context(), data, off); err != nil {
						t.Error(err)
						return
					}
				}
				check.Error(t, ports[0].send.Sync(t.Context()))
			})
		}
		writers.Wait()
		for _, ports := range ways {
			for _, p := range ports {
				shows(t, "a page", list[0], 20*time.Millisecond, p.receive, p.want)
			}
		}
		for i, n := range list {
			if s := n.Stats(); s.Relayed < 30 || s.Malformed+s.Discarded+s.Restarted > 0 {
				t.Errorf("node %d: %+v", i+1, s)
			}
		}
	})
}

// TestRelayCableCut: the host's cable of the node between two others damages symbols, and is cut so long that its link starts again: all arrives.
func TestRelayCableCut(t *testing.T) {
	const nodes = 4
	w := models(t, round(nodes))
	list, cables := startRound(t, w, nodes)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, list[0], list[2], check.Must(list[0].LinkTo(3))(t), "")
	want := make([]byte, small.PageBytes)
	rng := rand.New(rand.NewPCG(4, 4))
	for range 12 {
		cables[1].CutAfter(rng.IntN(2000), 200_000, true, true)
		for range 10 {
			off := rng.IntN(small.PageBytes)
			check.Fatal(t, send.WritePage(ctx, drivertest.Random(rng, want[off:]), off))
		}
		check.Fatal(t, list[0].NI().Sleep(ctx, 2*time.Millisecond))
	}
	check.Fatal(t, send.Sync(ctx))
	shows(t, "the page", list[0], 20*time.Millisecond, receive, want)
}

// TestRelayNewProgram ends the program of the node between two others and starts another, which relays from then on.
func TestRelayNewProgram(t *testing.T) {
	const nodes = 4
	w := models(t, round(nodes))
	list, _ := startRound(t, w, nodes)
	ctx := t.Context()
	send, receive := drivertest.Channel(t, list[0], list[2], check.Must(list[0].LinkTo(3))(t), "")
	for range 10 { // more than a ring holds
		check.Fatal(t, send.WritePage(ctx, make([]byte, small.PageBytes), 0))
	}
	check.Fatal(t, errors.Join(send.Sync(ctx), list[1].Close()))
	check.Fatal(t, send.WritePage(ctx, []byte{2}, 0))
	short, cancel := list[0].WithTimeout(ctx, 200*time.Microsecond)
	defer cancel()
	check.Fails(t, "Sync while nobody relays", send.Sync(short), context.DeadlineExceeded)
	again := startAround(t, w, 1, nodes, &drivertest.Cable{})
	check.Fatal(t, send.Sync(ctx))
	check.Fatal(t, receive.Wait(ctx, func(page []byte) bool { return bytes.Equal(page[:1], []byte{2}) }))
	if again.Stats().Relayed == 0 {
		t.Error("the new program has relayed nothing")
	}
}

// TestRelayMessages: all nodes of a ring send each other messages, long and short, which the programs between them relay.
func TestRelayMessages(t *testing.T) {
	const nodes, each = 4, 5
	w := models(t, round(nodes))
	list, _ := startRound(t, w, nodes)
	length := func(from, to, i int) int { return (from*97 + to*389 + i*1801) % 5000 }
	var running sync.WaitGroup
	for at, node := range list {
		c := check.Must(message.Open(t.Context(), node, 9, message.Options{Seed: uint64(at + 1)}))(t)
		for range (nodes - 1) * each {
			check.Fatal(t, c.PostReceive(message.Receive{Data: make([]byte, 5000)}))
		}
		running.Go(func() {
			for to := range list {
				for i := 0; i < each && to != at; i++ {
					data := bytes.Repeat([]byte{byte(i), byte(at)}, length(at, to, i))
					check.Error(t, c.PostSend(message.Send{Node: uint16(to + 1), Tag: uint32(i), Data: data[:length(at, to, i)]}))
				}
			}
			var got [nodes]int
			for range 2 * (nodes - 1) * each {
				done, err := c.Wait(t.Context())
				if err = errors.Join(err, done.Err); err != nil {
					t.Errorf("node %d: %v", at+1, err)
					return
				}
				if from := int(done.Node) - 1; done.Received {
					n := length(from, at, got[from])
					check.Equal(t, "tag", int(done.Tag), got[from])
					check.Equal(t, "right bytes", bytes.Equal(done.Data, bytes.Repeat([]byte{byte(got[from]), byte(from)}, n)[:n]), true)
					got[from]++
				}
			}
		})
	}
	running.Wait()
	for i, n := range list {
		if n.Stats().Relayed == 0 {
			t.Errorf("node %d has relayed nothing", i+1)
		}
	}
}

// TestRelayDatagrams: frames of kernels go between all nodes of a ring, at once; packets that are for network interfaces alone do not.
func TestRelayDatagrams(t *testing.T) {
	const nodes, each = 4, 60
	w := models(t, round(nodes))
	list, _ := startRound(t, w, nodes)
	ctx := t.Context()
	for i, node := range list { // a ring that is not open yet drops datagrams
		for _, d := range []int{1, nodes - 1} {
			to := (i + d) % nodes
			drivertest.Channel(t, node, list[to], check.Must(node.LinkTo(uint16(to+1)))(t), "")
		}
	}
	var before [nodes]hostdrv.NodeStats
	for i, n := range list {
		before[i] = n.Stats()
	}
	limit, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for at, node := range list {
		d := check.Must(node.Datagrams(ctx, 1))(t)
		running.Go(func() {
			for i := range (nodes - 1) * each {
				to := (at+1+i%(nodes-1))%nodes + 1
				check.Error(t, d.Send(limit, hostdrv.Datagram{Node: uint16(to), EtherType: 0x0800, Data: bytes.Repeat([]byte{byte(at), byte(i)}, node.MaxDatagram()/2)}))
			}
		})
		running.Go(func() {
			var got [nodes]int
			for range (nodes - 1) * each {
				frame, err := d.Next(limit)
				if err != nil {
					t.Errorf("node %d has %v frames: %v", at+1, got, err)
					return
				}
				from := int(frame.Node) - 1
				i := (at+nodes-from-1)%nodes + got[from]*(nodes-1)
				got[from]++
				check.Equal(t, "right bytes", bytes.Equal(frame.Data, bytes.Repeat([]byte{byte(from), byte(i)}, node.MaxDatagram()/2)), true)
			}
		})
	}
	check.Error(t, list[0].NI().Sleep(ctx, 40*time.Millisecond)) // in which all have come; they are taken meanwhile
	cancel()
	running.Wait()
	for i, n := range list {
		if s := n.Stats(); s.Relayed < before[i].Relayed+60 || s.Dropped > before[i].Dropped || s.Undelivered > 0 {
			t.Errorf("node %d: %+v", i+1, s)
		}
	}
	check.Fails(t, "a write", list[0].SendRouted(ctx, 1, 3, linkproto.Packet{Type: linkproto.TypeWrite}), hostdrv.ErrNoRoutes)
}

// TestRelayRefused: rings need a frame for each cable.
func TestRelayRefused(t *testing.T) {
	p := round(2)
	p.frames = 1
	w := models(t, p)
	n := check.Must(hostdrv.New(t.Context(), check.Must(w.Host(0))(t), hostdrv.Options{NodeID: 1}))(t)
	defer func() { check.Error(t, n.Close()) }()
	check.Fails(t, "one frame", check.Err(hostdrv.Start(t.Context(), n, around(0, 2))), hostdrv.ErrRange, "frames")
}
