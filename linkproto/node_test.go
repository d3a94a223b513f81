package linkproto_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestNodeMessages(t *testing.T) {
	all := []linkproto.NodeMessage{
		{Kind: linkproto.NodeHello, Version: linkproto.NodeVersion, Flags: 1, Session: 1, PageBytes: linkproto.MaxPageBytes, FirstFrame: 0xFFFF, Frames: 300},
		{Kind: linkproto.NodeOpen, Role: 1, Text: bytes.Repeat([]byte{7}, linkproto.MaxNodeText)},
		{Kind: linkproto.NodeAccept, Role: 1},
		{Kind: linkproto.NodeRefuse, Text: []byte{}},
		{Kind: linkproto.NodeClose, Role: 1},
		{Kind: linkproto.NodeMissed, Ends: 3},
	}
	if len(all) != len(linkproto.NodeKinds) {
		t.Fatalf("%d kinds, of %d", len(all), len(linkproto.NodeKinds))
	}
	for i, want := range all {
		if info := want.Kind.Info(); int(want.Kind) != i+1 || info == nil || info.Kind != want.Kind || want.Kind.String() != info.Name {
			t.Fatalf("%v is in row %d", want.Kind, i)
		}
		raw := want.Append(nil)
		var have linkproto.NodeMessage
		if err := have.Decode(raw); err != nil || cmp.Diff(want, have) != "" {
			t.Errorf("%v: %v\n%s", want.Kind, err, cmp.Diff(want, have))
		}
		// With the smallest pages the TRAP of its CONNECT fits.
		connect, err := (&linkproto.Packet{Type: linkproto.TypeConnect, Data: raw}).Append(nil)
		trap, trapErr := (&linkproto.Packet{Type: linkproto.TypeTrap, Data: connect}).Append(nil)
		if err != nil || trapErr != nil || len(trap) > linkproto.MaxPacket(linkproto.MinPageBytes) {
			t.Errorf("%v: a TRAP of %d bytes, %v, %v", want.Kind, len(trap), err, trapErr)
		}
	}
	if k := linkproto.NodeKind(9); k.String() != "NODE(9)" || k.Info() != nil || linkproto.NodeKind(0).Info() != nil {
		t.Error("an unknown kind is not handled as one")
	}
	check.Equal(t, "a message of an unknown kind", (&linkproto.NodeMessage{Kind: 99, Text: []byte("x")}).Append([]byte{1}), []byte{1, 99})
	long := linkproto.NodeMessage{Kind: linkproto.NodeRefuse, Text: make([]byte, 1000)}
	check.Equal(t, "length of a message with a long text", len(long.Append(nil)), linkproto.MaxNodeText+2)
	check.Equal(t, "version in HELLO", (&linkproto.NodeMessage{Kind: linkproto.NodeHello}).Append(nil)[1], linkproto.NodeVersion)
}

func TestNodeMessagesRefused(t *testing.T) {
	hello := (&linkproto.NodeMessage{Kind: linkproto.NodeHello, Session: 1, PageBytes: 64}).Append(nil)
	change := func(at int, v byte) []byte {
		b := bytes.Clone(hello)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		bytes []byte
		want  string
	}{
		{nil, "empty"},
		{[]byte{0}, "kind is unknown"},
		{[]byte{7}, "kind is unknown"},
		{[]byte{1}, "too short for HELLO"},
		{[]byte{1, linkproto.NodeVersion + 1}, "too short for HELLO"},
		{hello[:len(hello)-1], "too short for HELLO"},
		{append(bytes.Clone(hello), 0), "too long for HELLO"},
		{change(2, 4), "flags is 4, want 0 to 3"},
		{change(3, 0), "session is 0"},
		{change(7, 0), "page_bytes is 0, want 64 to 8192"},
		{[]byte{byte(linkproto.NodeOpen)}, "too short for OPEN"},
		{[]byte{byte(linkproto.NodeOpen), 2}, "role is 2"},
		{append([]byte{byte(linkproto.NodeOpen), 1}, make([]byte, linkproto.MaxNodeText+1)...), "text is 61"},
		{[]byte{byte(linkproto.NodeAccept), 1, 1}, "too long for ACCEPT"},
		{[]byte{byte(linkproto.NodeMissed), 4}, "ends is 4, want 0 to 3"},
	} {
		var m linkproto.NodeMessage
		check.Fails(t, fmt.Sprintf("% x", c.bytes), m.Decode(c.bytes), nil, c.want)
	}
	// Of another version only that is known, whatever follows.
	var m linkproto.NodeMessage
	if err := m.Decode([]byte{1, linkproto.NodeVersion + 1, 0x81, 9}); err != nil || m.Version != linkproto.NodeVersion+1 || m.Flags != 0x81 || m.Session != 0 {
		t.Errorf("of another version: %+v, %v", m, err)
	}
	rapid.Check(t, func(t *rapid.T) { // what is decoded is what was said
		raw := rapid.SliceOfN(rapid.Byte(), 0, linkproto.MaxParams).Draw(t, "bytes")
		if len(raw) > 0 {
			raw[0] %= 8
		}
		var m linkproto.NodeMessage
		if m.Decode(raw) == nil && (m.Kind != linkproto.NodeHello || m.Version == linkproto.NodeVersion) && !bytes.Equal(m.Append(nil), raw) {
			t.Fatalf("%+v of % x", m, raw)
		}
	})
}
