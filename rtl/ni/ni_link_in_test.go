package ni_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Every packet is either carried out whole or leaves no trace, and exactly one event says which was refused and why.
func TestLinkIn(t *testing.T) { eachLinkIn(t, testLinkIn) }

func testLinkIn(t *testing.T, width int, spaced bool) {
	for _, c := range []struct{ pace, grant, doubt float64 }{{1, 1, 0}, {1, 0.5, 0.5}, {0.4, 1, 0}, {0.7, 0.15, 0.5}, {1, 1, 1}} {
		t.Run(fmt.Sprintf("pace %v grant %v doubt %v", c.pace, c.grant, c.doubt), func(t *testing.T) {
			more := map[bool]int{true: 2, false: 6}[width == 1] // clocks a packet takes, besides its beats
			if spaced {
				more = 4 // the one before is reported first
			}
			u, want := openLinkIn(t, width, spaced), linkModel{memory: make([]byte, linkInBytes)}
			u.grant, u.doubt = c.grant, c.doubt
			for range 3000 {
				if u.rng.Chance(0.1) {
					u.allowed[uint16(u.rng.IntN(linkInFrames))] = u.rng.Chance(0.7)
				}
				if u.rng.Chance(u.doubt / 2) {
					spoilt, _, _, _ := linkPacket(u.rng, linkInFrames, linkInPage)
					u.spoil(spoilt)
				}
				raw := want.carry(u)
				clocks := u.send(raw, c.pace, nil)
				if c.pace == 1 && c.grant == 1 && c.doubt == 0 && clocks > (len(raw)+width-1)/width+more {
					t.Fatalf("%d bytes took %d clocks: % x", len(raw), clocks, raw)
				}
				want.check(u, raw)
			}
			if min(want.bad, want.denied, want.done) < 200 {
				t.Errorf("only %d bad, %d denied, %d carried out", want.bad, want.denied, want.done)
			}
		})
	}
}

// Packets close behind one another do not mix, whatever the write port does.
func TestLinkInBackToBack(t *testing.T) { eachLinkIn(t, testLinkInBackToBack) }

func testLinkInBackToBack(t *testing.T, width int, spaced bool) {
	u, want := openLinkIn(t, width, spaced), linkModel{memory: make([]byte, linkInBytes)}
	for f := range linkInFrames {
		u.allowed[uint16(f)] = f != 2
	}
	for range 300 {
		u.grant, u.hear = testbench.Pick(u.rng, 0.1, 0.25, 0.5, 1), testbench.Pick(u.rng, 0.02, 0.3, 1)
		var raw []byte
		for range 10 {
			if u.doubt = testbench.Pick(u.rng, 0, 0.5); u.rng.Chance(u.doubt) {
				spoilt, _, _, _ := linkPacket(u.rng, linkInFrames, linkInPage)
				u.spoil(spoilt)
			}
			raw = want.carry(u)
			u.send(raw, 1, nil)
		}
		want.check(u, raw)
	}
}

// A frame taken away in the middle of a WRITE is safe two or three words later, the packet counts as denied, and the next one is whole.
func TestLinkInRevoke(t *testing.T) { eachLinkIn(t, testLinkInRevoke) }

func testLinkInRevoke(t *testing.T, width int, spaced bool) {
	u := openLinkIn(t, width, spaced)
	for round := range 500 {
		u.grant, u.hear = testbench.Pick(u.rng, 0.2, 1), testbench.Pick(u.rng, 0.05, 1)
		u.allowed = map[uint16]bool{1: true, 3: true}
		least := 13 + 3*width
		at := u.rng.IntN(linkInPage - least)
		n := least + u.rng.IntN(linkInPage-at-least+1)
		raw := binary.LittleEndian.AppendUint32([]byte{byte(linkproto.TypeWrite), byte(n + 4), 0}, uint32(linkInPage+at))
		raw = append(raw, u.rng.Bytes(n)...)
		cut := 8 + u.rng.IntN(n-3*width) // bytes of the packet in when the frame goes, not the last two beats
		words := 0
		u.send(raw, 1, func(i int) {
			if i >= cut && u.allowed[1] {
				u.allowed[1] = false
				words = u.port.words
			}
		})
		u.rest()
		for range 20 {
			u.clock()
		}
		// What was written of it is reported: all of it is, to be on the safe side.
		u.said([]note{{1, at, at + n - 1}})
		if more := u.port.words - words; more > map[bool]int{true: 2, false: 3}[width == 1] {
			t.Fatalf("round %d: %d words were written after the frame was gone", round, more)
		}
		if u.denied != round+1 || u.bad != 0 {
			t.Fatalf("round %d: %d denied, %d bad", round, u.denied, u.bad)
		}
		next := binary.LittleEndian.AppendUint32([]byte{byte(linkproto.TypeWrite), 7, 0}, uint32(3*linkInPage+round%61))
		next = append(next, u.rng.Bytes(3)...)
		u.send(next, 1, nil)
		u.grant = 1
		for range 20 {
			u.clock()
		}
		if from := 3*linkInPage + round%61; !bytes.Equal(u.port.memory[from:from+3], next[7:]) {
			t.Fatalf("round %d: the next WRITE left % x, want % x", round, u.port.memory[from:from+3], next[7:])
		}
		u.hear = 1
		u.rest()
		u.said(noteOf(uint64(3*linkInPage+round%61), next[7:]))
	}
}

