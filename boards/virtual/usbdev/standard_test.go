package usbdev_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

// TestDescriptors reads the descriptors at the offsets of USB 2.0, 9.6.
func TestDescriptors(t *testing.T) {
	s := newScript()
	h := check.Must(s.Attach())(t)
	defer h.Close()
	get := func(kind, index byte, length uint16) []byte {
		b, status := control(t, h, usbdev.Setup{Type: 0x80, Request: 6, Value: uint16(kind)<<8 | uint16(index), Length: length})
		if status != usbdev.OK {
			return nil
		}
		return b
	}
	device := get(1, 0, 64)
	check.Equal(t, "device descriptor", device, []byte{18, 1, 0, 2, 0, 0, 0, 64, 3, 4, 0x10, 0x60, 0, 7, 1, 2, 0, 1})
	check.Equal(t, "length of a part of a descriptor", len(get(1, 0, 8)), 8)
	config := get(2, 0, 9)
	if total := binary.LittleEndian.Uint16(config[2:]); total != 9+2*(9+7+7) || config[4] != 2 || config[8] != 250 {
		t.Errorf("configuration % x", config)
	}
	all := get(2, 0, 255)
	if want := []byte{7, 5, 0x83, 2, 0, 2, 0, 7, 5, 0x04, 2, 0, 2, 0}; !bytes.HasSuffix(all, want) {
		t.Errorf("configuration % x", all)
	}
	for at := 0; at < len(all); at += int(all[at]) {
		if all[at] == 0 {
			t.Fatal("a descriptor without length")
		}
	}
	check.Equal(t, "device qualifier", get(6, 0, 64), []byte{10, 6, 0, 2, 0, 0, 0, 64, 1, 0})
	if o := get(7, 0, 255); len(o) != len(all) || o[1] != 7 || o[9+9+4] != 64 || o[9+9+5] != 0 {
		t.Errorf("other speed % x", o)
	}
	check.Equal(t, "languages", get(3, 0, 255), []byte{4, 3, 9, 4})
	check.Equal(t, "string", get(3, 2, 255), []byte{12, 3, 'g', 0, 'r', 0, 0xF6, 0, 0xDF, 0, 'e', 0})
	for _, none := range [][2]byte{{3, 3}, {1, 1}, {2, 1}, {4, 0}, {33, 0}} {
		if b := get(none[0], none[1], 255); b != nil {
			t.Errorf("descriptor %v: % x", none, b)
		}
	}
}

