package linkproto_test

import (
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
)

// Check values of the CRC catalogue: the CRC of these nine digits.
var checkInput = []byte("123456789")

func TestCRCCatalogue(t *testing.T) {
	if got := linkproto.CRC32C(0, checkInput); got != 0xE3069283 {
		t.Errorf("CRC-32C %08X", got)
	}
	if got := linkproto.CRC16(checkInput); got != 0x29B1 {
		t.Errorf("CRC-16/IBM-3740 %04X", got)
	}
}

func TestCRCResidue(t *testing.T) {
	m := append([]byte{}, checkInput...)
	m = binary.LittleEndian.AppendUint32(m, linkproto.CRC32C(0, m))
	if got := linkproto.CRC32C(0, m) ^ linkproto.CRC32CXorOut; got != linkproto.CRC32CResidue {
		t.Errorf("residue %08X", got)
	}
}

func TestFrameCRC(t *testing.T) {
	if got := linkproto.FrameCRC32C('1', checkInput[1:]); got != 0xE3069283 {
		t.Errorf("%08X", got)
	}
}
