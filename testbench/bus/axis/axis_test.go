package axis_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/testbench/bus/dut"
)

// random returns a frame that a stream of lanes bytes can carry.
func random(r *testbench.Rand, lanes, userBits int) axis.Frame {
	f := axis.Frame{Data: r.Bytes(r.Size(20*lanes, lanes)), ID: r.Uint64N(256), Dest: r.Uint64N(16)}
	if r.Chance(0.3) {
		f.Types = make([]axis.ByteType, len(f.Data))
		for i := range f.Types {
			f.Types[i] = axis.ByteType(r.Weighted(4, 1, 1))
		}
	}
	for range max((len(f.Data)+lanes-1)/lanes, 1) {
		for k := 0; k < userBits; k += 64 {
			f.User = append(f.User, r.Uint64()>>(64-min(64, userBits-k)))
		}
	}
	return f
}

// received is what a sink makes of a frame: without null bytes.
func received(f axis.Frame) axis.Frame {
	g := f
	g.Data, g.Types = nil, nil
	position := false
	for i, v := range f.Data {
		t := axis.DataByte
		if f.Types != nil {
			t = f.Types[i]
		}
		if t == axis.NullByte {
			continue
		}
		g.Data, g.Types = append(g.Data, v), append(g.Types, t)
		position = position || t == axis.PositionByte
	}
	if !position {
		g.Types = nil
	}
	return g
}

// Frames with all sidebands through a FIFO, whatever the width, under random stalls.
func TestThroughFIFO(t *testing.T) {
	for _, width := range []int{8, 24, 1024} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			const user = 70
			b := testbench.New(t, dut.Design("axis_fifo", map[string]int{"DATA_WIDTH": width, "USER_WIDTH": user, "DEPTH": 16}), testbench.Config{})
			in := check.Must(axis.NewSource(b, "s_axis", axis.Config{}))(t)
			out := check.Must(axis.NewSink(b, "m_axis", axis.Config{}))(t)
			b.Reset("aresetn", 3)
			b.RandomStall("in", in, 30)
			b.RandomStall("out", out, 30)
			r := b.Rand("frames")
			var sent []axis.Frame
			const frames = 200
			b.Go("send", func(c *testbench.Task) {
				for range frames {
					f := random(r, width/8, user)
					sent = append(sent, received(f))
					in.Send(c, f)
				}
				in.Drain(c)
			})
			b.Go("receive", func(c *testbench.Task) {
				for i := range frames {
					if got := out.Receive(c); !got.Equal(sent[i]) {
						c.Fatalf("frame %d: got %s, want %s", i, got, sent[i])
					}
				}
			})
			b.Run(100_000)
		})
	}
}
