package uart_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/uart"
)

// A line of 115,200 baud with even parity at 10 MHz carries a byte through a design.
func ExampleNewReceiver() {
	b, err := testbench.Open(context.Background(), through, testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	line := uart.Config{Bit: 10e6 / 115200, Parity: uart.Even}
	tx, err := uart.NewTransmitter(b, "rx", line)
	if err != nil {
		log.Fatal(err)
	}
	rx, err := uart.NewReceiver(b, "tx", line)
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("send", func(c *testbench.Task) { tx.Send(c, []byte("Hi")) })
	b.Go("receive", func(c *testbench.Task) { fmt.Printf("%s\n", rx.Bytes(c, 2)) })
	if err := b.Run(10_000); err != nil {
		log.Fatal(err)
	}
	// Output: Hi
}
