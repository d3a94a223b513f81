package ni_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// linkPacket draws a packet as the link layer may deliver it: any bytes, at least a header, length field right. It returns what a WRITE
// asks for, or ok false for a packet that is none.
func linkPacket(rng *testbench.Rand, frames, page int) (raw []byte, addr uint64, data []byte, ok bool) {
	maxPacket := linkproto.MaxPacket(page)
	finish := func() []byte {
		binary.LittleEndian.PutUint16(raw[1:], uint16(len(raw)-linkproto.HeaderBytes))
		return raw
	}
	switch kind := rng.IntN(10); {
	case kind == 0: // any first byte
		raw = append([]byte{byte(rng.Uint32()), 0, 0}, rng.Bytes(rng.IntN(maxPacket-2))...)
	case kind == 1: // too short for its address
		raw = append([]byte{byte(linkproto.TypeWrite), 0, 0}, rng.Bytes(rng.IntN(4))...)
	case kind == 2: // right but for via
		raw = append([]byte{byte(1+rng.IntN(7))<<linkproto.TypeBits | byte(linkproto.TypeWrite), 0, 0}, rng.Bytes(4+rng.IntN(8))...)
	default:
		n := testbench.Pick(rng, rng.IntN(3), 1+rng.IntN(12), rng.IntN(page+2), page-rng.IntN(3))
		offset := testbench.Pick(rng, 0, rng.IntN(page), max(page-n, 0), max(page-n, 0)+rng.IntN(2))
		frame := testbench.Pick(rng, rng.IntN(frames), rng.IntN(frames), rng.IntN(frames), frames+rng.IntN(4))
		addr := uint32(frame*page + offset%page)
		if rng.Chance(0.05) {
			addr |= 1 << (16 + rng.IntN(16))
		}
		raw = binary.LittleEndian.AppendUint32([]byte{byte(linkproto.TypeWrite), 0, 0}, addr)
		raw = append(raw, rng.Bytes(n)...)
	}
	if raw[0] != byte(linkproto.TypeWrite) || len(raw) < linkproto.HeaderBytes+4 {
		return finish(), 0, nil, false
	}
	return finish(), uint64(binary.LittleEndian.Uint32(raw[3:])), raw[7:], true
}

type linkInPorts struct {
	SValid, SReady, SLast, SSure, SVoid, Allowed, WValid, WTake, Hold, Quiet, NValid, NReady, EvDenied, EvBad *bool   `port:"*"`
	WAddr, WMask, NFirst, NLast                                                                               *uint8  `port:"*"`
	LookFrame, NFrame                                                                                         *uint16 `port:"*"`
}

// linkIn is module ni_link_in with a frame table and a write port around it.
type linkIn struct {
	linkInPorts
	t           *testing.T
	width       int
	in          *moduletest.Beats
	beat        int // bytes of the beat that stands there
	b           *testbench.Bench
	rng         *testbench.Rand
	allowed     map[uint16]bool
	port        writePort
	grant       float64 // chance that a waiting word is taken
	hear        float64 // chance that the notifier listens
	doubt       float64 // chance that a packet is on trial at first
	denied, bad int
	notes       []note
	offered     *note // the report that stands
}

// note is what a WRITE that was carried out is reported as.
type note struct{ frame, first, last int }

// noteOf is the note of a WRITE of data to addr.
func noteOf(addr uint64, data []byte) []note {
	if len(data) == 0 {
		return nil
	}
	first := int(addr % linkInPage)
	return []note{{int(addr / linkInPage), first, first + len(data) - 1}}
}

// put has the packet's bytes from i on stand there, as far as a beat goes.
func (u *linkIn) put(raw []byte, i int) {
	u.beat = u.in.Put(raw[i:])
	*u.SLast = i+u.beat == len(raw)
}

// clock runs one clock and returns how many bytes moved.
func (u *linkIn) clock() int {
	*u.Allowed = u.allowed[*u.LookFrame]
	*u.WTake = false
	settle(u.t, u.b)
	*u.WTake = *u.WValid && u.rng.Chance(u.grant)
	settle(u.t, u.b)
	u.port.look(u.t, *u.WValid, *u.WTake, uint32(*u.WAddr), check.Must(u.b.Model().Peek("w_data"))(u.t), *u.WMask)
	moved := count(*u.SValid && *u.SReady) * u.beat
	if report := (note{int(*u.NFrame), int(*u.NFirst), int(*u.NLast)}); *u.NValid || u.offered != nil {
		if u.offered == nil && *u.WValid {
			u.t.Fatalf("%+v is reported while a word is still to be written", report)
		}
		if u.offered != nil && (!*u.NValid || report != *u.offered) {
			u.t.Fatalf("the report %+v became %+v, valid %v, before it was taken", *u.offered, report, *u.NValid)
		}
		u.offered = &report
		if *u.NReady = u.rng.Chance(u.hear); *u.NReady {
			u.notes, u.offered = append(u.notes, report), nil
		}
	}
	u.b.Step(1)
	u.denied += count(*u.EvDenied)
	u.bad += count(*u.EvBad)
	return moved
}

