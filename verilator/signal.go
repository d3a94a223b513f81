package verilator

import "unsafe"

// Signal is a port, a signal inside, a word of an array or a part of one of these, of up to 64 bits, that is found by name while the program runs.
type Signal struct {
	m     *Model
	field field
	at    unsafe.Pointer // the number that holds it, when one does
	size  int            // of that, in bytes
	shift uint
	mask  uint64
	last  uint64 // once the model is closed
}

// Signal finds "port", "port[bit]", "port[high:low]", of an array "port[word]" and parts of that. It is nearly as fast as a bound field.
func (m *Model) Signal(name string) (*Signal, error) {
	if err := m.usable(); err != nil {
		return nil, err
	}
	f, err := m.lib.field(name)
	if err != nil {
		return nil, err
	}
	s := &Signal{m: m, field: f, mask: 1<<f.width - 1}
	size := f.bytes()
	if f.Width > 64 {
		size = 4
	}
	if at := f.offset / (8 * size); (f.offset+f.width-1)/(8*size) == at { // or parts of it are in two words
		s.at, s.size, s.shift = unsafe.Add(m.address(f.Port), at*size), size, uint(f.offset%(8*size))
	}
	m.signals = append(m.signals, s)
	return s, nil
}

// Port is what the signal is, or is a part of.
func (s *Signal) Port() Port { return s.field.Port }

// Width returns how many bits it has.
func (s *Signal) Width() int { return s.field.width }

// Get returns the value. Outputs that depend on inputs without a register between follow at the next run, or at Model.Eval. Of a closed model it is the last one.
func (s *Signal) Get() uint64 {
	switch s.size {
	case 1:
		return uint64(*(*uint8)(s.at)) >> s.shift & s.mask
	case 2:
		return uint64(*(*uint16)(s.at)) >> s.shift & s.mask
	case 4:
		return uint64(*(*uint32)(s.at)) >> s.shift & s.mask
	case 8:
		return *(*uint64)(s.at) >> s.shift & s.mask
	}
	if s.m.c == nil {
		return s.last
	}
	return s.m.bits(s.field)
}

// Set changes an input, or as Model.Poke does a register inside. Bits beyond the width are dropped.
func (s *Signal) Set(v uint64) error {
	v &= s.mask
	switch {
	case s.field.Direction != In:
		if err := s.m.usable(); err != nil {
			return err
		}
		return s.m.poke(s.field, v)
	case s.m.c == nil:
		return nil
	}
	all := s.mask << s.shift
	switch s.size {
	case 1:
		*(*uint8)(s.at) = uint8(uint64(*(*uint8)(s.at))&^all | v<<s.shift)
	case 2:
		*(*uint16)(s.at) = uint16(uint64(*(*uint16)(s.at))&^all | v<<s.shift)
	case 4:
		*(*uint32)(s.at) = uint32(uint64(*(*uint32)(s.at))&^all | v<<s.shift)
	case 8:
		*(*uint64)(s.at) = *(*uint64)(s.at)&^all | v<<s.shift
	default:
		putBits(s.m.bytesOf(s.field.Port), s.field.offset, s.field.width, v)
	}
	return nil
}

// detach keeps the last value for after the model.
func (s *Signal) detach() {
	s.last = s.Get()
	s.at, s.size = nil, 0
}
