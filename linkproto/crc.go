package linkproto

import "hash/crc32"

// CRC-32C (Castagnoli), which guards frames: reflected, initial value and final inversion all ones.
// G. Castagnoli, S. Braeuer, M. Herrmann: Optimization of cyclic redundancy-check codes with 24 and 32 parity bits,
// IEEE Transactions on Communications 41(6), 1993; as in RFC 3720.
const (
	CRC32CPoly    = 0x82F63B78 // 0x1EDC6F41 with its bits reversed
	CRC32CInit    = 0xFFFFFFFF
	CRC32CXorOut  = 0xFFFFFFFF
	CRC32CResidue = 0xB798B438 // register, before the final inversion, after a message and its own CRC
)

// CRC-16/IBM-3740, which guards link state words: most significant bit first, no final inversion.
const (
	CRC16Poly = 0x1021
	CRC16Init = 0xFFFF
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C returns the CRC-32C of b appended to a message whose CRC-32C is crc (0 for an empty message).
func CRC32C(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

var crc16Table = func() (t [256]uint16) {
	for i := range t {
		r := uint16(i) << 8
		for range 8 {
			top := r & 0x8000
			r <<= 1
			if top != 0 {
				r ^= CRC16Poly
			}
		}
		t[i] = r
	}
	return t
}()

// crc16 returns the check register after byte b.
func crc16(crc uint16, b byte) uint16 { return crc<<8 ^ crc16Table[byte(crc>>8)^b] }

// CRC16 returns the CRC-16/IBM-3740 of b.
func CRC16(b []byte) uint16 {
	crc := uint16(CRC16Init)
	for _, c := range b {
		crc = crc16(crc, c)
	}
	return crc
}
