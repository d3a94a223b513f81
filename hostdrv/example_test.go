package hostdrv_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/hostdrv"
	_ "github.com/stafflink/lmmc/hostdrv/rtlsim" // targets "rtl:"
)

// A simulated NI whose two links are cabled to each other: what is written by link 1 arrives by link 2.
func ExampleOpen() {
	ctx := context.Background()
	n, err := hostdrv.Open(ctx, "rtl:?links=2&frames=8&page=128&replay=512&rx=512", hostdrv.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()

	err = errors.Join(
		n.SetFrame(ctx, 3, hostdrv.FrameEntry{Link: 2}), // who may write frame 3
		n.Write(ctx, 1, 3*128, []byte("hello")),
		n.Sync(ctx, 1), // the other end has it
	)
	have := make([]byte, 5)
	err = errors.Join(err, n.ReadBuffer(ctx, have, 3*128))
	fmt.Printf("%s %v\n", have, err)
	// Output: hello <nil>
}

// Requests that are underway together take one round trip.
func ExampleNI_Batch() {
	ctx := context.Background()
	n, err := hostdrv.Open(ctx, "rtl:?links=2&frames=8&page=128&replay=512&rx=512", hostdrv.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer n.Close()

	b := n.Batch()
	have := make([]byte, 3)
	for frame := range n.Identity().Frames {
		b.SetFrame(frame, hostdrv.FrameEntry{Link: 1 + frame%2})
	}
	b.WriteBuffer([]byte("abc"), 40)
	b.ReadBuffer(have, 40)
	fmt.Println(b.Run(ctx), string(have))
	// Output: <nil> abc
}
