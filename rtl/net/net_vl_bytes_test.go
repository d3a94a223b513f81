package net_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// TestVLBytes: of ROUTEs in beats those of virtual links come out byte by byte, whole and in order, and nothing is left of datagrams and of what is taken back. Datagrams go by
// while bytes wait for the reader.
func TestVLBytes(t *testing.T) { moduletest.EachWidth(t, testVLBytes) }

func testVLBytes(t *testing.T, width int) {
	const page = 64
	var p struct {
		SValid, SReady, SLast, SVoid, MValid, MReady, MLast, MVoid *bool  `port:"*"`
		MData                                                      *uint8 `port:"*"`
	}
	b := moduletest.Open(t, "net_vl_bytes", params{"WIDTH": width, "MAX_PACKET": linkproto.MaxRoute(page)}, &p)
	r, in := b.Rand("packets"), moduletest.NewBeats(t, b, "s", width)
	var have []byte
	var want [][]byte
	came, undone, source, reader := 0, 0, 0.7, 0.7
	clock := func() (taken bool) {
		*p.MReady = r.Chance(reader)
		check.Fatal(t, b.Model().Eval())
		if *p.MVoid {
			if *p.MValid {
				t.Fatal("a packet that is taken back goes on")
			}
			undone += min(len(have), 1)
			have = nil
		} else if *p.MValid && *p.MReady {
			if have = append(have, *p.MData); *p.MLast {
				if len(want) == 0 || !bytes.Equal(have, want[0]) {
					t.Fatalf("got % x, want the first of % x", have, want)
				}
				want, have = want[1:], nil
				came++
			}
		}
		taken = *p.SValid && *p.SReady
		b.Step(1)
		return taken
	}
	route := func(state uint8) []byte {
		raw := append([]byte{byte(linkproto.TypeRoute), 0, 0}, r.Bytes(linkproto.RouteExtra-linkproto.HeaderBytes+r.IntN(page))...)
		raw[linkproto.RoutePathAt+3] = state
		return raw
	}
	// send sends beats of a packet, and takes them back if they are not all.
	send := func(raw []byte, beats int) {
		for rest := raw; len(rest) > 0; beats-- {
			if beats == 0 {
				*p.SVoid = true
				clock()
				*p.SVoid = false
				return
			}
			size := in.Put(rest)
			for taken := false; !taken; {
				*p.SValid, *p.SLast = *p.SValid || r.Chance(source), size == len(rest)
				taken = clock()
			}
			*p.SValid, rest = false, rest[size:]
		}
	}
	for serial := range 1500 {
		if serial%100 == 0 {
			source, reader = testbench.Pick(r, 0.05, 0.2, 1), testbench.Pick(r, 0.3, 1)
		}
		raw, beats := route(uint8(r.IntN(256))), -1
		if r.Chance(0.3) {
			raw = route(linkproto.RouteDatagram)
		}
		if all := (len(raw) + width - 1) / width; r.Chance(0.4) {
			beats = 1 + r.IntN(all-1)
		} else if width == 1 || raw[linkproto.RoutePathAt+3] != linkproto.RouteDatagram {
			want = append(want, raw)
		}
		send(raw, beats)
	}
	reader = 1
	for range 4 * page {
		clock()
	}
	if len(want) > 0 || len(have) > 0 || came < 300 || undone < 20 {
		t.Fatalf("%d packets have not come, %d bytes are left, %d came and %d were taken back, want 0, 0, 300 and 20 at least", len(want), len(have), came, undone)
	}
	if width == 1 {
		return
	}
	source, reader = 1, 0
	waits := route(0)
	want = append(want, waits)
	send(waits, -1)
	clocks := 0
	for range 50 { // more than there is room for
		raw := route(linkproto.RouteDatagram)
		clocks -= (len(raw) + width - 1) / width
		before := b.Cycle()
		send(raw, -1)
		clocks += int(b.Cycle() - before)
	}
	check.Equal(t, "clocks that datagrams waited", clocks, 0)
	reader = 1
	for range 4 * page {
		clock()
	}
	check.Equal(t, "packets that have not come", len(want), 0)
}
