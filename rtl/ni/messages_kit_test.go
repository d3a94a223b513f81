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
	NReady, RegEn, RegWrite, RegDone, RegOk, ODone, OOk                *bool   `port:"*"`
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
	life   uint32 // in which links are opened
}

func openMessages(t *testing.T) *messages {
	m := &messages{t: t, memory: make([]byte, msgMemory), told: map[uint16]uint16{}}
	m.b = moduletest.Open(t, "ni_virtual", params{"VIRTUAL": 3, "SLOTS": 16, "WINDOW": 6, "RETRY": 1024, "PAGE_BYTES": msgPage, "FRAMES": msgFrames, "ADDR_WIDTH": 11, "CONTEXTS": 3}, m)
	m.r = m.b.Rand("messages")
	*m.Node, *m.MReady, *m.NReady = 7, 7, true
	m.idle(50)
	return m
}

// idle lets clocks pass.
func (m *messages) idle(clocks int) {
	for range clocks {
		m.clock()
	}
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

// key is that of a virtual link to another of this node.
func (m *messages) key(end, peer int) uint32 {
	return uint32(linkproto.KeyOf(linkproto.Life(100*end)+linkproto.Life(m.life), linkproto.Life(100*peer)+linkproto.Life(m.life)))
}

// open opens a virtual link of a context to another of this node.
func (m *messages) open(end, peer, context int) {
	set := func(r linkproto.VLReg, value uint32) { m.ask(r.Reg(end), true, value) }
	set(linkproto.VLRegPeer, 7)
	set(linkproto.VLRegNumber, uint32(peer))
	set(linkproto.VLRegKey, m.key(end, peer))
	set(linkproto.VLRegContext, uint32(context))
	set(linkproto.VLRegStatus, linkproto.VLOpen.In(1)|linkproto.VLUp.In(1))
}

// Regions of the tests: that of context n begins with its rings, and has room for messages behind them.
const (
	msgEntries = 4 // SIZE 2
	msgRegion  = 8 // frames
	msgSendAt  = 64 * msgEntries
	msgMost    = 120
)

func startOf(context int) int { return (context - 1) * msgRegion * msgPage }

// enable begins a context, whose region has the size that is meant if nothing else is said.
func (m *messages) enable(context int) {
	first := uint32((context - 1) * msgRegion)
	m.ask(linkproto.ContextRegRegion.Reg(context), true, linkproto.ContextFirst.In(first)|linkproto.ContextLast.In(first+msgRegion-1)|linkproto.ContextSize.In(2))
	m.ask(linkproto.ContextRegStatus.Reg(context), true, 1)
	delete(m.told, uint16(context))
	check.Equal(m.t, "STATUS", m.ask(linkproto.ContextRegStatus.Reg(context), false, 0), 1)
}

// put writes entry n of a ring, which begins so many entries behind the region's beginning.
func (m *messages) put(context, ring, n int, d linkproto.Posted) {
	copy(m.memory[startOf(context)+linkproto.RingEntry*(ring*msgEntries+n%msgEntries):], d.Append(nil))
}

// completion is entry n of the ring of completions.
func (m *messages) completion(context, n int) linkproto.Completion {
	m.t.Helper()
	at := startOf(context) + linkproto.RingEntry*(linkproto.RingCompletions*msgEntries+n%(2*msgEntries))
	c, ok := linkproto.DecodeCompletion(m.memory[at : at+linkproto.RingEntry])
	check.Equal(m.t, fmt.Sprintf("completion %d of context %d is one", n, context), ok, true)
	return c
}

// until lets clocks pass until so many descriptors of a context are complete.
func (m *messages) until(context, completions int) {
	m.t.Helper()
	for k := 0; int(m.told[uint16(context)]) != completions; k++ {
		if m.clock(); k > 60000 {
			m.t.Fatalf("context %d: told of %d completions, want %d", context, m.told[uint16(context)], completions)
		}
	}
}
