package flowctl

import "github.com/stafflink/lmmc/linkproto"

// virtualSender holds packets until they are acknowledged. Those held are counted from the base, the oldest one not acknowledged.
type virtualSender struct {
	bytes ring
	slots []virtualSlot // of the packets held, at (first + index) % len

	base  uint32 // its number
	first int    // its slot
	count int    // packets held
	next  int    // index of the packet to send next
	top   int    // packets that were sent; next < top after going back

	accepted uint64 // packets ever queued
	freed    uint64 // packets that have left
}

type virtualSlot struct {
	slot
	sent  uint64 // when it was, the last time
	again bool   // it was sent more than once
}

func newVirtualSender(c VirtualConfig) virtualSender {
	return virtualSender{bytes: newRing(c.ReplayBytes, c.MaxPacket), slots: make([]virtualSlot, c.Window)}
}

// queue adds a packet; it reports false if there is no room.
func (s *virtualSender) queue(packet []byte) bool {
	if s.count == len(s.slots) || !s.bytes.fits(len(packet)) {
		return false
	}
	*s.slot(s.count) = virtualSlot{slot: slot{s.bytes.put(packet), len(packet)}}
	s.count++
	s.accepted++
	return true
}

func (s *virtualSender) slot(index int) *virtualSlot { return &s.slots[(s.first+index)%len(s.slots)] }

// take returns the packet to send next and its number.
func (s *virtualSender) take(now uint64) (seq uint32, packet []byte) {
	p := s.slot(s.next)
	p.sent, p.again = now, s.next < s.top
	seq = (s.base + uint32(s.next)) & linkproto.VLSeqMask
	s.next++
	s.top = max(s.top, s.next)
	return seq, s.bytes.get(p.at, p.len)
}

// acknowledge releases the oldest packets.
func (s *virtualSender) acknowledge(packets int) {
	s.first = (s.first + packets) % len(s.slots)
	s.base = (s.base + uint32(packets)) & linkproto.VLSeqMask
	s.count -= packets
	s.top -= packets
	s.next = max(s.next-packets, 0)
	s.free()
}

func (s *virtualSender) free() {
	start := s.bytes.end
	if s.count > 0 {
		start = s.slot(0).at
	}
	s.bytes.start, s.freed = start, s.accepted-uint64(s.count)
}

// reset drops every packet and starts again at number 0. It returns how many.
func (s *virtualSender) reset() int {
	dropped := s.count
	s.base, s.count, s.next, s.top = 0, 0, 0, 0
	s.free()
	return dropped
}
