package model_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// A trap stops its link, and no other, until RESUME; packets behind it see the frame table at that time.
func TestTrap(t *testing.T) {
	b := open(t, model.Config{Links: 2, PageBytes: 64, ReplayBytes: 512, RxBytes: 512})
	b.grant(0, 1)
	b.grant(1, 2)
	page := linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 99}
	b.send(1, page, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 128, Data: []byte{1}}, linkproto.Packet{Type: linkproto.TypeConnect, Port: 5, Data: []byte{9}})
	trap := b.next(0)
	var inner linkproto.Packet
	if err := inner.Decode(trap.Data); err != nil || trap.Type != linkproto.TypeTrap || trap.Via != 1 || inner.Frame != 2 || inner.Port != 99 {
		t.Fatalf("TRAP is %v via %d of %v, %v", trap.Type, trap.Via, inner, err)
	}
	check.Equal(t, "TRAPPED", linkproto.StatusTrapped.Of(b.register(linkproto.LinkStatusReg(1))), 1)
	b.send(2, linkproto.Packet{Type: linkproto.TypeWrite, Addr: 64, Data: []byte{7}})
	b.run(500)
	check.Equal(t, "byte by the other link while one is trapped", b.buffer(64, 1)[0], 7)
	check.Equal(t, "byte behind the trap", b.buffer(128, 1)[0], 0)
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 2, Tag: 1}, linkproto.StatusNotTrapped)
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 3, Tag: 2}, linkproto.StatusBadLink)
	b.grant(2, 1)
	b.send(0, linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 3})
	connect := b.next(0, linkproto.TypeDone)
	if err := inner.Decode(connect.Data); err != nil || inner.Type != linkproto.TypeConnect || inner.Port != 5 {
		t.Fatalf("the second trap is %v of %v, %v", connect.Type, inner, err)
	}
	check.Equal(t, "byte behind the trap, after RESUME", b.buffer(128, 1)[0], 1)
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 4}, linkproto.StatusOK)
	b.status(linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 5}, linkproto.StatusNotTrapped)
}

// RETRAP repeats a pending TRAP: a PAGE whole, a CONNECT without its params.
func TestRetrap(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 512, RxBytes: 512})
	b.send(1, linkproto.Packet{Type: linkproto.TypePage, Frame: 2, Port: 99}, linkproto.Packet{Type: linkproto.TypeConnect, Port: 5, Data: []byte{9, 8}})
	for i, want := range []linkproto.Packet{{Type: linkproto.TypePage, Frame: 2, Port: 99}, {Type: linkproto.TypeConnect, Port: 5}} {
		first := b.next(0, linkproto.TypeDone)
		for tag := range uint8(2) {
			b.send(0, linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1, Tag: tag})
			again := b.next(0, linkproto.TypeDone)
			var p linkproto.Packet
			if err := p.Decode(again.Data); err != nil || again.Type != linkproto.TypeTrap || again.Via != 1 || p.Type != want.Type || p.Frame != want.Frame ||
				p.Port != want.Port || len(p.Data) > 0 || i == 0 && !bytes.Equal(again.Data, first.Data) {
				t.Fatalf("TRAP of %v is repeated as %v via %d of %v, %v", want, again.Type, again.Via, p, err)
			}
		}
		b.send(0, linkproto.Packet{Type: linkproto.TypeResume, Via: 1, Tag: 7})
	}
	b.run(500)
	for b.ends[0].Readable() > 0 {
		b.next(0)
	}
	b.status(linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1, Tag: 8}, linkproto.StatusNotTrapped)
	b.status(linkproto.Packet{Type: linkproto.TypeRetrap, Via: 2, Tag: 9}, linkproto.StatusBadLink)
}

// A host that sends more than SPACE allows is refused, exactly; SPACE tells what was freed.
func TestSpace(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 256, RxBytes: 512})
	silent := b.ends[1]
	b.ends = b.ends[:1]
	write := linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Data: make([]byte, 57)} // 64 bytes
	for range 6 {
		b.send(0, write)
	}
	b.run(1000) // four are taken, which fill the buffer
	for range 2 {
		if p := b.next(0); p.Type != linkproto.TypeDone || p.Status != linkproto.StatusNoSpace || p.Tag != linkproto.TagNone {
			t.Errorf("too much is answered %v %v, tag %d", p.Type, p.Status, p.Tag)
		}
	}
	check.Equal(t, "no_space", b.register(linkproto.CounterReg(1, linkproto.CntNoSpace)), 2)
	b.ends = append(b.ends, silent)
	b.run(2 * linkproto.DefaultRetry)
	var last linkproto.Packet
	for b.ends[0].Readable() > 0 {
		if p := b.next(0); p.Type == linkproto.TypeSpace {
			last = p
		}
	}
	if last.Via != 1 || last.Bytes != 256 || last.Packets != 4 {
		t.Errorf("SPACE says %d packets, %d bytes of link %d, want 4, 256 of 1", last.Packets, last.Bytes, last.Via)
	}
}

// After a restart that dropped packets the host's are refused until it has cleared LOST; one that dropped none changes nothing.
func TestLost(t *testing.T) {
	b := open(t, model.Config{PageBytes: 64, ReplayBytes: 256, RxBytes: 512})
	status := linkproto.LinkStatusReg(1)
	write := linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Data: []byte{1}}
	restart := func() {
		c := b.ends[1].Config()
		c.Epoch = linkproto.NextEpoch(b.ends[1].Status().Epoch)
		peer := check.Must(flowctl.New(c))(t)
		b.ends[1] = peer
		b.run(500)
	}
	restart()
	if s := b.register(status); linkproto.StatusLost.Of(s) != 0 || linkproto.StatusQueued.Of(s) != 0 {
		t.Errorf("a restart that dropped nothing: LINK_STATUS is %#x", s)
	}
	silent := b.ends[1]
	b.ends = b.ends[:1]
	b.send(0, write, write)
	b.run(200)
	check.Equal(t, "QUEUED with packets queued", linkproto.StatusQueued.Of(b.register(status)), 1)
	b.ends = append(b.ends, silent)
	restart()
	if s := b.register(status); linkproto.StatusLost.Of(s) != 1 || linkproto.StatusQueued.Of(s) != 0 || linkproto.StatusFreed.Of(s) != 2 {
		t.Errorf("after two packets were lost LINK_STATUS is %#x", s)
	}
	refused := func() (answers int) {
		b.send(0, write)
		b.run(500)
		for b.ends[0].Readable() > 0 {
			if p := b.next(0); p.Type == linkproto.TypeDone {
				if answers++; p.Status != linkproto.StatusNoSpace || p.Via != 1 {
					t.Errorf("a packet behind a loss is answered %v via %d", p.Status, p.Via)
				}
			}
		}
		return answers
	}
	if first, second := refused(), refused(); first+second != 2 || b.ends[1].Readable() > 0 {
		t.Error("a packet behind a loss is not refused")
	}
	clear := linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 3, Reg: status, Value: ^linkproto.StatusLost.In(1)}
	b.status(clear, linkproto.StatusOK)
	check.Equal(t, "requests refused after a write that does not name LOST", refused(), 1)
	clear.Value = ^clear.Value
	b.status(clear, linkproto.StatusOK)
	if refused() != 0 || b.ends[1].Readable() == 0 {
		t.Error("a packet is refused after LOST has been cleared")
	}
}
