package uart_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/uart"
	"github.com/stafflink/lmmc/verilator"
)

// What is queued before a reset has ended is sent behind it.
func TestCharactersWaitForTheEndOfReset(t *testing.T) {
	b := testbench.New(t, verilator.Design{Top: "through", Sources: []string{"testdata/through.v"}}, testbench.Config{Wave: testbench.WaveNever})
	c := uart.Config{Bit: 4}
	out := check.Must(uart.NewTransmitter(b, "rx", c))(t)
	in := check.Must(uart.NewReceiver(b, "tx", c))(t)
	out.Put(uart.Character{Data: 0x5A})
	check.Fatal(t, b.Reset("rst", 100))
	b.Go("receive", func(c *testbench.Task) { check.Equal(t, "character", in.Get(c).Data, 0x5A) })
	check.Fatal(t, b.Run(1000))
}
