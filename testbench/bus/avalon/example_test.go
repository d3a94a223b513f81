package avalon_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/avalon"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// A burst of four words goes through a design into a memory and is read back.
func ExampleNewHost() {
	b, err := testbench.Open(context.Background(), design("avmm_through"), testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	h, err := avalon.NewHost(b, "s", avalon.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := avalon.NewAgent(b, "m", avalon.Config{}, memory.New(0x100)); err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("host", func(c *testbench.Task) {
		h.Write(0x40, []uint64{1, 2, 3, 4}, nil)
		r := h.Read(0x44, 2)
		err := r.Wait(c)
		fmt.Println(r.Words, err)
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output: [2 3] <nil>
}

// A packet of five bytes goes through a FIFO.
func ExampleNewSource() {
	b, err := testbench.Open(context.Background(), design("avst_fifo"), testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	source, err := avalon.NewSource(b, "in", avalon.StreamConfig{})
	if err != nil {
		log.Fatal(err)
	}
	sink, err := avalon.NewSink(b, "out", avalon.StreamConfig{})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	source.Put(avalon.Packet{Data: []byte("hello"), Channel: 3})
	b.Go("receive", func(c *testbench.Task) {
		p := sink.Get(c)
		fmt.Printf("%s on channel %d\n", p.Data, p.Channel)
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output: hello on channel 3
}
