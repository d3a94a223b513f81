package hostdrv_test

import (
	"context"
	"encoding/json"
	"net"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// TestBarrierCallsAreSure: a call about a barrier that the server has carried out when its context ends has succeeded. Else a group would stay open, and a member wait for a
// phase that it has left.
func TestBarrierCallsAreSure(t *testing.T) {
	identity := drive(t, models(t, loop), 0, &drivertest.Cable{}).Identity()
	path := drivertest.Socket(t)
	l := check.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))(t)
	defer l.Close()
	type fate struct {
		cancel context.CancelFunc
		answer sharing.Message // to the call, once the program has cancelled it
	}
	fates := make(chan fate, 1) // of the next call
	ended := check.Go(func() error {
		return try.Run(func() {
			conn := try.Get(l.AcceptUnix())
			defer conn.Close()
			var call uint32
			var f fate
			for bytes := make([]byte, sharing.MaxMessage); ; {
				n, err := conn.Read(bytes)
				if n == 0 {
					return // the program has ended
				}
				m, a := try.Get(sharing.Decode(try.Get(bytes[:n], err))), sharing.Message{Op: sharing.OpDone}
				switch m.Op {
				case sharing.OpHello:
					a.Data = try.Get(json.Marshal(sharing.Welcome{Identity: try.Get(json.Marshal(identity)), Calls: 8}))
					call = m.Call
				case sharing.OpCancel:
					a = f.answer
				default:
					f, call = <-fates, m.Call
					f.cancel()
					continue
				}
				a.Call = call
				try.Get(conn.Write(a.Append(nil)))
			}
		})
	})
	node := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	during := func(answer sharing.Message, do func(context.Context) error) error {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		fates <- fate{cancel, answer}
		return do(ctx)
	}
	done := sharing.Message{Op: sharing.OpDone}
	var group *hostdrv.Barrier
	check.Fatal(t, during(done, func(ctx context.Context) (err error) {
		group, err = node.OpenBarrier(ctx, hostdrv.BarrierGroup{Ports: 3})
		return err
	}))
	check.Error(t, during(done, group.Enter))
	check.Error(t, during(done, group.Wait))
	failed := sharing.Message{Op: sharing.OpFailed, Data: check.Must(json.Marshal(sharing.Describe(context.Canceled)))(t)}
	check.Fails(t, "a wait that the server has cancelled", during(failed, group.Wait), context.Canceled, "waiting for the other members")
	check.Fatal(t, node.Close())
	check.Fatal(t, <-ended)
}
