package apb_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/apb"
	"github.com/stafflink/lmmc/testbench/bus/memory"
)

// A requester writes and reads through a design into a memory of 64 bytes.
func ExampleNewRequester() {
	b, err := testbench.Open(context.Background(), through, testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	r, err := apb.NewRequester(b, "s", apb.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := apb.NewCompleter(b, "m", apb.Config{}, memory.New(64)); err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst_n", 2); err != nil {
		log.Fatal(err)
	}
	b.Go("cpu", func(c *testbench.Task) {
		fmt.Println(r.Write(c, 0x20, 0xCAFE))
		v, err := r.Read(c, 0x20)
		fmt.Printf("%#x %v\n", v, err)
		fmt.Println(r.Write(c, 0x40, 1))
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	// Output:
	// <nil>
	// 0xcafe <nil>
	// apb: the completer has answered PSLVERR
}
