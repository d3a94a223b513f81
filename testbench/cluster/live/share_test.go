package live_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster/live"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestShares has a program send frames of kernels as fast as they go, beside another that writes remotely, or to ports of three nodes, as fast as that goes, from the same
// network interface. Neither starves.
func TestShares(t *testing.T) {
	for _, ports := range []bool{false, true} {
		n := begin(t, 4, live.Options{Dir: dir(t), Ports: ports})
		_, targets := n.Targets()
		ctx := t.Context()
		open := func(i int) *hostdrv.Node {
			node := check.Must(hostdrv.OpenNode(ctx, targets[i], hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
			t.Cleanup(func() { check.Error(t, node.Close()) })
			return node
		}
		kernel, peer, program := open(0), open(1), open(0)
		from, to := check.Must(kernel.Datagrams(ctx, 1))(t), check.Must(peer.Datagrams(ctx, 1))(t)
		const size = 1000
		var writes, frames atomic.Uint64
		write := func(ctx context.Context) error {
			return program.SendRouted(ctx, 1, n.Number(1), linkproto.Packet{Type: linkproto.TypeWrite, Addr: 4, Data: make([]byte, size)})
		}
		again := func(count *atomic.Uint64, do func(context.Context) error) {
			check.Background(t, func(ctx context.Context) error {
				for ctx.Err() == nil {
					if err := do(ctx); err != nil && ctx.Err() == nil {
						return err
					}
					count.Add(1)
				}
				return nil
			})
		}
		for peer := 1; peer < 4; peer++ {
			if !ports {
				again(&writes, write)
				continue
			}
			link := check.Must(program.LinkTo(n.Number(peer)))(t)
			port, _ := drivertest.Channel(t, program, open(peer), link, "share")
			serial := byte(0)
			again(&writes, func(ctx context.Context) error {
				serial++
				data := make([]byte, size)
				data[0] = serial
				return port.WritePage(ctx, data, 0)
			})
		}
		again(&frames, func(ctx context.Context) error {
			return from.Send(ctx, hostdrv.Datagram{Node: n.Number(1), EtherType: 0x0800, Data: make([]byte, size)})
		})
		limit, cancel := peer.WithTimeout(ctx, 40*time.Millisecond) // of the network's time, in which a link carries 4,000 of either
		begun, came := uint64(0), uint64(0)
		for came < 200 || writes.Load() < begun+100 {
			if _, err := to.Next(limit); err != nil {
				t.Fatalf("ports %v: %d frames have come, %d writes were made: %v", ports, came, writes.Load(), err)
			}
			if came++; came == 100 { // both have begun, and queues are full
				begun = writes.Load()
			}
		}
		cancel()
		made := writes.Load() - begun
		t.Logf("ports %v: %d writes and %d frames of %d bytes", ports, made, came-100, size)
		if ports && (made > 4*(came-100) || came-100 > 4*made) { // of ports one packet goes, then one datagram
			t.Errorf("ports %v: %d writes and %d frames: want as many, about", ports, made, came-100)
		}
	}
}
