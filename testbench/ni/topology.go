package ni

import "github.com/stafflink/lmmc/rtl"

// Pair is two network interfaces, link 1 of one cabled to link 1 of the other.
func Pair(p rtl.Params, latency int) Config {
	return Config{Params: p, Nodes: 2, Cables: []Cable{{A: 0, LinkA: 1, B: 1, LinkB: 1, Latency: latency}}}
}

// Ring is n network interfaces, link 2 of each cabled to link 1 of the next.
func Ring(n int, p rtl.Params, latency int) Config {
	c := Config{Params: p, Nodes: n}
	for i := range n {
		c.Cables = append(c.Cables, Cable{A: i, LinkA: 2, B: (i + 1) % n, LinkB: 1, Latency: latency})
	}
	return c
}
