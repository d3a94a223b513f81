package testbench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/verilator"
)

// Instance is a design in a Bench. The Bench itself is its first one.
type Instance struct {
	bench *Bench
	name  string // "" for the first
	model *verilator.Model
	main  *Clock

	recorded     bool
	traced       string // the file of a wave that is being written
	transactions []*Transactions
}

// Add puts another instance, of the same design or another, beside the first. Its clock is found as the first one's is,
// with the same period. Instances that are joined by Link run in lock-step; coroutines and observers of such a bench
// wait for edges that the main clock has too. The bench must not have run yet.
func (b *Bench) Add(ctx context.Context, name string, d verilator.Design) (*Instance, error) {
	b.mark.Helper()
	if b.begun {
		return nil, b.check(fmt.Errorf("testbench: instance %s must be added before the bench runs", name))
	}
	if slices.ContainsFunc(b.instances, func(i *Instance) bool { return i.name == name }) {
		return nil, b.check(fmt.Errorf("testbench: there is an instance %q already", name))
	}
	i := &Instance{bench: b, name: name}
	return i, b.check(i.open(ctx, d))
}

// open builds the design and makes the model.
func (i *Instance) open(ctx context.Context, d verilator.Design) error {
	b := i.bench
	d.Coverage = d.Coverage || b.config.coverage != ""
	d.Checkpoint = d.Checkpoint && b.config.coverage == ""
	recorded := b.config.record(&d)
	traced := d.Timing && b.config.Wave == WaveAlways && d.Trace && !wavesOff()
	lib, err := verilator.Build(ctx, d)
	if err != nil {
		return err
	}
	i.model, err = lib.New(verilator.Config{Name: i.name, Seed: i.seed("model"), Record: recorded, Waves: b.config.scopes(traced || recorded > 0), Output: b.config.Log,
		PlusArgs: b.config.PlusArgs})
	if err != nil {
		return err
	}
	i.recorded = recorded > 0
	b.instances = append(b.instances, i)
	if traced {
		if err := i.traceFromStart(); err != nil {
			return err
		}
	}
	if b.config.PeriodTime != "" {
		if b.config.Period, err = lib.Ticks(b.config.PeriodTime); err != nil {
			return err
		}
	}
	clock := b.config.Clock
	if clock == "" && hasInput(lib, "clk") {
		clock = "clk"
	}
	if clock != "" {
		_, err = i.clock(clock, b.config.Period, 0)
	}
	return err
}

func hasInput(lib *verilator.Library, name string) bool {
	return slices.ContainsFunc(lib.Ports(), func(p verilator.Port) bool {
		return p.Name == name && p.Direction == verilator.In && p.Width == 1
	})
}

// seed returns the seed for a part of the instance.
func (i *Instance) seed(part string) uint64 {
	return i.bench.rand.Split("testbench." + part + "." + i.name).Uint64()
}

// Name returns the name that the instance was added with; "" for the first.
func (i *Instance) Name() string { return i.name }

// Bench returns the bench of the instance.
func (i *Instance) Bench() *Bench { return i.bench }

// Model returns the design. Moving its time is the bench's business: Run and Step of the model must not be called.
func (i *Instance) Model() *verilator.Model { return i.model }

// Main returns the main clock; nil when there is none.
func (i *Instance) Main() *Clock { return i.main }

// Clock makes the bench drive another clock than the main one, which Config.Clock names. Period and phase are in the
// same unit as Config.Period.
func (i *Instance) Clock(port string, period, phase uint64) (*Clock, error) {
	i.bench.mark.Helper()
	k, err := i.clock(port, period, phase)
	return k, i.bench.check(err)
}

func (i *Instance) clock(port string, period, phase uint64) (*Clock, error) {
	driven, err := i.model.Clock(port, period, phase)
	if err != nil {
		return nil, err
	}
	k := &Clock{Clock: driven, name: port, period: period, high: period / 2, next: i.bench.now + phase + period}
	i.bench.clocks = append(i.bench.clocks, k)
	if i.main == nil {
		i.main = k
	}
	return k, nil
}

// Bind makes the tagged fields of *ports point at the design's ports, as verilator.Model.Bind says.
func (i *Instance) Bind(ports any) error {
	i.bench.mark.Helper()
	return i.bench.check(i.model.Bind(ports))
}

// Source feeds a channel of the design. A seed of 0 is replaced by one from the bench's.
func (i *Instance) Source(c verilator.Channel) (*verilator.Source, error) {
	i.bench.mark.Helper()
	s, err := i.model.Source(i.seeded(c))
	return s, i.bench.check(err)
}

// Sink collects a channel of the design. A seed of 0 is replaced by one from the bench's.
func (i *Instance) Sink(c verilator.Channel) (*verilator.Sink, error) {
	i.bench.mark.Helper()
	s, err := i.model.Sink(i.seeded(c))
	return s, i.bench.check(err)
}

func (i *Instance) seeded(c verilator.Channel) verilator.Channel {
	if c.Seed == 0 {
		c.Seed = i.seed("channel." + c.Data)
	}
	return c
}

// Link joins an output of one instance to an input of another, or of the same. A seed of 0 is replaced by one from the
// bench's.
func (b *Bench) Link(c verilator.LinkConfig) (*verilator.Link, error) {
	b.mark.Helper()
	if c.Seed == 0 {
		b.links++
		c.Seed = b.rand.Split(fmt.Sprintf("testbench.link.%d", b.links)).Uint64()
	}
	l, err := verilator.Connect(c)
	return l, b.check(err)
}

// errOtherEdge is what a bench of several instances says to a wait that only one with a single instance can do.
var errOtherEdge = errors.New("testbench: coroutines and observers of a bench with several instances can only wait for " +
	"edges that the main clock has too")
