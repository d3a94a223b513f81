package phy_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// uartWire is the far end of a UART: it sends levels, each for a time in bits of its own clock, and reads bytes.
type uartWire struct {
	period float64 // of a bit, in clocks of the design
	levels []level
	now    float64
	until  float64 // the end of the present level
	high   bool

	bit      int // being read: 0 none, 1 the start bit
	next     float64
	shift    int
	was      bool
	got      []byte
	broken   int     // stop bits missing
	began    float64 // the start of the last byte
	gap, max float64 // from start to start of two bytes, the shortest and the longest
}

type level struct {
	high bool
	bits float64
}

// send queues bytes, with a pause in bits after each.
func (u *uartWire) send(pause float64, data ...byte) {
	for _, b := range data {
		u.levels = append(u.levels, level{false, 1})
		for i := range 8 {
			u.levels = append(u.levels, level{b>>i&1 == 1, 1})
		}
		u.levels = append(u.levels, level{true, 1 + pause})
	}
}

// clock moves by one clock of the design: it reads what the design sends and returns what the design sees.
func (u *uartWire) clock(line bool) bool {
	u.now++
	switch {
	case u.bit == 0 && u.was && !line:
		u.bit, u.next = 1, u.now+u.period/2
		if u.began > 0 {
			u.gap, u.max = min(u.gap, u.now-u.began), max(u.max, u.now-u.began)
		}
		u.began = u.now
	case u.bit > 0 && u.now >= u.next:
		switch {
		case u.bit < 10:
			u.shift = u.shift>>1 | btoi(line)<<8
			u.bit++
		default:
			u.bit = 0
			u.broken += btoi(!line)
			u.got = append(u.got, byte(u.shift>>1))
		}
		u.next += u.period
	}
	u.was = line
	for u.now >= u.until {
		if len(u.levels) == 0 {
			u.high, u.until = true, u.now+1
			break
		}
		u.high = u.levels[0].high
		u.until = max(u.until, u.now-1) + u.levels[0].bits*u.period
		u.levels = u.levels[1:]
	}
	return u.high
}

type uartPins struct {
	Rst, TxReady, RxValid, Tick, UartTxd, UartRxd *bool   `port:"*"`
	Divisor, TxSym, RxSym                         *uint16 `port:"*"`
}

// uart is phy_uart with a wire, and symbols that wait to be sent.
type uart struct {
	t       *testing.T
	b       *testbench.Bench
	p       uartPins
	w       uartWire
	symbols []linkproto.Symbol // IDLE for a clock without a symbol
	got     []linkproto.Symbol
	ticks   []uint64
	ready   bool // tx_ready, a clock ago
}

func newUart(t *testing.T, divisor int, ratio float64) *uart {
	u := &uart{t: t}
	u.b = moduletest.New(t, "phy_uart", nil, &u.p)
	*u.p.Divisor, *u.p.UartRxd, *u.p.TxSym = uint16(divisor), true, uint16(linkproto.SymIdle)
	u.b.Reset("rst", 4)
	u.w = uartWire{period: float64(divisor) * ratio, gap: 1e9, was: true}
	return u
}

func (u *uart) clocks(n int) {
	p := &u.p
	for range n {
		*p.TxSym = uint16(linkproto.SymIdle)
		if len(u.symbols) > 0 {
			*p.TxSym = uint16(u.symbols[0])
			if *p.TxReady { // a register
				u.symbols = u.symbols[1:]
			}
		}
		*p.UartRxd = u.w.clock(*p.UartTxd)
		if *p.TxReady && u.ready {
			u.t.Fatalf("cycle %d: tx_ready in two clocks in a row", u.b.Cycle())
		}
		u.ready = *p.TxReady
		u.b.Step(1)
		if *p.RxValid {
			u.got = append(u.got, linkproto.Symbol(*p.RxSym))
		}
		if *p.Tick {
			u.ticks = append(u.ticks, u.b.Cycle())
		}
	}
}

func (u *uart) bits(n float64) { u.clocks(int(n * u.w.period)) }

// drain runs until everything has been sent both ways.
func (u *uart) drain() {
	for len(u.symbols) > 0 || len(u.w.levels) > 0 {
		u.bits(10)
	}
	u.bits(40)
}

// check compares what has arrived with what bytes mean.
func (u *uart) check(what string, want []linkproto.Symbol) {
	u.t.Helper()
	if !slices.Equal(u.got, want) {
		u.t.Errorf("%s: got %d symbols, want %d; from %03x to %03x", what, len(u.got), len(want), head(u.got), head(want))
	}
	u.got = nil
}

