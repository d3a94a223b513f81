package ftdi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var identity = usbdev.Identity{Vendor: 0x0403, Product: 0x6010, MilliAmps: 500, Strings: [3]string{"maker", "board", "V7"}}

// host is a chip with its host.
type host struct {
	t *testing.T
	*ftdi.Chip
	bus *usbdev.Host
}

func plug(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, Chip: ftdi.New(check.Must(ftdi.NewEEPROM(identity))(t))}
	h.bus = check.Must(h.Device().Attach())(t)
	t.Cleanup(h.bus.Close)
	h.carry(&usbdev.Transfer{Setup: usbdev.Setup{Request: 9, Value: 1}})
	return h
}

func (h *host) carry(transfer *usbdev.Transfer) *usbdev.Transfer {
	h.t.Helper()
	check.Fatal(h.t, usbdev.Carry(h.t.Context(), h.bus, transfer))
	return transfer
}

// set is a request without data; true if the chip takes it.
func (h *host) set(request byte, value, index uint16) bool {
	h.t.Helper()
	return h.carry(&usbdev.Transfer{Setup: usbdev.Setup{Type: 0x40, Request: request, Value: value, Index: index}}).Status == usbdev.OK
}

// get is a request for two bytes.
func (h *host) get(request byte, index uint16) []byte {
	h.t.Helper()
	x := h.carry(&usbdev.Transfer{Endpoint: 0x80, Setup: usbdev.Setup{Type: 0xC0, Request: request, Index: index, Length: 2}, Room: 2})
	if x.Status != usbdev.OK {
		return nil
	}
	return x.Data
}

// read reads a transfer from channel B.
func (h *host) read(room int) []byte {
	h.t.Helper()
	return h.carry(&usbdev.Transfer{Endpoint: 0x83, Room: room}).Data
}

func (h *host) write(data string) {
	h.t.Helper()
	if x := h.carry(&usbdev.Transfer{Endpoint: 0x04, Data: []byte(data)}); x.Actual != len(data) {
		h.t.Fatalf("%d bytes of %d", x.Actual, len(data))
	}
}

func TestSerial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		line := h.UART(ftdi.B, 0)
		h.write("to the board")
		b := make([]byte, 99)
		if n, err := line.Read(b); err != nil || string(b[:n]) != "to the board" {
			t.Errorf("%q %v", b[:n], err)
		}
		check.Equal(t, "first packet", h.read(512), []byte{0x02, 0x60}) // the chip sends it at once
		start := time.Now()
		if have := h.read(512); !bytes.Equal(have, []byte{0x02, 0x60}) || time.Since(start) != 16*time.Millisecond {
			t.Errorf("% x after %v", have, time.Since(start))
		}
		if !h.set(9, 2, 2) || !bytes.Equal(h.get(10, 2), []byte{2}) || !bytes.Equal(h.get(10, 1), []byte{16}) || h.set(9, 0, 2) {
			t.Error("latency timer")
		}
		h.read(512)
		start = time.Now()
		check.Must(line.Write([]byte("a few")))(t)
		if have := h.read(512); string(have) != "\x02\x60a few" || time.Since(start) != 2*time.Millisecond {
			t.Errorf("%q after %v", have, time.Since(start))
		}
		start = time.Now()
		go line.Write(bytes.Repeat([]byte("x"), 600)) // more than a packet: that comes at once
		have := h.read(4096)
		if len(have) != 512+2+90 || time.Since(start) != 2*time.Millisecond || have[512] != 0x02 {
			t.Errorf("%d bytes after %v", len(have), time.Since(start))
		}
		if !h.set(6, 1<<8|'!', 2) {
			t.Error("event character")
		}
		start = time.Now()
		check.Must(line.Write([]byte("stop!")))(t)
		if have := h.read(512); string(have) != "\x02\x60stop!" || time.Since(start) != 0 {
			t.Errorf("%q after %v", have, time.Since(start))
		}
	})
}

