package bus

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Wire is a signal of a bus that is to be found among the ports of the design.
type Wire struct {
	// To is set to the signal; it stays nil for an optional one that is not there.
	To **testbench.Signal
	// Name is what the standard calls it, in small letters, and after each "|" what others do. "" is a port that has the prefix for its name.
	Name string
	// Direction is that of the port, as seen from the design.
	Direction verilator.Direction
	// Width is how many bits it has; 0 means any number up to 64.
	Width int
	// Optional says that the design may lack it.
	Optional bool
}

func (w Wire) standard() string {
	name, _, _ := strings.Cut(w.Name, "|")
	return name
}

// Find finds all signals of a bus. Errors wrap verilator.ErrPort.
func (p *Port) Find(wires ...Wire) error {
	for _, w := range wires {
		if err := p.find(w); err != nil {
			return err
		}
	}
	return p.knows(wires)
}

// knows refuses Config.Names that are not among the signals of the bus.
func (p *Port) knows(wires []Wire) error {
	var names []string
	for _, w := range wires {
		names = append(names, w.standard())
	}
	for name := range p.config.Names {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: %w: Names has %q, which is no signal of this bus%s: want %s", p, verilator.ErrPort, name, nearest.Hint(name, names),
				strings.Join(names, ", "))
		}
	}
	return nil
}

// locate returns the port of a signal, or a part of one; "" for an optional one that is not there.
func (p *Port) locate(w Wire) (string, error) {
	lib := p.Instance.Model().Library()
	name := p.config.Names[w.standard()]
	var tried []string
	if name == "" {
		name, tried = p.guess(lib.Ports(), w)
	}
	switch {
	case (name == "" || name == "-") && w.Optional:
		return "", nil
	case name == "-":
		return "", fmt.Errorf("%s: %w: the bus cannot do without %s", p, verilator.ErrPort, p.called(w))
	case name == "":
		var same []string
		for _, port := range lib.Ports() {
			if port.Direction == w.Direction {
				same = append(same, port.Name)
			}
		}
		return "", fmt.Errorf("%s: %w: %s has no %s for %s: none of %s%s: give another prefix, or the port in Names[%q]; its %ss are %s", p,
			verilator.ErrPort, lib.Design().Top, w.Direction, p.called(w), strings.Join(tried, ", "), nearest.Hint(tried[0], same),
			w.standard(), w.Direction, strings.Join(same, ", "))
	}
	whole, _, _ := strings.Cut(name, "[")
	for _, port := range lib.Ports() {
		if port.Name == whole && port.Direction != w.Direction {
			return "", fmt.Errorf("%s: %w: %s is an %s of %s, and %s must be an %s", p, verilator.ErrPort, whole, port.Direction, lib.Design().Top,
				p.called(w), w.Direction)
		}
	}
	return name, nil
}

func (p *Port) find(w Wire) error {
	name, err := p.locate(w)
	if name == "" || err != nil {
		return err
	}
	signal, err := p.Instance.Signal(name)
	if err != nil {
		return fmt.Errorf("%s: %s: %w", p, p.called(w), err)
	}
	if w.Width != 0 && signal.Width() != w.Width {
		return fmt.Errorf("%s: %w: %s is %s with %d bits, want %d", p, verilator.ErrPort, p.called(w), name, signal.Width(), w.Width)
	}
	*w.To = signal
	return nil
}

// called is what messages call a signal.
func (p *Port) called(w Wire) string { return strings.ToUpper(cmp.Or(w.standard(), p.prefix)) }

// guess looks for the port of a signal, and says what it tried.
func (p *Port) guess(ports []verilator.Port, w Wire) (name string, tried []string) {
	way := map[verilator.Direction]string{verilator.In: "i", verilator.Out: "o"}[w.Direction]
	prefix := p.prefix
	if prefix != "" && !strings.HasSuffix(prefix, "_") {
		prefix += "_"
	}
	if w.Name == "" {
		prefix = strings.TrimSuffix(prefix, "_")
	}
	for spelling := range strings.SplitSeq(w.Name, "|") {
		for _, form := range []string{
			prefix + spelling, prefix + spelling + "_" + way, way + "_" + prefix + spelling, prefix + way + "_" + spelling, p.prefix + spelling, way + "_" + p.prefix + spelling,
		} {
			tried = append(tried, form)
			for _, port := range ports {
				if port.Direction == w.Direction && strings.EqualFold(port.Name, form) {
					return port.Name, nil
				}
			}
		}
	}
	slices.Sort(tried[1:])
	return "", slices.Compact(tried)
}
