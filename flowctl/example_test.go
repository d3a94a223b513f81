package flowctl_test

import (
	"fmt"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/linkproto"
)

// Two ends of a link, joined by a channel that takes no time.
func ExampleEndpoint() {
	a, err := flowctl.New(flowctl.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := flowctl.New(flowctl.Config{Epoch: 77})
	if err != nil {
		fmt.Println(err)
		return
	}
	write := linkproto.Packet{Type: linkproto.TypeWrite, Data: []byte("hello")}
	packet, err := write.Append(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := a.Send(packet); err != nil {
		fmt.Println(err)
		return
	}
	var line [64]linkproto.Symbol
	for range 20 {
		b.Feed(line[:a.Emit(line[:])])
		a.Feed(line[:b.Emit(line[:])])
		a.Tick(len(line))
		b.Tick(len(line))
	}
	got, ok := b.Receive()
	fmt.Printf("%q %v, %d in a's queue, up: %v\n", got, ok, a.Queued(), a.Status().Up)
	// Output: "\x01\t\x00\x00\x00\x00\x00hello" true, 0 in a's queue, up: true
}

// A link that needs a symbol at every tick gets IDLE when there is nothing to say.
func ExampleEndpoint_Next() {
	e, err := flowctl.New(flowctl.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var line []linkproto.Symbol
	for range 20 {
		line = append(line, e.Next())
		e.Tick(1)
	}
	fmt.Println(line)
	fmt.Println("nothing more for", e.IdleFor(), "ticks")
	// Output:
	// [LSW 80 03 00 00 00 00 00 01 0A 00 F0 B2 IDLE IDLE IDLE IDLE IDLE IDLE IDLE]
	// nothing more for 492 ticks
}