func head(s []linkproto.Symbol) []linkproto.Symbol { return s[:min(len(s), 12)] }

// Any symbols in and any bytes back, at any divisor, with clocks that differ by 2 %, are what the Go code makes of them, and bytes
// that wait leave without a gap.
func TestUart(t *testing.T) {
	for _, divisor := range []int{4, 5, 6, 7, 8, 16, 35, 104, 868} {
		for _, ratio := range []float64{1, 0.98, 1.02, 0.997} {
			t.Run(fmt.Sprintf("%d,%v", divisor, ratio), func(t *testing.T) {
				u := newUart(t, divisor, ratio)
				rng := u.b.Rand("bytes")
				n := 600
				if divisor > 50 {
					n = 60
				}
				k := []linkproto.Symbol{linkproto.SymSOP, linkproto.SymEOP, linkproto.SymAbort, linkproto.SymLSW, linkproto.SymIdle, linkproto.SymErr,
					0x1F7, 0x1DB, 0x0DB}
				var data []byte
				for range n {
					s := linkproto.Data(byte(rng.IntN(256)))
					if rng.Chance(0.3) {
						s = testbench.Pick(rng, k...)
					}
					u.symbols = append(u.symbols, s)
					b := byte(rng.IntN(256))
					if rng.Chance(0.3) {
						b = testbench.Pick[byte](rng, 0xDB, 0xDB, 0x1C, 0x7C, 0x5C, 0x9C, 0xBC, 0xFE)
					}
					data = append(data, b)
					u.w.send(testbench.Pick(rng, 0, 0, 0, 0.3, 1, 7), b)
				}
				want := linkproto.AppendStuffed(nil, u.symbols)
				var back linkproto.Unstuffer
				u.drain()
				u.check("received", back.Append(nil, data))
				if !bytes.Equal(u.w.got, want) || u.w.broken > 0 {
					t.Errorf("sent %d bytes, want %d, %d without stop bit; from % x to % x", len(u.w.got), len(want), u.w.broken,
						u.w.got[:min(len(u.w.got), 12)], want[:12])
				}
				if u.w.gap != float64(10*divisor) || u.w.max != float64(10*divisor) {
					t.Errorf("%v to %v clocks from byte to byte, want %d", u.w.gap, u.w.max, 10*divisor)
				}
				for i, c := range u.ticks[1:] {
					if c-u.ticks[i] != uint64(10*divisor) {
						t.Fatalf("%d clocks from tick to tick, want %d", c-u.ticks[i], 10*divisor)
					}
				}
			})
		}
	}
}

// How far the far end's clock may be off.
func TestUartMismatch(t *testing.T) {
	for _, divisor := range []int{4, 5, 8, 16, 104} {
		for _, sign := range []float64{1, -1} {
			best := 0.0
			for off := 0.005; off < 0.08; off += 0.005 {
				u := newUart(t, divisor, 1+sign*off)
				data := u.b.Rand("bytes").Bytes(150)
				u.w.send(0, data...)
				u.drain()
				var back linkproto.Unstuffer
				if !slices.Equal(u.got, back.Append(nil, data)) {
					break
				}
				best = off
			}
			t.Logf("divisor %d: bits %.1f %% %s are received", divisor, 100*best, map[float64]string{1: "too long", -1: "too short"}[sign])
			if best < 0.02 {
				t.Errorf("divisor %d, sign %v: only %.1f %%", divisor, sign, 100*best)
			}
		}
	}
}

