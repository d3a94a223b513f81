package barriers

import (
	"context"
	"slices"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/try"
)

// Call is what a call of a group takes, in clocks: from its start until all members have returned, the mean.
type Call struct {
	Call   string  `json:"call"`
	Way    string  `json:"way"` // collective.Options.Way
	Nodes  int     `json:"nodes"`
	Bytes  int     `json:"bytes"`
	Clocks float64 `json:"clocks"`
}

// Ways are those by which the data of a call can go, by its name.
var Ways = map[string][]string{"broadcast": {collective.Tree, collective.Chain}, "allreduce": {collective.Exchange, collective.Tree, collective.Chain}}

// calls are those that Calls measures, by name.
var calls = map[string]func(ctx context.Context, g *collective.Group, data []byte) error{
	"broadcast": func(ctx context.Context, g *collective.Group, data []byte) error { return g.Broadcast(ctx, 0, data) },
	"allreduce": func(ctx context.Context, g *collective.Group, data []byte) error {
		return g.AllReduce(ctx, data, nothing)
	},
}

// nothing is an operation that costs nothing.
var nothing = collective.Op{Size: 1, Combine: func(into, from []byte) { copy(into, from) }}

// Call makes a call of the first n nodes some times, with a barrier before each.
func (w *Network) Call(ctx context.Context, c Call, count int) (Call, error) {
	w.context++
	starts, ends := make([][]float64, count+1), make([][]float64, count+1)
	for i := range starts {
		starts[i], ends[i] = make([]float64, c.Nodes), make([]float64, c.Nodes)
	}
	err := w.each(ctx, c.Nodes, func(ctx context.Context, i int) {
		g := try.Get(collective.Open(ctx, w.members[i].node, collective.Options{Members: w.numbers(c.Nodes), Context: w.context, Way: c.Way, Seed: uint64(i + 1)}))
		for round := range count + 1 { // the first one brings virtual links up
			try.OK(g.Barrier(ctx))
			starts[round][i] = w.clock()
			try.OK(calls[c.Call](ctx, g, make([]byte, c.Bytes)))
			ends[round][i] = w.clock()
		}
		try.OK(g.Barrier(ctx))
		try.OK(g.Close(ctx))
	})
	for round := 1; round <= count; round++ {
		c.Clocks += (slices.Max(ends[round]) - slices.Min(starts[round])) / float64(count)
	}
	return c, err
}
