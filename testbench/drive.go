package testbench

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/verilator"
)

// advance moves time to the target, which is an edge of a clock, or to where a hint comes true before.
func (b *Bench) advance(target uint64, hints []verilator.Until) error {
	if len(b.observers) > 0 {
		if err := b.observe(target); err != nil {
			return err
		}
	}
	if err := b.drive(target, hints); err != nil {
		return err
	}
	for _, k := range b.clocks {
		k.advance(b.now)
	}
	b.readWatches()
	return nil
}

func (b *Bench) drive(target uint64, hints []verilator.Until) error {
	main := b.main
	switch {
	case len(b.instances) > 1:
		return b.driveNetwork(target)
	case len(hints) > 0:
		stop, err := main.RunUntil((target-main.next)/main.period+1, hints...)
		if err == nil && stop.Reason == verilator.SinkFull {
			err = errors.New("testbench: a sink without a ready port is full: it needs more depth, or a reader")
		}
		b.now = b.model.Time()
		return err
	case target == main.next:
		b.now = target
		return b.model.Step()
	}
	b.now = target
	return b.model.RunTo(target)
}

// driveNetwork moves all instances in lock-step.
func (b *Bench) driveNetwork(target uint64) error {
	if !b.main.risesAt(target) {
		return errOtherEdge
	}
	if b.network == nil {
		var models []*verilator.Model
		for _, i := range b.instances {
			models = append(models, i.model)
		}
		var err error
		if b.network, err = verilator.NewNetwork(1, models...); err != nil {
			return fmt.Errorf("testbench: %w", err)
		}
	}
	b.now = target
	return b.network.Run((target-b.main.next)/b.main.period + 1)
}

// observe calls the observers of the clocks that rise at the target.
func (b *Bench) observe(target uint64) error {
	settled := false
	for _, o := range b.observers {
		if o.clock.next != target {
			continue
		}
		if !settled {
			if err := b.settle(); err != nil {
				return err
			}
			settled = true
		}
		o.look()
	}
	return b.Err()
}

// settle lets outputs follow what coroutines have set.
func (b *Bench) settle() error {
	for _, i := range b.instances {
		if err := i.model.Eval(); err != nil {
			return err
		}
	}
	return nil
}
