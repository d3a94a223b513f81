package wishbone_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/testbench/bus/wishbone"
	"github.com/stafflink/lmmc/verilator"
)

// A slave is written and read by a coroutine. Its rules are checked meanwhile.
func ExampleNewMaster() {
	b, err := testbench.Open(context.Background(), verilator.Design{Top: "wb_ram", Sources: []string{"testdata/wb_ram.v"}}, testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	m, err := wishbone.NewMaster(b, "wb", wishbone.Config{WordAddress: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("cpu", func(c *testbench.Task) {
		m.Write(c, 0x40, 0xC0FFEE)
		v, err := m.Read(c, 0x40)
		fmt.Printf("%#x %v\n", v, err)
		_, err = m.Read(c, 0x3FC)
		fmt.Println(err)
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 0xc0ffee <nil>
	// wishbone: the slave has answered ERR
}

// A design that is a master copies words of a memory, which holds it up at random.
func ExampleNewSlave() {
	b, err := testbench.Open(context.Background(), verilator.Design{Top: "wb_copy", Sources: []string{"testdata/wb_copy.v"}}, testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	var store memory.Memory
	var last bus.Access
	s, err := wishbone.NewSlave(b, "", wishbone.Config{WordAddress: true, Item: func(a bus.Access) { last = a }}, &store)
	if err != nil {
		log.Fatal(err)
	}
	b.RandomStall("memory", s, 20)
	if err := store.PutUint(31*4, 4, 41); err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	if err := b.Step(2000); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Items(), "accesses, the last one a write:", last.Write, last.Data)
	// Output: 64 accesses, the last one a write: true 42
}
