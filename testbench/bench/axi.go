package bench

import (
	"bytes"
	"context"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/axi"
	"github.com/stafflink/lmmc/testbench/bus/dut"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

// longestBurst is in transfers; all of 8 bytes.
const longestBurst = 64

// AXIBeats returns how many transfers of data a second the model of an AXI4 RAM serves: random bursts of 1 to 64 transfers of 64 bits, read and written at once by the
// model of a master, which compares what it reads, through registers in all channels of the design. It is the best of eight parts of a number of cycles, by CPU time.
func AXIBeats(ctx context.Context, cycles uint64) (perSecond float64, err error) {
	err = try.Run(func() { perSecond = axiBeats(ctx, cycles) })
	return perSecond, err
}

func axiBeats(ctx context.Context, cycles uint64) float64 {
	d := dut.Design("axi_pipe", nil)
	d.Optimize = verilator.Full
	b := try.Get(testbench.Open(ctx, d, testbench.Config{Wave: testbench.WaveNever, Seed: 1}))
	defer b.Close()
	m := try.Get(axi.NewMaster(b, "s_axi", axi.Config{}))
	mem := memory.New(0)
	image := b.Rand("image").Bytes(1 << 16)
	try.OK(mem.Write(0, image))
	try.Get(axi.NewRAM(b, "m_axi", mem, axi.Config{}))
	try.OK(b.Reset("rst", 4))
	r := b.Rand("bursts")
	beats := uint64(0)
	for _, write := range []bool{false, true} {
		b.Go("bursts", func(c *testbench.Task) {
			var open []*axi.Pending
			for {
				t := axi.Transaction{Write: write, ID: r.Uint64N(4), Len: r.Between(1, longestBurst), Size: 3}
				t.Addr = uint64(r.IntN(len(image)/4096)*4096 + 8*r.IntN(512-t.Len))
				if write {
					t.Data = image[t.Addr:][:8*t.Len] // what stands there
				}
				if open = append(open, m.Start(c, t)); len(open) < 16 {
					continue
				}
				for _, p := range open {
					if err := p.Wait(c); err != nil || !bytes.Equal(p.Data, image[p.Addr:][:8*p.Len]) {
						c.Fatalf("%s: wrong data, or %v", p, err)
					}
					beats += uint64(p.Len)
				}
				open = open[:0]
			}
		})
	}
	return best(b, cycles, func() uint64 { return beats })
}
