package axis_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

// A frame may have more transfers than fit between Go and the design.
func TestFramesLongerThanDepth(t *testing.T) {
	b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 8, "DEPTH": 16}), testbench.Config{Wave: testbench.WaveNever})
	in := check.Must(axis.NewSource(b, "s_axis", axis.Config{Depth: 4096}))(t)
	out := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
	b.Reset("aresetn", 3)
	want := b.Rand("frame").Bytes(3000)
	b.Go("test", func(c *testbench.Task) {
		in.Send(c, axis.Frame{Data: want})
		if got := out.Receive(c); !bytes.Equal(got.Data, want) {
			c.Fatalf("got %s", got)
		}
	})
	b.Run(10_000)
}

// Frames of coroutines that share a source do not mix.
func TestASharedSource(t *testing.T) {
	b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 8, "DEPTH": 16}), testbench.Config{Wave: testbench.WaveNever})
	in := check.Must(axis.NewSource(b, "s_axis", axis.Config{Depth: 16}))(t)
	out := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
	b.Reset("aresetn", 3)
	for k := range byte(2) {
		b.Go("send", func(c *testbench.Task) {
			c.Cycles(uint64(20 - 20*k)) // the first to go on comes second
			in.Send(c, axis.Frame{Data: bytes.Repeat([]byte{k}, 100)})
		})
	}
	b.Go("receive", func(c *testbench.Task) {
		for k := range byte(2) {
			got := out.Receive(c)
			check.Equal(t, "bytes", len(got.Data), 100)
			check.Equal(t, "bytes of the frame", bytes.Count(got.Data, []byte{1 - k}), 100)
		}
	})
	b.Run(2000)
}

// Of a frame that a reset has cut off nothing is left after Discard.
func TestDiscard(t *testing.T) {
	b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": 8, "DEPTH": 16}), testbench.Config{Wave: testbench.WaveNever})
	in := check.Must(axis.NewSource(b, "s_axis", axis.Config{}))(t)
	out := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
	b.Reset("aresetn", 3)
	b.Go("test", func(c *testbench.Task) {
		in.Send(c, axis.Frame{Data: make([]byte, 30)})
		c.Cycles(20)
		if _, ok := out.TryReceive(); ok {
			c.Fatalf("the frame has ended already")
		}
		out.Discard()
		in.Drain(c)
		c.Cycles(20)
		out.Discard()
		in.Send(c, axis.Frame{Data: []byte{7}})
		check.Equal(t, "frame", out.Receive(c).Data, []byte{7})
	})
	b.Run(200)
}
