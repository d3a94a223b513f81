package ethernet_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"time"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/ethernet"
)

// A frame goes through a design from GMII to GMII and into a file for Wireshark.
func ExampleNewGMIISource() {
	b, err := testbench.Open(context.Background(), through, testbench.Config{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer b.Close()
	source, err := ethernet.NewGMIISource(b, "g", ethernet.Config{})
	if err != nil {
		log.Fatal(err)
	}
	sink, err := ethernet.NewGMIISink(b, "g", ethernet.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := b.Reset("rst", 2); err != nil {
		log.Fatal(err)
	}
	var file bytes.Buffer
	capture, err := ethernet.NewPcapWriter(&file)
	if err != nil {
		log.Fatal(err)
	}
	b.Go("send", func(c *testbench.Task) {
		source.Send(c, []byte("\xFF\xFF\xFF\xFF\xFF\xFF\x02\x00\x00\x00\x00\x01\x88\xB5 hello"))
	})
	b.Go("receive", func(c *testbench.Task) {
		f := sink.Get(c)
		if err := capture.Write(time.Duration(f.Edge)*8*time.Nanosecond, f); err != nil {
			c.Fatalf("%w", err)
		}
	})
	if err := b.Run(1000); err != nil {
		log.Fatal(err)
	}
	frames, err := ethernet.ReadPcap(&file)
	fmt.Printf("%q %d octets %v\n", frames[0].Data[15:20], len(frames[0].Data), err)
	// Output: "hello" 60 octets <nil>
}
