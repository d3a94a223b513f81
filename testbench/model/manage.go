package model

import "github.com/stafflink/lmmc/linkproto"

// patience is how many ticks a switch's answer waits for room in the router.
const patience = 4096

// accept carries out a request that has come to the switch in a datagram.
func (s *Switch) accept(from int, raw []byte) bool {
	if s.answer != nil {
		return false
	}
	var r linkproto.Route
	err := r.Decode(raw)
	good := err == nil && r.State == linkproto.RouteDatagram && r.VL == 0 && r.Next == 0 && r.Seq == 0 && (s.node == 0 || r.Dest == s.node) &&
		linkproto.LengthFits(r.Packet) && r.Src != 0 && r.Src <= linkproto.MaxNode && r.Src != s.node
	var request linkproto.Packet
	malformed := request.Decode(r.Packet)
	info := request.Type.Info()
	if !good || info == nil || info.Dir != linkproto.ToNI {
		s.served[linkproto.CntBadPacket]++
		return true
	}
	s.served[linkproto.CntRxPackets]++
	answer := linkproto.Route{Dest: r.Src, Hops: linkproto.MaxHops, State: linkproto.RouteDatagram, Packet: encode(s.request(request, malformed, r.Hops == 0))}
	answer.Src = s.node
	s.answer, _ = answer.Append(nil)
	s.back, s.waited = from, 0
	s.wait(0)
	return true
}

// request carries out a request, which had no hops left if spent, and returns its answer.
func (s *Switch) request(p linkproto.Packet, malformed error, spent bool) linkproto.Packet {
	status := linkproto.StatusBadAddress
	switch {
	case p.Type != linkproto.TypeRegRead && p.Type != linkproto.TypeRegWrite:
		status = linkproto.StatusBadType
	case malformed != nil:
		status = linkproto.StatusBadLength
	case p.Type == linkproto.TypeRegRead:
		if value, ok := s.ReadRegister(p.Reg); ok {
			return linkproto.Packet{Type: linkproto.TypeRegData, Tag: p.Tag, Reg: p.Reg, Value: value}
		}
	case s.node == 0 && p.Reg == linkproto.RegNodeID && !spent: // it may be for a switch behind this one
	case s.WriteRegister(p.Reg, p.Value):
		status = linkproto.StatusOK
	}
	return linkproto.Packet{Type: linkproto.TypeDone, Tag: p.Tag, Status: status}
}

// wait gives the answer to the router, if that has room, or gives it up after a while.
func (s *Switch) wait(ticks int) {
	switch s.waited += ticks; {
	case s.answer == nil:
		return
	case s.take(0, s.answer):
		s.served[linkproto.CntTxPackets]++
	case s.waited < patience:
		return
	default:
		s.served[linkproto.CntLostPackets]++
	}
	s.answer = nil
	s.look |= 1
}

// portStatus: port 0 is always up.
func (s *Switch) portStatus() uint32 { return linkproto.StatusUp.In(1) }

// portCounter counts requests as packets received, and answers as packets sent.
func (s *Switch) portCounter(c linkproto.Counter) uint32 { return s.served[c] }

// ReadRegister returns the content of a register; ok is false if there is no such register.
func (s *Switch) ReadRegister(reg linkproto.Reg) (value uint32, ok bool) {
	if value, ok = s.router.readRegister(reg); ok {
		return value, true
	}
	value, ok = map[linkproto.Reg]uint32{
		linkproto.RegMagic: linkproto.Magic, linkproto.RegVersion: linkproto.Version,
		linkproto.RegHashLo: uint32(s.cfg.Hash), linkproto.RegHashHi: uint32(s.cfg.Hash >> 32), linkproto.RegLinks: uint32(s.cfg.Router),
		linkproto.RegFeatures: linkproto.FeatureRoutes.In(1) | linkproto.FeatureRouter.In(1) | linkproto.FeatureBarriers.In(flag(s.cfg.Barriers)),
		linkproto.RegScratch:  s.scratch, linkproto.RegNodeID: uint32(s.node), linkproto.RegNonce: s.nonce,
	}[reg]
	return value, ok
}

// WriteRegister sets a register, as REG_WRITE does, and reports false if that refuses it. Before a switch has a number, little else can be set.
func (s *Switch) WriteRegister(reg linkproto.Reg, value uint32) bool {
	switch {
	case reg == linkproto.RegScratch:
		s.scratch = value
	case reg == linkproto.RegNodeID:
		s.identify(uint16(value))
	default:
		return s.node != 0 && s.router.writeRegister(reg, value)
	}
	return true
}