// While held, a packet is looked at and not carried out; what counts is the frame table at the time when it is let go.
func TestLinkInHold(t *testing.T) { eachLinkIn(t, testLinkInHold) }

func testLinkInHold(t *testing.T, width int, spaced bool) {
	u := openLinkIn(t, width, spaced)
	want := make([]byte, linkInBytes)
	denied, held := 0, 0
	for round := range 500 {
		u.grant = testbench.Pick(u.rng, 0.3, 1)
		frame, at := u.rng.IntN(linkInFrames), u.rng.IntN(linkInPage-20)
		addr, data := uint64(frame*linkInPage+at), u.rng.Bytes(u.rng.IntN(20))
		raw := binary.LittleEndian.AppendUint32([]byte{byte(linkproto.TypeWrite), byte(len(data) + 4), 0}, uint32(addr))
		raw = append(raw, data...)
		u.allowed[uint16(frame)] = u.rng.Bool()
		u.rest()
		*u.Hold = true
		words := u.port.words
		i := 0
		for range u.rng.IntN(40) {
			if *u.SValid = i < len(raw); *u.SValid {
				u.put(raw, i)
			}
			i += u.clock()
		}
		if i > linkproto.HeaderBytes+4 || u.port.words != words || u.denied != denied || u.bad != 0 {
			t.Fatalf("round %d: held, but %d bytes of the packet were taken, %d words written, %d denied, %d bad", round, i, u.port.words-words, u.denied-denied, u.bad)
		}
		waits := linkproto.HeaderBytes + 4
		if len(data) > 0 {
			waits -= waits % width
		}
		held += count(i == waits)
		u.allowed[uint16(frame)] = u.rng.Bool()
		for since := 0; since < 2 || i < len(raw); since++ { // the table is looked at a clock before
			*u.Hold = since == 0
			if *u.SValid = i < len(raw); *u.SValid {
				u.put(raw, i)
			}
			i += u.clock()
		}
		*u.SValid = false
		u.rest()
		u.clock()
		var notes []note
		if u.allowed[uint16(frame)] {
			copy(want[addr:], data)
			notes = noteOf(addr, data)
		} else {
			denied++
		}
		u.said(notes)
		if u.denied != denied || u.bad != 0 || !bytes.Equal(u.port.memory, want) {
			t.Fatalf("round %d: %d denied, %d bad, want %d and 0; memory\n% x, want\n% x", round, u.denied, u.bad, denied, u.port.memory, want)
		}
	}
	if held < 100 {
		t.Errorf("only %d packets waited", held)
	}
}

// TestLinkInLargest: every bit of an address in the largest buffer counts.
func TestLinkInLargest(t *testing.T) {
	moduletest.EachWidth(t, func(t *testing.T, width int) {
		const bits = 21 // 256 frames of MaxPageBytes
		var p struct {
			SValid, SReady, SLast, SSure, Allowed, WValid, WTake, NReady *bool   `port:"*"`
			WMask                                                        *uint8  `port:"*"`
			LookFrame                                                    *uint16 `port:"*"`
			WAddr                                                        *uint32 `port:"*"`
		}
		word := wordOf(width)
		b := moduletest.Open(t, "ni_link_in", params{"PAGE_BYTES": linkproto.MaxPageBytes, "ADDR_WIDTH": bits, "WIDTH": width, "WORD": word}, &p)
		in := moduletest.NewBeats(t, b, "s", width)
		*p.SSure, *p.Allowed, *p.NReady = true, true, true
		for n := range 2 * bits {
			addr := uint32(1) << (n % bits)
			if n >= bits {
				addr ^= 1<<bits - 1
			}
			raw := append(binary.LittleEndian.AppendUint32([]byte{byte(linkproto.TypeWrite), 5, 0}, addr), 1)
			var written []uint32
			for i, clock := 0, 0; clock < 30; clock++ {
				if *p.SValid = i < len(raw); *p.SValid {
					*p.SLast = i+in.Put(raw[i:]) == len(raw)
				}
				*p.WTake = false
				settle(t, b)
				*p.WTake = *p.WValid
				settle(t, b)
				for lane := range word {
					if *p.WValid && *p.WMask>>lane&1 != 0 {
						check.Equal(t, "frame that is looked up", uint32(*p.LookFrame), addr/linkproto.MaxPageBytes)
						written = append(written, *p.WAddr*uint32(word)+uint32(lane))
					}
				}
				if *p.SValid && *p.SReady {
					i += width
				}
				b.Step(1)
			}
			check.Equal(t, "addresses written", written, []uint32{addr})
		}
	})
}
