package linkproto

import "slices"

// AppendFrame appends a frame with this sequence number and payload, for whoever has the key: SOP seq payload CRC-32C EOP. A receiver drops
// payloads of fewer than MinPacket bytes or more than its longest packet.
func AppendFrame(dst []Symbol, key Key, seq uint8, payload []byte) []Symbol {
	dst = append(dst, SymSOP, Data(seq))
	at := len(dst)
	dst = slices.Grow(dst, len(payload)+CRCBytes+1)[:at+len(payload)]
	SetData(dst[at:], payload)
	crc := FrameCRC32C(key, seq, payload)
	return append(dst, Data(byte(crc)), Data(byte(crc>>8)), Data(byte(crc>>16)), Data(byte(crc>>24)), SymEOP)
}

// FrameCRC32C returns the CRC-32C of a frame, which covers sequence number and payload and is sent little endian. With a key other than 0 its
// register starts with the key's bits inverted: as if the first four bytes were combined with the key by exclusive or.
func FrameCRC32C(key Key, seq uint8, payload []byte) uint32 {
	return CRC32C(seqCRC[seq^byte(key)]^uint32(key>>8), payload)
}

// seqCRC holds the CRC-32C of each one-byte message, so that a frame's CRC needs no buffer that joins its parts.
var seqCRC = func() (t [1 << SeqBits]uint32) {
	for i := range t {
		t[i] = CRC32C(0, []byte{byte(i)})
	}
	return t
}()
