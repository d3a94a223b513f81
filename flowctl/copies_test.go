package flowctl_test

import (
	"errors"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// pass has an end's ROUTE made in the cable's memory, and gives it to the other end. It wants it to lie there.
func pass(t *testing.T, cable *flowctl.Endpoint, from, to *flowctl.VirtualLink) (route []byte, ok bool) {
	t.Helper()
	room, free := cable.Room(linkproto.RouteExtra + smallVirtual.MaxPacket)
	if !free {
		t.Fatal("the cable has no room")
	}
	if route, ok = from.Emit(room); !ok {
		return nil, false
	}
	if &route[0] != &room[:1][0] {
		t.Fatal("a ROUTE is not made where there is room for it")
	}
	check.Fatal(t, cable.Send(route))
	var r linkproto.Route
	check.Fatal(t, r.Open(route))
	to.Feed(&r, route)
	return route, true
}

// TestCopiedOnce follows a packet by the places of its bytes: from where they were posted they are copied into the memory of the cable alone, each time that they go, and who
// takes packets as they come gets them out of what came.
func TestCopiedOnce(t *testing.T) {
	cable := check.Must(flowctl.New(flowctl.Config{MaxPacket: linkproto.MaxPacket(256), ReplayBytes: 1 << 12, Epoch: 1}))(t)
	life := linkproto.Life(0)
	var ends [2]*flowctl.VirtualLink
	for i := range ends {
		c := smallVirtual
		c.Node, c.Peer, c.Number, c.NewLife = uint16(1+i), uint16(2-i), 1, func() linkproto.Life { life++; return life }
		ends[i] = check.Must(flowctl.NewVirtual(c))(t)
	}
	for range 3 {
		pass(t, cable, ends[0], ends[1])
		pass(t, cable, ends[1], ends[0])
	}
	var at *byte
	var came string
	ends[1].Direct = func(packet []byte) bool {
		at, came = &packet[0], string(packet[linkproto.HeaderBytes:])
		return true
	}
	data := []byte("posted")
	head := []byte{byte(linkproto.TypeMessage), byte(2 + len(data)), 0, 'a', 'b'}
	check.Fatal(t, ends[0].SendFrom(head, data))
	check.Equal(t, "bytes queued", ends[0].QueuedBytes(), len(head)+len(data))
	copy(head, "was copied")
	data[0] = 'P'
	route, _ := pass(t, cable, ends[0], ends[1])
	if check.Equal(t, "what came", came, "abPosted"); at != &route[linkproto.RouteFields] {
		t.Error("it does not come from where the cable has it")
	}
	data[1] = 'O'
	check.Equal(t, "what the cable has", string(route[linkproto.RouteFields+len(head):len(route)-linkproto.CRCBytes]), "Posted")
	ends[0].Tick(smallVirtual.Retry)
	again, _ := pass(t, cable, ends[0], ends[1])
	check.Equal(t, "what goes again", string(again[linkproto.RouteFields+len(head):len(again)-linkproto.CRCBytes]), "POsted")
	pass(t, cable, ends[1], ends[0])
	packets, _ := ends[0].Freed()
	check.Equal(t, "acknowledged", packets, 1)
	check.Equal(t, "bytes queued", ends[0].QueuedBytes(), 0)

	for head, data = []byte{byte(linkproto.TypeMessage), 60, 0}, make([]byte, 60); ; {
		before := ends[0].QueuedBytes()
		if err := ends[0].SendFrom(head, data); err != nil {
			if !errors.Is(err, flowctl.ErrFull) || before+63 <= smallVirtual.ReplayBytes {
				t.Errorf("%v with %d bytes queued", err, before)
			}
			break
		}
	}
	ends[0].Restart()
	check.Equal(t, "bytes queued after a restart", ends[0].QueuedBytes(), 0)
	check.Fails(t, "a packet whose length is wrong", ends[0].SendFrom(head, data[:59]), flowctl.ErrLost)
	ends[0].Lost()
	check.Fails(t, "a packet whose length is wrong", ends[0].SendFrom(head, data[:59]), flowctl.ErrLength, "disagrees with 62 bytes")
}