// rest runs until the module says that it is quiet: then everything is written and reported.
func (u *linkIn) rest() {
	u.t.Helper()
	for clocks := 0; ; clocks++ {
		if settle(u.t, u.b); *u.Quiet {
			return
		}
		if clocks > 1000 {
			u.t.Fatal("the module does not become quiet")
		}
		u.clock()
	}
}

// said checks what was reported since the last time.
func (u *linkIn) said(want []note) {
	u.t.Helper()
	if !slices.Equal(u.notes, want) {
		u.t.Fatalf("the writes were reported as %+v, want %+v", u.notes, want)
	}
	u.notes = nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spoil puts in some bytes of a packet that is on trial, and then says that it is void.
func (u *linkIn) spoil(raw []byte) {
	words, quiet := u.port.words, *u.Quiet
	*u.SSure = false
	clocks := 1 + u.rng.IntN(len(raw)+10)
	raw = append(raw, u.rng.Bytes(clocks*u.width+1)...) // it does not come to its end
	i := 0
	for range clocks {
		u.put(raw, i)
		*u.SValid = true
		i += u.clock()
	}
	*u.SValid, *u.SSure, *u.SVoid = false, true, true
	u.clock()
	*u.SVoid = false
	if quiet && u.port.words != words {
		u.t.Fatalf("%d words of a packet on trial were written", u.port.words-words)
	}
}

// send puts a packet in, which is on trial for some clocks after doubt begins, and returns the clocks it took.
func (u *linkIn) send(raw []byte, pace float64, each func(i int)) (clocks int) {
	u.t.Helper()
	doubt := 0
	if u.rng.Chance(u.doubt) {
		doubt = u.rng.IntN(2 * len(raw))
	}
	for i := 0; i < len(raw); clocks++ {
		if clocks > 100*len(raw)+1000 {
			u.t.Fatalf("packet % x hangs at byte %d", raw, i)
		}
		if !*u.SValid { // once valid it stays
			*u.SValid = u.rng.Chance(pace)
		}
		u.put(raw, i)
		*u.SSure = clocks >= doubt || *u.SLast || i == 0 && !*u.SValid
		if moved := u.clock(); moved > 0 {
			*u.SValid = false
			if i += moved; each != nil {
				each(i)
			}
		}
	}
	return clocks
}

const (
	linkInPage   = 64
	linkInFrames = 5
	linkInBytes  = 512
)

// eachLinkIn runs body with each width, and with bytes that are written one by one.
func eachLinkIn(t *testing.T, body func(t *testing.T, width int, spaced bool)) {
	moduletest.EachWidth(t, func(t *testing.T, width int) { body(t, width, false) })
	t.Run("spaced", func(t *testing.T) { body(t, 1, true) })
}

func openLinkIn(t *testing.T, width int, spaced bool) *linkIn {
	word := wordOf(width)
	u := &linkIn{t: t, width: width, allowed: map[uint16]bool{}, hear: 1, port: writePort{memory: make([]byte, linkInBytes), word: word}}
	u.b = moduletest.Open(t, "ni_link_in", params{"PAGE_BYTES": linkInPage, "ADDR_WIDTH": "9", "WIDTH": width, "WORD": word, "SPACED": count(spaced)}, &u.linkInPorts)
	u.in = moduletest.NewBeats(t, u.b, "s", width)
	*u.SSure = true
	u.rng = u.b.Rand("link")
	return u
}

// linkModel is what ni_link_in must have done.
type linkModel struct {
	memory            []byte
	bad, denied, done int
	notes             []note // since the last check
}

// carry draws a packet and does with it what ni_link_in has to.
func (m *linkModel) carry(u *linkIn) (raw []byte) {
	raw, addr, data, isWrite := linkPacket(u.rng, linkInFrames, linkInPage)
	offset, frame := addr%linkInPage, addr/linkInPage
	switch {
	case !isWrite:
		m.bad++
	case frame >= linkInFrames || !u.allowed[uint16(frame)] || int(offset)+len(data) > linkInPage:
		m.denied++
	default:
		copy(m.memory[addr:], data)
		m.notes = append(m.notes, noteOf(addr, data)...)
		m.done++
	}
	return raw
}

// check lets the module come to rest: the next packet may follow at once, but the check wants the last word.
func (m *linkModel) check(u *linkIn, last []byte) {
	u.t.Helper()
	u.rest()
	u.said(m.notes)
	u.clock()
	if u.bad != m.bad || u.denied != m.denied || !bytes.Equal(u.port.memory, m.memory) {
		u.t.Fatalf("after % x: %d bad and %d denied, want %d and %d; memory\n% x, want\n% x",
			last, u.bad, u.denied, m.bad, m.denied, u.port.memory, m.memory)
	}
	m.notes = nil
}
