package ftdi_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/internal/check"
)

// arrived collects what the far end has received.
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

// TestFlowByLines holds data back until the far end is ready, and shows the modem lines to both ends.
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
			check.Must(line.Write(make([]byte, 4000)))(t)
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

// TestFlowByCharacters stops both directions by XOFF, which is not passed on as data.
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
		check.Must(line.Write([]byte("a\x13b")))(t)
		h.write("wait")
		check.Equal(t, "sent after XOFF", there.take(), "")
		check.Equal(t, "received without XOFF", string(h.read(512)[2:]), "ab")
		check.Must(line.Write(make([]byte, 4000)))(t)
		check.Equal(t, "sent when there is little room", there.take(), "\x13")
		h.read(4096)
		check.Equal(t, "sent when there is room again", there.take(), "\x11")
		if _, err := line.Write([]byte("\x11")); err != nil || there.take() != "wait" {
			t.Errorf("nothing comes after XON: %v", err)
		}
		if !h.set(2, 0, 2) {
			t.Fatal("no flow control")
		}
		check.Must(line.Write([]byte("\x13")))(t)
		h.write("on")
		check.Equal(t, "sent without flow control", there.take(), "on")
		check.Equal(t, "received without flow control", string(h.read(512)[2:]), "\x13")
	})
}

// TestOverrun lets the host read nothing for a time: data that does not fit waits that long, later data is dropped at once, and nothing is
// dropped after the host has read.
func TestOverrun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const buffer, statusError = 4096, 1 << 1
		h := plug(t)
		h.SetOverrun(ftdi.B, time.Second)
		line := h.UART(ftdi.B, 0)
		write := func(n int, wait time.Duration, lost uint64) {
			t.Helper()
			begin := time.Now()
			check.Must(line.Write(make([]byte, n)))(t)
			if took, have := time.Since(begin), h.LineCounts(ftdi.B).Lost; took != wait || have != lost {
				t.Errorf("%d bytes took %v, want %v; %d are lost, want %d", n, took, wait, have, lost)
			}
		}
		write(buffer, 0, 0)
		time.Sleep(time.Minute)
		write(10, time.Second, 10)
		write(10, 0, 20)
		if b := h.read(512); len(b) != 512 || b[1]&statusError == 0 {
			t.Errorf("the host gets %d bytes, with status % x", len(b), b[:2])
		}
		write(510, 0, 20)
		write(1, time.Second, 21)
		ended := make(chan error)
		h.read(512)
		write(510, 0, 21)
		go func() {
			_, err := line.Write(make([]byte, 300))
			ended <- err
		}()
		time.Sleep(time.Second / 2)
		synctest.Wait()
		h.read(512)
		check.Fatal(t, <-ended)
		check.Equal(t, "bytes lost when the host has read in time", h.LineCounts(ftdi.B).Lost, 21)
	})
}
