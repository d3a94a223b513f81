package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// request is what module ni_host_in hands to the reply unit.
type request struct {
	kind   linkproto.Type
	tag    uint8
	status linkproto.Status
	fields []byte // as many as matter
}

// verdict is what the protocol says about a packet of the host.
type verdict struct {
	forward int // link it goes to, 0 for none
	request request
	noSpace int // link whose queue was full, 0 for none
	bad     bool
	write   []byte // data for the buffer
	addr    uint32
}

// judge reads the protocol text: packet types below 0x10 with via are for a link, the rest for the network interface.
func judge(raw []byte, links, page, buffer int, room func(link int) bool) verdict {
	kind, via := linkproto.Type(raw[0]&0x1F), int(raw[0]>>linkproto.TypeBits)
	refuse := func(s linkproto.Status, tag uint8) request { return request{kind: kind, tag: tag, status: s} }
	if kind > 0 && kind < 0x10 && via != 0 {
		switch {
		case via > links:
			return verdict{request: refuse(linkproto.StatusBadLink, linkproto.TagNone), bad: true}
		case !room(via):
			return verdict{request: refuse(linkproto.StatusNoSpace, linkproto.TagNone), noSpace: via}
		}
		return verdict{forward: via}
	}
	tag := uint8(linkproto.TagNone)
	if len(raw) > 3 {
		tag = raw[3]
	}
	body := raw[min(4, len(raw)):]
	length := len(raw) - 3
	access := func(size int) linkproto.Status {
		addr := binary.LittleEndian.Uint32(body)
		if uint64(addr) >= uint64(buffer) || int(addr)%page+size > page {
			return linkproto.StatusBadAddress
		}
		return linkproto.StatusOK
	}
	least := map[linkproto.Type]int{linkproto.TypeRegRead: 3, linkproto.TypeRegWrite: 7, linkproto.TypeBufRead: 7, linkproto.TypeBufWrite: 5,
		linkproto.TypeResume: 1, linkproto.TypeRetrap: 1}[kind]
	switch {
	case least == 0:
		return verdict{request: refuse(linkproto.StatusBadType, linkproto.TagNone), bad: true}
	case length < least || length > least && kind != linkproto.TypeBufWrite:
		return verdict{request: refuse(linkproto.StatusBadLength, tag), bad: true}
	}
	v := verdict{request: request{kind: kind, tag: tag, fields: body[:least-1]}}
	switch kind {
	case linkproto.TypeResume, linkproto.TypeRetrap:
		if via == 0 || via > links {
			v.request.status, v.bad = linkproto.StatusBadLink, true
		}
	case linkproto.TypeBufRead:
		v.request.status = access(int(binary.LittleEndian.Uint16(body[4:])))
	case linkproto.TypeBufWrite:
		v.request.status = access(len(body) - 4)
		if v.request.status == linkproto.StatusOK {
			v.addr, v.write = binary.LittleEndian.Uint32(body), body[4:]
		}
	}
	return v
}

// hostPacket draws a packet as the host's link may deliver it: mostly near what is right.
func hostPacket(rng *testbench.Rand, links, page, buffer int) []byte {
	maxPacket := linkproto.MaxPacket(page)
	via := byte(testbench.Pick(rng, 0, rng.IntN(8), 1+rng.IntN(links)))
	addr := uint32(testbench.Pick(rng, rng.IntN(buffer), rng.IntN(buffer)/page*page, buffer-1-rng.IntN(3), buffer+rng.IntN(3)))
	if rng.Chance(0.05) {
		addr |= 1 << rng.IntN(32)
	}
	left := page - int(addr)%page
	size := testbench.Pick(rng, 0, 1, rng.IntN(page+1), page, left, left+1)
	var body []byte
	kind := linkproto.Type(rng.IntN(32))
	switch rng.IntN(10) {
	case 0:
		body = rng.Bytes(rng.IntN(maxPacket - 2)) // anything
	case 1:
		kind = linkproto.Type(0x10 + rng.IntN(6))
		body = rng.Bytes(rng.IntN(12)) // about as long as a request
	case 2:
		kind, body = linkproto.TypeRegRead, rng.Bytes(3)
	case 3:
		kind, body = linkproto.TypeRegWrite, rng.Bytes(7)
	case 4, 5:
		kind, body = linkproto.TypeBufRead, binary.LittleEndian.AppendUint32(rng.Bytes(1), addr)
		body = binary.LittleEndian.AppendUint16(body, uint16(testbench.Pick(rng, size, size, int(rng.Uint32()))))
	case 6, 7:
		kind, body = linkproto.TypeBufWrite, binary.LittleEndian.AppendUint32(rng.Bytes(1), addr)
		body = append(body, rng.Bytes(min(size, page))...)
	case 8:
		kind, body = testbench.Pick(rng, linkproto.TypeResume, linkproto.TypeRetrap), rng.Bytes(1)
	default:
		kind, via = linkproto.Type(1+rng.IntN(3)), byte(1+rng.IntN(links))
		body = rng.Bytes(testbench.Pick(rng, 0, 1, rng.IntN(maxPacket-2)))
	}
	return append([]byte{via<<linkproto.TypeBits | byte(kind), byte(len(body)), byte(len(body) >> 8)}, body...)
}

