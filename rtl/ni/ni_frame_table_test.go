package ni_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// lookPort returns what sets the frame that a link asks for; the port is of another type when it is wide.
func lookPort(t *testing.T, b *testbench.Bench, links int) func(link int, frame uint16) {
	if 16*links > 64 {
		var p struct {
			LookFrame []uint32 `port:"*"`
		}
		b.Bind(&p)
		return func(link int, frame uint16) {
			shift := 16 * (link % 2)
			p.LookFrame[link/2] = p.LookFrame[link/2]&^(0xFFFF<<shift) | uint32(frame)<<shift
		}
	}
	var at []*testbench.Signal
	for l := range links {
		s := check.Must(b.Signal(fmt.Sprintf("look_frame[%d:%d]", 16*l+15, 16*l)))(t)
		at = append(at, s)
	}
	return func(link int, frame uint16) { at[link].Set(uint64(frame)) }
}

// All look-ups follow a map of what was written, for frames that exist and for those that do not.
func TestFrameTable(t *testing.T) {
	for _, c := range []struct{ links, frames, virtual int }{{1, 1, 0}, {2, 5, 0}, {7, 256, 0}, {2, 5, 3}} {
		t.Run(fmt.Sprintf("%dx%d virtual %d", c.links, c.frames, c.virtual), func(t *testing.T) {
			var p struct {
				WrEn, WrValid, RdValid, VirtualAllowed         *bool   `port:"*"`
				WrFrame, RdFrame, VirtualFrame                 *uint16 `port:"*"`
				WrLink, WrVl, RdLink, RdVl, VirtualVl, Allowed *uint8  `port:"*"`
			}
			b := moduletest.Open(t, "ni_frame_table", params{"LINKS": c.links, "FRAMES": c.frames, "VIRTUAL": c.virtual}, &p)
			look := make([]uint16, c.links)
			show := lookPort(t, b, c.links)
			rng := b.Rand("writes")
			frame := func() uint16 {
				switch rng.IntN(8) {
				case 0:
					return uint16(rng.Uint32()) // mostly far outside
				case 1:
					return uint16(c.frames + rng.IntN(3))
				case 2:
					return uint16(rng.IntN(c.frames)) | 1<<(8+rng.IntN(8)) // an alias, if upper bits were not looked at
				default:
					return uint16(rng.IntN(c.frames))
				}
			}
			type entry struct {
				valid    bool
				link, vl uint8
			}
			vl := func() uint8 { return uint8(rng.IntN(2) * rng.IntN(1<<c.virtual)) }
			table := map[uint16]entry{}
			hits, virtual := 0, 0
			for range 20 * (c.frames + 100) {
				*p.WrEn, *p.WrFrame, *p.WrValid, *p.WrLink, *p.WrVl = rng.Chance(0.3), frame(), rng.Chance(0.8), uint8(rng.IntN(8)), vl()
				*p.RdFrame, *p.VirtualFrame, *p.VirtualVl = frame(), frame(), vl()
				for l := range look {
					look[l] = frame()
					show(l, look[l])
				}
				settle(t, b)
				if have, want := (entry{*p.RdValid, *p.RdLink, *p.RdVl}), table[*p.RdFrame]; have != want {
					t.Fatalf("frame %d reads as %v, want %v", *p.RdFrame, have, want)
				}
				of := table[*p.VirtualFrame]
				if want := of.valid && of.vl != 0 && of.vl == *p.VirtualVl; want != *p.VirtualAllowed {
					t.Fatalf("virtual link %d, frame %d: allowed %v, want %v", *p.VirtualVl, *p.VirtualFrame, *p.VirtualAllowed, want)
				} else if want {
					virtual++
				}
				for l := range look {
					have, want := *p.Allowed>>l&1 != 0, table[look[l]] == entry{true, uint8(l + 1), 0}
					if have != want {
						t.Fatalf("link %d, frame %d: allowed %v, want %v", l+1, look[l], have, want)
					}
					if want {
						hits++
					}
				}
				if *p.WrEn && int(*p.WrFrame) < c.frames {
					table[*p.WrFrame] = entry{*p.WrValid, *p.WrLink, *p.WrVl}
				}
				b.Step(1)
			}
			if hits == 0 || (virtual == 0) != (c.virtual == 0) {
				t.Errorf("allowed %d times, and %d to virtual links", hits, virtual)
			}
			// Every bit of every entry, and every single wrong bit of a frame's number.
			write := func(frame uint16, e entry) {
				*p.WrEn, *p.WrFrame, *p.WrValid, *p.WrLink, *p.WrVl = true, frame, e.valid, e.link, e.vl
				b.Step(1)
				*p.WrEn = false
			}
			check := func(frame uint16) {
				t.Helper()
				*p.RdFrame = frame
				for l := range look {
					show(l, frame)
				}
				settle(t, b)
				want := table[frame]
				allowed := uint8(0)
				if want.valid && want.vl == 0 && want.link > 0 && int(want.link) <= c.links {
					allowed = 1 << (want.link - 1)
				}
				if have := (entry{*p.RdValid, *p.RdLink, *p.RdVl}); have != want || *p.Allowed != allowed {
					t.Fatalf("frame %#x reads as %v, allowed to links %b, want %v", frame, have, *p.Allowed, want)
				}
			}
			for round := range 8 {
				for f := range uint16(c.frames) {
					table[f] = entry{round%2 == 0 || rng.Bool(), uint8(round) ^ uint8(f)&7, vl()}
					write(f, table[f])
				}
				for f := range uint16(c.frames) {
					if alias := f ^ 1<<rng.IntN(16); int(alias) >= c.frames {
						write(alias, entry{!table[f].valid, table[f].link ^ 7, vl()})
						check(alias)
					}
				}
				for f := range uint16(c.frames) {
					check(f)
				}
			}
			for bit := range 16 {
				check(uint16(c.frames) | 1<<bit)
			}
			b.Reset("rst", 1)
			clear(table)
			for f := range uint16(c.frames) {
				check(f)
			}
		})
	}
}
