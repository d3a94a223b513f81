package linkproto_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

var packets = []struct {
	packet linkproto.Packet
	bytes  string
}{
	{linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: 0x04030201, Data: []byte("xy")}, "\x21\x06\x00\x01\x02\x03\x04xy"},
	{linkproto.Packet{Type: linkproto.TypePage, Via: 7, Frame: 0x0201, Port: 9}, "\xE2\x06\x00\x01\x02\x09\x00\x00\x00"},
	{linkproto.Packet{Type: linkproto.TypeConnect, Port: 9, Data: []byte("p")}, "\x03\x05\x00\x09\x00\x00\x00p"},
	{linkproto.Packet{Type: linkproto.TypeVirtual, VL: 0x0201, Data: []byte("\x15\x01\x00\x05")}, "\x07\x06\x00\x01\x02\x15\x01\x00\x05"},
	{linkproto.Packet{Type: linkproto.TypeRegRead, Tag: 5, Reg: linkproto.RegScratch}, "\x10\x03\x00\x05\x10\x00"},
	{linkproto.Packet{Type: linkproto.TypeRegWrite, Tag: 5, Reg: 0x102, Value: 0xA0B0C0D0}, "\x11\x07\x00\x05\x02\x01\xD0\xC0\xB0\xA0"},
	{linkproto.Packet{Type: linkproto.TypeBufRead, Tag: 5, Addr: 1, Count: 0x203}, "\x12\x07\x00\x05\x01\x00\x00\x00\x03\x02"},
	{linkproto.Packet{Type: linkproto.TypeBufWrite, Tag: 5, Addr: 1, Data: []byte("z")}, "\x13\x06\x00\x05\x01\x00\x00\x00z"},
	{linkproto.Packet{Type: linkproto.TypeResume, Via: 2, Tag: 5}, "\x54\x01\x00\x05"},
	{linkproto.Packet{Type: linkproto.TypeRetrap, Via: 2, Tag: 5}, "\x55\x01\x00\x05"},
	{linkproto.Packet{Type: linkproto.TypeRegData, Tag: 5, Reg: 1, Value: 2}, "\x18\x07\x00\x05\x01\x00\x02\x00\x00\x00"},
	{linkproto.Packet{Type: linkproto.TypeBufData, Tag: 5, Addr: 1, Data: []byte("z")}, "\x19\x06\x00\x05\x01\x00\x00\x00z"},
	{linkproto.Packet{Type: linkproto.TypeDone, Tag: 5, Status: linkproto.StatusBadLink}, "\x1A\x02\x00\x05\x04"},
	{linkproto.Packet{Type: linkproto.TypeTrap, Via: 3, Data: []byte("\x03\x04\x00\x09\x00\x00\x00")}, "\x7B\x07\x00\x03\x04\x00\x09\x00\x00\x00"},
	{linkproto.Packet{Type: linkproto.TypeNotify, Frame: 1, First: 2, Last: 3}, "\x1C\x06\x00\x01\x00\x02\x00\x03\x00"},
	{linkproto.Packet{Type: linkproto.TypeSpace, Via: 1, Bytes: 0x0102, Packets: 5}, "\x3D\x03\x00\x02\x01\x05"},
	{linkproto.Packet{Type: linkproto.TypeCompleted, Context: 0x0201, Count: 0x0403}, "\x1E\x04\x00\x01\x02\x03\x04"},
	{linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: 0x04030201, Rest: 0x0605, Data: []byte("m")}, "\x04\x09\x00\x01\x02\x03\x04\x05\x06\x00\x00m"},
}

func TestPacket(t *testing.T) {
	seen := map[linkproto.Type]bool{}
	for _, c := range packets {
		seen[c.packet.Type] = true
		b := check.Must(c.packet.Append(nil))(t)
		check.Equal(t, fmt.Sprint(c.packet.Type), string(b), c.bytes)
		var p linkproto.Packet
		if err := p.Decode([]byte(c.bytes)); err != nil {
			t.Errorf("%v: %v", c.packet.Type, err)
		}
		check.Equal(t, c.packet.Type.String(), p, c.packet)
	}
	for _, info := range linkproto.Types {
		if info.Dir != 0 && !seen[info.Type] {
			t.Errorf("no test of %v", info.Type)
		}
	}
}

func TestPacketDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		bytes  string
		reason linkproto.Reason
		tag    uint8
	}{
		{"", linkproto.PacketShort, linkproto.TagNone},
		{"\x01\x00", linkproto.PacketShort, linkproto.TagNone},
		{"\x00\x00\x00", linkproto.PacketType, linkproto.TagNone},
		{"\x05\x00\x00", linkproto.PacketType, linkproto.TagNone},
		{"\x01\x04\x00abcdE", linkproto.PacketLengthField, linkproto.TagNone},
		{"\x01\x03\x00abc", linkproto.PacketLength, linkproto.TagNone},
		{"\x10\x02\x00\x07a", linkproto.PacketLength, 7},
		{"\x10\x04\x00\x07abc", linkproto.PacketLength, 7},
		{"\x10\x00\x00", linkproto.PacketLength, linkproto.TagNone},
		{"\x03\x45\x00" + string(make([]byte, 4+linkproto.MaxParams+1)), linkproto.PacketLength, linkproto.TagNone},
	} {
		var p linkproto.Packet
		err := p.Decode([]byte(c.bytes))
		var e *linkproto.PacketError
		if !errors.Is(err, c.reason) || !errors.As(err, &e) || p.Tag != c.tag {
			t.Errorf("%q: %v, tag %d", c.bytes, err, p.Tag)
		}
	}
}

func TestPacketAppendErrors(t *testing.T) {
	for _, c := range []struct {
		packet linkproto.Packet
		reason linkproto.Reason
	}{
		{linkproto.Packet{}, linkproto.PacketType},
		{linkproto.Packet{Type: 200}, linkproto.PacketType},
		{linkproto.Packet{Type: linkproto.TypeRoute}, linkproto.PacketType},
		{linkproto.Packet{Type: linkproto.TypePage, Via: 8}, linkproto.PacketField},
		{linkproto.Packet{Type: linkproto.TypePage, Data: []byte{1}}, linkproto.PacketLength},
		{linkproto.Packet{Type: linkproto.TypeConnect, Data: make([]byte, linkproto.MaxParams+1)}, linkproto.PacketLength},
		{linkproto.Packet{Type: linkproto.TypeWrite, Data: make([]byte, 1<<16)}, linkproto.PacketLength},
	} {
		if b, err := c.packet.Append(nil); !errors.Is(err, c.reason) || len(b) != 0 {
			t.Errorf("%v: %v", c.packet.Type, err)
		}
	}
}

// FuzzPacket: what decodes encodes to the same bytes.
func FuzzPacket(f *testing.F) {
	for _, c := range packets {
		f.Add([]byte(c.bytes))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var p linkproto.Packet
		if p.Decode(b) != nil {
			return
		}
		check.Equal(t, "encoded again", check.Must(p.Append(nil))(t), b)
		check.Equal(t, "size", p.Size(), len(b))
	})
}

func BenchmarkPacket(b *testing.B) {
	write := linkproto.Packet{Type: linkproto.TypeWrite, Via: 1, Addr: 4096, Data: make([]byte, 64)}
	buf := check.Must(write.Append(nil))(b)
	b.Run("Append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf, _ = write.Append(buf[:0])
		}
	})
	b.Run("Decode", func(b *testing.B) {
		var p linkproto.Packet
		b.ReportAllocs()
		for b.Loop() {
			check.Fatal(b, p.Decode(buf))
		}
	})
}
