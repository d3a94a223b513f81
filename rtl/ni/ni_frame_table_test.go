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
	for _, c := range []struct{ links, frames int }{{1, 1}, {2, 5}, {7, 256}} {
		t.Run(fmt.Sprintf("%dx%d", c.links, c.frames), func(t *testing.T) {
			var p struct {
				WrEn, WrValid, RdValid  *bool   `port:"*"`
				WrFrame, RdFrame        *uint16 `port:"*"`
				WrLink, RdLink, Allowed *uint8  `port:"*"`
			}
			b := moduletest.Open(t, "ni_frame_table", params{"LINKS": c.links, "FRAMES": c.frames}, &p)
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
				valid bool
				link  uint8
			}
			table := map[uint16]entry{}
			hits := 0
			for range 20 * (c.frames + 100) {
				*p.WrEn, *p.WrFrame, *p.WrValid, *p.WrLink = rng.Chance(0.3), frame(), rng.Chance(0.8), uint8(rng.IntN(8))
				*p.RdFrame = frame()
				for l := range look {
					look[l] = frame()
					show(l, look[l])
				}
				settle(t, b)
				if want := table[*p.RdFrame]; want.valid != *p.RdValid || want.link != *p.RdLink {
					t.Fatalf("frame %d reads as %v, %d, want %v", *p.RdFrame, *p.RdValid, *p.RdLink, want)
				}
				for l := range look {
					have, want := *p.Allowed>>l&1 != 0, table[look[l]] == entry{true, uint8(l + 1)}
					if have != want {
						t.Fatalf("link %d, frame %d: allowed %v, want %v", l+1, look[l], have, want)
					}
					if want {
						hits++
					}
				}
				if *p.WrEn && int(*p.WrFrame) < c.frames {
					table[*p.WrFrame] = entry{*p.WrValid, *p.WrLink}
				}
				b.Step(1)
			}
			if hits == 0 {
				t.Error("nothing was ever allowed")
			}
			// Every bit of every entry, and every single wrong bit of a frame's number.
			write := func(frame uint16, e entry) {
				*p.WrEn, *p.WrFrame, *p.WrValid, *p.WrLink = true, frame, e.valid, e.link
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
				if want.valid && want.link > 0 && int(want.link) <= c.links {
					allowed = 1 << (want.link - 1)
				}
				if want.valid != *p.RdValid || want.link != *p.RdLink || *p.Allowed != allowed {
					t.Fatalf("frame %#x reads as %v, %d, allowed to links %b, want %v", frame, *p.RdValid, *p.RdLink, *p.Allowed, want)
				}
			}
			for round := range 8 {
				for f := range uint16(c.frames) {
					table[f] = entry{round%2 == 0 || rng.Bool(), uint8(round) ^ uint8(f)&7}
					write(f, table[f])
				}
				for f := range uint16(c.frames) {
					if alias := f ^ 1<<rng.IntN(16); int(alias) >= c.frames {
						write(alias, entry{!table[f].valid, table[f].link ^ 7})
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
