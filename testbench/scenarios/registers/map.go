package registers

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
)

// Sizes of a router's tables, unless parameters say another.
const (
	routeEntries = linkproto.MaxNode + 1
	groupEntries = 16
)

// registerMap is what the tables of registers promise of a network interface, after what has been written since its reset.
type registerMap struct {
	p      rtl.Params
	stored map[linkproto.Reg]uint32  // what has been written, as it reads
	known  map[linkproto.Reg]promise // of registers that change by themselves: what they read now
	hash   uint64
}

// promise is what a register reads, as far as that is known, and whether it can be read and written at all.
type promise struct {
	value, known uint32 // bits that are not in known may read as anything
	reads        bool
	writes       bool
}

// newRegisterMap is the map after a reset.
func newRegisterMap(p rtl.Params, hash uint64) *registerMap {
	return &registerMap{p: p, hash: hash, stored: map[linkproto.Reg]uint32{}, known: map[linkproto.Reg]promise{}}
}

// size is how many registers of a row of linkproto.Registers there are.
func (m *registerMap) size(row linkproto.RegInfo) int {
	of := func(exists bool, n int) int {
		if !exists {
			return 0
		}
		return n
	}
	ports := m.p.Router + 1
	switch row.Reg {
	case linkproto.RegBarrier, linkproto.RegVL, linkproto.RegContext:
		return 0
	case linkproto.RegVLNumbers, linkproto.RegVLSlots, linkproto.RegVLWindow:
		return of(m.p.Virtual > 0, 1)
	case linkproto.RegContexts:
		return of(m.p.Contexts > 0, 1)
	case linkproto.RegLinkStatus, linkproto.RegPeer:
		return m.p.Links + 1
	case linkproto.RegTrace:
		return of(m.p.Trace > 0, len(linkproto.TraceRegs))
	case linkproto.RegInject:
		return of(m.p.Inject, linkproto.InjectStride*m.p.Links+len(linkproto.InjectRegs))
	case linkproto.RegCounters:
		return linkproto.CounterStride * (m.p.Links + 1)
	case linkproto.RegRouterCounters:
		return of(m.p.Router > 0, linkproto.NumRouterCounters*ports)
	case linkproto.RegPortStatus, linkproto.RegPortPeer:
		return of(m.p.Router > 0, ports)
	case linkproto.RegPortCounters:
		return of(m.p.Router > 0, linkproto.CounterStride*ports)
	case linkproto.RegFrameTable:
		return m.p.Frames
	case linkproto.RegTraceRing:
		return 2 * m.p.Trace
	case linkproto.RegRouteTable:
		return of(m.p.Router > 0, routeEntries)
	case linkproto.RegGroupTable:
		return of(m.p.Router > 0, groupEntries)
	}
	return 1
}

// row is the row of a register, and its number in the block; ok is false if there is no such register.
func (m *registerMap) row(reg linkproto.Reg) (row linkproto.RegInfo, i int, ok bool) {
	info := reg.Info()
	if info == nil {
		return row, 0, false
	}
	i = int(reg - info.Reg)
	return *info, i, i < m.size(*info)
}

// at is what a register promises.
func (m *registerMap) at(reg linkproto.Reg) promise {
	row, i, ok := m.row(reg)
	if !ok {
		return promise{}
	}
	access := row.Access
	switch row.Reg {
	case linkproto.RegTrace:
		access = linkproto.TraceRegs[i].Access
	case linkproto.RegInject:
		if i %= linkproto.InjectStride; i >= len(linkproto.InjectRegs) {
			return promise{}
		}
		access = linkproto.InjectRegs[i].Access
	}
	q := promise{reads: access != "wo", writes: access != "ro"}
	if now, ok := m.known[reg]; ok {
		q.value, q.known = now.value, now.known
	} else if value, ok := m.constant(reg); ok {
		q.value, q.known = value, ^uint32(0)
	} else if q.writes && row.Reg != linkproto.RegLinkStatus {
		q.value, q.known = m.stored[reg], ^uint32(0)
	}
	return q
}

// constant is what a register reads always.
func (m *registerMap) constant(reg linkproto.Reg) (uint32, bool) {
	flag := func(b bool) uint32 {
		if b {
			return 1
		}
		return 0
	}
	value, ok := map[linkproto.Reg]uint32{
		linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version, linkproto.RegHashLo: uint32(m.hash), linkproto.RegHashHi: uint32(m.hash >> 32),
		linkproto.RegLinks: uint32(m.p.Links), linkproto.RegFrames: uint32(m.p.Frames), linkproto.RegPageBytes: uint32(m.p.PageBytes),
		linkproto.RegReplayBytes: uint32(m.p.ReplayBytes), linkproto.RegRxBytes: uint32(m.p.RxBytes), linkproto.RegWindow: linkproto.MaxWindow,
		linkproto.RegFeatures: linkproto.FeaturePaging.In(1) | linkproto.FeatureNotify.In(1) | linkproto.FeatureTrace.In(flag(m.p.Trace > 0)) |
			linkproto.FeatureInjector.In(flag(m.p.Inject)) | linkproto.FeatureRoutes.In(flag(m.p.TakesRoutes())) | linkproto.FeatureRouter.In(flag(m.p.Router > 0)) |
			linkproto.FeatureVirtual.In(flag(m.p.Virtual > 0)) | linkproto.FeatureBarriers.In(flag(m.p.Barriers)) | linkproto.FeatureMessages.In(flag(m.p.Contexts > 0)),
		linkproto.RegVLNumbers: 1 << m.p.Virtual, linkproto.RegVLSlots: uint32(m.p.VLSlots), linkproto.RegVLWindow: uint32(m.p.VLWindow), linkproto.RegContexts: 1 << m.p.Contexts,
		linkproto.TraceDepth.Reg(): uint32(m.p.Trace),
	}[reg]
	return value, ok
}

