package model

import "github.com/stafflink/lmmc/linkproto"

// readRegister returns the content of a register of the router's; ok is false if there is no such register.
func (r *router) readRegister(reg linkproto.Reg) (value uint32, ok bool) {
	if i, ok := index(reg, linkproto.RegRouterCounters, linkproto.NumRouterCounters*len(r.ports)); ok {
		return r.ports[i/linkproto.NumRouterCounters].counters[i%linkproto.NumRouterCounters], true
	}
	if p, ok := index(reg, linkproto.RegPortStatus, len(r.ports)); ok {
		return r.PortStatus(p), true
	}
	if p, ok := index(reg, linkproto.RegPortPeer, len(r.ports)); ok {
		if p == 0 {
			return 0, true
		}
		return peerOf(r.links[p]), true
	}
	if i, ok := index(reg, linkproto.RegPortCounters, linkproto.CounterStride*len(r.ports)); ok {
		port, c := i/linkproto.CounterStride, linkproto.Counter(i%linkproto.CounterStride)
		if port == 0 {
			return r.own.portCounter(c), true
		}
		return r.links[port].Counter(c), true
	}
	if node, ok := index(reg, linkproto.RegRouteTable, len(r.nodes)); ok {
		e := r.nodes[node]
		return linkproto.RoutePort.In(uint32(e.port)) | linkproto.RouteAlternate.In(uint32(e.alternate)), true
	}
	if group, ok := index(reg, linkproto.RegGroupTable, len(r.groups)); ok {
		return r.groups[group], true
	}
	if b, group, ok := r.barrier(reg); ok {
		return r.barriers.ReadRegister(b, group)
	}
	return 0, false
}

// writeRegister sets a register of the router's; ok is false if there is none that can be written.
func (r *router) writeRegister(reg linkproto.Reg, value uint32) (ok bool) {
	if node, ok := index(reg, linkproto.RegRouteTable, len(r.nodes)); ok {
		r.nodes[node] = entry{r.existing(linkproto.RoutePort.Of(value)), r.existing(linkproto.RouteAlternate.Of(value))}
		return true
	}
	if b, group, ok := r.barrier(reg); ok {
		return r.barriers.WriteRegister(b, group, value)
	}
	group, ok := index(reg, linkproto.RegGroupTable, len(r.groups))
	if ok {
		r.groups[group] = value & (1<<len(r.ports) - 1)
	}
	return ok
}

// barrier is which register of which group for barriers a register is; ok is false if it is none.
func (r *router) barrier(reg linkproto.Reg) (b linkproto.BarrierReg, group int, ok bool) {
	i, ok := index(reg, linkproto.RegBarrier, linkproto.BarrierStride*linkproto.BarrierGroups)
	return linkproto.BarrierReg(i % linkproto.BarrierStride), i / linkproto.BarrierStride, ok && r.barriers != nil
}

// existing is a port, or 0 if there is none of that number.
func (r *router) existing(port uint32) uint8 {
	if int(port) < len(r.ports) {
		return uint8(port)
	}
	return 0
}

// PortStatus is what a port's PORT_STATUS register reads.
func (r *router) PortStatus(port int) uint32 {
	if port == 0 {
		return r.own.portStatus()
	}
	link := r.links[port]
	return statusOf(link) | linkproto.StatusQueued.In(flag(link.Queued() > 0))
}

// peerOf is what PEER reads of a link.
func peerOf(link end) uint32 {
	s := link.Status()
	return linkproto.PeerNode.In(uint32(s.Peer.Node)) | linkproto.PeerRefused.In(flag(s.Refused)) | linkproto.PeerKnown.In(flag(s.Peer.Known))
}

// Dropped is how many packets have been dropped at a port.
func (r *router) Dropped(port int, c linkproto.RouterCounter) uint32 {
	return r.ports[port].counters[c]
}