// Anything that is not a byte gives one ERR, and the next byte is right.
func TestUartErrors(t *testing.T) {
	for _, divisor := range []int{4, 16, 35} {
		u := newUart(t, divisor, 1)
		e := linkproto.SymErr
		data := func(b byte) []level { // without its stop bit
			u.w.send(0, b)
			l := slices.Clone(u.w.levels[:9])
			u.w.levels = nil
			return l
		}
		low := func(bits float64) []level { return []level{{false, bits}} }
		high := func(bits float64) []level { return []level{{true, bits}} }
		for _, c := range []struct {
			name   string
			levels [][]level
			want   []linkproto.Symbol
		}{
			{"good", [][]level{data(0x55), high(1), data(0xAA), high(1)}, []linkproto.Symbol{0x55, 0xAA}},
			{"no stop bit", [][]level{data(0x55), low(1), high(1), data(0xAA), high(1)}, []linkproto.Symbol{e, 0xAA}},
			{"no stop bit after ESC", [][]level{data(0xDB), high(1), data(0x1C), low(1), high(1), data(0x1C), high(1)}, []linkproto.Symbol{e, 0x1C}},
			{"break of a byte", [][]level{low(10), high(1), data(0x42), high(1)}, []linkproto.Symbol{e, 0x42}},
			{"long break", [][]level{low(95), high(1), data(0x42), high(1)}, []linkproto.Symbol{e, 0x42}},
			{"break after ESC", [][]level{data(0xDB), high(1), low(30), high(3), data(0x7C), high(1)}, []linkproto.Symbol{e, 0x7C}},
			{"two breaks", [][]level{low(30), high(2), low(30), high(2), data(1), high(1)}, []linkproto.Symbol{e, e, 1}},
			{"escape before nonsense", [][]level{data(0xDB), high(1), data(0x00), high(1), data(0xDB), high(1), data(0xFE), high(1), data(7), high(1)},
				[]linkproto.Symbol{e, e, 7}},
			{"escaped IDLE and ESC", [][]level{data(0xDB), high(1), data(0xBC), high(1), data(0xDB), high(1), data(0xDB), high(1)},
				[]linkproto.Symbol{linkproto.SymIdle, 0xDB}},
			{"short low", [][]level{low(0.25), high(3), data(9), high(1)}, []linkproto.Symbol{9}},
			{"escape at the end", [][]level{data(3), high(1), data(0xDB), high(1)}, []linkproto.Symbol{3}},
			{"what follows it", [][]level{data(0x9C), high(1), data(0x9C), high(1)}, []linkproto.Symbol{linkproto.SymLSW, 0x9C}},
		} {
			u.w.levels = slices.Concat(c.levels...)
			u.drain()
			u.check(fmt.Sprintf("divisor %d: %s", divisor, c.name), c.want)
		}
		if divisor < 8 {
			continue
		}
		// A disturbance of one clock is outvoted wherever in a bit it is.
		clock := 1 / float64(divisor)
		for at := 2 * clock; at < 1-2*clock; at += clock {
			u.w.levels = slices.Concat(low(1), high(2+at), low(clock), high(6-at-clock), high(1))
			u.drain()
			u.check(fmt.Sprintf("divisor %d: disturbance at %.2f of a bit", divisor, at), []linkproto.Symbol{0xFF})
		}
	}
}

type txPins struct {
	Divisor            *uint16 `port:"*"`
	SValid, SReady, Tx *bool   `port:"*"`
	SData              *uint8  `port:"*"`
}

type rxPins struct {
	Divisor                         *uint16 `port:"*"`
	Rx, MValid, FrameErr, LineBreak *bool   `port:"*"`
	MData                           *uint8  `port:"*"`
}

// The two UART modules alone: uart_tx into uart_rx, and line_break.
func TestUartModules(t *testing.T) {
	var tx txPins
	var rx rxPins
	a, b := moduletest.Open(t, "uart_tx", nil, &tx), moduletest.New(t, "uart_rx", nil, &rx)
	*rx.Rx = true
	b.Reset("rst", 4)
	rng := a.Rand("bytes")
	var sent, got []byte
	frames, breaks := 0, 0
	*tx.Divisor, *rx.Divisor = 9, 9
	step := func(n int, line func() bool) {
		for range n {
			if *tx.SValid && *tx.SReady {
				sent = append(sent, *tx.SData)
			}
			a.Step(1)
			*tx.SValid, *tx.SData = len(sent) < 300, byte(rng.IntN(256))
			*rx.Rx = line()
			b.Step(1)
			if *rx.MValid {
				got = append(got, *rx.MData)
			}
			frames += btoi(*rx.FrameErr)
			breaks += btoi(*rx.LineBreak)
		}
	}
	step(301*90, func() bool { return *tx.Tx })
	if !bytes.Equal(sent, got) || len(sent) != 300 || frames+breaks > 0 {
		t.Errorf("%d bytes sent, %d received, %d frame errors, %d breaks", len(sent), len(got), frames, breaks)
	}
	step(1000, func() bool { return false })
	step(1000, func() bool { return true })
	if len(got) != 300 || frames != 0 || breaks != 1 {
		t.Errorf("after a break: %d bytes, %d frame errors, %d breaks", len(got), frames, breaks)
	}
}
