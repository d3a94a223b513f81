package flowctl

import "github.com/stafflink/lmmc/linkproto"

// receiver holds packets until they are read, and says STOP while they are too many.
type receiver struct {
	bytes  ring
	lens   []uint16 // of the packets held, oldest at first
	first  int
	count  int
	high   int
	low    int
	stop   bool
	lost   bool  // something after the last good frame was damaged or is missing
	expect uint8 // next sequence number
}

func newReceiver(c Config) receiver {
	return receiver{
		bytes: newRing(c.ReceiveBytes, c.MaxPacket),
		lens:  make([]uint16, c.ReceiveBytes/linkproto.MinPacket),
		high:  c.High,
		low:   c.Low,
	}
}

// deliver takes the expected packet in; it reports false if there is no room.
func (r *receiver) deliver(packet []byte) bool {
	if !r.bytes.fits(len(packet)) {
		return false
	}
	r.bytes.put(packet)
	r.lens[(r.first+r.count)%len(r.lens)] = uint16(len(packet))
	r.count++
	return true
}

// peek returns the oldest packet, and leaves it there.
func (r *receiver) peek() ([]byte, bool) {
	if r.count == 0 {
		return nil, false
	}
	return r.bytes.get(r.bytes.start, int(r.lens[r.first])), true
}

// read takes the oldest packet out. It stays intact until the next deliver.
func (r *receiver) read() ([]byte, bool) {
	packet, ok := r.peek()
	if !ok {
		return nil, false
	}
	r.bytes.free(r.bytes.start + uint64(len(packet)))
	r.first = (r.first + 1) % len(r.lens)
	r.count--
	return packet, true
}

// isDuplicate reports whether a frame that is not the expected one has been delivered before.
func (r *receiver) isDuplicate(seq uint8) bool { return r.expect-seq <= linkproto.MaxWindow }

// watch raises or lowers STOP for the packets held and pending bytes of the next. It reports whether STOP changed.
func (r *receiver) watch(pending int) bool {
	used := r.bytes.used() + pending
	if r.stop && used <= r.low || !r.stop && used >= r.high {
		r.stop = !r.stop
		return true
	}
	return false
}

// reset starts again at sequence number 0. Packets delivered stay.
func (r *receiver) reset() { r.expect, r.lost = 0, false }