// write takes note of a write that a register takes.
func (m *registerMap) write(reg linkproto.Reg, value uint32) {
	field := func(f linkproto.Bits) uint32 { return f.In(f.Of(value)) }
	row, i, _ := m.row(reg)
	switch row.Reg {
	case linkproto.RegNonce: // what links say of themselves is another thing from here on
		clear(m.known)
		m.known[linkproto.TraceControl.Reg()] = promise{reads: true, writes: true}
	case linkproto.RegInject:
		if i%linkproto.InjectStride == int(linkproto.InjectControl) {
			value = field(linkproto.InjectRun) | field(linkproto.InjectCut)
		}
	case linkproto.RegControl:
		gateway := field(linkproto.ControlGateway)
		if !m.p.Routes || m.p.Router > 0 {
			gateway = 0
		}
		value = field(linkproto.ControlNotify) | gateway
	case linkproto.RegFrameTable:
		value = field(linkproto.FrameLink) | field(linkproto.FrameValid) | linkproto.FrameVL.In(linkproto.FrameVL.Of(value)&(1<<m.p.Virtual-1))
	case linkproto.RegTrace:
		switch linkproto.TraceReg(i) {
		case linkproto.TraceControl:
			m.known[reg] = promise{}
		case linkproto.TraceMask, linkproto.TraceTrigger:
			value = field(linkproto.TraceWordEvents)
		default:
			value = uint32(uint16(value))
		}
	case linkproto.RegRouteTable:
		value = m.port(linkproto.RoutePort, value) | m.port(linkproto.RouteAlternate, value)
	case linkproto.RegGroupTable:
		value &= 2<<m.p.Router - 1
	}
	m.stored[reg] = value
}

// port is a field of an entry, which a port that does not exist leaves 0.
func (m *registerMap) port(f linkproto.Bits, value uint32) uint32 {
	if port := f.Of(value); int(port) <= m.p.Router {
		return f.In(port)
	}
	return 0
}

// all lists the registers that can be read, of blocks that are long only some.
func (m *registerMap) all(rng *testbench.Rand) (regs []linkproto.Reg) {
	const most = 256
	for _, row := range linkproto.Registers {
		n := m.size(row)
		for i := range min(n, most) {
			if n > most {
				i = rng.IntN(n)
			}
			if reg := row.Reg + linkproto.Reg(i); m.at(reg).reads {
				regs = append(regs, reg)
			}
		}
	}
	return regs
}

// elsewhere reports whether a register is one of a barrier, a virtual link or a context, which have scenarios of their own.
func (m *registerMap) elsewhere(reg linkproto.Reg) bool {
	info := reg.Info()
	return info != nil && (info.Reg == linkproto.RegBarrier && m.p.Barriers || info.Reg == linkproto.RegVL && m.p.Virtual > 0 || info.Reg == linkproto.RegContext && m.p.Contexts > 0)
}

// settable are the registers that stand for themselves and can be written.
var settable = []linkproto.Reg{linkproto.RegScratch, linkproto.RegControl, linkproto.RegNodeID, linkproto.RegNonce}

// draw draws a register, or a number close to a block that is none.
func (m *registerMap) draw(rng *testbench.Rand) (reg linkproto.Reg) {
	for reg = m.number(rng); m.elsewhere(reg); reg = m.number(rng) {
	}
	return reg
}

func (m *registerMap) number(rng *testbench.Rand) linkproto.Reg {
	row := linkproto.Registers[rng.IntN(len(linkproto.Registers))]
	n := max(m.size(row), 1)
	switch rng.IntN(8) {
	case 0, 1:
		return testbench.Pick(rng, settable...)
	case 2:
		return row.Reg + linkproto.Reg(n-1+rng.IntN(2))
	case 3:
		return row.Reg + testbench.Pick(rng, linkproto.Reg(n+rng.IntN(n+1)), ^linkproto.Reg(0), linkproto.Reg(1)<<rng.IntN(16))
	case 4:
		return linkproto.Reg(rng.Uint32())
	}
	return row.Reg + linkproto.Reg(rng.IntN(n))
}
