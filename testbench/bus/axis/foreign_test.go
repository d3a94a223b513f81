package axis_test

import (
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/foreign"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axis"
	"github.com/stafflink/lmmc/verilator"
)

// Frames through cores of verilog-axis, under random stalls and with the rules checked on both sides.
func TestForeign(t *testing.T) {
	sidebands := map[string]string{"ID_ENABLE": "1", "DEST_ENABLE": "1", "DATA_WIDTH": "32"}
	with := func(more ...string) map[string]string {
		p := map[string]string{}
		for k, v := range sidebands {
			p[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			p[more[i]] = more[i+1]
		}
		return p
	}
	for _, test := range []struct {
		name, top string
		files     []string
		params    map[string]string
		sources   int
		clocks    bool // two
	}{
		{name: "axis_fifo", params: with("DEPTH", "256")},
		{name: "axis_fifo of frames", top: "axis_fifo", params: with("DEPTH", "512", "FRAME_FIFO", "1")},
		{name: "axis_register", params: with()},
		{name: "axis_pipeline_fifo", params: with()},
		{name: "axis_srl_fifo", params: with()},
		{name: "axis_adapter to 64 bits", top: "axis_adapter", params: map[string]string{"ID_ENABLE": "1", "DEST_ENABLE": "1", "S_DATA_WIDTH": "8", "M_DATA_WIDTH": "64"}},
		{name: "axis_adapter to 8 bits", top: "axis_adapter", params: map[string]string{"ID_ENABLE": "1", "DEST_ENABLE": "1", "S_DATA_WIDTH": "64", "M_DATA_WIDTH": "8"}},
		{name: "axis_arb_mux", files: []string{"rtl/arbiter.v", "rtl/priority_encoder.v"}, params: with("S_COUNT", "3", "M_ID_WIDTH", "8"), sources: 3},
		{name: "axis_async_fifo", params: with("DEPTH", "256"), clocks: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.top == "" {
				test.top = test.name
			}
			files := foreign.Files(t, "verilog-axis", append(test.files, "rtl/"+test.top+".v")...)
			d := verilator.Design{Top: test.top, Sources: files, Params: test.params, Flags: []string{"-Wno-fatal"}}
			var from, to axis.Config
			c := testbench.Config{}
			if test.clocks {
				c.Clock, c.Period, from.Reset, to.Reset = "s_clk", 10, "s_rst", "m_rst"
			}
			b := testbench.New(t, d, c)
			resets := []string{"rst"}
			if test.clocks {
				to.Clock = check.Must(b.Clock("m_clk", 7, 3))(t)
				resets = []string{"s_rst", "m_rst"}
			}
			var sources []*axis.Source
			from.Count = max(test.sources, 1)
			for i := range from.Count {
				from.Index = i
				sources = append(sources, check.Must(axis.NewSource(b, "s_axis", from))(t))
				check.Must(axis.NewMonitor(b, "s_axis", from))(t)
				b.RandomStall(fmt.Sprint("in ", i), sources[i], 30)
			}
			to.Packed = true
			out := check.Must(axis.NewSink(b, "m_axis", to))(t)
			monitor := check.Must(axis.NewMonitor(b, "m_axis", to))(t)
			b.RandomStall("out", out, 30)
			for _, reset := range resets {
				check.Fatal(t, b.Model().Poke(reset, 1))
			}
			b.Step(20)
			for _, reset := range resets {
				check.Fatal(t, b.Model().Poke(reset, 0))
			}
			const frames = 200
			expected := testbench.NewKeyed(b, "frames", func(f axis.Frame) uint64 { return f.ID })
			for i, s := range sources {
				r := b.Rand(fmt.Sprint("frames ", i))
				b.Go(fmt.Sprint("send ", i), func(c *testbench.Task) {
					for range frames {
						f := axis.Frame{Data: r.Bytes(r.Between(1, 100)), ID: uint64(i), Dest: r.Uint64N(8)}
						expected.Expect(f)
						s.Send(c, f)
					}
				})
			}
			b.Go("receive", func(c *testbench.Task) {
				for range frames * len(sources) {
					f := out.Receive(c)
					f.User = nil
					_ = expected.Got(f)
				}
			})
			check.Fatal(t, b.Run(500_000))
			check.Fatal(t, expected.Finish())
			t.Logf("%d frames in %d transfers and %d cycles", monitor.Frames(), monitor.Transfers(), b.Cycle())
		})
	}
}
