package sharing

import (
	"sync/atomic"
	"unsafe"
)

// stateAlign is a multiple of what a State and its users need.
const stateAlign = 4096

// Sizes returns where in the memory of a page its State is, behind the page itself, and the size of both.
func Sizes(pageBytes int) (state, size int) {
	state = (pageBytes + stateAlign - 1) &^ (stateAlign - 1)
	return state, state + stateAlign
}

// State describes changes of a page to programs that can only read it: a version that is odd while bytes change.
type State struct {
	version atomic.Uint64
	out     atomic.Bool
	ended   atomic.Bool
}

// StateOf returns the State in a page's memory.
func StateOf(memory []byte, pageBytes int) *State {
	at, size := Sizes(pageBytes)
	return (*State)(unsafe.Pointer(unsafe.SliceData(memory[at:size])))
}

// Change makes a change, of which there may be one at a time.
func (s *State) Change(change func()) {
	s.version.Add(1)
	change()
	s.version.Add(1)
}

// SetOut sets whether the page is in no frame, so that nothing can change it.
func (s *State) SetOut(out bool) { s.out.Store(out) }

// End sets that the port has ended.
func (s *State) End() { s.ended.Store(true) }

// Version is twice the number of changes so far, plus one during a change.
func (s *State) Version() uint64 { return s.version.Load() }

// Out is what SetOut has set last.
func (s *State) Out() bool { return s.out.Load() }

// Ended reports whether the port has ended.
func (s *State) Ended() bool { return s.ended.Load() }

// Read calls copy, which is to copy bytes of the page, and returns the version that they are of; false means that they changed meanwhile.
func (s *State) Read(copy func()) (version uint64, ok bool) {
	version = s.version.Load()
	if version&1 != 0 {
		return version, false
	}
	copy()
	var fence atomic.Uint32
	fence.Add(1) // what was copied was read before the version is read again
	return version, s.version.Load() == version
}
