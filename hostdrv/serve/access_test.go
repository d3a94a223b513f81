package serve_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestAccess has a program use the registers and the receive buffer of another one's NI that has no ports, and holds that it has none.
func TestAccess(t *testing.T) {
	onEach(t, func(t *testing.T, target string) {
		ctx := t.Context()
		n := check.Must(hostdrv.Open(ctx, target, hostdrv.Options{Seed: 3, NodeID: 7}))(t)
		node := check.Must(hostdrv.Start(ctx, n, hostdrv.NodeOptions{NoPorts: true}))(t)
		t.Cleanup(func() { node.Close() })
		l := check.Must(serve.Listen(drivertest.Socket(t), ""))(t)
		check.Background(t, func(ctx context.Context) error {
			if err := serve.Serve(ctx, node, l, serve.Options{}); !errors.Is(err, context.Canceled) {
				return err
			}
			return nil
		})
		other := check.Must(hostdrv.OpenNode(ctx, "unix:"+l.Path(), hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
		t.Cleanup(func() { other.Close() })
		for _, node := range []*hostdrv.Node{node, other} {
			check.Equal(t, "MAGIC", check.Must(node.ReadRegister(ctx, linkproto.RegMagic))(t), linkproto.Magic)
			check.Fatal(t, node.WriteRegister(ctx, linkproto.RegScratch, 0xABCDEF01))
			check.Equal(t, "SCRATCH", check.Must(node.ReadRegister(ctx, linkproto.RegScratch))(t), 0xABCDEF01)
			want, got := bytes.Repeat([]byte("across pages "), 50), make([]byte, 650)
			check.Fatal(t, node.WriteBuffer(ctx, want, 100))
			check.Fatal(t, node.ReadBuffer(ctx, got, 100))
			check.Equal(t, "bytes of the buffer", got, want)
			check.Fatal(t, node.Sync(ctx, 1))
			check.Fails(t, "beyond the buffer", node.ReadBuffer(ctx, got, 1<<20), nil)
			check.Fails(t, "before it", node.ReadBuffer(ctx, got, -1), hostdrv.ErrRange)
			check.Fails(t, "another link", node.Sync(ctx, 3), hostdrv.ErrRange)
			write := linkproto.Packet{Type: linkproto.TypeWrite}
			check.Fails(t, "routed by another link", node.SendRouted(ctx, 3, 1, write), hostdrv.ErrRange)
			check.Fails(t, "routed", node.SendRouted(ctx, 1, 1, write), hostdrv.ErrNoRoutes, "ROUTES")
			check.Fails(t, "a port", check.Err(node.CreatePort(1, hostdrv.Send)), hostdrv.ErrPort, "SendRouted")
			check.Fails(t, "a request", check.Err(node.Accept(ctx)), hostdrv.ErrPort)
			check.Equal(t, "tables", len(node.Tables().Ports), 0)
		}
		check.Equal(t, "has ports", node.HasPorts(), false)

		// A PAGE that comes is dropped, and counted, and what comes behind it goes on.
		check.Fatal(t, n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}))
		check.Fatal(t, n.Send(ctx, 1, linkproto.Packet{Type: linkproto.TypePage, Port: 5}))
		check.Fatal(t, n.Write(ctx, 1, 8, []byte("behind")))
		for got := make([]byte, 6); string(got) != "behind"; {
			check.Fatal(t, other.ReadBuffer(ctx, got, 8))
		}
		check.Equal(t, "dropped", node.Stats().Malformed, 1)
	})
}

// TestAccessWithPorts lets programs read the NI of a node with ports, and change nothing.
func TestAccessWithPorts(t *testing.T) {
	s := begin(t, model, serve.Options{})
	ctx, node := t.Context(), s.open(t)
	check.Equal(t, "MAGIC", check.Must(node.ReadRegister(ctx, linkproto.RegMagic))(t), linkproto.Magic)
	check.Fatal(t, node.ReadBuffer(ctx, make([]byte, 10), 0))
	check.Equal(t, "has ports", s.node.HasPorts(), true)
	for what, err := range map[string]error{
		"a register": node.WriteRegister(ctx, linkproto.RegScratch, 1), "the buffer": node.WriteBuffer(ctx, []byte{1}, 0),
		"a packet": node.SendRouted(ctx, 1, 2, linkproto.Packet{Type: linkproto.TypeWrite}), "the link": node.Sync(ctx, 1),
	} {
		check.Fails(t, what, err, hostdrv.ErrPort, "serves ports")
	}
}
