package uart_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/uart"
	"github.com/stafflink/lmmc/verilator"
)

var through = verilator.Design{Top: "through", Sources: []string{"testdata/through.v"}}

// What is sent in any format arrives, errors and breaks included, and nothing else is found wrong.
func TestFormats(t *testing.T) {
	for _, c := range []uart.Config{
		{Bit: 2}, {Bit: 3.4, Data: 5, Stop: 1.5}, {Bit: 7.3, Data: 7, Parity: uart.Even, Stop: 2}, {Bit: 16, Data: 9, Parity: uart.Odd},
		{Bit: 11.9, Parity: uart.Mark}, {Bit: 8, Data: 6, Parity: uart.Space, Stop: 2}, {Bit: 434.03, Parity: uart.Even},
	} {
		t.Run(fmt.Sprintf("%v clocks, %d%d%v", c.Bit, c.Data, c.Parity, c.Stop), func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			tx := check.Must(uart.NewTransmitter(b, "rx", c))(t)
			found := map[string]int{}
			c.Violation = func(v bus.Violation) { found[v.Rule]++ }
			rx := check.Must(uart.NewReceiver(b, "tx", c))(t)
			check.Fatal(t, b.Reset("rst", 2))
			rng := b.Rand("characters")
			var sent []uart.Character
			want := map[string]int{}
			for i := range 60 {
				x := uart.Character{Data: uint16(rng.IntN(1 << max(5, c.Data)))}
				switch kind := rng.IntN(6); {
				case kind == 0 && c.Parity != uart.None:
					x.Parity = true
					want[uart.RuleParity]++
				case kind == 1 && i > 0:
					x.Framing, x.Data = true, x.Data|1
					want[uart.RuleStop]++
				case kind == 2:
					x = uart.Character{Break: true}
				}
				sent = append(sent, x)
			}
			b.Go("send", func(k *testbench.Task) {
				tx.Put(sent[:30]...)
				tx.Drain(k)
				tx.SetThrottle(0.9)
				tx.Put(sent[30:]...)
				tx.Drain(k)
			})
			b.Go("receive", func(k *testbench.Task) {
				for i, x := range sent {
					got := rx.Get(k)
					got.Edge = 0
					if got != x {
						k.Fatalf("character %d: have %+v, want %+v", i, got, x)
					}
				}
			})
			check.Fatal(t, b.Run(1_000_000))
			check.Equal(t, "violations", found, want)
		})
	}
}

func TestViolations(t *testing.T) {
	for _, test := range []struct {
		rule string
		bit  float64 // of the transmitter; 8 of the receiver
		flip int     // clocks after the start of the character
		long uint64  // clocks that it lasts
	}{
		{uart.RuleTiming, 8.5, 0, 0},
		{uart.RuleTiming, 7.6, 0, 0},
		{uart.RuleTiming, 8, 11, 3},
		{uart.RuleStart, 8, 2, 6},
		{uart.RuleStop, 8, 73, 7},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			b := testbench.New(t, through, testbench.Config{})
			var rules []string
			tx := check.Must(uart.NewTransmitter(b, "rx", uart.Config{Bit: test.bit}))(t)
			check.Must(uart.NewReceiver(b, "tx", uart.Config{Bit: 8, Config: bus.Config{Violation: func(v bus.Violation) { rules = append(rules, v.Rule) }}}))(t)
			flip := check.Must(b.Signal("flip"))(t)
			check.Fatal(t, b.Reset("rst", 2))
			b.Go("send", func(c *testbench.Task) { tx.Send(c, []byte{0x55}) })
			b.Go("flip", func(c *testbench.Task) {
				c.Cycles(1 + uint64(test.flip))
				if test.long > 0 {
					flip.Set(1)
					c.Cycles(test.long)
					flip.Set(0)
				}
				c.Cycles(100)
			})
			check.Fatal(t, b.Run(1000))
			if len(rules) == 0 || rules[0] != test.rule {
				t.Errorf("found %v", rules)
			}
		})
	}
}

const rtl = "../../../rtl/"