func TestStandardRequests(t *testing.T) {
	s := newScript()
	h := check.Must(s.Attach())(t)
	defer h.Close()
	check.Equal(t, "an endpoint before SET_CONFIGURATION", submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 1}, nil).Status, usbdev.Absent)
	for _, c := range []struct {
		setup usbdev.Setup
		ok    bool
		want  string
	}{
		{usbdev.Setup{Type: 0x80, Request: 8, Length: 1}, true, "\x00"},
		{usbdev.Setup{Type: 0x81, Request: 0, Length: 2}, false, ""}, // an interface, before there is a configuration
		{usbdev.Setup{Type: 0, Request: 5, Value: 128}, false, ""},
		{usbdev.Setup{Type: 0, Request: 5, Value: 7}, true, ""},
		{usbdev.Setup{Type: 0, Request: 9, Value: 2}, false, ""},
		{usbdev.Setup{Type: 0, Request: 9, Value: 1}, true, ""},
		{usbdev.Setup{Type: 0x80, Request: 8, Length: 1}, true, "\x01"},
		{usbdev.Setup{Type: 0x80, Request: 0, Length: 2}, true, "\x00\x00"},
		{usbdev.Setup{Type: 0x81, Request: 0, Index: 1, Length: 2}, true, "\x00\x00"},
		{usbdev.Setup{Type: 0x81, Request: 0, Index: 2, Length: 2}, false, ""},
		{usbdev.Setup{Type: 0x82, Request: 0, Index: 0x83, Length: 2}, true, "\x00\x00"},
		{usbdev.Setup{Type: 0x82, Request: 0, Index: 0x85, Length: 2}, false, ""},
		{usbdev.Setup{Type: 2, Request: 3, Index: 0x83}, true, ""},
		{usbdev.Setup{Type: 0x82, Request: 0, Index: 0x83, Length: 2}, true, "\x01\x00"},
		{usbdev.Setup{Type: 2, Request: 1, Index: 0}, true, ""}, // the endpoint of requests
		{usbdev.Setup{Type: 0, Request: 9, Value: 1}, true, ""},
		{usbdev.Setup{Type: 0x82, Request: 0, Index: 0x83, Length: 2}, true, "\x00\x00"},
		{usbdev.Setup{Type: 0, Request: 3, Value: 1}, false, ""}, // remote wakeup, which the device lacks
		{usbdev.Setup{Type: 1, Request: 11, Index: 1}, true, ""},
		{usbdev.Setup{Type: 1, Request: 11, Value: 1}, false, ""},
		{usbdev.Setup{Type: 0x81, Request: 10, Length: 1}, true, "\x00"},
		{usbdev.Setup{Type: 0, Request: 7}, false, ""},
		{usbdev.Setup{Type: 0xC0, Request: 42, Length: 5}, true, "*"},
		{usbdev.Setup{Type: 0x40, Request: 99}, false, ""},
	} {
		have, status := control(t, h, c.setup)
		if (status == usbdev.OK) != c.ok || c.ok && string(have) != c.want && c.setup.Type&usbdev.In != 0 {
			t.Errorf("%+v: %v % x, want %v % x", c.setup, status, have, c.ok, c.want)
		}
	}
	check.Equal(t, "a data stage that is shorter than wLength", submit(h, usbdev.Transfer{Setup: usbdev.Setup{Type: 0x40, Length: 3}, Data: []byte{1}}, nil).Status, usbdev.Stalled)
}

// TestUnconfigured: with SET_CONFIGURATION 0 the endpoints are gone, and no transfer waits at them for ever.
func TestUnconfigured(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	in := submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 512}, nil)
	out := submit(h, usbdev.Transfer{Endpoint: 0x02, Data: []byte("later")}, nil)
	control(t, h, usbdev.Setup{Request: 9, Value: 1}) // the same once more
	check.Equal(t, "ended", in.ended.Load() || out.ended.Load(), false)
	control(t, h, usbdev.Setup{Request: 9, Value: 0})
	for _, x := range []*submitted{in, out} {
		if h.Unlink(&x.Transfer); !x.ended.Load() || x.Status != usbdev.Absent {
			t.Errorf("endpoint %02x: ended %v, %v", x.Endpoint, x.ended.Load(), x.Status)
		}
	}
	control(t, h, usbdev.Setup{Request: 9, Value: 1})
	s.give(0x81, []byte("new"))
	check.Equal(t, "what comes afterwards", string(submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 512}, nil).Data), "new")
}

// TestSetInterfaceUnhalts: USB 2.0, 9.4.5: SET_INTERFACE ends the halts of the interface's endpoints, and of no others.
func TestSetInterfaceUnhalts(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	for _, address := range s.Endpoints() {
		s.Halt(address)
	}
	control(t, h, usbdev.Setup{Type: 1, Request: 11, Index: 1})
	var halted []byte
	for _, address := range s.Endpoints() {
		status, _ := control(t, h, usbdev.Setup{Type: 0x82, Request: 0, Index: uint16(address), Length: 2})
		halted = append(halted, status[0])
	}
	check.Equal(t, "halted", halted, []byte{1, 1, 0, 0})
}

// TestDescribes changes the descriptors: the present host keeps the old ones, the next one gets the new ones.
func TestDescribes(t *testing.T) {
	s := newScript()
	name := func() string { return s.Descriptors().Strings[len(s.Descriptors().Strings)-1] }
	h := s.attach(t)
	s.Do(func() { s.serial = "1" })
	check.Equal(t, "string for the present host", name(), "größe")
	h.Close()
	s.attach(t)
	check.Equal(t, "string for the next host", name(), "1")
	s.Unplug()
	s.Do(func() { s.serial = "2" })
	s.Plug()
	check.Equal(t, "string when it is plugged in", name(), "2")
}
