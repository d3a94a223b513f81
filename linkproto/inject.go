package linkproto

// InjectReg is the number of a register of a link's error injector.
type InjectReg uint8

// The registers of an error injector.
const (
	InjectControl InjectReg = iota
	InjectSeedLo
	InjectSeedHi
	InjectCount
	InjectFlip
	InjectDrop
	InjectDuplicate
	InjectBurst
	InjectStuck
	InjectUnplug
	InjectLengths
	InjectOpen
	InjectSymbols
	InjectHits
)

// Reg returns the register of the injector of a link (0 is the host port).
func (r InjectReg) Reg(link int) Reg { return RegInject + InjectStride*Reg(link) + Reg(r) }

// InjectRegs lists the registers of an injector in order of their number. Not to be modified.
var InjectRegs = [...]SubReg{
	{"CONTROL", "rw", "see the table of fields; 0 after reset"},
	{"SEED_LO", "wo", "the number of the first symbol, bits 31:0; odd"},
	{"SEED_HI", "wo", "the number of the first symbol, bits 63:32"},
	{"COUNT", "wo", "symbols that the plan is for; 0: until it is told to stop"},
	{"FLIP", "wo", "chance of one inverted bit, in 2^-31 a symbol"},
	{"DROP", "wo", "chance that IDLE takes a symbol's place, in 2^-32"},
	{"DUPLICATE", "wo", "chance that a symbol goes out twice, in 2^-32"},
	{"BURST", "wo", "chance that a burst begins, in 2^-32"},
	{"STUCK", "wo", "chance that the symbol is stuck from here on, in 2^-32"},
	{"UNPLUG", "wo", "chance that the cable is out from here on, in 2^-32"},
	{"LENGTHS", "wo", "how long these last; see the table of fields"},
	{"OPEN", "wo", "the symbol that goes out while the cable is out"},
	{"SYMBOLS", "ro", "symbols since the plan began"},
	{"HITS", "ro", "symbols of them that were hit"},
}

// Fields of an injector's registers.
var (
	InjectRun          = Bits{"RUN", 0, 1, "written 1: the plan begins, at symbol 0; 0: it ends. Reads whether it goes on"}
	InjectCut          = Bits{"CUT", 1, 1, "OPEN goes out in place of every symbol"}
	InjectBurstLength  = Bits{"BURST", 0, 4, "a burst lasts up to 2^BURST symbols"}
	InjectStuckLength  = Bits{"STUCK", 8, 4, "a stuck symbol up to 2^STUCK"}
	InjectUnplugLength = Bits{"UNPLUG", 16, 4, "an unplugged cable up to 2^UNPLUG"}
)

// InjectControlFields and InjectLengthFields list the fields of the registers CONTROL and LENGTHS. Not to be modified.
var (
	InjectControlFields = [...]Bits{InjectRun, InjectCut}
	InjectLengthFields  = [...]Bits{InjectBurstLength, InjectStuckLength, InjectUnplugLength}
)
