package comparison

import (
	"context"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench/golden"
	"github.com/stafflink/lmmc/testbench/golden/switches"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Switches are the scenarios that compare switches, and routers of network interfaces, with their model.
var Switches = []suite.Scenario{
	{Name: "switch",
		Doc: "random routed packets, malformed ones, multicast, requests, cut cables and table changes, on the switch in RTL and on the model in Go: " +
			"every packet the same between each pair of ports, and every counter",
		Seeds: 4, Run: switching(switches.Shapes, switches.Draw)},
	{Name: "router",
		Doc:   "the same on network interfaces with a router, whose hosts send too and manage them, and that carry out remote writes",
		Seeds: 4, Run: switching(switches.Interfaces, switches.Draw)},
	{Name: "switch-requests",
		Doc:   "requests to a switch, right and wrong, from all ports at once, before it has a number and after, amid noise, and from an end that takes no answers",
		Seeds: 1, Run: switching(switches.Shapes, switches.DrawRequests)},
}

// Size of the programs that a seed stands for.
const (
	switchRounds  = 8
	switchPackets = 40 // by each port in a round
)

// drawn draws the program of a seed.
type drawn func(seed uint64, of []switches.Params, rounds, packets int) switches.Program

// switching plays the program of the seed on one of some switches, and on its model. A run that fails is repeated for a wave.
func switching(of []switches.Params, draw drawn) func(context.Context, *suite.Run) error {
	return func(ctx context.Context, r *suite.Run) error {
		failed := oneSwitch(ctx, r, of, draw, r.Wave)
		if failed == nil || ctx.Err() != nil || r.Wave != "" {
			return failed
		}
		path, err := r.FailureWave()
		if err != nil {
			return errors.Join(failed, err)
		}
		if again := oneSwitch(ctx, r, of, draw, path); again == nil || again.Error() != failed.Error() {
			return errors.Join(failed, fmt.Errorf("suite: repeated with recording the run ended otherwise: %v", again))
		}
		return failed
	}
}

func oneSwitch(ctx context.Context, r *suite.Run, of []switches.Params, draw drawn, wave string) (err error) {
	p := draw(r.Seed, of, switchRounds, switchPackets)
	if r.Width != 0 {
		p.Params.Width = r.Width
	}
	coverage := golden.NewCoverage()
	r.Functional = coverage.Coverage
	reference, err := switches.NewModel(p.Params, r.Seed)
	if err != nil {
		return err
	}
	tested, err := switches.NewRTL(ctx, p.Params, r.Seed, switches.RTL{Modules: r.RTL, Coverage: r.Coverage, Wave: wave})
	if err != nil {
		return err
	}
	r.Stats = suite.Stats{Wave: wave}
	defer func() { err = errors.Join(err, tested.Close()) }()
	r.Stats.Packets, err = switches.Check(p, tested, reference, coverage.Hit)
	r.Stats.Cycles = uint64(tested.Clocks())
	return err
}
