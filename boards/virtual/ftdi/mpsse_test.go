package ftdi_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/ftdi"
	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

// Pins of the engine.
const (
	clock   = 1 << 0
	dataOut = 1 << 1
	dataIn  = 1 << 2
	mode    = 1 << 3
	gpio1   = 1 << 5
	back    = 1 << 7
)

// wires records the engine's edges, and is a slave that sends bits.
type wires struct {
	value, driven uint16
	levels        uint16 // of undriven pins
	rose, fell    []byte // data out, and twice mode, at the edges of the clock
	reply         []byte // bits that are sent one after the other, changing with the falling edge, or with the rising one
	replyRises    bool
	rings         int // rising edges after which gpio1 turns over
	returns       bool
}

func (w *wires) Drive(value, driven uint16) uint16 {
	old := w.value
	w.value, w.driven = value, driven
	bits := byte(old>>1&1 | old>>3&1<<1)
	rising := value&^old&clock != 0
	switch {
	case rising:
		w.rose = append(w.rose, bits)
		if w.rings--; w.rings == 0 {
			w.levels ^= gpio1
		}
	case old&^value&clock != 0:
		w.fell = append(w.fell, bits)
	default:
		rising = !w.replyRises
	}
	if (value^old)&clock != 0 && rising == w.replyRises && len(w.reply) > 0 {
		w.reply = w.reply[1:]
	}
	levels := value&driven | w.levels&^driven
	if len(w.reply) > 0 {
		levels = levels&^dataIn | uint16(w.reply[0])*dataIn
	}
	if w.returns {
		levels = levels&^back | value&clock<<7
	}
	return levels
}

// engine is a chip whose channel A is an engine.
func engine(t *testing.T, mode byte) (*host, *wires) {
	h, w := plug(t), &wires{levels: 0xFFFF}
	h.Wire(ftdi.A, w)
	if !h.set(0x09, 1, 1) || !h.set(0x0B, uint16(mode)<<8|0x0B, 1) {
		t.Fatal("no such mode")
	}
	return h, w
}

// send writes commands to an engine, and answers reads the answers to them.
func (h *host) send(b ...byte) {
	h.t.Helper()
	if x := h.carry(&usbdev.Transfer{Endpoint: 0x02, Data: b}); x.Actual != len(b) {
		h.t.Fatalf("%d bytes of %d", x.Actual, len(b))
	}
}

func (h *host) answers() (have []byte) {
	h.t.Helper()
	for range 3 { // the first may have nothing because it does not wait
		x := h.carry(&usbdev.Transfer{Endpoint: 0x81, Room: 1 << 14})
		for at := 0; at < len(x.Data); at += 512 {
			have = append(have, x.Data[at+2:min(at+512, len(x.Data))]...)
		}
	}
	return have
}

func (h *host) exchange(want []byte, send ...byte) {
	h.t.Helper()
	h.send(send...)
	check.Equal(h.t, fmt.Sprintf("answer to % x", send), h.answers(), want)
}

// bits are those of a byte in the order in which they are sent.
func bits(b byte, n int, leastFirst bool) (out []byte) {
	for i := range n {
		if leastFirst {
			out = append(out, b>>i&1)
		} else {
			out = append(out, b>>(7-i)&1)
		}
	}
	return out
}

// TestShift runs each data shift command of AN_108 with a slave that samples and drives on the opposite edges, at the idle level of the clock
// that the note gives.
func TestShift(t *testing.T) {
	for _, op := range []byte{
		0x10, 0x11, 0x12, 0x13, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x24, 0x22, 0x26, 0x28, 0x2C, 0x2A, 0x2E,
		0x31, 0x34, 0x33, 0x36, 0x39, 0x3C, 0x3B, 0x3E,
	} {
		for n := range 8 {
			t.Run(fmt.Sprintf("%02x/%d", op, n), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h, w := engine(t, 2)
					writes, reads := op&0x10 != 0, op&0x20 != 0
					byBits, leastFirst := op&2 != 0, op&8 != 0
					outFalls, inFalls := op&1 != 0, op&4 != 0
					idle := byte(0)
					if writes && !outFalls || !writes && inFalls {
						idle = 1
					}
					h.send(0x80, idle, 0x0B)
					w.rose, w.fell = nil, nil
					data, reply := []byte{0xC5, 0x1E}, []byte{0xA7, 0x3C}
					send, count := []byte{op, 1, 0}, 8
					if byBits {
						data, reply, count = data[:1], reply[:1], n+1
						send = []byte{op, byte(n)}
					}
					var wantOut, replied, want []byte
					for i := range data {
						wantOut = append(wantOut, bits(data[i], count, leastFirst)...)
						replied = append(replied, bits(reply[i], count, leastFirst)...)
						if leastFirst {
							want = append(want, reply[i]<<(8-count))
						} else {
							want = append(want, reply[i]>>(8-count))
						}
					}
					if writes {
						send = append(send, data...)
					}
					if !reads {
						want = nil
					}
					w.reply, w.replyRises = replied, inFalls
					if inFalls == (idle == 0) { // the slave's edge is the first one, and makes the first bit
						w.reply = append([]byte{0}, replied...)
					}
					h.exchange(want, send...)
					taken := w.rose
					if !outFalls {
						taken = w.fell
					}
					for i := range taken {
						taken[i] &= 1
					}
					if writes && !bytes.Equal(taken, wantOut) {
						t.Errorf("the slave has %v, want %v", taken, wantOut)
					}
					if len(w.rose) != len(w.fell) || len(w.rose) != len(wantOut) {
						t.Errorf("%d and %d edges for %d bits", len(w.rose), len(w.fell), len(wantOut))
					}
				})
			})
		}
	}
}

