package ni_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
)

// In the whole network interface: a PAGE stops the link's packets, and only them, until RESUME; writes are reported.
func TestTrapWhole(t *testing.T) {
	w := openWhole(t, rtl.Params{Links: 2})
	var events []string
	w.Nodes[0].Host.Received = func(p linkproto.Packet) {
		switch p.Type {
		case linkproto.TypeTrap:
			events = append(events, fmt.Sprintf("%v link %d: % x", p.Type, p.Via, p.Data))
		case linkproto.TypeNotify:
			events = append(events, fmt.Sprintf("%v frame %d bytes %d..%d", p.Type, p.Frame, p.First, p.Last))
		default:
			t.Errorf("unexpected %v", p.Type)
		}
	}
	w.must(w.WriteRegister(0, linkproto.FrameReg(0), 1<<31|1))
	w.must(w.WriteRegister(0, linkproto.FrameReg(1), 1<<31|2))
	w.must(w.WriteRegister(0, linkproto.RegControl, 1))
	send := func(link int, p linkproto.Packet) {
		t.Helper()
		check.Equal(t, "room to send", w.send(link, p), true)
	}
	read := func(addr uint32, n int) string {
		t.Helper()
		return string(w.ask(linkproto.Packet{Type: linkproto.TypeBufRead, Addr: addr, Count: uint16(n)}).Data)
	}
	send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 10, Data: []byte("before")})
	send(1, linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 0x12345678})
	send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 2048, Data: []byte("after")})
	send(2, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1030, Data: []byte("other link")})
	w.must(w.Run(2000))
	want := []string{"NOTIFY frame 0 bytes 10..15", "NOTIFY frame 1 bytes 6..15", "TRAP link 1: 02 06 00 02 00 78 56 34 12"}
	slices.Sort(events)
	check.Equal(t, "events", events, want)
	check.Equal(t, "TRAPPED", linkproto.StatusTrapped.Of(w.register(linkproto.LinkStatusReg(1))), 1)
	check.Equal(t, "written before", read(10, 6), "before")
	check.Equal(t, "written by the other link", read(1030, 10), "other link")
	if read(2048, 5) == "after" {
		t.Error("a packet passed the trap")
	}
	// Told again, as often as the host asks, and nothing moves.
	for n := range 3 {
		events = nil
		a := w.ask(linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1})
		w.must(w.Run(200))
		if a.Status != linkproto.StatusOK || a.Via != 1 || len(events) != 1 || events[0] != want[2] {
			t.Errorf("RETRAP %d: %v via %d, events %q", n, a.Status, a.Via, events)
		}
	}
	// The host grants the frame, then resumes: the held write lands.
	w.must(w.WriteRegister(0, linkproto.FrameReg(2), 1<<31|1))
	events = nil
	for via, want := range map[uint8]linkproto.Status{0: linkproto.StatusBadLink, 2: linkproto.StatusNotTrapped, 3: linkproto.StatusBadLink, 7: linkproto.StatusBadLink} {
		for _, kind := range []linkproto.Type{linkproto.TypeResume, linkproto.TypeRetrap} {
			if a := w.ask(linkproto.Packet{Type: kind, Via: via}); a.Status != want || a.Via != via {
				t.Errorf("%v of link %d: %v via %d, want %v", kind, via, a.Status, a.Via, want)
			}
		}
	}
	w.must(w.Run(500))
	if read(2048, 5) == "after" {
		t.Error("a packet passed the trap after RESUME of another link")
	}
	check.Equal(t, "RESUME", w.ask(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}).Status, linkproto.StatusOK)
	w.must(w.Run(500))
	check.Equal(t, "written after RESUME", read(2048, 5), "after")
	for _, kind := range []linkproto.Type{linkproto.TypeResume, linkproto.TypeRetrap} {
		check.Equal(t, fmt.Sprint(kind, " after RESUME"), w.ask(linkproto.Packet{Type: kind, Via: 1}).Status, linkproto.StatusNotTrapped)
	}
	check.Equal(t, "events after RESUME", events, []string{"NOTIFY frame 2 bytes 0..4"})
}
