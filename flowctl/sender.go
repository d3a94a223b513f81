package flowctl

import "github.com/stafflink/lmmc/linkproto"

// sender holds packets until they are acknowledged and sends them as frames. Packets held are counted from the base,
// the oldest one not acknowledged, whose sequence number is baseSeq.
type sender struct {
	bytes ring
	slots []slot // of the packets held, at (baseSlot + index) % len
	key   linkproto.Key

	baseSeq  uint8
	baseSlot int
	count    int // packets held
	next     int // index of the packet to send next
	top      int // packets sent completely since the link came up; next < top after going back

	goBack    bool // go back to the base when the frame in progress is complete
	resending bool // went back, and the base has not been sent again yet

	active bool // a frame is in progress
	frame  outFrame

	accepted uint64 // packets ever queued
	freed    uint64 // packets whose bytes have been freed
}

type slot struct {
	at  uint64 // position in bytes
	len int
}

// outFrame is the frame in progress. It keeps its own copy of the slot, which may be reused before the frame ends.
type outFrame struct {
	slot
	seq   uint8
	crc   uint32
	index int // of the packet, negative once it has been acknowledged
	pos   int // symbols sent
}

func newSender(c Config) sender {
	return sender{bytes: newRing(c.ReplayBytes, c.MaxPacket), slots: make([]slot, c.Window)}
}

// fits reports whether there is room for a packet of so many bytes.
func (s *sender) fits(bytes int) bool { return s.count < len(s.slots) && s.bytes.fits(bytes) }

// queue adds a packet; it reports false if there is no room.
func (s *sender) queue(packet []byte) bool {
	if !s.fits(len(packet)) {
		return false
	}
	*s.slot(s.count) = slot{s.bytes.put(packet), len(packet)}
	s.count++
	s.accepted++
	return true
}

func (s *sender) slot(index int) *slot {
	i := s.baseSlot + index
	if i >= len(s.slots) {
		i -= len(s.slots)
	}
	return &s.slots[i]
}

// acknowledge releases the packets before sequence number n and returns how many, or false if n is none of those that
// the peer can expect.
func (s *sender) acknowledge(n uint8) (packets int, ok bool) {
	packets = int(n - s.baseSeq)
	if packets > s.top {
		return 0, false
	}
	if packets == 0 {
		return 0, true
	}
	s.baseSlot = (s.baseSlot + packets) % len(s.slots)
	s.baseSeq = n
	s.count -= packets
	s.top -= packets
	s.next = max(s.next-packets, 0)
	s.frame.index -= packets
	s.goBack, s.resending = false, false
	s.free()
	return packets, true
}

// lost handles the peer's report that the base is missing. It reports whether the sender goes back for it.
func (s *sender) lost() bool {
	sent := s.top > 0 || s.active && s.frame.index == 0
	if !sent || s.goBack || s.resending {
		return false
	}
	s.rewind()
	return true
}

// rewind makes the base the next packet to be sent, once the frame in progress is complete.
func (s *sender) rewind() {
	if s.active {
		s.goBack = true
		return
	}
	s.next, s.resending = 0, true
}

// free gives back the bytes of acknowledged packets, but for a frame in progress, which has to be completed.
func (s *sender) free() {
	start, held := s.bytes.end, uint64(s.count)
	if s.count > 0 {
		start = s.slot(0).at
	}
	if s.active && s.frame.index < 0 {
		start, held = s.frame.at, held+uint64(-s.frame.index)
	}
	s.bytes.free(start)
	s.freed = s.accepted - held
}

// reset drops every packet, abandons the frame in progress and starts again at sequence number 0. It returns the
// number of packets dropped.
func (s *sender) reset() int {
	dropped := s.count
	s.baseSeq, s.count, s.next, s.top = 0, 0, 0, 0
	s.goBack, s.resending, s.active = false, false, false
	s.free()
	return dropped
}

// ready reports whether there is a frame symbol to send.
func (s *sender) ready() bool { return s.active || s.next < s.count }

// emit writes frame symbols until there is no room or nothing to send, and returns how many it wrote.
func (s *sender) emit(dst []linkproto.Symbol) int {
	n := 0
	for n < len(dst) && s.ready() {
		if !s.active {
			s.frame = outFrame{slot: *s.slot(s.next), seq: s.baseSeq + uint8(s.next), index: s.next}
			s.frame.crc = linkproto.FrameCRC32C(s.key, s.frame.seq, s.bytes.get(s.frame.at, s.frame.len))
			s.active = true
			s.next++
		}
		n += s.frame.emit(dst[n:], &s.bytes)
		if s.frame.done() {
			s.complete()
		}
	}
	return n
}

// complete ends the frame in progress, whose EOP has been sent.
func (s *sender) complete() {
	s.active = false
	s.top = max(s.top, s.frame.index+1)
	if s.frame.index < 0 {
		s.free()
	}
	if s.frame.index == 0 {
		s.resending = false
	}
	if s.goBack {
		s.goBack = false
		s.rewind()
	}
}

// Positions in a frame: SOP, sequence number, then the payload, the CRC and EOP.
const payloadPos = 1 + linkproto.SeqBytes

func (f *outFrame) done() bool { return f.pos == f.len+linkproto.FrameOverhead }

// emit writes symbols of the frame until it is complete or there is no room, and returns how many.
func (f *outFrame) emit(dst []linkproto.Symbol, bytes *ring) int {
	n := 0
	for ; n < len(dst) && !f.done(); n++ {
		tail := f.pos - payloadPos - f.len // position after the payload
		switch {
		case f.pos == 0:
			dst[n] = linkproto.SymSOP
		case f.pos == 1:
			dst[n] = linkproto.Data(f.seq)
		case tail < 0:
			k := min(-tail, len(dst)-n)
			linkproto.SetData(dst[n:n+k], bytes.get(f.at, f.len)[f.len+tail:][:k])
			n += k - 1
			f.pos += k - 1
		case tail < linkproto.CRCBytes:
			dst[n] = linkproto.Data(byte(f.crc >> (8 * tail)))
		default:
			dst[n] = linkproto.SymEOP
		}
		f.pos++
	}
	return n
}
