package ni_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
)

// In the whole network interface: a PAGE stops the link's packets, and only them, until RESUME; writes are reported.
func TestTrapWhole(t *testing.T) {
	f := check.Must(ni.Open(context.Background(), ni.Config{Params: rtl.Params{Links: 2}, Nodes: 1, Peers: []ni.Socket{{Link: 1}, {Link: 2}}}))(t)
	defer f.Close()
	check := func(err error) {
		t.Helper()
		check.Fatal(t, err)
	}
	var events []string
	f.Nodes[0].Host.Received = func(p linkproto.Packet) {
		switch p.Type {
		case linkproto.TypeTrap:
			events = append(events, fmt.Sprintf("%v link %d: % x", p.Type, p.Via, p.Data))
		case linkproto.TypeNotify:
			events = append(events, fmt.Sprintf("%v frame %d bytes %d..%d", p.Type, p.Frame, p.First, p.Last))
		default:
			t.Errorf("unexpected %v", p.Type)
		}
	}
	check(f.WriteRegister(0, linkproto.FrameReg(0), 1<<31|1))
	check(f.WriteRegister(0, linkproto.FrameReg(1), 1<<31|2))
	check(f.WriteRegister(0, linkproto.RegControl, 1))
	send := func(link int, p linkproto.Packet) {
		t.Helper()
		raw, err := p.Append(nil)
		check(err)
		check(f.Peers[ni.Socket{Link: link}].Link.Send(raw))
	}
	read := func(addr uint32, n int) []byte {
		t.Helper()
		a, err := f.Ask(0, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: addr, Count: uint16(n)})
		check(err)
		return a.Data
	}
	send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 10, Data: []byte("before")})
	send(1, linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 0x12345678})
	send(1, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 2048, Data: []byte("after")})
	send(2, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 1030, Data: []byte("other link")})
	check(f.Run(2000))
	want := []string{"NOTIFY frame 0 bytes 10..15", "NOTIFY frame 1 bytes 6..15", "TRAP link 1: 02 06 00 02 00 78 56 34 12"}
	for _, w := range want {
		found := false
		for _, e := range events {
			found = found || e == w
		}
		if !found {
			t.Errorf("no %q in %q", w, events)
		}
	}
	if len(events) != len(want) {
		t.Errorf("events %q", events)
	}
	if s, err := f.ReadRegister(0, linkproto.LinkStatusReg(1)); err != nil || linkproto.StatusTrapped.Of(s) != 1 {
		t.Errorf("status %#x, %v", s, err)
	}
	if got := read(10, 6); string(got) != "before" {
		t.Errorf("before: %q", got)
	}
	if got := read(1030, 10); string(got) != "other link" {
		t.Errorf("other link: %q", got)
	}
	if got := read(2048, 5); bytes.Equal(got, []byte("after")) {
		t.Error("a packet passed the trap")
	}
	// Told again, as often as the host asks, and nothing moves.
	for n := range 3 {
		events = nil
		a, err := f.Ask(0, linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1})
		check(errors.Join(err, f.Run(200)))
		if a.Status != linkproto.StatusOK || a.Via != 1 || len(events) != 1 || events[0] != want[2] {
			t.Errorf("RETRAP %d: %v via %d, events %q", n, a.Status, a.Via, events)
		}
	}
	// The host grants the frame, then resumes: the held write lands.
	check(f.WriteRegister(0, linkproto.FrameReg(2), 1<<31|1))
	events = nil
	for via, want := range map[uint8]linkproto.Status{0: linkproto.StatusBadLink, 2: linkproto.StatusNotTrapped, 3: linkproto.StatusBadLink, 7: linkproto.StatusBadLink} {
		for _, kind := range []linkproto.Type{linkproto.TypeResume, linkproto.TypeRetrap} {
			if a, err := f.Ask(0, linkproto.Packet{Type: kind, Via: via}); err != nil || a.Status != want || a.Via != via {
				t.Errorf("%v of link %d: %v via %d, %v, want %v", kind, via, a.Status, a.Via, err, want)
			}
		}
	}
	check(f.Run(500))
	if got := read(2048, 5); bytes.Equal(got, []byte("after")) {
		t.Error("a packet passed the trap after RESUME of another link")
	}
	a, err := f.Ask(0, linkproto.Packet{Type: linkproto.TypeResume, Via: 1})
	check(err)
	if a.Status != linkproto.StatusOK {
		t.Errorf("RESUME: %v", a.Status)
	}
	check(f.Run(500))
	if got := read(2048, 5); !bytes.Equal(got, []byte("after")) {
		t.Errorf("after RESUME: %q", got)
	}
	if a, err = f.Ask(0, linkproto.Packet{Type: linkproto.TypeResume, Via: 1}); err != nil || a.Status != linkproto.StatusNotTrapped {
		t.Errorf("second RESUME: %v, %v", a.Status, err)
	}
	if a, err = f.Ask(0, linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1}); err != nil || a.Status != linkproto.StatusNotTrapped {
		t.Errorf("RETRAP after RESUME: %v, %v", a.Status, err)
	}
	if len(events) != 1 || events[0] != "NOTIFY frame 2 bytes 0..4" {
		t.Errorf("events %q", events)
	}
}
