package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

type trapPorts struct {
	Rst, SValid, SReady, SLast, SSure, SVoid, MValid, MReady, MLast, Quiet, Hold, Resume, Retrap, EvBad *bool `port:"*"`
	T                                                                                                   offer `port:"*"`
}

// trapUnit is module ni_trap between a link, a unit that carries packets out, and a host.
type trapUnit struct {
	trapPorts
	t       *testing.T
	b       *testbench.Bench
	rng     *testbench.Rand
	link    int
	width   int
	in, out *moduletest.Beats
	// Chances of each side to move in a clock, and of the host to end a trap, to say RESUME out of turn, and to ask for the TRAP again.
	pace, take, host, resume, early, retrap float64
	trial                                   float64 // chance that a packet is on trial at first

	at      int // bytes of the link's packet that have gone in
	held    bool
	taken   []byte // of the packet that is being carried out
	settles int    // clocks until what was carried out is written
	stands  []byte // the TRAP as it is told again
	telling bool   // it is to be told again
	again   int    // times it has been
	bad     int
	voids   int
	gone    bool     // the packet was void, and another one comes instead of it
	served  [][]byte // packets carried out, and TRAPs, in order
	stalled []byte   // beat that waits on m
}

// step runs one clock with the bytes of packet at the input, and says whether one went in.
func (u *trapUnit) step(packet []byte) bool {
	u.t.Helper()
	fresh := u.at == 0 && !*u.SValid
	if !*u.SValid && packet != nil {
		*u.SValid = u.rng.Chance(u.pace)
	}
	switch *u.SVoid = false; {
	case fresh:
		*u.SSure = !*u.SValid || !u.rng.Chance(u.trial)
	case len(packet)-u.at <= u.width || u.rng.Chance(0.1):
		*u.SSure = true
	case !*u.SSure && u.rng.Chance(0.1): // and it comes once more, or another one
		*u.SValid, *u.SSure, *u.SVoid = false, true, true
		if u.at > 0 {
			u.taken = nil
		}
		u.at, u.stalled = 0, nil
		u.voids++
		u.gone = u.rng.Bool()
	}
	beat := 0
	if packet != nil {
		beat = u.in.Put(packet[u.at:])
		*u.SLast = u.at+beat == len(packet)
	}
	// As ni_link_in does: held, it takes no more than the header; short packets it drops.
	const header = 7
	whole := len(u.taken) >= 3 && len(u.taken) == 3+int(binary.LittleEndian.Uint16(u.taken[1:]))
	if whole && (len(u.taken) < header || !u.held) {
		u.served = append(u.served, u.taken)
		u.taken, u.settles = nil, u.rng.IntN(6)
		whole = false
	}
	*u.Quiet = len(u.taken) == 0 && u.settles == 0
	*u.MReady = !whole && (len(u.taken)+u.width <= header || !u.held) && u.rng.Chance(u.take)
	*u.T.Ready = u.rng.Chance(u.host)
	*u.Resume = u.rng.Chance(u.early)
	if u.held {
		*u.Resume = u.rng.Chance(u.resume)
	}
	*u.Retrap = u.held && !*u.Resume && u.rng.Chance(u.retrap)
	retrap := *u.Retrap && !u.telling
	defer func() { u.telling = u.telling || retrap }()
	settle(u.t, u.b)
	if *u.Hold != u.held {
		u.t.Fatalf("hold is %v, want %v", *u.Hold, u.held)
	}
	if u.stalled != nil && (!*u.MValid || !bytes.Equal(u.out.Get(), u.stalled)) {
		u.t.Fatal("a waiting beat changed")
	}
	u.stalled = nil
	if *u.MValid && !*u.MReady {
		u.stalled = u.out.Get()
	}
	if *u.Resume {
		u.held = false
	}
	if u.settles > 0 {
		u.settles--
	}
	if *u.MValid && *u.MReady {
		u.taken = append(u.taken, u.out.Get()...)
	}
	if *u.T.Valid && !u.telling && (len(u.taken) > 0 || u.settles > 0) {
		u.t.Fatal("a TRAP overtakes packets that came before")
	}
	if report := u.T.clock(u.t, "TRAP: "); report != nil {
		u.reported(report)
	}
	moved := *u.SValid && *u.SReady
	u.b.Step(1)
	u.bad += count(*u.EvBad)
	if moved {
		*u.SValid = false
		u.at += beat
	}
	return moved
}

