package spi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/spi"
)

// A flash behind a design is read over four lanes.
func ExampleFlash() {
	b, err := testbench.Open(context.Background(), design("spi_through"), testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	flash := &spi.Flash{Memory: memory.New(1 << 24)}
	if err := flash.Memory.Write(0x1000, []byte("boot")); err != nil {
		log.Fatal(err)
	}
	if _, err := spi.NewSlave(b, "d", spi.Config{}, flash); err != nil {
		log.Fatal(err)
	}
	m, err := spi.NewMaster(b, "h", spi.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("read", func(c *testbench.Task) {
		m.Select(c)
		m.Exchange(c, spi.QuadOut, 0x00, 0x10, 0x00)
		m.Dummy(c, 8)
		for _, v := range m.Receive(c, 4, 4) {
			fmt.Printf("%c", v)
		}
		m.Deselect(c)
	})
	if err := b.Run(10_000); err != nil {
		log.Fatal(err)
	}
	// Output: boot
}
