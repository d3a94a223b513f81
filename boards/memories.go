package boards

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/stafflink/lmmc/linkproto"
)

// Memory is a memory of the network interface.
type Memory struct {
	Name         string
	Width, Depth int // of one
	Count        int
	Blocks       int // that all of them take
}

// shapes are the widths that a block memory can have, by family, each with its depth.
var shapes = map[string][][2]int{
	"ice40": {{16, 256}, {8, 512}, {4, 1024}, {2, 2048}},
	"ecp5":  {{36, 512}, {18, 1024}, {9, 2048}, {4, 4096}, {2, 8192}, {1, 16384}},
}

// Memories lists the memories that become block memories. One that a few flip-flops can hold is not among them.
func (c *Config) Memories() []Memory {
	ports := c.Links + 1
	counters := 2 << bits.Len(uint(ports*linkproto.CounterStride-1))
	list := []Memory{
		{Name: "receive buffer", Width: 32, Depth: c.Frames * c.Page / 4, Count: 1},
		{Name: "replay buffers", Width: 8, Depth: c.Replay, Count: ports},
		{Name: "starts of packets in replay buffers", Width: 16, Depth: 256, Count: ports},
		{Name: "receivers' queues", Width: 9, Depth: c.Rx, Count: ports},
		{Name: "counters and identity", Width: 32, Depth: counters, Count: 1},
		{Name: "ranges of notifications", Width: bits.Len(uint(c.Page - 1)), Depth: max(256, 2*c.Frames), Count: 1},
	}
	if p := c.Params(); c.Routes {
		list = append(list,
			Memory{Name: "packets in ROUTEs", Width: 10, Depth: 1 << bits.Len(uint(p.MaxPacket()-1)), Count: c.Links},
			Memory{Name: "ROUTEs for the host", Width: 10, Depth: max(c.Rx, 1024), Count: c.Links})
	}
	for i := range list {
		m := &list[i]
		least := 0
		for _, s := range shapes[c.Board.FPGA.Family] {
			if n := divideUp(m.Width, s[0]) * divideUp(m.Depth, s[1]); least == 0 || n < least {
				least = n
			}
		}
		m.Blocks = least * m.Count
	}
	return list
}

func divideUp(a, b int) int { return (a + b - 1) / b }

// largest names the memories that take most.
func (c *Config) largest() string {
	list := c.Memories()
	slices.SortFunc(list, func(a, b Memory) int { return b.Blocks - a.Blocks })
	text := ""
	for _, m := range list[:3] {
		text += fmt.Sprintf(" %s %d,", m.Name, m.Blocks)
	}
	return text[:len(text)-1]
}