// reported takes a TRAP: the next one, or the one that stands again, of a CONNECT without params.
func (u *trapUnit) reported(report []byte) {
	u.t.Helper()
	if u.telling {
		if !bytes.Equal(report, u.stands) {
			u.t.Fatalf("told again % x, want % x", report, u.stands)
		}
		u.again++
	} else {
		u.served, u.held = append(u.served, report), true
		u.stands = bytes.Clone(report[:min(len(report), 12)])
		if linkproto.Type(report[3]) == linkproto.TypeConnect {
			u.stands = u.stands[:10]
			u.stands[1], u.stands[4] = 7, 4
		}
	}
	u.telling = false
}

// send puts a packet in, and says whether it has come whole: it has not if it was void.
func (u *trapUnit) send(packet []byte) bool {
	u.t.Helper()
	u.at, u.gone = 0, false
	for clocks := 0; u.at < len(packet) && !u.gone; clocks++ {
		if u.step(packet); clocks > 1000*len(packet)+5000 {
			u.t.Fatalf("packet % x hangs at byte %d", packet, u.at)
		}
	}
	return !u.gone
}

// trapPacket draws a packet, and says what becomes of it: nothing if it is malformed.
func (u *trapUnit) trapPacket(frames, maxPacket int) (packet, want []byte) {
	body := func(kind linkproto.Type, n int) []byte {
		return append([]byte{byte(kind), byte(n), byte(n >> 8)}, u.rng.Bytes(n)...)
	}
	trap := func(p []byte) []byte {
		return append([]byte{byte(u.link)<<linkproto.TypeBits | byte(linkproto.TypeTrap), byte(len(p)), 0}, p...)
	}
	switch u.rng.IntN(8) {
	case 0, 1: // PAGE for a frame near the last one
		p := body(linkproto.TypePage, 6)
		frame := testbench.Pick(u.rng, u.rng.IntN(frames), frames-1, frames, frames+256, u.rng.IntN(1<<16))
		if binary.LittleEndian.PutUint16(p[3:], uint16(frame)); frame >= frames {
			return p, nil
		}
		return p, trap(p)
	case 2: // PAGE of another length
		n := testbench.Pick(u.rng, u.rng.IntN(6), 7+u.rng.IntN(20), 6+256)
		p := body(linkproto.TypePage, min(n, maxPacket-3))
		if len(p) > 4 {
			p[3], p[4%len(p)] = 0, 0
		}
		if len(p) == 9 {
			return p, trap(p)
		}
		return p, nil
	case 3, 4: // CONNECT
		n := testbench.Pick(u.rng, u.rng.IntN(5), u.rng.IntN(66), 3+linkproto.MaxParams+u.rng.IntN(4), maxPacket-3, 256+u.rng.IntN(70))
		p := body(linkproto.TypeConnect, min(n, maxPacket-3))
		if n = len(p) - 3; n < 4 || n > 4+linkproto.MaxParams || len(p)+3 > maxPacket {
			return p, nil
		}
		return p, trap(p)
	default: // any other: passes unseen
		p := body(linkproto.Type(u.rng.IntN(32)), testbench.Pick(u.rng, 0, u.rng.IntN(8), u.rng.IntN(maxPacket-3)))
		if u.rng.Bool() {
			p[0] |= byte(1+u.rng.IntN(7)) << linkproto.TypeBits
		} else if p[0] == byte(linkproto.TypePage) || p[0] == byte(linkproto.TypeConnect) {
			p[0] = byte(linkproto.TypeWrite)
		}
		return p, p
	}
}

func openTrap(t *testing.T, width, link, frames, page int) (u *trapUnit, maxPacket int) {
	u = &trapUnit{t: t, link: link, width: width}
	maxPacket = linkproto.MaxPacket(page)
	u.b = moduletest.Open(t, "ni_trap", params{"LINK": link, "FRAMES": frames, "MAX_PACKET": maxPacket, "WIDTH": width}, &u.trapPorts)
	u.rng = u.b.Rand("packets")
	u.in, u.out = moduletest.NewBeats(t, u.b, "s", width), moduletest.NewBeats(t, u.b, "m", width)
	return u, maxPacket
}

// Of every order of packets, what is not to be trapped comes out unchanged and in order, each PAGE and CONNECT is reported whole and once, after
// everything before it has been carried out, and nothing after it is carried out before RESUME; malformed ones are counted and dropped.
func TestTrap(t *testing.T) { moduletest.EachWidth(t, testTrap) }

