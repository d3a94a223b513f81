package vboard_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/drivertest"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// TestRing wires four boards with the parameters of hx8k/two-link in a ring, each with a host of its own by USB/IP, and pages ports between those that are opposite:
// the programs of the two between them relay.
func TestRing(t *testing.T) {
	const boards = 4
	var cables []ni.Cable
	for i := range boards {
		cables = append(cables, ni.Cable{A: i, LinkA: 2, B: (i + 1) % boards, LinkB: 1})
	}
	rack := check.Must(rtlsim.NewRack(boards, cables))(t)
	t.Cleanup(func() { // after the boards
		check.Error(t, rack.Close())
	})
	var configs []virtual.Config
	for i := range boards {
		fpga := check.Must(rack.Dial(t.Context(), i, "rtl:?links=2&frames=4&page=512&replay=1024&rx=1024"))(t)
		configs = append(configs, virtual.Config{Kind: "hx8k", Serial: fmt.Sprint("V", i+1), FPGA: fpga})
	}
	address := served(t, configs...)
	var nodes []*hostdrv.Node
	for i := range boards {
		number := func(d int) uint16 { return uint16((i+d)%boards + 1) }
		n := check.Must(hostdrv.OpenNode(t.Context(), fmt.Sprintf("vboard://%s/1-%d", address, i+1), hostdrv.Options{Hash: rtl.Hash(), NodeID: number(0)}, hostdrv.NodeOptions{
			Peers: []hostdrv.Peer{{Node: number(2)}}, Frames: []int{0, 0, 2}, // two more are the rings
			Relay: map[uint16]int{number(1): 2, number(2): 2, number(3): 1},
		}))(t)
		t.Cleanup(func() { check.Error(t, n.Close()) })
		nodes = append(nodes, n)
	}
	for i, from := range nodes {
		to := nodes[(i+2)%boards]
		link := check.Must(from.LinkTo(uint16((i+2)%boards + 1)))(t)
		for k := range 3 { // more than there are frames
			send, receive := drivertest.Channel(t, from, to, link, fmt.Sprint(k))
			want := bytes.Repeat([]byte{byte(16*i + k + 1)}, 512)
			check.Fatal(t, send.WritePage(t.Context(), want, 0))
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			check.Error(t, receive.Wait(ctx, func(page []byte) bool { return bytes.Equal(page, want) }))
			cancel()
		}
	}
	for i, n := range nodes {
		if s := n.Stats(); s.Relayed == 0 || s.Malformed > 0 {
			t.Errorf("board %d: %+v", i+1, s)
		}
	}
}
