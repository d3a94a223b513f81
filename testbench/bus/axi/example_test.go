package axi_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// A design with a port for a master and one for a slave, between the models of both.
func Example() {
	b, err := testbench.Open(context.Background(), dut.Design("axi_pipe", nil), testbench.Config{Wave: testbench.WaveNever})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	mem := memory.New(0x1000)
	master, err1 := axi.NewMaster(b, "s_axi", axi.Config{})
	ram, err2 := axi.NewRAM(b, "m_axi", mem, axi.Config{Reorder: true})
	monitor, err3 := axi.NewMonitor(b, "m_axi", axi.Config{}) // checks the rules
	if err := errors.Join(err1, err2, err3); err != nil {
		log.Fatal(err)
	}
	b.RandomStall("ram", ram, 10)
	b.Go("cpu", func(c *testbench.Task) {
		fmt.Println(master.Write(c, 0x123, []byte("any bytes, anywhere")))
		p := make([]byte, 5)
		fmt.Println(master.Read(c, 0x127, p), string(p))
		t := master.Start(c, axi.Transaction{Addr: 0x128, Len: 4, Size: 2, Burst: axi.Wrap, ID: 3})
		fmt.Println(t.Wait(c), len(t.Data), "bytes")
		fmt.Println(master.Read(c, 0x1000, p))
	})
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	if err := b.Run(10_000); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monitor.Transactions(), "transactions")
	// Output:
	// <nil>
	// <nil> bytes
	// <nil> 16 bytes
	// axi: read at 0x1000 (id 0, 1 x 8 bytes, INCR): there is no slave at the address: DECERR
	// 4 transactions
}
