package linkproto

import "math/bits"

// Version is the protocol version in the VERSION register. Both ends must have the same one.
const Version = 3

// Magic is what the MAGIC register reads: the bytes "LMMC", little endian.
const Magic = 0x434D4D4C

// Sizes of the frame format, in symbols or bytes.
const (
	SeqBytes      = 1 // sequence number, before the payload
	CRCBytes      = 4 // CRC-32C, little endian, after the payload
	FrameOverhead = 1 + SeqBytes + CRCBytes + 1
	HeaderBytes   = 3  // of a packet: via and type, length
	MinPacket     = 3  // bytes of payload in the shortest frame
	PacketExtra   = 8  // MAX_PACKET is the page size and this
	MaxParams     = 64 // bytes of parameters in a CONNECT
	MinPageBytes  = 64 // a power of two
	MaxPageBytes  = 8192
)

// Sequence numbers.
const (
	SeqBits   = 8
	MaxWindow = 128 // frames: half the sequence space
)

// Default times in ticks, one tick being the time of one symbol, and the default count of retries.
const (
	DefaultAckDelay   = 512
	DefaultWordTimer  = 4096
	DefaultRetry      = 16384
	DefaultRetryLimit = 8
)

// SilentTimers is how many WORD_TIMERs without a word end a link.
const SilentTimers = 4

// ESC is the escape byte of a byte pipe.
const ESC = 0xDB

// MaxPacket returns the longest packet (frame payload, in bytes) of an interface with pages of pageBytes bytes.
func MaxPacket(pageBytes int) int { return pageBytes + PacketExtra }

// MaxRoute returns the longest packet of an interface that takes ROUTE packets too: one that has a packet of that interface inside.
func MaxRoute(pageBytes int) int { return MaxPacket(pageBytes) + RouteExtra }

// PageOf returns the logarithm of the pages of an interface with such a longest packet; false if no page is that long.
func PageOf(maxPacket int) (page uint8, ok bool) {
	page = uint8(max(0, bits.Len(uint(max(0, maxPacket-PacketExtra)))-1))
	return page, MaxPacket(1<<page) == maxPacket
}

// NextEpoch returns the epoch after e: 1..255, then 1 again.
func NextEpoch(e uint8) uint8 {
	if e == 255 {
		return 1
	}
	return e + 1
}
