package testbench_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// A frame that does not fit into the sink is no reason to wait for ever.
func TestAFrameLongerThanTheSinkIsRefused(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	in := check.Must(b.Sender(verilator.Stream("s")))(t)
	small := verilator.Stream("m")
	small.Depth = 30
	out := check.Must(b.Receiver(small))(t)
	b.Go("send", func(c *testbench.Task) { in.Send(c, make([]byte, 100)) })
	b.Go("receive", func(c *testbench.Task) { out.Frame(c) })
	check.Fails(t, "frame", b.Run(1000), nil, "a frame of m_data has more than 32 items: set Channel.Depth to more")
}

// Frames of tasks that share a sender do not mix.
func TestASharedSender(t *testing.T) {
	b := openQueue(t, nil, testbench.Config{})
	small := verilator.Stream("s")
	small.Depth = 4
	in := check.Must(b.Sender(small))(t)
	out := check.Must(b.Receiver(verilator.Stream("m")))(t)
	for k := range byte(2) {
		b.Go("send", func(c *testbench.Task) {
			c.Cycles(uint64(5 - 5*k)) // the first to go on comes second
			in.Send(c, bytes.Repeat([]byte{k}, 20))
		})
	}
	b.Go("receive", func(c *testbench.Task) {
		for k := range byte(2) {
			check.Equal(t, "frame", out.Frame(c), bytes.Repeat([]byte{1 - k}, 20))
		}
	})
	check.Fatal(t, b.Run(1000))
}
