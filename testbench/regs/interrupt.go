package regs

import (
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/testbench"
)

// Interrupt is a line by which a device says that one of its sources is pending.
type Interrupt struct {
	// Device has the registers; Pending and Enable name those of the sources, a bit each. Enable "" means that all are enabled.
	Device          *Device
	Pending, Enable string
	// Line is the wire.
	Line *testbench.Signal
	// Low says that the wire is active when 0.
	Low bool
	// Edge says that the line pulses: its rising edges are counted, and each is waited for once. Otherwise it is a level.
	Edge bool

	edges  uint64
	event  testbench.Event
	before bool
}

// Start watches the line at the edges of its bench's main clock, for Edge and for coverage of how often it rose.
func (i *Interrupt) Start(b *testbench.Bench) {
	i.event.Name = "interrupt"
	i.before = i.active()
	b.Observe(b.Main(), func() {
		now := i.active()
		if now && !i.before {
			i.edges++
			i.event.Pulse()
		}
		i.before = now
	})
}

func (i *Interrupt) active() bool { return i.Line.Is() != i.Low }

// Wait waits for the interrupt, at most max cycles (0: as long as Run allows), and returns the sources that are pending and enabled.
func (i *Interrupt) Wait(c *testbench.Task, max uint64) (sources uint64, err error) {
	if i.event.Name == "" && i.Edge {
		return 0, fmt.Errorf("regs: interrupt of %s: call Start before the edges are to be counted", i.Device.block.Name)
	}
	limit := testbench.Cycles(max)
	if max == 0 {
		limit = testbench.Time(1<<64 - 1)
	}
	if err := c.Within(limit, func() {
		if !i.Edge {
			c.Until(i.active, 0)
			return
		}
		for i.edges == 0 {
			i.event.Wait(c)
		}
		i.edges--
	}); err != nil {
		return 0, fmt.Errorf("regs: no interrupt of %s: %w", i.Device.block.Name, err)
	}
	return i.Sources(c)
}

// Sources returns the sources that are pending and enabled.
func (i *Interrupt) Sources(c *testbench.Task) (sources uint64, err error) {
	sources, err = i.Device.Read(c, i.Pending)
	if err != nil || i.Enable == "" {
		return sources, err
	}
	enabled, err := i.Device.Read(c, i.Enable)
	return sources & enabled, err
}

// Clear makes sources not pending, in the way of their fields' access types.
func (i *Interrupt) Clear(c *testbench.Task, sources uint64) error {
	p, err := i.Device.find(i.Pending)
	if err != nil {
		return err
	}
	now, data, write := uint64(0), uint64(0), false
	if slices.ContainsFunc(p.Fields, func(f *Field) bool { return f.Access == "rw" }) { // what is not to be cleared is written as it is
		if now, err = i.Device.Read(c, i.Pending); err != nil {
			return err
		}
	}
	for _, f := range p.Fields {
		bits := f.of(sources)
		switch f.Access {
		case "w1c", "w1t":
			data = f.into(data, bits)
		case "w0c":
			data = f.into(data, f.mask()&^bits)
		case "rw":
			data = f.into(data, f.of(now)&^bits)
		case "wc":
		case "rc", "wrc": // a read has done it
			continue
		default:
			if bits != 0 {
				return fmt.Errorf("regs: %s.%s.%s is %s: it cannot be cleared by the bus", i.Device.block.Name, i.Pending, f.Name, f.Access)
			}
			continue
		}
		write = write || bits != 0
	}
	if !write {
		return nil
	}
	return i.Device.Write(c, i.Pending, data)
}
