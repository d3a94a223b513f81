package phy_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// divisors sets and clears every bit of the divisor.
func divisors(rng *testbench.Rand) (all []int) {
	for bit := 2; bit < 16; bit++ {
		all = append(all, 1<<bit|rng.IntN(1<<bit), 1<<bit, 1<<(bit+1)-1)
	}
	return all
}

// uart_tx keeps the time of a bit to the clock at any divisor.
func TestUartSendTimes(t *testing.T) {
	var tx txPins
	a := moduletest.Open(t, "uart_tx", nil, &tx)
	for _, divisor := range divisors(a.Rand("divisors")) {
		*tx.Divisor, *tx.SValid, *tx.SData = uint16(divisor), true, 0x55
		a.Step(1)
		*tx.SValid = false
		for bit := range 10 { // from the start bit on they are in turn low and high
			in := 0 // clocks
			for _, at := range []int{0, divisor - 2, divisor - 1} {
				a.Step(uint64(at - in))
				if in = at; *tx.Tx != (bit%2 == 1) || *tx.SReady != (bit == 9 && at == divisor-1) {
					t.Fatalf("divisor %d, bit %d, %d clocks in: tx %t, s_ready %t", divisor, bit, at, *tx.Tx, *tx.SReady)
				}
			}
			a.Step(1)
		}
	}
	*tx.SValid = true
	if a.Step(2); *tx.Tx {
		t.Fatal("no start bit")
	}
	*tx.SValid = false
	if a.Reset("rst", 1); !*tx.Tx {
		t.Error("the line is low behind reset")
	}
}

// The ticks of phy_uart are ten bits apart at any divisor.
func TestUartTicks(t *testing.T) {
	u := newUart(t, 4, 1)
	for _, divisor := range divisors(u.b.Rand("divisors")) {
		*u.p.Divisor = uint16(divisor)
		for n := 0; n == 0 || !*u.p.Tick; n++ {
			if u.b.Step(1); n > 11*0x10000 {
				t.Fatalf("divisor %d: no tick", divisor)
			}
		}
		// The bit during which the divisor was changed is over: a tick comes from its last clock.
		u.b.Step(uint64(10*divisor - 1))
		early := *u.p.Tick
		if u.b.Step(1); early || !*u.p.Tick {
			t.Fatalf("divisor %d: tick after ten bits less a clock %t, after ten bits %t", divisor, early, *u.p.Tick)
		}
	}
}

// uart_rx samples in the middle of each bit at any divisor: it takes what two of the three clocks there say, and says so at once.
func TestUartReceiveTimes(t *testing.T) {
	var rx rxPins
	b := moduletest.New(t, "uart_rx", nil, &rx)
	*rx.Rx = true
	b.Reset("rst", 4)
	rng := b.Rand("bytes")
	for _, divisor := range divisors(rng) {
		*rx.Divisor = uint16(divisor)
		data := uint8(rng.IntN(256))
		*rx.Rx = true
		b.Step(uint64(divisor + 20))
		// The line is right for two of the three clocks around the middle of each bit and wrong elsewhere, as far as there is room.
		now, middle := 0, divisor/2
		to := func(clock int) {
			b.Step(uint64(clock - now))
			now = clock
		}
		*rx.Rx = false
		for bit := 1; bit <= 9; bit++ {
			at := bit*divisor + middle
			level := bit == 9 || data>>(bit-1)&1 == 1
			if divisor >= 8 {
				to(at - 2)
				*rx.Rx = !level
				disturbed := rng.IntN(3)
				for clock := range 3 {
					to(at - 1 + clock)
					*rx.Rx = level != (clock == disturbed)
				}
				to(at + 2)
				*rx.Rx = !level && bit < 9 || bit == 9
			} else {
				to(at - middle)
				*rx.Rx = level
			}
		}
		for !*rx.MValid && now < 11*divisor+20 {
			if to(now + 1); *rx.FrameErr || *rx.LineBreak {
				break
			}
		}
		if late := now - 9*divisor - middle; !*rx.MValid || *rx.MData != data || late != 4 {
			t.Fatalf("divisor %d: got %02x, want %02x; valid %t, %d clocks after the middle of the stop bit", divisor, *rx.MData, data, *rx.MValid, late)
		}
	}
}

// A low that is no start bit hides none, however soon behind it that begins.
func TestUartStartBehindShortLow(t *testing.T) {
	var rx rxPins
	b := moduletest.New(t, "uart_rx", nil, &rx)
	*rx.Rx = true
	b.Reset("rst", 4)
	rng := b.Rand("bytes")
	for _, divisor := range []int{4, 5, 8, 16, 35, 104} {
		*rx.Divisor = uint16(divisor)
		for gap := divisor/2 + 1; gap <= divisor/2+3; gap++ { // clocks from the low, of one clock, to the start bit
			*rx.Rx = true
			b.Step(uint64(11 * divisor))
			data, got := uint8(rng.IntN(256)), []byte(nil)
			for clock := range gap + 11*divisor {
				bit := (clock - gap + divisor) / divisor // 1 is the start bit
				*rx.Rx = clock > 0 && (bit < 1 || bit > 9) || bit > 1 && bit < 10 && data>>(bit-2)&1 == 1
				if b.Step(1); *rx.MValid {
					got = append(got, *rx.MData)
				}
				if *rx.FrameErr || *rx.LineBreak {
					t.Errorf("divisor %d, start bit %d clocks behind a short low: no stop bit", divisor, gap)
				}
			}
			if !bytes.Equal(got, []byte{data}) {
				t.Errorf("divisor %d, start bit %d clocks behind a short low: got % x, want %02x", divisor, gap, got, data)
			}
		}
	}
}
