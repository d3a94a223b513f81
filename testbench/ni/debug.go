package ni

import (
	"errors"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// StartTrace lets the trace buffer of a node record. The node must have been built with Params.Trace.
func (f *Fabric) StartTrace(node int, s linkproto.TraceSetup) error {
	return s.Start(func(r linkproto.Reg, v uint32) error { return f.WriteRegister(node, r, v) })
}

// ReadTrace stops the trace buffer of a node and returns what it has recorded.
func (f *Fabric) ReadTrace(node int) (linkproto.Trace, error) {
	if err := f.WriteRegister(node, linkproto.TraceControl.Reg(), 0); err != nil {
		return linkproto.Trace{}, err
	}
	return linkproto.ReadTrace(func(r linkproto.Reg) (uint32, error) { return f.ReadRegister(node, r) })
}

// Inject lets the error injector of a node's port do to the next symbols that it sends what the source draws; with symbols 0 it goes on
// until StopInjecting. The node must have been built with Params.Inject, and the source be for symbols of 9 bits.
func (f *Fabric) Inject(node, port int, s *testbench.FaultSource, symbols uint32) error {
	write := func(r linkproto.InjectReg, v uint32) error { return f.WriteRegister(node, r.Reg(port), v) }
	var errs []error
	for i, chance := range s.Chances[1:7] { // a flip has two codes
		errs = append(errs, write(linkproto.InjectFlip+linkproto.InjectReg(i), chance))
	}
	lengths := uint32(0)
	for i, field := range linkproto.InjectLengthFields {
		lengths |= field.In(uint32(s.Lengths[i]))
	}
	return errors.Join(append(errs,
		write(linkproto.InjectLengths, lengths), write(linkproto.InjectOpen, uint32(s.Open)), write(linkproto.InjectCount, symbols),
		write(linkproto.InjectSeedLo, uint32(s.Seed)), write(linkproto.InjectSeedHi, uint32(s.Seed>>32)),
		write(linkproto.InjectControl, linkproto.InjectRun.In(1)))...)
}

// StopInjecting ends the plan of a port's error injector and returns how many symbols it was for, and how many of them were hit.
func (f *Fabric) StopInjecting(node, port int) (symbols, hits uint32, err error) {
	if err = f.WriteRegister(node, linkproto.InjectControl.Reg(port), 0); err != nil {
		return 0, 0, err
	}
	if symbols, err = f.ReadRegister(node, linkproto.InjectSymbols.Reg(port)); err != nil {
		return 0, 0, err
	}
	hits, err = f.ReadRegister(node, linkproto.InjectHits.Reg(port))
	return symbols, hits, err
}
