package ftdi_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestBitBang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 4)
		h.exchange([]byte{0xF4, 0xF5, 0xFE}, 0x05, 0x0A, 0x0B)
		if w.value != 0x0B || w.driven != 0x0B {
			t.Errorf("%04x of %04x", w.value, w.driven)
		}
		if !h.set(0x0B, 0x010F, 1) || !h.set(3, 0x4138, 1) {
			t.Error("asynchronous bit-bang")
		}
		h.send(0x06)
		if w.value != 0x06 || w.driven != 0x0F {
			t.Errorf("%04x of %04x", w.value, w.driven)
		}
		h.answers()
		time.Sleep(time.Millisecond)
		have := h.answers()
		if len(have) < 100 || len(bytes.Trim(have, "\xF6")) > 0 {
			t.Errorf("%d samples, % x", len(have), have[:min(len(have), 9)])
		}
	})
}