func testTrap(t *testing.T, width int) {
	for _, c := range []struct{ link, frames, page int }{{1, 1, 64}, {3, 4, 128}, {7, 256, 512}} {
		t.Run(fmt.Sprintf("link %d, %d frames of %d bytes", c.link, c.frames, c.page), func(t *testing.T) {
			u, most := openTrap(t, width, c.link, c.frames, c.page)
			traps, resets := 0, 0
			for range 400 {
				u.pace, u.take, u.host = testbench.Pick(u.rng, 0.2, 1), testbench.Pick(u.rng, 0.1, 0.5, 1), testbench.Pick(u.rng, 0.1, 0.5, 1)
				u.trial = testbench.Pick(u.rng, 0, 0.5)
				u.resume, u.early, u.retrap = testbench.Pick(u.rng, 0.01, 0.1, 1), testbench.Pick(u.rng, 0, 0.1), testbench.Pick(u.rng, 0, 0.1, 1)
				var want [][]byte
				bad := 0
				for range 1 + u.rng.IntN(8) {
					packet, result := u.trapPacket(c.frames, most)
					if !u.send(packet) {
						continue
					}
					if result == nil {
						bad++
						continue
					}
					want = append(want, result)
					traps += count(result[0]&0x1F == byte(linkproto.TypeTrap))
				}
				if u.rng.Chance(0.2) { // a reset, trapped or in the middle of a packet: nothing of it shows afterwards
					u.resume = 0.001
					packet, _ := u.trapPacket(c.frames, most)
					u.at = 0
					for range u.rng.IntN(3*len(packet) + 60) {
						if u.at < len(packet) {
							u.step(packet)
						} else {
							u.step(nil)
						}
					}
					resets += count(u.held)
					*u.Rst, *u.SValid, *u.SSure, *u.SVoid, *u.Retrap = true, false, true, false, false
					u.b.Step(1)
					*u.Rst = false
					u.held, u.taken, u.T.packet, u.T.stalled, u.settles, u.stalled, u.served, u.bad, u.telling = false, nil, nil, false, 0, nil, nil, 0, false
					continue
				}
				u.resume = max(u.resume, 0.1)
				for clocks := 0; len(u.served) < len(want) || u.held || u.telling || len(u.taken) > 0 || u.settles > 0; clocks++ {
					if u.step(nil); clocks > 10_000 {
						t.Fatalf("not all is carried out: % x, want % x", u.served, want)
					}
				}
				for range 4 {
					u.step(nil)
				}
				if !slices.EqualFunc(u.served, want, bytes.Equal) || u.bad != bad {
					t.Fatalf("%d malformed, want %d; the others came out as\n% x, want\n% x", u.bad, bad, u.served, want)
				}
				u.served, u.bad = nil, 0
			}
			if traps < 100 || u.again < 100 || resets < 5 || u.voids < 100 {
				t.Errorf("only %d traps, %d told again, %d resets while one stood, %d packets void", traps, u.again, resets, u.voids)
			}
		})
	}
}

// CONNECT with every number of parameters, and PAGE and CONNECT of every length that they must not have.
func TestTrapLengths(t *testing.T) { moduletest.EachWidth(t, testTrapLengths) }

func testTrapLengths(t *testing.T, width int) {
	for _, page := range []int{64, 128} {
		u, most := openTrap(t, width, 5, 4, page)
		u.pace, u.take, u.host, u.resume = 1, 1, 1, 1
		for _, kind := range []linkproto.Type{linkproto.TypePage, linkproto.TypeConnect} {
			for n := range most - 2 {
				packet := append([]byte{byte(kind), byte(n), 0}, make([]byte, n)...)
				good := n == 6
				if kind == linkproto.TypeConnect {
					good = n >= 4 && n <= 4+linkproto.MaxParams && n+6 <= most
				}
				u.served, u.bad = nil, 0
				u.send(packet)
				for range 24 {
					u.step(nil)
				}
				if len(u.served) != count(good) || u.bad != count(!good) {
					t.Fatalf("page of %d bytes, %v of %d bytes: %d reported, %d dropped", page, kind, n, len(u.served), u.bad)
				}
				if good {
					var p linkproto.Packet
					if err := p.Decode(u.served[0]); err != nil || p.Type != linkproto.TypeTrap || p.Via != 5 || !bytes.Equal(p.Data, packet) || len(u.served[0]) > most {
						t.Fatalf("%v of %d bytes is reported as % x", kind, n, u.served[0])
					}
				}
			}
		}
	}
}
