package ni_test

import (
	"context"
	"fmt"
	"log"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
)

// Two network interfaces, a remote write from one host to the other's receive buffer.
func Example() {
	f, err := ni.Open(context.Background(), ni.Config{Nodes: 2, Cables: []ni.Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1}}})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	// Node 1 lets its link 1 write frame 2, node 0 writes there.
	if err := f.WriteRegister(1, linkproto.FrameReg(2), 1<<31|1); err != nil {
		log.Fatal(err)
	}
	if err := f.Nodes[0].Host.Write(1, 2*1024+5, []byte("hello")); err != nil {
		log.Fatal(err)
	}
	if err := f.Run(1000); err != nil {
		log.Fatal(err)
	}
	answer, err := f.Ask(1, linkproto.Packet{Type: linkproto.TypeBufRead, Addr: 2*1024 + 5, Count: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", answer.Data)
	// Output: hello
}
