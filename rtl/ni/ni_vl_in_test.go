package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

const vlLongest = 72 // bytes of a packet by a virtual link

// inVirtual wraps a packet for a virtual link.
func inVirtual(t *testing.T, vl int, packet []byte) []byte {
	t.Helper()
	return check.Must((&linkproto.Packet{Type: linkproto.TypeVirtual, VL: uint16(vl), Data: packet}).Append(nil))(t)
}

// fromHost is a packet of the host's, and what is to become of it.
func fromHost(t *testing.T, r *testbench.Rand) (raw []byte, outcomes []string, refused, resumed bool) {
	vl, sends := r.IntN(8), []linkproto.Type{linkproto.TypeWrite, linkproto.TypePage, linkproto.TypeConnect, linkproto.TypeMessage}
	refused, resumed = r.Bool(), r.Bool()
	packet := func(n int) []byte {
		return append([]byte{byte(testbench.Pick(r, sends...)), byte(n), 0}, r.Bytes(n)...)
	}
	done := func(s linkproto.Status, tag uint8) string { return fmt.Sprintf("DONE %v %d", s, tag) }
	switch r.IntN(8) {
	case 0:
		raw = packet(r.IntN(20))
		return raw, []string{fmt.Sprintf("other %x", raw)}, false, false
	case 1:
		return inVirtual(t, 8, packet(5)), []string{done(linkproto.StatusBadLink, linkproto.TagNone)}, false, false
	case 2:
		p := packet(5)
		p[0] = byte(linkproto.TypeRetrap)
		return inVirtual(t, vl, p), []string{done(linkproto.StatusBadType, linkproto.TagNone)}, false, false
	case 3:
		p := packet(testbench.Pick(r, 5, vlLongest-linkproto.HeaderBytes+1))
		if len(p) <= vlLongest {
			p[1]++
		}
		return inVirtual(t, vl, p), []string{done(linkproto.StatusBadLength, linkproto.TagNone)}, false, false
	case 4:
		tag, status := uint8(r.IntN(200)), linkproto.StatusNotTrapped
		if resumed {
			status = linkproto.StatusOK
		}
		p := check.Must((&linkproto.Packet{Type: linkproto.TypeResume, Tag: tag}).Append(nil))(t)
		return inVirtual(t, vl, p), []string{fmt.Sprintf("ask true %d %d", vl, tag), done(status, tag)}, false, resumed
	case 5:
		p := linkproto.Packet{Type: linkproto.TypeSpace, Packets: uint8(r.IntN(256))}
		return inVirtual(t, vl, check.Must(p.Append(nil))(t)), []string{fmt.Sprintf("ask false %d %d", vl, p.Packets)}, false, resumed
	}
	p := packet(testbench.Pick(r, 0, 1, 20, vlLongest-linkproto.HeaderBytes))
	if outcomes = []string{fmt.Sprintf("sent %d %x", vl, p)}; refused {
		outcomes = append(outcomes, done(linkproto.StatusNoSpace, linkproto.TagNone))
	}
	return inVirtual(t, vl, p), outcomes, refused, false
}

// TestVLIn: of the host's packets ni_vl_in takes the VIRTUALs, sends or asks what is in them, answers those that are refused, and leaves the others alone; of one
// that is taken back nothing is left.
func TestVLIn(t *testing.T) { moduletest.EachWidth(t, testVLIn) }