// TestRates sets rates and formats on the host that differ from the board's, and a break.
func TestRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		line := h.UART(ftdi.B, 3e6)
		h.read(512)
		b := make([]byte, 99)
		read := make(chan string)
		go func() {
			for range 2 {
				n, _ := line.Read(b)
				read <- string(b[:n])
			}
		}()
		h.write("\x55") // at 9600: five breaks
		synctest.Wait()
		check.Equal(t, "counts", h.LineCounts(ftdi.B), ftdi.LineCounts{FromHost: 1, Framing: 5})
		if !h.set(3, 4, 0x0202) { // 3 Mbaud
			t.Error("rate")
		}
		h.write("\x55")
		check.Equal(t, "read at the host's rate", <-read, "\x55")
		if !h.set(4, 8|1<<14, 2) { // break
			t.Error("break")
		}
		h.write("after it")
		synctest.Wait()
		select {
		case s := <-read:
			t.Errorf("%q during a break", s)
		default:
		}
		if !h.set(4, 8, 2) || <-read != "after it" {
			t.Error("after a break")
		}
		if !h.set(4, 8|1<<8, 2) { // odd parity, which the board does not send
			t.Error("parity")
		}
		check.Must(line.Write([]byte{0x00}))(t)
		check.Equal(t, "with the parity that a stop bit makes", string(h.read(512)), "\x02\x60\x00") // the stop bit is read as the parity bit, which is right
		check.Must(line.Write([]byte{0x01}))(t)
		check.Equal(t, "with a parity error", string(h.read(512)), "\x02\x64\x01")
		check.Equal(t, "after the parity error", string(h.read(512)), "\x02\x60")
		check.Equal(t, "counts", h.LineCounts(ftdi.B), ftdi.LineCounts{FromHost: 10, ToHost: 2, Framing: 5, Parity: 1})
	})
}

// TestRoom lets both sides send while the other does not read: nothing is lost, and control requests still work.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		line := h.UART(ftdi.B, 0)
		data := bytes.Repeat([]byte("0123456789abcdef"), 1024)
		wrote := make(chan bool, 2)
		go func() {
			_, err := line.Write(data)
			wrote <- err == nil
		}()
		out := &usbdev.Transfer{Endpoint: 0x04, Data: data, Done: func(*usbdev.Transfer) { wrote <- true }}
		h.bus.Submit(out)
		synctest.Wait()
		if len(wrote) > 0 {
			t.Error("16 KiB fit a chip")
		}
		check.Equal(t, "status while data waits to be sent", h.get(5, 2), []byte{0x02, 0x00})
		var in []byte
		for len(in) < len(data) {
			x := h.read(4096)
			for at := 0; at < len(x); at += 512 {
				in = append(in, x[at+2:min(at+512, len(x))]...)
			}
		}
		have := make([]byte, len(data))
		if _, err := io.ReadFull(line, have); err != nil || !bytes.Equal(have, data) || !bytes.Equal(in, data) {
			t.Errorf("other bytes: %v", err)
		}
		for range 2 {
			if !<-wrote {
				t.Error("not all was taken")
			}
		}
	})
}

func TestPurgeAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		line := h.UART(ftdi.B, 0)
		h.read(512)
		h.write("old")
		check.Must(line.Write([]byte("old")))(t)
		if !h.set(0, 1, 2) || !h.set(0, 2, 2) || h.set(0, 3, 2) || h.set(0, 1, 3) {
			t.Error("purging")
		}
		check.Equal(t, "bytes after purging", len(h.read(512)), 2)
		ended := make(chan error)
		go func() {
			_, err := line.Read(make([]byte, 9))
			ended <- err
		}()
		synctest.Wait()
		line.Close()
		if err := <-ended; err != io.EOF {
			t.Error(err)
		}
		if _, err := line.Write(make([]byte, 5000)); err != io.ErrClosedPipe {
			t.Error(err)
		}
	})
}

