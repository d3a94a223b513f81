package live_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// TestDatagrams has programs exchange frames of kernels, over one switch, of nodes with ports or without. None is damaged, and those of one sender come in order; a
// program that takes none holds up nobody.
func TestDatagrams(t *testing.T) {
	for _, ports := range []bool{false, true} {
		n := begin(t, 3, live.Options{Dir: dir(t), Ports: ports})
		_, targets := n.Targets()
		ctx := t.Context()
		var nodes []*hostdrv.Node
		var ends []*hostdrv.Datagrams
		for _, target := range targets {
			node := check.Must(hostdrv.OpenNode(ctx, target, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
			t.Cleanup(func() { check.Error(t, node.Close()) })
			nodes, ends = append(nodes, node), append(ends, check.Must(node.Datagrams(ctx, 1))(t))
		}
		check.Fails(t, "another program", check.Err(nodes[0].Datagrams(ctx, 1)), hostdrv.ErrLimit)
		check.Fails(t, "by another link", check.Err(nodes[0].Datagrams(ctx, 2)), hostdrv.ErrRange)
		most := nodes[0].MaxDatagram()
		frame := func(serial int) []byte {
			data := make([]byte, 2+serial*37%(most-1))
			binary.LittleEndian.PutUint16(data, uint16(serial))
			return data
		}
		const frames = 100
		check.Background(t, func(context.Context) error {
			for i := range frames {
				for _, to := range []int{1, 2} { // the last one takes none
					if err := ends[0].Send(ctx, hostdrv.Datagram{Node: n.Number(to), EtherType: uint16(i), Data: frame(i)}); err != nil {
						return err
					}
				}
			}
			return nil
		})
		for i := range frames {
			check.Equal(t, "frame", check.Must(ends[1].Next(ctx))(t), hostdrv.Datagram{Node: n.Number(0), EtherType: uint16(i), Data: frame(i)})
		}
		check.Fails(t, "too long", ends[0].Send(ctx, hostdrv.Datagram{Node: n.Number(1), Data: make([]byte, most+1)}), hostdrv.ErrRange)
		for _, end := range ends {
			check.Fatal(t, end.Close())
		}
		var again *hostdrv.Datagrams
		err := hostdrv.ErrLimit
		for errors.Is(err, hostdrv.ErrLimit) { // until the server has noticed
			again, err = nodes[0].Datagrams(ctx, 1)
		}
		check.Fatal(t, err)
		gone, cancel := context.WithCancel(ctx)
		cancel()
		check.Fails(t, "nothing comes", check.Err(again.Next(gone)), context.Canceled)
		check.Fatal(t, nodes[0].Close())
		check.Fails(t, "the program's node is closed", check.Err(again.Next(ctx)), hostdrv.ErrClosed)
	}
}
