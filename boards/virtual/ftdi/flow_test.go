package ftdi_test

import (
	"bytes"
	"testing"
	"testing/synctest"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/internal/check"
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
			check.Equal(t, "sent before the far end is ready", there.take(), "")
			if have := h.read(512); have[0] != 0xC2 || have[1] != 0 {
				t.Errorf("status % x", have)
			}
			line.SetLines(c.ready)
			check.Equal(t, "sent when the far end is ready", there.take(), "wait")
			check.Equal(t, "status", h.read(512)[0], c.status)
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
			check.Equal(t, "sent when the far end is no longer ready", there.take(), "")
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
		check.Equal(t, "sent after XOFF", there.take(), "")
		check.Equal(t, "received without XOFF", string(h.read(512)[2:]), "ab")
		if _, err := line.Write(make([]byte, 4000)); err != nil {
			t.Error(err)
		}
		check.Equal(t, "sent when there is little room", there.take(), "\x13")
		h.read(4096)
		check.Equal(t, "sent when there is room again", there.take(), "\x11")
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
		check.Equal(t, "sent without flow control", there.take(), "on")
		check.Equal(t, "received without flow control", string(h.read(512)[2:]), "\x13")
	})
}
