package ni_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Sizes of the interface of TestMessages.
const (
	msgPage   = 64
	msgFrames = 32
	msgMemory = msgPage * msgFrames
)

// messages is ni_virtual with contexts of messages, whose ROUTEs come back to it, and a receive buffer.
type messages struct {
	SValid, TValid, TReady, TLast, TVoid, RValid, RReady, RLast, RVoid *bool   `port:"*"`
	NReady, EvBad, RegEn, RegWrite, RegDone, RegOk, ODone, OOk         *bool   `port:"*"`
	GHEn, GHClash, GMemEn, GMemClash                                   *bool   `port:"*"`
	TData, RData, MValid, MReady, MLast, WValid, WTake                 *uint8  `port:"*"`
	Node, RegAddr, GHAddr, GMemAddr, WMask                             *uint16 `port:"*"`
	RegWdata, RegValue, GHData, GMemData, WAddr                        *uint32 `port:"*"`

	t      *testing.T
	b      *testbench.Bench
	r      *testbench.Rand
	memory []byte
	loss   float64 // of ROUTEs
	losing bool    // the rest of one is lost
	told   map[uint16]uint16
	packet []byte // for the host, as it comes
	reads  bool   // the host reads beside
	bad    int
}

func openMessages(t *testing.T) *messages {
	m := &messages{t: t, memory: make([]byte, msgMemory), told: map[uint16]uint16{}}
	m.b = moduletest.Open(t, "ni_virtual", params{"VIRTUAL": 3, "SLOTS": 16, "WINDOW": 6, "RETRY": 1024, "PAGE_BYTES": msgPage, "FRAMES": msgFrames, "ADDR_WIDTH": 11, "CONTEXTS": 3}, m)
	m.r = m.b.Rand("messages")
	*m.Node, *m.MReady, *m.NReady = 7, 7, true
	for range 50 {
		m.clock()
	}
	return m
}

// clock lets a clock pass: ROUTEs come back, or are lost; the receive buffer is read and written.
func (m *messages) clock() {
	t := m.t
	settle(t, m.b)
	*m.RValid, *m.RData, *m.RLast, *m.RVoid = *m.TValid && !m.losing, *m.TData, *m.TLast, *m.TVoid && !m.losing
	if *m.GHEn = m.reads && m.r.Chance(0.3); *m.GHEn {
		*m.GHAddr = uint16(m.r.IntN(msgMemory / 4))
	}
	*m.MReady = uint8(m.r.IntN(8))
	settle(t, m.b)
	*m.TReady = *m.RReady || m.losing
	*m.WTake = 0
	if *m.WValid != 0 {
		w := m.r.IntN(3)
		*m.WTake = *m.WValid & (1 << w)
	}
	settle(t, m.b)
	if *m.TVoid || *m.TValid && *m.TReady && *m.TLast {
		m.losing = m.r.Chance(m.loss)
	}
	m.look()
	wrote := -1
	for w := range 3 {
		if *m.WTake>>w&1 == 0 {
			continue
		}
		wrote = int(*m.WAddr >> (9 * w) & 0x1FF)
		data := check.Must(m.b.Model().Peek(fmt.Sprintf("w_data[%d:%d]", 32*w+31, 32*w)))(t)
		for lane := range 4 {
			if *m.WMask>>(4*w+lane)&1 != 0 {
				m.memory[4*wrote+lane] = byte(data >> (8 * lane))
			}
		}
	}
	clash, word := false, *m.GMemData
	if *m.GMemEn {
		at := int(*m.GMemAddr)
		clash = wrote == at
		if word = binary.LittleEndian.Uint32(m.memory[4*at:]); clash {
			word = m.r.Uint32()
		}
	}
	m.b.Step(1)
	*m.GMemData, *m.GMemClash = word, clash
	m.bad += count(*m.EvBad)
}

// look takes what the host is told by COMPLETEDs.
func (m *messages) look() {
	const source = 2
	if *m.MValid>>source&1 == 0 || *m.MReady>>source&1 == 0 {
		return
	}
	if m.packet = append(m.packet, byte(check.Must(m.b.Model().Peek("m_data[23:16]"))(m.t))); *m.MLast>>source&1 == 0 || len(m.packet) == 1 {
		return
	}
	told := m.packet[1:]
	check.Equal(m.t, "bytes of a COMPLETED", len(told), 4)
	m.told[binary.LittleEndian.Uint16(told)] = binary.LittleEndian.Uint16(told[2:])
	m.packet = nil
}

// ask writes a register, or reads it.
func (m *messages) ask(reg linkproto.Reg, write bool, value uint32) uint32 {
	m.t.Helper()
	*m.RegEn, *m.RegWrite, *m.RegAddr, *m.RegWdata = true, write, uint16(reg), value
	for range 20000 {
		settle(m.t, m.b)
		done, ok, value := *m.RegDone, *m.RegOk, *m.RegValue
		m.clock()
		if done {
			*m.RegEn = false
			m.clock()
			check.Equal(m.t, fmt.Sprintf("register %v is answered", reg), ok, true)
			return value
		}
	}
	m.t.Fatalf("register %v is not answered", reg)
	return 0
}

