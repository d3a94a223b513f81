package testbench

import "github.com/stafflink/lmmc/verilator"

// Signal is a port of the design, a signal inside it (Design.Public), a word of a memory, or a part of one of these, found by name while the program runs.
type Signal struct {
	name  string
	bench *Bench
	at    *verilator.Signal
}

// Signal finds "port", "port[bit]", "port[high:low]", "u_core.state", "u_core.mem[3]" and the like, of up to 64 bits. It is nearly as fast as a bound field.
func (i *Instance) Signal(name string) (*Signal, error) {
	i.bench.mark.Helper()
	s, err := i.signal(name)
	return s, i.bench.check(err)
}

func (i *Instance) signal(name string) (*Signal, error) {
	at, err := i.model.Signal(name)
	if err != nil {
		return nil, err
	}
	return &Signal{name, i.bench, at}, nil
}

// Name returns the name the signal was found by.
func (s *Signal) Name() string { return s.name }

// Width returns how many bits it has.
func (s *Signal) Width() int { return s.at.Width() }

// Get returns the value. Outputs that depend on inputs without a register between follow at the next edge, or at
// Model.Eval.
func (s *Signal) Get() uint64 { return s.at.Get() }

// Is reports whether the value is not 0.
func (s *Signal) Is() bool { return s.Get() != 0 }

// Set changes an input, or as Model.Poke does a register inside. Bits beyond its width are dropped. The bench fails when the signal cannot be set.
func (s *Signal) Set(v uint64) {
	if err := s.at.Set(v); err != nil {
		s.bench.Errorf("%w", err)
	}
}
