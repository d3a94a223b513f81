package linkproto_test

import (
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// Check values of the CRC catalogue: the CRC of these nine digits.
var checkInput = []byte("123456789")

func TestCRCCatalogue(t *testing.T) {
	check.Equal(t, "CRC-32C", linkproto.CRC32C(0, checkInput), 0xE3069283)
	check.Equal(t, "CRC-16/IBM-3740", linkproto.CRC16(checkInput), 0x29B1)
}

func TestCRCResidue(t *testing.T) {
	m := append([]byte{}, checkInput...)
	m = binary.LittleEndian.AppendUint32(m, linkproto.CRC32C(0, m))
	check.Equal(t, "residue", linkproto.CRC32C(0, m)^linkproto.CRC32CXorOut, linkproto.CRC32CResidue)
}

func TestFrameCRC(t *testing.T) {
	check.Equal(t, "CRC-32C of a frame", linkproto.FrameCRC32C('1', checkInput[1:]), 0xE3069283)
}
