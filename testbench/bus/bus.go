// Package bus has what models of buses share: signals that are found by name, a clock and a reset, rules and their violations, and accesses to
// memories and registers. The models are the packages below it, one for each bus.
//
// A model is opened on a bench with the prefix that the ports of its bus have in common:
//
//	m, err := wishbone.NewMaster(b, "wb", wishbone.Config{Pipelined: true})
//	b.Go("cpu", func(c *testbench.Task) { m.Write(c, 0x40, 7) })
//
// The side that the design does not have is driven, and both sides are checked. Names match whatever their case, with or without
// the direction in front or behind: prefix wb finds CYC as wb_cyc, wb_cyc_i and i_wb_cyc. Others go into Config.Names.
package bus

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/stafflink/lmmc/internal/resets"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Config is what every model takes. The zero value works.
type Config struct {
	// Instance is the design that has the bus, one that Bench.Add has added; nil means the first.
	Instance *testbench.Instance
	// Clock is the clock of the bus; nil means the main clock of the instance.
	Clock *testbench.Clock
	// Reset is an input, named as for Bench.Reset: while it acts nothing is driven or checked but the rules of reset. "" means the only input
	// that is called as resets are (rst, i_rst, rst_ni, aresetn, wb_rst_i, …); "-" means that there is none.
	Reset string
	// Names says what ports are called that cannot be found: by the name of the signal in the standard, in small letters, "port",
	// "port[bit]" or "port[high:low]"; "-" means that the design has no such signal.
	Names map[string]string
	// Waive lists rules that are not checked, as a Violation names them.
	Waive []string
	// Violation is called with what is wrong; nil means Bench.Errorf.
	Violation func(Violation)
}

// TooLong is the number of cycles that is one too many where so many are allowed; 0 for any number.
func (Config) TooLong(allowed uint64) uint64 {
	if allowed == 0 {
		return 0
	}
	return allowed + 1
}

// Violation says which rule of a bus was broken.
type Violation struct {
	// Bus is the kind of bus and its prefix.
	Bus string
	// Edge is the rising edge of the clock of the bus, counted from 1, at which it was seen.
	Edge uint64
	// Rule is the standard's number or section.
	Rule string
	// Text says what was seen.
	Text string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s, edge %d: %s (%s)", v.Bus, v.Edge, v.Text, v.Rule)
}

// Port is a bus of a design, as its model sees it.
type Port struct {
	// Bench is the bench of the design.
	Bench *testbench.Bench
	// Instance is the design.
	Instance *testbench.Instance
	// Clock is the clock of the bus.
	Clock *testbench.Clock

	kind, prefix string
	config       Config
	reset        *testbench.Signal
	resetLevel   bool
	violations   uint64
}

var (
	resetName = regexp.MustCompile(`(?i)^([a-z0-9]+_)*(a|n|p|s)?(rst|reset|resetn|rstn|rst_n|rst_ni|reset_n)(_[in]|_ni|_in)?$`)
)

// Open finds the clock and the reset of a bus. Kind is what the bus is called in messages.
func Open(b *testbench.Bench, kind, prefix string, c Config) (*Port, error) {
	p := &Port{Bench: b, Instance: cmp.Or(c.Instance, &b.Instance), kind: kind, prefix: prefix, config: c}
	if p.Instance.Bench() != b {
		return nil, fmt.Errorf("%s: Config.Instance belongs to bench %s: want one of bench %s", p, p.Instance.Bench().Name(), b.Name())
	}
	if p.Clock = cmp.Or(c.Clock, p.Instance.Main()); p.Clock == nil {
		return nil, fmt.Errorf("%s: the bench has no clock: set testbench.Config.Clock, or Clock of the bus", p)
	}
	name := c.Reset
	if name == "" {
		var found []string
		for _, port := range p.Instance.Model().Library().Ports() {
			if port.Direction == verilator.In && port.Width == 1 && resetName.MatchString(port.Name) {
				found = append(found, port.Name)
			}
		}
		if len(found) == 1 {
			name = found[0]
		}
	}
	if name == "" || name == "-" {
		return p, nil
	}
	p.resetLevel = !resets.Low(name)
	if name[0] == '!' {
		name, p.resetLevel = name[1:], false
	}
	var err error
	if p.reset, err = p.Instance.Signal(name); err != nil {
		return nil, fmt.Errorf("%s: reset: %w", p, err)
	}
	return p, nil
}

