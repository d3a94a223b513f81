package ni_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type debugPorts struct {
	RegEn, RegWrite, RegDone, RegOk, MEn, MDone, MOk *bool   `port:"*"`
	RegAddr                                          *uint16 `port:"*"`
	RegWdata, RegValue, MValue, IWrData              *uint32 `port:"*"`
	IWrEn, IWrReg, Running, Cut                      *uint8  `port:"*"`
}

// Every register number, read and written, goes where the tables of the protocol say: to the trace buffer, to one injector, or on to the
// other registers, once; what cannot be read or written is refused.
func TestDebug(t *testing.T) {
	for _, c := range []struct{ links, trace, inject int }{{1, 16, 0}, {1, 0, 1}, {3, 64, 1}, {7, 8192, 1}} {
		t.Run(fmt.Sprintf("%d links, trace %d, inject %d", c.links, c.trace, c.inject), func(t *testing.T) {
			var p debugPorts
			b := moduletest.Open(t, "ni_debug", params{"LINKS": c.links, "TRACE": c.trace, "INJECT": c.inject}, &p)
			rng := b.Rand("values")
			*p.Running, *p.Cut = uint8(rng.IntN(2<<c.links)), uint8(rng.IntN(2<<c.links))
			said := map[linkproto.Reg]uint32{}
			for l := range c.links + 1 {
				for i, name := range []string{"symbols", "hits"} {
					v := rng.Uint32()
					said[(linkproto.InjectSymbols + linkproto.InjectReg(i)).Reg(l)] = v
					set(t, b, name, 32, l, uint64(v))
				}
				said[linkproto.InjectControl.Reg(l)] = uint32(*p.Running>>l&1 | *p.Cut>>l&1<<1)
			}
			kept := map[linkproto.Reg]uint32{} // of the trace buffer
			width := map[linkproto.TraceReg]uint32{linkproto.TraceMask: 1<<28 - 1, linkproto.TraceTrigger: 1<<28 - 1, linkproto.TracePorts: 0xFFFF, linkproto.TracePost: 0xFFFF}

			// access is one access, and what came of it: at the injectors, and further on.
			access := func(r linkproto.Reg, write bool, v uint32) (ok bool, value uint32, port int, forwarded bool) {
				*p.RegEn, *p.RegWrite, *p.RegAddr, *p.RegWdata = true, write, uint16(r), v
				port = -1
				delay, answer, fine := 1+rng.IntN(5), rng.Uint32(), rng.Bool()
				for clocks := 1; ; clocks++ {
					settle(t, b)
					*p.MDone = *p.MEn && clocks > delay
					*p.MOk, *p.MValue = fine, answer
					forwarded = forwarded || *p.MEn
					settle(t, b)
					if en := *p.IWrEn; en != 0 {
						for l := range c.links + 1 {
							if en == 1<<l && port < 0 && linkproto.Reg(*p.IWrReg) == (r-linkproto.RegInject)%linkproto.InjectStride && *p.IWrData == v {
								port, en = l, 0
							}
						}
						if en != 0 {
							t.Fatalf("register %#x: injectors %#b are written at %d with %#x, want %#x once", r, *p.IWrEn, *p.IWrReg, *p.IWrData, v)
						}
					}
					done := *p.RegDone
					ok, value = *p.RegOk, *p.RegValue
					b.Step(1)
					if done {
						*p.RegEn, *p.MDone = false, false
						b.Step(1 + uint64(rng.IntN(2)))
						if forwarded && (ok != fine || value != answer) {
							t.Fatalf("register %#x: the answer of the others is %v, %#x, want %v, %#x", r, ok, value, fine, answer)
						}
						return ok, value, port, forwarded
					}
					if clocks > 24 {
						t.Fatalf("register %#x, write %v: no answer after %d clocks", r, write, clocks)
					}
				}
			}
			check := func(r linkproto.Reg, write bool, v uint32) {
				trace, inject := int(r)-int(linkproto.RegTrace), int(r)-int(linkproto.RegInject)
				ring := int(r) - int(linkproto.RegTraceRing)
				ok, value, port, forwarded := access(r, write, v)
				var wantOK, mine, hasValue bool
				var want uint32
				wantPort := -1
				switch {
				case c.trace > 0 && trace >= 0 && trace < len(linkproto.TraceRegs):
					number := linkproto.TraceReg(trace)
					mine, wantOK = true, !write || linkproto.TraceRegs[trace].Access == "rw"
					if bits, keeps := width[number]; keeps {
						if write {
							kept[r] = v & bits
						}
						want, hasValue = kept[r], true
					} else if number == linkproto.TraceDepth {
						want, hasValue = uint32(c.trace), true
					}
				case c.inject > 0 && inject >= 0 && inject < linkproto.InjectStride*(c.links+1) && inject%linkproto.InjectStride < len(linkproto.InjectRegs):
					a := linkproto.InjectRegs[inject%linkproto.InjectStride].Access
					mine, wantOK = true, a == "rw" || a == "wo" && write || a == "ro" && !write
					want, hasValue = said[r], true
					if write && wantOK {
						wantPort = inject / linkproto.InjectStride
					}
				case c.trace > 0 && ring >= 0 && ring < 2*c.trace:
					mine, wantOK = true, !write
				}
				if forwarded == mine || mine && ok != wantOK || port != wantPort || mine && ok && !write && hasValue && value != want {
					t.Fatalf("register %#x, write %v: forwarded %v, ok %v, value %#x, injector %d; want %v, %v, %#x, %d", r, write, forwarded, ok, value, port, !mine,
						wantOK, want, wantPort)
				}
			}
			for r := range 1 << 16 {
				if r < 0x200 || r%97 == 0 || r >= 0x0FF0 && r < 0x1100 || r > 0x4FF0 && r < 0x5010 {
					check(linkproto.Reg(r), true, rng.Uint32()&^1) // CONTROL: nothing is recorded
					check(linkproto.Reg(r), false, rng.Uint32())
				}
			}
		})
	}
}