// Every packet of the host becomes exactly one forwarded packet or exactly one request, as the protocol says, whatever it is made of.
func TestHostIn(t *testing.T) { moduletest.EachWidth(t, testHostIn) }

func testHostIn(t *testing.T, width int) {
	size := wordOf(width)
	for _, c := range []struct {
		links, page, frames int
		pace, grant, ready  float64
	}{
		{1, 64, 4, 1, 1, 1},
		{3, 64, 5, 0.6, 0.5, 0.7},
		{7, 64, 4, 1, 0.3, 0.5},
	} {
		t.Run(fmt.Sprintf("%d links", c.links), func(t *testing.T) {
			var p struct {
				SSure, SVoid, SValid, SReady, SLast, FLast, ReqValid, ReqDone, Turn, Load, Next, AtLast, WValid, WTake, EvBad *bool   `port:"*"`
				FValid, FCancel, HasRoom, Takes, ReqType, ReqTag, ReqStatus, LastLane, WAddr, WMask, EvNoSpace                *uint8  `port:"*"`
				Size                                                                                                          *uint16 `port:"*"`
				ReqFields                                                                                                     *uint64 `port:"*"`
				Value                                                                                                         *uint32 `port:"*"`
			}
			buffer := c.page * c.frames
			bits := "9"
			if buffer <= 256 {
				bits = "8"
			}
			b := moduletest.Open(t, "ni_host_in", params{
				"LINKS": c.links, "PAGE_BYTES": c.page, "BUFFER_BYTES": buffer, "ADDR_WIDTH": bits, "WIDTH": width, "WORD": size,
			}, &p)
			in, out := moduletest.NewBeats(t, b, "s", width), moduletest.NewBeats(t, b, "f", width)
			rng := b.Rand("host")
			port := writePort{memory: make([]byte, 512), word: size}
			per := uint32(size) // bytes of a word
			want := make([]byte, 512)
			var got verdict
			var forwarded []byte
			var to uint8 // the link that has them
			answers, age := 0, 0
			stands := false // a request
			var first, fields uint64
			var word uint32
			looked := map[string]int{}
			space := make([]int, c.links) // bytes that each link has room for
			clock := func() bool {
				*p.WTake, *p.ReqDone, *p.Turn, *p.Load, *p.Next = false, false, false, false, false
				settle(t, b)
				*p.WTake = *p.WValid && rng.Chance(c.grant)
				if *p.FValid&(*p.FValid-1) != 0 {
					t.Fatalf("f_valid is %08b", *p.FValid)
				}
				if *p.ReqValid {
					if *p.WValid {
						t.Fatal("a request stands while a word of its data waits")
					}
					if !stands {
						stands, first, fields, word = true, *p.ReqFields, *p.ReqFields, uint32(*p.ReqFields)/per
					}
					if *p.ReqFields != fields {
						t.Fatalf("the fields are %012x, want %012x", *p.ReqFields, fields)
					}
					addr, count := uint32(first), uint32(first>>32)
					if linkproto.Type(*p.ReqType) == linkproto.TypeBufRead && *p.ReqStatus == uint8(linkproto.StatusOK) && count > 0 {
						if uint32(*p.WAddr) != word || *p.AtLast != (word == (addr+count-1)/per) || uint32(*p.LastLane) != (addr+count-1)%per {
							t.Fatalf("%d bytes from %#x: word %#x, last %v, lane %d", count, addr, *p.WAddr, *p.AtLast, *p.LastLane)
						}
						if *p.Next = !*p.AtLast && rng.Bool(); *p.Next {
							word++
							looked["next"]++
						}
					}
					switch rng.IntN(5) {
					case 0, 1:
						*p.Turn, fields = true, fields>>8|fields<<40&(1<<48-1)
						looked["turn"]++
					case 2:
						*p.Load, *p.Value = true, rng.Uint32()
						fields = fields&0xFFFF | uint64(*p.Value)<<16
						looked["load"]++
					}
					*p.ReqDone = !*p.Turn && !*p.Load && !*p.Next && rng.Chance(0.4)
				}
				settle(t, b)
				port.look(t, *p.WValid, *p.WTake, uint32(*p.WAddr), check.Must(b.Model().Peek("w_data"))(t), *p.WMask)
				if *p.FCancel != 0 {
					if len(forwarded) == 0 || *p.FValid != 0 || *p.FCancel != to {
						t.Fatalf("%d bytes are taken back from links %08b, links %08b have them", len(forwarded), *p.FCancel, to)
					}
					forwarded = nil
					looked["cancel"]++
				}
				if *p.FValid != 0 {
					forwarded, to = append(forwarded, out.Get()...), *p.FValid
					if *p.FLast {
						for l := range c.links {
							if *p.FValid>>l&1 != 0 {
								got.forward = l + 1
							}
						}
						answers++
					}
				}
				if *p.ReqDone {
					got.request = request{linkproto.Type(*p.ReqType), *p.ReqTag, linkproto.Status(*p.ReqStatus), binary.LittleEndian.AppendUint64(nil, first)}
					answers++
					stands = false
				}
				moved, size := *p.SValid && *p.SReady, int(*p.Size)+1
				b.Step(1)
				*p.Takes = 0
				for l, bytes := range space {
					if size <= bytes {
						*p.Takes |= 1 << l
					}
				}
				for l := range c.links {
					if *p.EvNoSpace>>l&1 != 0 {
						if got.noSpace != 0 {
							t.Fatal("two events of no space")
						}
						got.noSpace = l + 1
					}
				}
				if *p.EvBad {
					if got.bad {
						t.Fatal("two events of a bad packet")
					}
					got.bad = true
				}
				return moved
			}
			seen := map[string]int{}
			for n := range 4000 {
				raw := hostPacket(rng, c.links, c.page, buffer)
				*p.HasRoom = 0
				for l := range space {
					space[l] = testbench.Pick(rng, 0, len(raw)-1, len(raw), len(raw)+1, linkproto.MaxPacket(c.page))
					if space[l] >= linkproto.MaxPacket(c.page) {
						*p.HasRoom |= 1 << l
					}
				}
				expect := judge(raw, c.links, c.page, buffer, func(l int) bool { return len(raw) <= space[l-1] })
				got, forwarded, answers, age = verdict{}, nil, 0, 0
				trial, void := rng.IntN(2*len(raw)), -1 // clocks until the packet is sure, or is taken back
				if rng.Chance(0.6) {
					void = rng.IntN(trial + 1)
				}
				for i := 0; i < len(raw); {
					if age == void && (i > 0 || *p.SValid) {
						*p.SValid, *p.SVoid, *p.SSure = false, true, true
						clock()
						*p.SVoid = false
						i, void, trial = 0, -1, age+trial
					}
					*p.SSure = age >= trial
					beat := in.Put(raw[i:])
					*p.SLast = i+beat == len(raw)
					if !*p.SValid {
						*p.SValid = rng.Chance(c.pace) && (*p.SSure || !*p.SLast)
					}
					if clock() {
						*p.SValid = false
						i += beat
					}
					if age++; age > 100*len(raw)+100 {
						t.Fatalf("packet %d, % x, hangs at byte %d", n, raw, i)
					}
				}
				for range 200 {
					if answers > 0 {
						break
					}
					clock()
				}
				for range 3 {
					clock()
				}
				what := fmt.Sprintf("packet %d, % x, room for %d bytes", n, raw, space)
				if answers != 1 {
					t.Fatalf("%s: %d answers", what, answers)
				}
				if got.forward != expect.forward || got.noSpace != expect.noSpace || got.bad != expect.bad {
					t.Fatalf("%s: forward %d, no space %d, bad %v; want %d, %d, %v", what, got.forward, got.noSpace, got.bad, expect.forward, expect.noSpace, expect.bad)
				}
				if expect.forward != 0 {
					seen["forward"]++
					raw[0] &= 0x1F
					if !bytes.Equal(forwarded, raw) {
						t.Fatalf("%s: forwarded as % x", what, forwarded)
					}
					continue
				}
				h, w := got.request, expect.request
				if h.kind != w.kind || h.tag != w.tag || h.status != w.status {
					t.Fatalf("%s: request %v tag %d status %v, want tag %d status %v", what, h.kind, h.tag, h.status, w.tag, w.status)
				}
				if w.status == linkproto.StatusOK && !slices.Equal(h.fields[:len(w.fields)], w.fields) && w.kind != linkproto.TypeBufWrite {
					t.Fatalf("%s: fields % x, want % x", what, h.fields, w.fields)
				}
				copy(want[expect.addr:], expect.write)
				if !bytes.Equal(port.memory, want) {
					t.Fatalf("%s: the buffer holds\n% x, want\n% x", what, port.memory, want)
				}
				seen[w.status.String()]++
				if w.status == linkproto.StatusOK {
					seen[w.kind.String()]++
				}
			}
			for _, s := range []string{"forward", "BAD_TYPE", "BAD_LENGTH", "BAD_ADDRESS", "BAD_LINK", "NO_SPACE", "REG_READ", "REG_WRITE", "BUF_READ", "BUF_WRITE", "RESUME", "RETRAP"} {
				if seen[s] < 20 {
					t.Errorf("only %d of %s", seen[s], s)
				}
			}
			for s, least := range map[string]int{"turn": 100, "load": 100, "next": 100, "cancel": 8} {
				if looked[s] < least {
					t.Errorf("only %d of %s", looked[s], s)
				}
			}
		})
	}
}
