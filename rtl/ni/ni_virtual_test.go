package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestVirtual: the ROUTEs of ni_virtual come back to it, of a virtual link whose two ends are here. What the host writes by one end comes to the receive buffer by
// the other, where the frame table lets it; registers that are not of virtual links are handed on.
func TestVirtual(t *testing.T) { moduletest.EachWidth(t, testVirtual) }

func testVirtual(t *testing.T, width int) {
	const page, one, other = 64, 1, 2 // numbers of the ends
	var p struct {
		SValid, SReady, SLast, TValid, TReady, TLast, RValid, RReady, RLast *bool   `port:"*"`
		WValid, WTake, NReady, Allowed, EvDenied                            *bool   `port:"*"`
		RegEn, RegWrite, RegDone, RegOk, OEn, ODone, OOk                    *bool   `port:"*"`
		MReady, MValid, MLast, LookVl, WMask, WAddr                         *uint8  `port:"*"`
		Node, RegAddr, LookFrame                                            *uint16 `port:"*"`
		RegWdata, RegValue, OValue                                          *uint32 `port:"*"`
	}
	word := max(width, 4)
	b := moduletest.Open(t, "ni_virtual", params{"VIRTUAL": 3, "SLOTS": 8, "WINDOW": 4, "PAGE_BYTES": page, "ADDR_WIDTH": 10, "WIDTH": width, "WORD": word}, &p)
	*p.Node, *p.MReady, *p.NReady = 7, 3, true
	r, in, out, back := b.Rand("data"), moduletest.NewBeats(t, b, "s", width), moduletest.NewBeats(t, b, "t", width), moduletest.NewBeats(t, b, "r", width)
	memory, denied, dones := make([]byte, 4*page), 0, 0
	frameOf := map[uint16]uint8{0: other, 1: one} // the ends whose writes it takes
	clock := func() {
		settle(t, b)
		if *p.RValid, *p.RLast = *p.TValid, *p.TLast; *p.TValid {
			back.Put(out.Get())
		}
		*p.Allowed = frameOf[*p.LookFrame] == *p.LookVl && *p.LookVl != 0
		settle(t, b)
		*p.TReady, *p.WTake = *p.RReady, *p.WValid
		settle(t, b)
		data := check.Must(b.Model().Peek("w_data"))(t)
		for lane := range word {
			if *p.WValid && *p.WMask>>lane&1 != 0 {
				memory[word*int(*p.WAddr)+lane] = byte(data >> (8 * lane))
			}
		}
		dones += count(*p.MValid&*p.MLast&1 != 0)
		b.Step(1)
		denied += count(*p.EvDenied)
	}
	ask := func(reg linkproto.Reg, write bool, value uint32) (uint32, bool) {
		t.Helper()
		*p.RegEn, *p.RegWrite, *p.RegAddr, *p.RegWdata = true, write, uint16(reg), value
		for range 200 {
			settle(t, b)
			if *p.ODone, *p.OOk, *p.OValue = *p.OEn, true, 0xABCD; *p.OEn {
				settle(t, b)
			}
			done, ok, value := *p.RegDone, *p.RegOk, *p.RegValue
			clock()
			*p.ODone = false
			if done {
				*p.RegEn = false
				clock()
				return value, ok
			}
		}
		t.Fatalf("%v is not answered", reg)
		return 0, false
	}
	send := func(vl int, packet []byte) {
		t.Helper()
		raw := inVirtual(t, vl, packet)
		for i, clocks := 0, 0; i < len(raw); clocks++ {
			size := min(width, len(raw)-i)
			if !*p.SValid {
				in.Put(raw[i:])
			}
			*p.SValid, *p.SLast = true, i+size == len(raw)
			settle(t, b)
			ready := *p.SReady
			if clock(); ready {
				*p.SValid = false
				i += size
			}
			if clocks == 2000 {
				t.Fatalf("byte %d of % x is not taken", i, raw)
			}
		}
		*p.SValid = false
		for range 1000 { // and it is acknowledged
			clock()
		}
	}
	for range 50 {
		clock()
	}
	key := linkproto.KeyOf(100, 200)
	for end, peer := range map[int]int{one: other, other: one} {
		own := key
		if end == other {
			own = linkproto.KeyOf(200, 100)
		}
		for r, value := range []uint32{7, uint32(peer), uint32(own), linkproto.VLOpen.In(1) | linkproto.VLUp.In(1)} {
			if _, ok := ask(linkproto.VLReg(r).Reg(end), true, value); !ok {
				t.Errorf("register %d of end %d is not written", r, end)
			}
		}
	}
	value, ok := ask(linkproto.RegVLNumbers, false, 0)
	check.Equal(t, "VL_NUMBERS", value, 8)
	_, written := ask(linkproto.RegVLNumbers, true, 5)
	check.Equal(t, "VL_NUMBERS is read, and not written", ok && !written, true)
	value, _ = ask(linkproto.RegVLSlots, false, 0)
	check.Equal(t, "VL_SLOTS", value, 8)
	value, _ = ask(linkproto.RegVLWindow, false, 0)
	check.Equal(t, "VL_WINDOW", value, 4)
	value, _ = ask(linkproto.RegNodeID, false, 0)
	check.Equal(t, "a register of others", value, 0xABCD)
	_, ok = ask(linkproto.VLRegExpect.Reg(one), true, 5)
	check.Equal(t, "EXPECT can be written", ok, false)
	send(one, check.Must((&linkproto.Packet{Type: linkproto.TypeResume, Tag: 5}).Append(nil))(t))
	check.Equal(t, "DONEs of a RESUME", dones, 1)
	send(one, check.Must((&linkproto.Packet{Type: linkproto.TypeSpace, Packets: 1}).Append(nil))(t))

	want := make([]byte, len(memory))
	const packets = 60
	wantDenied := 0
	for n := range packets {
		end := one + n%2
		frame := r.IntN(3)
		off := r.IntN(page)
		data := r.Bytes(1 + r.IntN(page-off))
		if int(frameOf[uint16(frame)]) == one+other-end {
			copy(want[frame*page+off:], data)
		} else {
			wantDenied++
		}
		write := check.Must((&linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame*page + off), Data: data}).Append(nil))(t)
		send(end, write)
	}
	check.Equal(t, "receive buffer", memory, want)
	check.Equal(t, "writes denied", denied, wantDenied)
	for _, end := range []int{one, other} {
		value, _ := ask(linkproto.VLRegExpect.Reg(end), false, 0)
		check.Equal(t, "EXPECT", value, packets/2)
		value, _ = ask(linkproto.VLRegStatus.Reg(end), false, 0)
		check.Equal(t, "packets freed", linkproto.StatusFreed.Of(value), packets/2)
	}
	check.Equal(t, "DONEs, of a RESUME and no SPACE", dones, 1)
}
