package linkproto

// Sizes of barriers.
const (
	BarrierGroups       = 32 // groups that a router has
	BarrierBits         = 4  // of a phase, and of a generation
	BarrierStride       = 4  // registers from one group's to the next one's
	DefaultBarrierAgain = 512
)

// BarrierReg is the number of one of the registers that a router has for a barrier group.
type BarrierReg uint8

// The registers of a barrier group.
const (
	BarrierRegMembers BarrierReg = iota
	BarrierRegPhase
	BarrierRegEntered
	NumBarrierRegs = iota
)

// BarrierRegs lists the registers of a barrier group in order of their number. Not to be modified.
var BarrierRegs = [NumBarrierRegs]SubReg{
	{"MEMBERS", "rw", "the group's ports and generation; a write begins at phase 0 if the group has no ports, and ends the group if it has none and the group's generation; any other changes nothing; see the table of fields"},
	{"PHASE", "rw", "the phase that all members have entered, and the generation; written: the node itself enters a phase; see the table of fields"},
	{"ENTERED", "ro", "ports by which the next phase has been said, a bit each, bit 0 the node itself"},
}

// Reg returns the register of a barrier group.
func (r BarrierReg) Reg(group int) Reg { return RegBarrier + BarrierStride*Reg(group) + Reg(r) }

// Fields of the registers of a barrier group. BarrierPhase and BarrierValueGeneration are those of the second byte of a BARRIER word, too.
var (
	BarrierPorts           = Bits{"PORTS", 0, 17, "ports that lead to members, a bit each, bit 0 the node itself; none: there is no such group here"}
	BarrierGeneration      = Bits{"GENERATION", 28, 4, "which group of that number it is"}
	BarrierPhase           = Bits{"PHASE", 0, 4, "phase, modulo 2^4"}
	BarrierValueGeneration = Bits{"GENERATION", 4, 4, "as in MEMBERS"}
)

// BarrierMembersFields and BarrierPhaseFields list the fields of those registers. Not to be modified.
var (
	BarrierMembersFields = [...]Bits{BarrierPorts, BarrierGeneration}
	BarrierPhaseFields   = [...]Bits{BarrierPhase, BarrierValueGeneration}
)

// BarrierValue is what a BARRIER word says of a group, and its register PHASE.
func BarrierValue(generation, phase uint8) uint8 {
	return uint8(BarrierValueGeneration.In(uint32(generation)) | BarrierPhase.In(uint32(phase)))
}

// barrierFields lists the fields of a register of a barrier group, by its number in the block.
func (r Reg) barrierFields() []Bits {
	switch BarrierReg(r % BarrierStride) {
	case BarrierRegMembers:
		return BarrierMembersFields[:]
	case BarrierRegPhase:
		return BarrierPhaseFields[:]
	}
	return nil
}