// TestMode3 shifts as openFPGALoader does: the clock idles high, data changes on the falling edge and is sampled on the rising one.
func TestMode3(t *testing.T) {
	h, w := engine(t, 2)
	h.send(0x80, clock, 0x0B)
	w.rose = nil
	h.send(0x11, 1, 0, 0x7E, 0xAA)
	check.Equal(t, "data at the rising edges", w.rose, append(bits(0x7E, 8, false), bits(0xAA, 8, false)...))
}

func TestTMS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		h.send(0x80, 0, 0x0B)
		w.reply = []byte{1, 0, 1, 1, 0}
		h.exchange([]byte{0b01101 << 3}, 0x6B, 4, 0x80|0b10110)
		check.Equal(t, "data and mode at the rising edges", w.rose, []byte{1, 3, 3, 1, 3})
	})
}

func TestPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		check.Equal(t, "pins driven before the first command", w.driven, 0)
		w.levels = 0xA5A5
		h.exchange([]byte{0xA5, 0xA5}, 0x81, 0x83)
		h.exchange([]byte{0xAA, 0x55}, 0x80, 0x0A, 0x0F, 0x82, 0x50, 0xF0, 0x81, 0x83)
		if w.value != 0x500A || w.driven != 0xF00F {
			t.Errorf("%04x of %04x", w.value, w.driven)
		}
		x := h.carry(&usbdev.Transfer{Endpoint: 0x80, Setup: usbdev.Setup{Type: 0xC0, Request: 12, Index: 1, Length: 1}, Room: 1})
		if len(x.Data) != 1 || x.Data[0] != 0xAA {
			t.Errorf("pins % x", x.Data)
		}
		if !h.set(0x0B, 0, 1) || w.driven != 0 {
			t.Error("pins are driven without a mode")
		}
		if h.set(0x0B, 0x4000, 1) {
			t.Error("there is no synchronous FIFO")
		}
	})
}

// TestBad sends unknown commands: the engine reports each and goes on with the next.
func TestBad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := engine(t, 2)
		for _, op := range []byte{0xAA, 0xAB, 0xFA, 0xFF, 0x00, 0x0F, 0x40, 0x4C, 0x5B, 0x90, 0x93, 0x98, 0x9E, 0x9F} {
			h.exchange([]byte{0xFA, op, 0xFF}, op, 0x81)
		}
	})
}

func TestClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		count := func(want int, send ...byte) {
			t.Helper()
			w.rose = nil
			h.send(send...)
			h.exchange([]byte{0xFA, 0xAA}, 0xAA)
			check.Equal(t, fmt.Sprintf("clocks of % x", send), len(w.rose), want)
		}
		h.send(0x80, 0, 0x0B)
		count(1, 0x8E, 0)
		count(8, 0x8E, 7)
		count(48, 0x8F, 5, 0)
		count(8*257, 0x8F, 0, 1)
		count(0, 0x94)
		w.rings = 1000
		count(1000, 0x95) // as long as it takes
		w.rings = 5
		count(5, 0x9C, 9, 0)
		count(80, 0x9D, 9, 0) // it stays high
		w.rings = 3
		count(3, 0x9D, 9, 0)
		w.levels |= gpio1
		count(0, 0x88)
	})
}

// TestWait waits for a pin while other endpoints work.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		h.send(0x89, 0xAA)
		if have := h.answers(); len(have) > 0 {
			t.Errorf("% x before the pin is low", have)
		}
		h.Device().Do(func() { w.levels &^= gpio1 })
		time.Sleep(10 * time.Millisecond)
		h.exchange([]byte{0xFA, 0xAA, 0xFA, 0xBB}, 0xBB)
		h.send(0x88, 0xAA)
		h.set(0, 1, 1) // the way out
		h.set(0x0B, 0x0200, 1)
		h.exchange([]byte{0xFA, 0xCC}, 0xCC)
	})
}

