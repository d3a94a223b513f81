package barriers

import (
	"context"
	"errors"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/rtlsim"
)

// OpenBoards opens a network of two boards with the parameters p, whose links are cabled to each other, and which have their hosts at their UARTs. A chip is simulated in place of RTL if it has a
// design; Hz is the boards' clock. Time is theirs, and a clock is 8 ns nevertheless.
func OpenBoards(ctx context.Context, t *topology.Topology, p rtl.Params, chip rtlsim.Chip, seed uint64, threads int) (w *Network, err error) {
	const turn = 4 // symbols of a UART between two looks of a host: a message has some thirty
	if !p.Routes || t.Count(topology.NI) != 2 || len(t.Nodes) != 2 || len(t.Cables) != 1 {
		return nil, errors.New("barriers: want two boards, one cable between them, and a configuration with routes, as hx8k/routed-link")
	}
	w = &Network{Algorithms: collective.Algorithms}
	err = try.Run(func() {
		config := rtlsim.Config{Params: p, NIs: len(t.Nodes), Seed: seed, Threads: threads, Quantum: turn, Hz: chip.Hz}
		if chip.Design.Top != "" {
			config.Chip = &chip
		}
		a, b := t.Cables[0].Ends[0], t.Cables[0].Ends[1]
		config.Cables = []ni.Cable{{A: a.Node, LinkA: a.Port, B: b.Node, LinkB: b.Port, Latency: t.Cables[0].Latency, BitErrorRate: t.Cables[0].BitErrorRate}}
		n := try.Get(rtlsim.New(ctx, config))
		w.world, w.tick = n, n.Tick()
		for i, node := range t.Nodes {
			host := try.Get(n.Host(i))
			driver := try.Get(hostdrv.New(ctx, host, hostdrv.Options{NodeID: node.ID, Seed: seed + uint64(i)}))
			w.nis = append(w.nis, driver)
			w.members = append(w.members, member{end: end{ni: driver, host: host, number: node.ID, node: try.Get(hostdrv.Start(ctx, driver, hostdrv.NodeOptions{NoPorts: true}))}})
		}
	})
	if err != nil && w.world != nil {
		err = errors.Join(err, w.Close())
	}
	return w, err
}
