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

	elsewhere int    // bytes of the packets held that are not in bytes
	accepted  uint64 // packets ever queued
	freed     uint64 // packets that have left
}

type virtualSlot struct {
	slot
	more  []byte // the end of the packet, which stays where it is until the packet has left
	sent  uint64 // when it was, the last time
	again bool   // it was sent more than once
}

func newVirtualSender(c VirtualConfig) virtualSender {
	return virtualSender{bytes: newRing(c.ReplayBytes, c.MaxPacket), slots: make([]virtualSlot, c.Window)}
}

// queue adds a packet, of which it copies all but the end, more; it reports false if there is no room.
func (s *virtualSender) queue(packet, more []byte) bool {
	if s.count == len(s.slots) || !s.bytes.fits(len(packet)+len(more)+s.elsewhere) {
		return false
	}
	*s.slot(s.count) = virtualSlot{slot: slot{s.bytes.put(packet), len(packet)}, more: more}
	s.elsewhere += len(more)
	s.count++
	s.accepted++
	return true
}

// used is how many bytes the packets held have.
func (s *virtualSender) used() int { return s.bytes.used() + s.elsewhere }

func (s *virtualSender) slot(index int) *virtualSlot { return &s.slots[(s.first+index)%len(s.slots)] }

// take returns the packet to send next, in two parts, and its number.
func (s *virtualSender) take(now uint64) (seq uint32, packet, more []byte) {
	p := s.slot(s.next)
	p.sent, p.again = now, s.next < s.top
	seq = (s.base + uint32(s.next)) & linkproto.VLSeqMask
	s.next++
	s.top = max(s.top, s.next)
	return seq, s.bytes.get(p.at, p.len), p.more
}

// acknowledge releases the oldest packets.
func (s *virtualSender) acknowledge(packets int) {
	s.forget(packets)
	s.first = (s.first + packets) % len(s.slots)
	s.base = (s.base + uint32(packets)) & linkproto.VLSeqMask
	s.count -= packets
	s.top -= packets
	s.next = max(s.next-packets, 0)
	s.free()
}

// forget lets the ends of the oldest packets go.
func (s *virtualSender) forget(packets int) {
	for i := range packets {
		p := s.slot(i)
		s.elsewhere -= len(p.more)
		p.more = nil
	}
}

func (s *virtualSender) free() {
	start := s.bytes.end
	if s.count > 0 {
		start = s.slot(0).at
	}
	s.bytes.free(start)
	s.freed = s.accepted - uint64(s.count)
}

// reset drops every packet and starts again at number 0. It returns how many.
func (s *virtualSender) reset() int {
	dropped := s.count
	s.forget(dropped)
	s.base, s.count, s.next, s.top = 0, 0, 0, 0
	s.free()
	return dropped
}