func TestAdaptive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		h.send(0x80, 0, 0x0B, 0x96)
		w.returns = true
		h.exchange([]byte{0xFA, 0xAA}, 0x11, 3, 0, 1, 2, 3, 4, 0xAA)
		w.returns = false
		h.exchange(nil, 0x11, 3, 0, 1, 2, 3, 4, 0xAA) // stands still
	})
}

func TestLoopbackAndClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, w := engine(t, 2)
		h.send(0x80, 0, 0x0B, 0x84)
		data := make([]byte, 3000)
		for i := range data {
			data[i] = byte(i * 7)
		}
		h.exchange(data, slices.Concat([]byte{0x31, byte(len(data) - 1), byte((len(data) - 1) >> 8)}, data, []byte{0x87})...)
		h.exchange([]byte{0xFF}, 0x85, 0x31, 0, 0, 0x55)
		for _, c := range []struct {
			send []byte
			want float64
		}{{nil, 6e6}, {[]byte{0x86, 1, 0}, 3e6}, {[]byte{0x8A}, 15e6}, {[]byte{0x86, 0, 0}, 30e6}, {[]byte{0x8B, 0x86, 119, 0}, 50e3}} {
			h.send(c.send...)
			check.Equal(t, fmt.Sprintf("clock in Hz after % x", c.send), h.Clock(ftdi.A), c.want)
		}
		check.Equal(t, "clock of a serial port", h.Clock(ftdi.B), 0)
		w.fell, w.rose = nil, nil
		h.send(0x8C, 0x10, 0, 0, 0xA5) // of three phases: data holds while the clock is high
		for i, b := range bits(0xA5, 8, false) {
			if w.rose[i]&1 != b || w.fell[i]&1 != b {
				t.Errorf("bit %d: %d and %d, want %d", i, w.rose[i]&1, w.fell[i]&1, b)
			}
		}
	})
}

// TestNoRoom sends far more than the host reads: the engine stops, and nothing is lost.
func TestNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := engine(t, 2)
		h.send(0x80, 0, 0x0B, 0x84)
		data := make([]byte, 30_000)
		for i := range data {
			data[i] = byte(i >> 3)
		}
		sent := make(chan *usbdev.Transfer, 1)
		h.bus.Submit(&usbdev.Transfer{
			Endpoint: 0x02, Data: append([]byte{0x31, byte(len(data) - 1), byte((len(data) - 1) >> 8)}, data...), Done: func(x *usbdev.Transfer) { sent <- x },
		})
		synctest.Wait()
		if len(sent) > 0 {
			t.Error("30 KiB fit")
		}
		var have []byte
		for len(have) < len(data) {
			more := h.answers()
			if len(more) == 0 {
				t.Fatalf("nothing comes after %d bytes", len(have))
			}
			have = append(have, more...)
		}
		<-sent
		check.Equal(t, "answers", have, data)
	})
}

// TestGarbage sends random bytes in pieces: no engine panics, and each works again after its mode has been set.
func TestGarbage(t *testing.T) {
	for _, mode := range []byte{2, 8} {
		synctest.Test(t, func(t *testing.T) {
			h, _ := engine(t, mode)
			r := rand.New(rand.NewPCG(9, 9))
			for range 2000 {
				b := make([]byte, 1+r.IntN(40))
				for i := range b {
					b[i] = byte(r.Uint32())
					if b[i] == 0x8F || b[i] == 0x9C || b[i] == 0x9D { // up to half a million clocks
						b[i] = 0x8E
					}
				}
				x := &usbdev.Transfer{Endpoint: 0x02, Data: b, Done: func(*usbdev.Transfer) {}}
				h.bus.Submit(x)
				synctest.Wait()
				h.answers()
				if h.bus.Unlink(x) || r.IntN(8) == 0 {
					h.set(0, 1, 1)
					h.set(0x0B, uint16(mode)<<8, 1)
				}
			}
			h.set(0, 1, 1)
			h.set(0x0B, uint16(mode)<<8, 1)
			h.answers()
			h.exchange([]byte{0xFA, 0xAA}, 0xAA)
		})
	}
}

// TestEngineGoesOn: an engine that had no room for answers goes on when the host has read some, and so takes what has waited for that.
func TestEngineGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const getPins, buffer = 0x81, 4096
		h, _ := engine(t, 0x02)
		h.send(bytes.Repeat([]byte{getPins}, buffer)...)
		h.send(bytes.Repeat([]byte{getPins}, buffer-1)...) // one has waited already
		ended := false
		h.bus.Submit(&usbdev.Transfer{Endpoint: 0x02, Data: []byte{getPins}, Done: func(*usbdev.Transfer) { ended = true }})
		check.Equal(t, "taken while there is no room", ended, false)
		h.carry(&usbdev.Transfer{Endpoint: 0x81, Room: 512})
		time.Sleep(time.Second)
		synctest.Wait()
		check.Equal(t, "taken when there is", ended, true)
	})
}