// What happens at each port, of each kind, can be read out of the ring through the registers.
func TestDebugTrace(t *testing.T) {
	const links = 7
	var p debugPorts
	b := moduletest.Open(t, "ni_debug", params{"LINKS": links, "TRACE": "1024", "INJECT": "0"}, &p)
	access := func(r linkproto.Reg, write bool, v uint32) (value uint32) {
		*p.RegEn, *p.RegWrite, *p.RegAddr, *p.RegWdata = true, write, uint16(r), v
		for clocks, done := 0, false; !done; clocks++ {
			settle(t, b)
			if value, done = *p.RegValue, *p.RegDone; done && !*p.RegOk || clocks > 24 {
				t.Fatalf("register %#x, write %v: done %v, ok %v after %d clocks", r, write, done, *p.RegOk, clocks)
			}
			b.Step(1)
		}
		*p.RegEn = false
		b.Step(1)
		return value
	}
	check.Fatal(t, (linkproto.TraceSetup{}).Start(func(r linkproto.Reg, v uint32) error { access(r, true, v); return nil }))
	var want []string
	happens := func(vector string, bit int, v uint64, port int, event linkproto.TraceEvent) {
		set(t, b, vector, 1, bit, v)
		b.Step(1)
		if event < linkproto.NumTraceEvents {
			want = append(want, fmt.Sprint(port, []linkproto.TraceEvent{event}))
		}
	}
	const none = linkproto.TraceEvent(linkproto.NumTraceEvents)
	for port := range links + 1 {
		for c := range 16 {
			happens("counted", 16*port+c, 1, port, linkproto.TraceEvent(c))
			set(t, b, "counted", 1, 16*port+c, 0)
		}
		happens("injected", port, 1, port, linkproto.EvInjected)
		set(t, b, "injected", 1, port, 0)
		for bit, e := range [][2]linkproto.TraceEvent{{none, linkproto.EvUp}, {linkproto.EvPeerGo, linkproto.EvPeerStop}, {linkproto.EvGo, none},
			{linkproto.EvResumed, linkproto.EvTrapped}, {linkproto.EvFound, linkproto.EvMissing}} {
			happens("status", 16*port+bit, 1, port, e[1])
			happens("status", 16*port+bit, 0, port, e[0])
		}
	}
	b.Step(20)
	access(linkproto.TraceControl.Reg(), true, 0)
	got, err := linkproto.ReadTrace(func(r linkproto.Reg) (uint32, error) {
		if r == linkproto.RegFeatures {
			return linkproto.FeatureTrace.In(1), nil // ni_regs says so
		}
		return access(r, false, 0), nil
	})
	check.Fatal(t, err)
	var have []string
	for _, e := range got.Entries {
		have = append(have, fmt.Sprint(e.Port, e.Events))
	}
	if !slices.Equal(have, want) || got.Lost > 0 {
		t.Errorf("recorded:\n%q, %d lost; want\n%q", have, got.Lost, want)
	}
}