// The transmitter of the repository's RTL, back to back and with gaps.
func TestRTLTransmitter(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "uart_tx", Sources: []string{rtl + "phy/uart_tx.v"}}, testbench.Config{})
	check.Fatal(t, b.Model().Poke("divisor", 7))
	in := check.Must(b.Sender(verilator.Stream("s")))(t)
	b.RandomStall("in", in, 40)
	rx := check.Must(uart.NewReceiver(b, "tx", uart.Config{Bit: 7, Tolerance: 0.01}))(t)
	check.Fatal(t, b.Reset("rst", 2))
	sent := b.Rand("data").Bytes(100)
	b.Go("send", func(c *testbench.Task) {
		for _, v := range sent {
			in.Put(c, uint64(v), false)
		}
	})
	b.Go("receive", func(c *testbench.Task) {
		if got := rx.Bytes(c, len(sent)); !bytes.Equal(got, sent) {
			c.Fatalf("have %x, want %x", got, sent)
		}
	})
	check.Fatal(t, b.Run(100_000))
}

// The receiver of the repository's RTL says what is a framing error and what a break.
func TestRTLReceiver(t *testing.T) {
	for _, bit := range []float64{9, 8.8, 9.2} {
		b := testbench.New(t, verilator.Design{Top: "uart_rx", Sources: []string{rtl + "phy/uart_rx.v", rtl + "common/sync_bit.v"}}, testbench.Config{})
		check.Fatal(t, b.Model().Poke("divisor", 9))
		tx := check.Must(uart.NewTransmitter(b, "rx", uart.Config{Bit: bit}))(t)
		var p struct {
			Valid *bool  `port:"m_valid"`
			Data  *uint8 `port:"m_data"`
			Frame *bool  `port:"frame_err"`
			Break *bool  `port:"line_break"`
		}
		check.Fatal(t, b.Bind(&p))
		check.Fatal(t, b.Reset("rst", 2))
		sent := []uart.Character{{Data: 0x00}, {Data: 0xFF}, {Data: 0x5A, Framing: true}, {Break: true}, {Data: 0xA5}}
		var got []uart.Character
		b.Observe(b.Main(), func() {
			if *p.Valid || *p.Frame || *p.Break {
				x := uart.Character{Data: uint16(*p.Data), Framing: *p.Frame, Break: *p.Break}
				got = append(got, x)
			}
		})
		b.Go("send", func(c *testbench.Task) {
			c.Cycles(10)
			tx.Put(sent...)
			tx.Drain(c)
			c.Cycles(20)
		})
		check.Fatal(t, b.Run(10_000))
		check.Equal(t, fmt.Sprint(bit, " clocks a bit"), got, sent)
	}
}

func TestConfig(t *testing.T) {
	b := check.Must(testbench.Open(t.Context(), through, testbench.Config{}))(t)
	defer b.Close()
	for _, test := range []struct {
		c    uart.Config
		want string
	}{
		{uart.Config{}, "uart rx: Config.Bit is 0 clocks a bit: want 2 or more"},
		{uart.Config{Bit: 4, Data: 10}, "Data is 10 bits: want 5 to 9"},
		{uart.Config{Bit: 4, Stop: 3}, "Stop is 3 bits: want 1, 1.5 or 2"},
		{uart.Config{Bit: 4, Parity: 7}, "Parity is 7: want None, Even"},
		{uart.Config{Bit: 4, Tolerance: 1}, "Tolerance is 1 bits"},
	} {
		check.Fails(t, test.want, check.Err(uart.NewTransmitter(b, "rx", test.c)), nil, test.want)
		check.Fails(t, test.want, check.Err(uart.NewReceiver(b, "rx", test.c)), nil, test.want)
	}
	check.Fails(t, "no port", check.Err(uart.NewReceiver(b, "txd", uart.Config{Bit: 4})), verilator.ErrPort, "no output for TXD", "did you mean tx?")
	check.Fails(t, "an output", check.Err(uart.NewTransmitter(b, "tx", uart.Config{Bit: 4})), verilator.ErrPort, "no input for TX")
}