func testVLIn(t *testing.T, width int) {
	var p struct {
		SValid, SReady, SLast, SVoid, HValid, HReady, HVoid *bool   `port:"*"`
		VValid, VReady, VLast, VCancel, Sent, Refused       *bool   `port:"*"`
		QValid, QDone, QOk, QResume, EvBad, VBegins         *bool   `port:"*"`
		VData, VVl, QVl, QValue                             *uint8  `port:"*"`
		VSize                                               *uint16 `port:"*"`
		M                                                   offer   `port:"*"`
	}
	b := moduletest.Open(t, "ni_vl_in", params{"VIRTUAL": 3, "MAX_PACKET": vlLongest, "WIDTH": width}, &p)
	r, in := b.Rand("host"), moduletest.NewBeats(t, b, "s", width)
	var have []string
	var other, sent []byte
	var strayed bool                 // the packet is for a virtual link that there is not
	var refused, resumed, whole bool // whole: a packet has been sent, and net_vl says what becomes of it
	bad, wantBad, soon := 0, 0, 0    // soon: clocks in which a packet is said to come before its first byte
	clock := func() (taken bool) {
		*p.HReady, *p.VReady, *p.M.Ready, *p.QDone = r.Chance(0.7), r.Chance(0.7), r.Chance(0.7), false
		*p.Sent = whole && r.Chance(0.3)
		*p.Refused = *p.Sent && refused
		settle(t, b)
		if *p.QDone, *p.QOk = *p.QValid && r.Chance(0.3), resumed; *p.QDone {
			settle(t, b)
			have = append(have, fmt.Sprintf("ask %v %d %d", *p.QResume, *p.QVl, *p.QValue))
		}
		if *p.Sent {
			whole = false
		}
		if *p.HVoid {
			other = nil
		} else if *p.HValid && *p.HReady {
			if other = append(other, in.Get()...); *p.SLast {
				have, other = append(have, fmt.Sprintf("other %x", other)), nil
			}
		}
		soon += count(*p.VBegins && !*p.VValid && sent == nil)
		if *p.VValid && !*p.VBegins || *p.VBegins && strayed {
			t.Fatal("a packet comes that does not begin, or one begins for a virtual link that there is not")
		}
		if *p.VCancel {
			check.Equal(t, "a packet that is taken back goes on", *p.VBegins, false)
			sent = nil
		} else if *p.VValid && *p.VReady {
			if sent = append(sent, *p.VData); *p.VLast {
				check.Equal(t, "size", int(*p.VSize), len(sent))
				have, sent, whole = append(have, fmt.Sprintf("sent %d %x", *p.VVl, sent)), nil, true
			}
		}
		if answer := p.M.clock(t); answer != nil {
			var done linkproto.Packet
			check.Fatal(t, done.Decode(answer))
			have = append(have, fmt.Sprintf("%v %v %d", done.Type, done.Status, done.Tag))
		}
		taken = *p.SValid && *p.SReady
		b.Step(1)
		bad += count(*p.EvBad)
		return taken
	}
	for n := range 1500 {
		raw, want, refuses, resumes := fromHost(t, r)
		strayed = linkproto.Type(raw[0]) == linkproto.TypeVirtual && len(raw) > linkproto.HeaderBytes && raw[linkproto.HeaderBytes] >= 8
		last := len(raw)
		if r.Chance(0.2) && len(raw) > width {
			last, want = width*(1+r.IntN((len(raw)-1)/width)), nil // it is taken back behind so many bytes
		}
		have, refused, resumed = nil, refuses, resumes
		for i := 0; i < last; {
			size := width
			if !*p.SValid && r.Chance(0.7) {
				size = in.Put(raw[i:])
				*p.SValid, *p.SLast = true, i+size == len(raw)
			}
			if clock() {
				*p.SValid = false
				i += size
			}
		}
		if last < len(raw) {
			*p.SVoid = true
			clock()
			*p.SVoid = false
		}
		for range 100 {
			clock()
		}
		check.Equal(t, fmt.Sprintf("what becomes of packet %d, % x, of %d bytes", n, raw, last), have, want)
		if len(want) == 1 && want[0][:4] == "DONE" {
			wantBad++
		}
	}
	if bad != wantBad || bad < 100 || soon < 500 {
		t.Errorf("%d bad packets counted, want %d, 100 at least; packets come for %d clocks before their first byte, want 500 at least", bad, wantBad, soon)
	}
}

// A packet that has come whole is not taken back with the next one, of which a part has come.
func TestVLInNextVoid(t *testing.T) { moduletest.EachWidth(t, testVLInNextVoid) }

func testVLInNextVoid(t *testing.T, width int) {
	var p struct {
		SValid, SReady, SLast, SVoid, VValid, VReady, VLast, VCancel, VBegins *bool `port:"*"`
	}
	b := moduletest.Open(t, "ni_vl_in", params{"VIRTUAL": 3, "MAX_PACKET": vlLongest, "WIDTH": width}, &p)
	in, raw := moduletest.NewBeats(t, b, "s", width), inVirtual(t, 1, []byte{byte(linkproto.TypeWrite), 0, 0})
	for i := 0; i < len(raw); {
		size := in.Put(raw[i:])
		*p.SValid, *p.SLast = true, i+size == len(raw)
		settle(t, b)
		if *p.SReady {
			i += size
		}
		b.Step(1)
	}
	*p.SValid = false
	for gone := 0; gone < linkproto.HeaderBytes; gone++ {
		for range 4 {
			*p.VReady = false
			b.Step(1)
			*p.SVoid = true
			settle(t, b)
			check.Equal(t, fmt.Sprintf("behind %d bytes the packet goes on, and is taken back", gone), []bool{*p.VBegins, *p.VCancel}, []bool{true, false})
			b.Step(1)
			*p.SVoid = false
		}
		*p.VReady = true
		settle(t, b)
		check.Equal(t, "a byte goes, the last one", []bool{*p.VValid, *p.VLast}, []bool{true, gone == linkproto.HeaderBytes-1})
		b.Step(1)
	}
}
