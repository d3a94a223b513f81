package linkproto

// VLReg is the number of one of the registers that an interface has for a virtual link which it carries out.
type VLReg uint8

// The registers of a virtual link.
const (
	VLRegPeer VLReg = iota
	VLRegNumber
	VLRegKey
	VLRegStatus
	VLRegExpect
	VLRegCounts
	VLRegContext
	NumVLRegs = iota
)

// Sizes of the virtual links of an interface.
const (
	VLStride  = 8  // registers from one virtual link's to the next one's
	MaxVLBits = 11 // logarithm to base 2 of the most numbers of virtual links that an interface carries out
)

// VLRegs lists the registers of a virtual link in order of their number. Not to be modified.
var VLRegs = [NumVLRegs]SubReg{
	{"PEER", "rw", "the other end's node, and the class of what goes to it; see the table of fields"},
	{"NUMBER", "rw", "the other end's number of the virtual link"},
	{"KEY", "rw", "key of what goes to the other end; its halves swapped it is that of what comes"},
	{"STATUS", "rw", "its status; a write with OPEN set opens it, one with OPEN clear closes it; see the table of fields"},
	{"EXPECT", "ro", "number of the packet expected next: how many have been taken since it was opened"},
	{"COUNTS", "ro", "what has happened since it was opened; see the table of fields"},
	{"CONTEXT", "rw", "the context, below CONTEXTS, that its MESSAGEs belong to; 0: they come to the host. Without the feature MESSAGES it cannot be written"},
}

// Reg returns the register of a virtual link, by its number at the interface.
func (r VLReg) Reg(vl int) Reg { return RegVL + VLStride*Reg(vl) + Reg(r) }

// Fields of the registers of a virtual link.
var (
	VLPeerNode      = Bits{"NODE", 0, 16, "number of the other end's node"}
	VLPeerClass     = Bits{"CLASS", 16, 2, "class of the ROUTEs sent"}
	VLOpen          = Bits{"OPEN", 7, 1, "it takes what comes; written 1: opened, 0: closed"}
	VLUp            = Bits{"UP", 0, 1, "open, and it sends packets: a ROUTE with the right key has come, or the host has written 1"}
	VLLost          = Bits{"LOST", 6, 1, "it has closed by itself, and the host has neither opened nor closed it since"}
	VLCountsReplays = Bits{"REPLAYS", 0, 16, "times it went back, for a LOST or for RETRY; stops at its highest value"}
	VLCountsDropped = Bits{"DROPPED", 16, 16, "ROUTEs that came for it while it was UP and were dropped, whole or their packet or acknowledgement only; stops at its highest value"}
)

// VLPeerFields, VLStatusFields and VLCountsFields list the fields of those registers. Not to be modified.
var (
	VLPeerFields   = [...]Bits{VLPeerNode, VLPeerClass}
	VLStatusFields = [...]Bits{VLUp, StatusPeerStop, StatusOwnStop, StatusTrapped, StatusMissing, StatusQueued, VLLost, VLOpen, StatusFreed}
	VLCountsFields = [...]Bits{VLCountsReplays, VLCountsDropped}
)