// String returns the kind of bus, its prefix, and the instance unless it is the first.
func (p *Port) String() string {
	s := p.kind
	if p.prefix != "" {
		s += " " + p.prefix
	}
	if name := p.Instance.Name(); name != "" {
		s += " of " + name
	}
	return s
}

// InReset reports whether the reset acts.
func (p *Port) InReset() bool { return p.reset != nil && p.reset.Is() == p.resetLevel }

// OnReset calls a function where a reset has acted at an edge of the clock, at least once a reset that a task or a test lets go.
func (p *Port) OnReset(f func()) {
	if p.reset == nil {
		return
	}
	var before uint64
	p.Bench.AfterWatches(func() {
		now := p.Clock.Cycles()
		if now > before && p.InReset() {
			f()
		}
		before = now
	})
}

// UntilReset is the condition of the engine under which the reset acts; none without one.
func (p *Port) UntilReset() []verilator.Until {
	if p.reset == nil {
		return nil
	}
	return []verilator.Until{verilator.Equal(p.reset.Name(), Bit(p.resetLevel))}
}

// Violate reports that a rule was broken, unless it is waived.
func (p *Port) Violate(rule, format string, args ...any) {
	if slices.Contains(p.config.Waive, rule) {
		return
	}
	p.violate(p.Clock.Cycles()+1, rule, fmt.Sprintf(format, args...))
}

// ViolateAt is Violate for an edge of the clock that has passed.
func (p *Port) ViolateAt(edge uint64, rule, format string, args ...any) {
	if !slices.Contains(p.config.Waive, rule) {
		p.violate(edge, rule, fmt.Sprintf(format, args...))
	}
}

func (p *Port) violate(edge uint64, rule, text string) {
	p.violations++
	v := Violation{p.String(), edge, rule, text}
	if p.config.Violation != nil {
		p.config.Violation(v)
		return
	}
	p.Bench.Errorf("%s", v)
}

// Cover makes what the model counts a part of the bench's CoverageRun, under the name of the bus.
func (p *Port) Cover(c *testbench.Coverage) { p.Bench.CoverAs(p.String()+": ", c) }

// Violations is how many were found.
func (p *Port) Violations() uint64 { return p.violations }

// Run calls see before each rising edge of the clock, when everything is settled, and drive after it, when registers have their new values.
// See must not set inputs. Drive may be nil.
func (p *Port) Run(see, drive func()) {
	p.Bench.Observe(p.Clock, see)
	if drive == nil {
		return
	}
	p.Bench.Background(p.String(), func(c *testbench.Task) {
		for {
			c.Rising(p.Clock)
			drive()
		}
	})
}

// Stall decides in which cycles a model holds up the other side. testbench.RandomStall drives it.
type Stall struct {
	share float64
	rand  *testbench.Rand
}

// Stalls returns what decides about holds of the bus.
func (p *Port) Stalls() Stall { return Stall{rand: p.Bench.Rand("bus.stall." + p.String())} }

// SetThrottle sets the share of cycles, 0 to 1, in which the model holds up the other side.
func (s *Stall) SetThrottle(share float64) { s.share = share }

// Now draws whether to hold in this cycle.
func (s *Stall) Now() bool { return s.share > 0 && s.rand.Chance(s.share) }

// Wait lets a coroutine wait for n rising edges of the clock.
func (p *Port) Wait(c *testbench.Task, n uint64) {
	if p.Clock == p.Bench.Main() {
		c.Cycles(n)
		return
	}
	for range n {
		c.Rising(p.Clock)
	}
}
