package bus

import "github.com/stafflink/lmmc/testbench"

// Get is the value of a signal, or what it is as long as the design has none.
func Get(s *testbench.Signal, without uint64) uint64 {
	if s == nil {
		return without
	}
	return s.Get()
}

// Set sets a signal, if the design has it.
func Set(s *testbench.Signal, v uint64) {
	if s != nil {
		s.Set(v)
	}
}

// Bit is 1 for true.
func Bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