// open opens a virtual link of a context to another of this node.
func (m *messages) open(end, peer, context int) {
	key := linkproto.KeyOf(linkproto.Life(100*end), linkproto.Life(100*peer))
	for r, value := range map[linkproto.VLReg]uint32{linkproto.VLRegPeer: 7, linkproto.VLRegNumber: uint32(peer), linkproto.VLRegKey: uint32(key), linkproto.VLRegContext: uint32(context)} {
		m.ask(r.Reg(end), true, value)
	}
	m.ask(linkproto.VLRegStatus.Reg(end), true, linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
}

// TestMessages: contexts send each other messages of every length by lossy virtual links, and each comes whole, in order, to where its receive says; nothing
// else in the memory changes, and each descriptor is completed once.
func TestMessages(t *testing.T) {
	m := openMessages(t)
	m.loss, m.reads = 0.05, true
	const size, entries, frames = 2, 4, 8
	check.Equal(t, "CONTEXTS", m.ask(linkproto.RegContexts, false, 0), 8)
	ends := map[int]int{1: 2, 2: 1, 3: 4, 4: 3} // a context each, of the same number
	type context struct {
		start int // of its region
		sent  linkproto.Posted
		data  []byte
	}
	all := map[int]*context{}
	for end, peer := range ends {
		all[end] = &context{start: (end - 1) * frames * msgPage}
		m.open(end, peer, end)
		m.ask(linkproto.ContextRegRegion.Reg(end), true, linkproto.ContextFirst.In(uint32((end-1)*frames))|linkproto.ContextLast.In(uint32(end*frames-1))|linkproto.ContextSize.In(size))
		m.ask(linkproto.ContextRegStatus.Reg(end), true, 1)
		check.Equal(t, "STATUS", m.ask(linkproto.ContextRegStatus.Reg(end), false, 0), 1)
	}
	// A region has its rings, room for one send at a time, and for one receive.
	const sendAt, receiveAt, most = 64 * entries, 64*entries + 128, 120
	const rounds = 10
	for n := range rounds {
		lengths := map[int]int{}
		for end := range ends {
			c := all[end]
			length := testbench.Pick(m.r, 0, 1, 3, 4, 60, 61, 62, most, m.r.IntN(most))
			lengths[end] = length
			data := m.r.Bytes(length)
			copy(m.memory[c.start+sendAt:], data)
			d := linkproto.Posted{Addr: uint32(c.start + sendAt), Length: uint32(length), Tag: m.r.Uint32(), VL: uint16(end), Cookie: uint16(n)}
			copy(m.memory[c.start+linkproto.RingEntry*(n%entries):], d.Append(nil))
			c.sent, c.data = d, data
			in := linkproto.Posted{Addr: uint32(c.start + receiveAt), Length: most, Cookie: uint16(n + 1000)}
			copy(m.memory[c.start+linkproto.RingEntry*(entries+n%entries):], in.Append(nil))
		}
		for end := range ends {
			first, second := linkproto.ContextRegSendTail, linkproto.ContextRegReceiveTail
			if m.r.Bool() {
				first, second = second, first
			}
			m.ask(first.Reg(end), true, uint32(n+1))
			for range m.r.IntN(800) {
				m.clock()
			}
			m.ask(second.Reg(end), true, uint32(n+1))
		}
		done := func() bool {
			for end := range ends {
				if int(m.told[uint16(end)]) != 2*(n+1) {
					return false
				}
			}
			return true
		}
		for k := 0; !done(); k++ {
			if m.clock(); k > 60000 {
				t.Fatalf("round %d: told of %v completions, lengths %v", n, m.told, lengths)
			}
		}
		for end, peer := range ends {
			c, from := all[end], all[peer]
			for i := 2 * n; i < 2*n+2; i++ {
				at := c.start + linkproto.RingEntry*(2*entries+i%(2*entries))
				have, ok := linkproto.DecodeCompletion(m.memory[at : at+linkproto.RingEntry])
				want := linkproto.Completion{Length: c.sent.Length, Tag: c.sent.Tag, VL: uint16(end), Cookie: uint16(n)}
				if have.Receive {
					want = linkproto.Completion{Length: from.sent.Length, Tag: from.sent.Tag, VL: uint16(end), Cookie: uint16(n + 1000), Receive: true}
				}
				check.Equal(t, fmt.Sprintf("completion %d of context %d is none", i, end), ok, true)
				check.Equal(t, fmt.Sprintf("completion %d of context %d", i, end), have, want)
			}
			check.Equal(t, fmt.Sprintf("message %d of context %d", n, end), m.memory[c.start+receiveAt:c.start+receiveAt+len(from.data)], from.data)
		}
	}
}