// TestEEPROM reads it as libftdi does: by words, for strings at the offsets in bytes 14 to 19, with a checksum in the last word.
func TestEEPROM(t *testing.T) {
	h := plug(t)
	var b []byte
	for i := range uint16(128) {
		b = append(b, h.get(0x90, i)...)
	}
	sum := uint16(0xAAAA)
	for i := 0; i < 254; i += 2 {
		sum ^= binary.LittleEndian.Uint16(b[i:])
		sum = sum<<1 | sum>>15
	}
	check.Equal(t, "checksum", binary.LittleEndian.Uint16(b[254:]), sum)
	if !bytes.Equal(b[:10], []byte{9, 8, 3, 4, 0x10, 0x60, 0, 7, 0x80, 250}) || b[0x18] != 0x56 {
		t.Errorf("% x", b[:0x20])
	}
	if at, n := int(b[18]), int(b[19]); n != 6 || !bytes.Equal(b[at:at+n], []byte{6, 3, 'V', 0, '7', 0}) {
		t.Errorf("serial number at %x: % x", at, b[at:at+n])
	}
	check.Equal(t, "the words of a 93C56 repeat after the 128th", h.get(0x90, 128+7), h.get(0x90, 7))
	if !h.set(0x91, 0x1234, 9) || !bytes.Equal(h.get(0x90, 9), []byte{0x34, 0x12}) {
		t.Error("writing")
	}
	if !h.set(0x92, 0, 0) || !bytes.Equal(h.get(0x90, 9), []byte{0xFF, 0xFF}) {
		t.Error("erasing")
	}
}

// TestReplug changes the EEPROM: the new identity shows on attaching or plugging in, not before.
func TestReplug(t *testing.T) {
	h := plug(t)
	if !h.set(0x92, 0, 0) {
		t.Fatal("erasing")
	}
	before := h.Device().Descriptors().Strings
	h.bus.Close()
	h.Device().Unplug()
	h.Device().Plug()
	if now := h.Device().Descriptors().Strings; !slices.Equal(before, identity.Strings[:]) || slices.Contains(now, "V7") {
		t.Errorf("it is %q while its EEPROM is being erased, and then %q", before, now)
	}
	e := check.Must(ftdi.NewEEPROM(usbdev.Identity{Strings: [3]string{"", "", "V8"}}))(t)
	h.bus = check.Must(h.Device().Attach())(t)
	for i, w := range e {
		h.set(0x91, w, uint16(i))
	}
	h.bus.Close()
	h.bus = check.Must(h.Device().Attach())(t)
	t.Cleanup(h.bus.Close)
	check.Equal(t, "strings after a reset of the bus", h.Device().Descriptors().Strings, []string{"V8"})
}

// TestIdentity checks a chip's identity with an EEPROM, and without.
func TestIdentity(t *testing.T) {
	e := check.Must(ftdi.NewEEPROM(identity))(t)
	id := e.Identity()
	if id.Strings != identity.Strings || id.MilliAmps != 500 || id.Release != 0x0700 || id.Interfaces != 2 {
		t.Errorf("%+v", id)
	}
	other := identity
	other.SelfPowered, other.RemoteWakeup = true, true
	if e, err := ftdi.NewEEPROM(other); err != nil || !e.Identity().SelfPowered || !e.Identity().RemoteWakeup || usbdev.Describe(e.Identity()).Config[7] != 0xE0 {
		t.Errorf("one that has power of its own: %v", err)
	}
	e[3]++
	if id := e.Identity(); e.Valid() || id.Vendor != ftdi.Vendor || id.Product != ftdi.Product || id.Strings[2] != "" {
		t.Errorf("broken: %+v", id)
	}
	long := identity
	long.Strings[1] = string(bytes.Repeat([]byte("x"), 60))
	check.Fails(t, "a product name of 60 characters", check.Err(ftdi.NewEEPROM(long)), nil)
}

func TestRefusals(t *testing.T) {
	h := plug(t)
	for _, s := range []usbdev.Setup{
		{Type: 0x40, Request: 0x77}, {Type: 0xC0, Request: 0x77, Length: 2}, {Type: 0x40, Request: 0, Index: 3}, {Type: 0xC0, Request: 5, Index: 9, Length: 2},
		{Type: 0x21, Request: 0x22}, // of a CDC device
	} {
		x := &usbdev.Transfer{Endpoint: s.Type & 0x80, Setup: s, Room: int(s.Length)}
		check.Equal(t, fmt.Sprintf("%+v", s), h.carry(x).Status, usbdev.Stalled)
	}
}
