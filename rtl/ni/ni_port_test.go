package ni_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
	"github.com/stafflink/lmmc/verilator"
)

// openPort compiles a module with a link layer in it, with a PHY that is silent and takes a symbol in each clock. What goes wrong in the
// design ends no test.
func openPort(t *testing.T, top string, p params, ports any) *testbench.Bench {
	t.Helper()
	b := check.Must(testbench.Open(t.Context(), moduletest.Design(top, p), testbench.Config{Seed: testbench.TestSeed(t)}))(t)
	t.Cleanup(func() { b.Close() })
	b.Bind(ports)
	for _, port := range []string{"tick", "tx_ready"} {
		check.Fatal(t, b.Model().Poke(port, 1))
	}
	check.Fatal(t, b.Reset("rst", 3))
	return b
}

// What the unit behind an endpoint reports is in the port's status and events; the host's port has no LOST.
func TestEndpoint(t *testing.T) {
	for port, lost := range map[string]uint32{"0": 0, "1": 1} {
		var p struct {
			Refused, Trapped, EvDenied, EvBad *bool   `port:"*"`
			Status, Events                    *uint16 `port:"*"`
		}
		b := openPort(t, "ni_endpoint", params{"PORT": port}, &p)
		b.Step(16) // what the reset left in registers of data is gone
		for pulse, counter := range map[*bool]linkproto.Counter{p.EvDenied: linkproto.CntDenied, p.EvBad: linkproto.CntBadPacket, p.Refused: linkproto.CntNoSpace} {
			for _, *pulse = range []bool{true, false} {
				settle(t, b)
				check.Equal(t, fmt.Sprintf("port %s: events", port), *p.Events, uint16(count(*pulse))<<counter)
				b.Step(1)
			}
		}
		for _, *p.Trapped = range []bool{true, false} {
			settle(t, b)
			check.Equal(t, fmt.Sprintf("port %s: TRAPPED", port), linkproto.StatusTrapped.Of(uint32(*p.Status)), uint32(count(*p.Trapped)))
		}
		if b.Step(4); linkproto.StatusLost.Of(uint32(*p.Status)) != lost {
			t.Errorf("port %s: LOST is not %d in status %#x after a packet was refused", port, lost, *p.Status)
		}
	}
}

// sender opens ni_port, which has room for three packets of 63 bytes, with what says whether it has room and whether it takes one of so many bytes,
// and what sends one.
func sender(t *testing.T) (room *bool, takes func(bytes int) bool, send func() error) {
	var p struct {
		SValid, SLast, HasRoom, Takes *bool   `port:"*"`
		SData                         *uint8  `port:"*"`
		Size                          *uint16 `port:"*"`
	}
	b := openPort(t, "ni_port", params{"PAGE_BYTES": 64, "MAX_PACKET": 72, "ADDR_WIDTH": 8, "REPLAY_BYTES": 256, "RX_BYTES": 512}, &p)
	b.Step(16)
	packet := append([]byte{byte(linkproto.TypeWrite), 60, 0}, make([]byte, 60)...)
	takes = func(bytes int) bool {
		*p.Size = uint16(bytes - 1)
		check.Fatal(t, b.Step(2))
		return *p.Takes
	}
	return p.HasRoom, takes, func() (err error) {
		for i := range packet {
			*p.SValid, *p.SData, *p.SLast = true, packet[i], i == len(packet)-1
			err = errors.Join(err, b.Step(1))
		}
		*p.SValid = false
		return errors.Join(err, b.Step(4))
	}
}

// A port takes the host's packets without a pause as long as they begin while it has room.
func TestPortHasRoom(t *testing.T) {
	room, takes, send := sender(t)
	sent := 0
	for ; *room && sent < 10; sent++ {
		if err := send(); err != nil {
			t.Fatalf("packet %d: %v", sent, err)
		}
	}
	check.Equal(t, "packets of 63 bytes taken in 256 bytes with room for one of 72", sent, 3)
	for bytes := 1; bytes <= 256; bytes++ {
		check.Equal(t, fmt.Sprintf("a packet of %d bytes is taken", bytes), takes(bytes), bytes <= 256-3*63)
	}
}

// The simulation ends when a packet begins while the port has no room.
func TestPortWithoutRoom(t *testing.T) {
	_, _, send := sender(t)
	check.Fails(t, "five packets without a look at has_room", errors.Join(send(), send(), send(), send(), send()), verilator.ErrAssert)
}

// A port hands out what its injector counts.
func TestPortCountsHits(t *testing.T) {
	var p struct {
		IWrEn, IHit              *bool   `port:"*"`
		IWrReg                   *uint8  `port:"*"`
		IWrData, ISymbols, IHits *uint32 `port:"*"`
	}
	b := openPort(t, "ni_port", params{"PAGE_BYTES": 64, "MAX_PACKET": 72, "ADDR_WIDTH": 8, "REPLAY_BYTES": 256, "RX_BYTES": 512, "INJECT": 1}, &p)
	hits := uint32(0)
	step := func(n int) {
		for range n {
			b.Step(1)
			if *p.IHit {
				hits++
			}
		}
	}
	write := func(r linkproto.InjectReg, v uint32) {
		*p.IWrEn, *p.IWrReg, *p.IWrData = true, uint8(r), v
		step(1)
		*p.IWrEn = false
	}
	step(16)
	for _, r := range []linkproto.InjectReg{linkproto.InjectFlip, linkproto.InjectDrop, linkproto.InjectDuplicate, linkproto.InjectBurst} {
		write(r, 1<<28)
	}
	write(linkproto.InjectControl, linkproto.InjectRun.In(1))
	step(1 << 17)
	write(linkproto.InjectControl, 0)
	step(8)
	if *p.IHits != hits || hits < 1<<16 || *p.ISymbols < hits || *p.ISymbols > 1<<17 {
		t.Errorf("%d of %d symbols hit, i_hit says %d", *p.IHits, *p.ISymbols, hits)
	}
}
