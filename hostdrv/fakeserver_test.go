package hostdrv_test

import (
	"encoding/json"
	"net"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// openFakeServer opens the node of a server that greets, and of which heard gets what else the program says, one after the other, and says what it wants.
func openFakeServer(t *testing.T, heard func(m sharing.Message, say func(sharing.Message))) *hostdrv.Node {
	t.Helper()
	identity := check.Must(json.Marshal(drive(t, models(t, loop), 0, &drivertest.Cable{}).Identity()))(t)
	welcome := check.Must(json.Marshal(sharing.Welcome{Identity: identity, Calls: 8, Links: []sharing.Link{{Link: 1}}}))(t)
	path := drivertest.Socket(t)
	l := check.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))(t)
	ended := check.Go(func() error {
		return try.Run(func() {
			conn := try.Get(l.AcceptUnix())
			defer conn.Close()
			say := func(m sharing.Message) { try.Get(conn.Write(m.Append(nil))) }
			for bytes := make([]byte, sharing.MaxMessage); ; {
				n, err := conn.Read(bytes)
				if n == 0 {
					return // the program has ended
				}
				if m := try.Get(sharing.Decode(try.Get(bytes[:n], err))); m.Op == sharing.OpHello {
					say(sharing.Message{Op: sharing.OpDone, Call: m.Call, Data: welcome})
				} else {
					heard(m, say)
				}
			}
		})
	})
	node := check.Must(hostdrv.OpenNode(t.Context(), "unix:"+path, hostdrv.Options{}, hostdrv.NodeOptions{}))(t)
	t.Cleanup(func() {
		check.Error(t, node.Close())
		check.Error(t, <-ended)
		check.Error(t, l.Close())
	})
	return node
}

func failed(t *testing.T, why error) []byte {
	t.Helper()
	return check.Must(json.Marshal(sharing.Describe(why)))(t)
}
