package linkproto_test

import (
	"bytes"
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
	check.Equal(t, "CRC-32C of a frame", linkproto.FrameCRC32C(0, '1', checkInput[1:]), 0xE3069283)
	key := uint32(0x87654321)
	sealed := bytes.Clone(checkInput)
	for i := range 4 {
		sealed[i] ^= byte(key >> (8 * i))
	}
	check.Equal(t, "with a key", linkproto.FrameCRC32C(linkproto.Key(key), '1', checkInput[1:]), linkproto.CRC32C(0, sealed))
}

// TestRegisterNames writes every register that has a name and reads it again.
func TestRegisterNames(t *testing.T) {
	for i := range 1 << 16 {
		r := linkproto.Reg(i)
		if got, err := linkproto.ParseReg(r.String()); err != nil || got != r {
			t.Fatalf("register %#x is %v, which reads as %#x, %v", i, r, uint16(got), err)
		}
	}
	for text, want := range map[string]linkproto.Reg{
		"magic": linkproto.RegMagic, "SCRATCH": linkproto.RegScratch, "0x10": linkproto.RegScratch, "16": linkproto.RegScratch, "0xF": 0xF,
		"LINK_STATUS": linkproto.RegLinkStatus, "link_status+2": linkproto.LinkStatusReg(2), "COUNTERS+0x11": linkproto.CounterReg(1, linkproto.CntTxPackets),
	} {
		check.Equal(t, text, check.Must(linkproto.ParseReg(text))(t), want)
	}
	for _, text := range []string{"", "+1", "NOTHING", "MAGIC+1", "LINK_STATUS+", "LINK_STATUS+x", "LINK_STATUS+-1", "LINK_STATUS+1+1", "0x10000", "-1",
		"LINK_STATUS+32", "COUNTERS+65535", "TRACE_RING+65535"} {
		check.Fails(t, text, check.Err(linkproto.ParseReg(text)), nil)
	}
	if linkproto.Reg(0xF).Info() != nil || linkproto.Reg(0xF).String() != "0xf" || linkproto.LinkStatusReg(3).Info().Name != "LINK_STATUS" {
		t.Error("registers belong to the wrong rows")
	}
}
