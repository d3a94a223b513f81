package axis_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

func Example() {
	b, err := testbench.Open(context.Background(), dut.Design("axis_fifo", nil), testbench.Config{Wave: testbench.WaveNever})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	in, err := axis.NewSource(b, "s_axis", axis.Config{})
	if err != nil {
		log.Fatal(err)
	}
	out, err := axis.NewSink(b, "m_axis", axis.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := axis.NewMonitor(b, "m_axis", axis.Config{}); err != nil { // checks the rules
		log.Fatal(err)
	}
	b.RandomStall("out", out, 10)
	b.Go("test", func(c *testbench.Task) {
		in.Send(c, axis.Frame{Data: []byte("twelve bytes"), Dest: 2})
		fmt.Println(out.Receive(c))
	})
	if err := b.Reset("aresetn", 2); err != nil {
		log.Fatal(err)
	}
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output: 12 bytes (id 0x0, dest 0x2) user [0 0] 74 77 65 6c 76 65 20 62 79 74 65 73
}
