package mdio_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/mdio"
)

// A register of a PHY is written and read.
func ExampleStation() {
	b, err := testbench.Open(context.Background(), design("mdio_regs"), testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	s, err := mdio.NewStation(b, "", mdio.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("station", func(c *testbench.Task) {
		s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Write, PHY: 5, Register: 9, Data: 0x0300})
		v, err := s.Do(c, mdio.Frame{Clause: 22, Op: mdio.Read22, PHY: 5, Register: 9})
		fmt.Printf("%#x %v\n", v, err)
	})
	if err := b.Run(10_000); err != nil {
		log.Fatal(err)
	}
	// Output: 0x300 <nil>
}
