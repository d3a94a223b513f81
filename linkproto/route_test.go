package linkproto_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

var aRoute = linkproto.Route{Dest: 0x0201, Src: 0x0403, Hops: 5, Class: 3, VL: 0x0706, State: linkproto.RouteDatagram, Next: 8, Seq: 9, Packet: []byte("\x02\x00\x00")}

// TestRoute compares with the layout of doc/protocol.md, and a CRC-32C by bits.
func TestRoute(t *testing.T) {
	b := check.Must(aRoute.Append([]byte("before")))(t)[len("before"):]
	const want = "\x06\x11\x00\x01\x02\x03\x04\xC5\x06\x07\xC1\x08\x09\x02\x00\x00"
	check.Equal(t, "fields", string(b[:len(b)-linkproto.CRCBytes]), want)
	crc := uint32(linkproto.CRC32CInit)
	for _, c := range []byte(want[:linkproto.RoutePathAt] + want[linkproto.RoutePathAt+1:]) {
		crc ^= uint32(c)
		for range 8 {
			crc = crc>>1 ^ linkproto.CRC32CPoly&-(crc&1)
		}
	}
	check.Equal(t, "CRC", binary.LittleEndian.Uint32(b[len(b)-linkproto.CRCBytes:]), crc^linkproto.CRC32CXorOut)
	var r linkproto.Route
	check.Fatal(t, r.Decode(b))
	check.Equal(t, "decoded", r, aRoute)
	check.Equal(t, "text", r.String(), "ROUTE 1027 -> 513, 5 hops, class 3, 3 bytes")

	b[linkproto.RoutePathAt]-- // as a router does
	b[0] |= 2 << linkproto.TypeBits
	check.Fatal(t, r.Decode(b))
	check.Equal(t, "hops", r.Hops, 4)
	check.Equal(t, "via", r.Via, 2)
	info := linkproto.TypeRoute.Info()
	check.Equal(t, "fields in the table", linkproto.HeaderBytes+info.MinLength(), linkproto.RouteFields)
}

func TestRouteErrors(t *testing.T) {
	good := string(check.Must(aRoute.Append(nil))(t))
	for _, c := range []struct {
		bytes  string
		reason linkproto.Reason
	}{
		{"\x06\x00", linkproto.PacketShort},
		{"\x01" + good[1:], linkproto.PacketType},
		{good + "x", linkproto.PacketLengthField},
		{"\x06\x0D\x00" + good[3:16], linkproto.PacketLength},
		{good[:13] + "\x03" + good[14:], linkproto.PacketCRC},
	} {
		var r linkproto.Route
		check.Fails(t, c.reason.Error(), r.Decode([]byte(c.bytes)), c.reason)
	}
	for _, r := range []linkproto.Route{{Via: 8}, {Hops: 64}, {Class: 4}, {Packet: make([]byte, 1<<16)}} {
		b, err := r.Append([]byte("x"))
		var e *linkproto.PacketError
		if !errors.As(err, &e) || string(b) != "x" || !strings.Contains(err.Error(), "ROUTE") {
			t.Errorf("%+v: %q, %v", r, b, err)
		}
	}
}

// FuzzRoute: what decodes encodes to the same bytes.
func FuzzRoute(f *testing.F) {
	f.Add(check.Must(aRoute.Append(nil))(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r linkproto.Route
		if r.Decode(b) == nil {
			check.Equal(t, "encoded again", check.Must(r.Append(nil))(t), b)
		}
	})
}
