package ftdi_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
)

// arrived takes what has come at the far end, without waiting for it.
type arrived struct{ all bytes.Buffer }

// listen reads a line until it is closed.
func listen(line *ftdi.UART) *arrived {
	a := &arrived{}
	go func() {
		b := make([]byte, 99)
		for {
			n, err := line.Read(b)
			if err != nil {
				return
			}
			a.all.Write(b[:n])
		}
	}()
	return a
}

func (a *arrived) take() string {
	synctest.Wait()
	defer a.all.Reset()
	return a.all.String()
}

// TestFlowByLines holds back what the host sends until the far end is ready, and tells the host and the far end how the lines are.
func TestFlowByLines(t *testing.T) {
	for _, c := range []struct {
		kind   uint16
		ready  ftdi.Lines
		status byte
	}{{1, ftdi.Lines{CTS: true}, 0x12}, {2, ftdi.Lines{DSR: true}, 0x22}, {3, ftdi.Lines{CTS: true, DSR: true}, 0x32}} {
		synctest.Test(t, func(t *testing.T) {
			h := plug(t)
			line := h.UART(ftdi.B, 0)
			defer line.Close()
			there := listen(line)
			if !h.set(1, 0x0303, 2) || !h.set(2, 0, c.kind<<8|2) {
				t.Fatal("no such flow control")
			}
			h.write("wait")
			line.SetLines(ftdi.Lines{Ring: true, Carrier: true})
			if have := there.take(); have != "" {
				t.Errorf("%q was sent to who is not ready", have)
			}
			if have := h.read(512); have[0] != 0xC2 || have[1] != 0 {
				t.Errorf("status % x", have)
			}
			line.SetLines(c.ready)
			if have := there.take(); have != "wait" {
				t.Errorf("%q was sent to who is ready", have)
			}
			if have := h.read(512); have[0] != c.status {
				t.Errorf("status % x", have)
			}
			if rts, dtr := line.Ready(); !rts || !dtr {
				t.Errorf("RTS %v, DTR %v at the beginning", rts, dtr)
			}
			if _, err := line.Write(make([]byte, 4000)); err != nil {
				t.Error(err)
			}
			if rts, dtr := line.Ready(); rts != (c.kind&1 == 0) || dtr != (c.kind&2 == 0) {
				t.Errorf("RTS %v, DTR %v when there is little room", rts, dtr)
			}
			h.read(4096)
			if rts, dtr := line.Ready(); !rts || !dtr {
				t.Errorf("RTS %v, DTR %v when there is room again", rts, dtr)
			}
			line.SetLines(ftdi.Lines{})
			h.write("more")
			if have := there.take(); have != "" {
				t.Errorf("%q was sent to who is ready no longer", have)
			}
			if !h.set(2, 0, 2) || there.take() != "more" {
				t.Error("it still waits when there is no flow control")
			}
		})
	}
}

// TestFlowByCharacters has both ends stop each other by XOFF, of which neither sees the other's.
func TestFlowByCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := plug(t)
		line := h.UART(ftdi.B, 0)
		defer line.Close()
		there := listen(line)
		if !h.set(2, 0x1311, 4<<8|2) {
			t.Fatal("no such flow control")
		}
		h.read(512)
		if _, err := line.Write([]byte("a\x13b")); err != nil {
			t.Error(err)
		}
		h.write("wait")
		if have := there.take(); have != "" {
			t.Errorf("%q after XOFF", have)
		}
		if have := h.read(512); string(have[2:]) != "ab" {
			t.Errorf("%q", have)
		}
		if _, err := line.Write(make([]byte, 4000)); err != nil {
			t.Error(err)
		}
		if have := there.take(); have != "\x13" {
			t.Errorf("%q when there is little room", have)
		}
		h.read(4096)
		if have := there.take(); have != "\x11" {
			t.Errorf("%q when there is room again", have)
		}
		if _, err := line.Write([]byte("\x11")); err != nil || there.take() != "wait" {
			t.Errorf("nothing comes after XON: %v", err)
		}
		if !h.set(2, 0, 2) {
			t.Fatal("no flow control")
		}
		if _, err := line.Write([]byte("\x13")); err != nil {
			t.Error(err)
		}
		h.write("on")
		if have := there.take(); have != "on" {
			t.Errorf("%q, but there is no flow control", have)
		}
		if have := h.read(512); string(have[2:]) != "\x13" {
			t.Errorf("%q", have)
		}
	})
}
