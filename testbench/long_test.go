package testbench_test

import (
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
