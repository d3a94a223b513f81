package i2c_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/i2c"
)

// A master beside a design with registers writes two of them and reads them back.
func ExampleBus() {
	b, err := testbench.Open(context.Background(), design("i2c_regs"), testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	wires, err := i2c.NewBus(b, "", i2c.Config{})
	if err != nil {
		log.Fatal(err)
	}
	m := wires.NewMaster()
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("master", func(c *testbench.Task) {
		fmt.Println(m.Write(c, 0x42, 3, 0xCA, 0xFE))
		data, err := m.Transfer(c, 0x42, []byte{3}, 2)
		fmt.Printf("%x %v\n", data, err)
		fmt.Println(m.Write(c, 0x43))
	})
	if err := b.Run(10_000); err != nil {
		log.Fatal(err)
	}
	// Output:
	// <nil>
	// cafe <nil>
	// i2c: not acknowledged: address 0x43
}
