package flowctl

// ring is a FIFO buffer of bytes in which each packet lies in one piece: the memory is longer than the buffer by one
// longest packet, and a packet that begins before the buffer's end runs on past it. Positions count bytes since the
// beginning of time and never wrap.
type ring struct {
	mem   []byte
	size  uint64
	start uint64 // position of the oldest byte held
	end   uint64 // position of the next byte to come
}

func newRing(size, maxPacket int) ring {
	return ring{mem: make([]byte, size+maxPacket), size: uint64(size)}
}

func (r *ring) used() int { return int(r.end - r.start) }

func (r *ring) fits(n int) bool { return r.end-r.start+uint64(n) <= r.size }

// put adds a packet, which must fit, and returns its position.
func (r *ring) put(packet []byte) (at uint64) {
	at = r.end
	copy(r.mem[at%r.size:], packet)
	r.end += uint64(len(packet))
	return at
}

// get returns the packet of n bytes at a position.
func (r *ring) get(at uint64, n int) []byte {
	i := at % r.size
	return r.mem[i : i+uint64(n) : i+uint64(n)]
}
