package linkproto

// Reg is a register number. Registers are 32 bits wide.
type Reg uint16

// Register numbers. From RegLinkStatus on each is the first of a block; see LinkStatusReg, PeerReg, TraceReg.Reg, InjectReg.Reg,
// CounterReg, RouterCounter.Reg, PortStatusReg, PortPeerReg, FrameReg, PortCounterReg, TraceRingReg, RouteReg, ContextReg.Reg, VLReg.Reg, BarrierReg.Reg and
// GroupReg.
const (
	RegMagic       Reg = 0x000
	RegVersion     Reg = 0x001
	RegHashLo      Reg = 0x002
	RegHashHi      Reg = 0x003
	RegLinks       Reg = 0x004
	RegFrames      Reg = 0x005
	RegPageBytes   Reg = 0x006
	RegReplayBytes Reg = 0x007
	RegRxBytes     Reg = 0x008
	RegWindow      Reg = 0x009
	RegFeatures    Reg = 0x00A
	RegVLNumbers   Reg = 0x00B
	RegVLSlots     Reg = 0x00C
	RegVLWindow    Reg = 0x00D
	RegContexts    Reg = 0x00E
	RegScratch     Reg = 0x010
	RegControl     Reg = 0x011
	RegNodeID      Reg = 0x012
	RegNonce       Reg = 0x013
	RegLinkStatus  Reg = 0x020
	RegPeer        Reg = 0x028
	RegTrace       Reg = 0x040
	RegInject      Reg = 0x080
	RegCounters    Reg = 0x100

	RegRouterCounters Reg = 0x200
	RegPortStatus     Reg = 0x300
	RegPortPeer       Reg = 0x320
	RegFrameTable     Reg = 0x400
	RegPortCounters   Reg = 0x600
	RegTraceRing      Reg = 0x1000
	RegRouteTable     Reg = 0x8000
	RegContext        Reg = 0x9000
	RegVL             Reg = 0xA000
	RegBarrier        Reg = 0xE000
	RegGroupTable     Reg = 0xF000
)

// Links a network interface can have: link 0 is its host port, 1..7 are STAFF-Links.
const MaxLinks = 8

// CounterStride and InjectStride are the numbers of registers from one link's counters, or error injector, to the next link's.
const (
	CounterStride = 16
	InjectStride  = 16
)

// LinkStatusReg returns the register with the status of a link (0 is the host port).
func LinkStatusReg(link int) Reg { return RegLinkStatus + Reg(link) }

// PeerReg returns the register that says who is at the other end of a link (0 is the host port).
func PeerReg(link int) Reg { return RegPeer + Reg(link) }

// CounterReg returns the register with counter c of a link (0 is the host port).
func CounterReg(link int, c Counter) Reg { return RegCounters + CounterStride*Reg(link) + Reg(c) }

// FrameReg returns the register with the frame table's entry for a frame of the receive buffer.
func FrameReg(frame int) Reg { return RegFrameTable + Reg(frame) }

// RegInfo is a row of Registers.
type RegInfo struct {
	Reg    Reg
	Name   string // as in Verilog: LP_REG_<Name>
	Index  string // for a block: what is added to Reg
	Access string // "ro", "rw" or "wo"; "" where the registers of a block differ
	Doc    string
}

// Registers lists the registers in order of their number. Not to be modified.
var Registers = [...]RegInfo{
	{RegMagic, "MAGIC", "", "ro", "the bytes LMMC, little endian"},
	{RegVersion, "VERSION", "", "ro", "protocol version"},
	{RegHashLo, "HASH_LO", "", "ro", "hash of the RTL sources and parameters, bits 31:0"},
	{RegHashHi, "HASH_HI", "", "ro", "hash of the RTL sources and parameters, bits 63:32"},
	{RegLinks, "LINKS", "", "ro", "number of links, without the host port"},
	{RegFrames, "FRAMES", "", "ro", "link page frames in the receive buffer"},
	{RegPageBytes, "PAGE_BYTES", "", "ro", "bytes of a frame of the receive buffer"},
	{RegReplayBytes, "REPLAY_BYTES", "", "ro", "bytes of each link's replay buffer"},
	{RegRxBytes, "RX_BYTES", "", "ro", "bytes of each link's receive FIFO"},
	{RegWindow, "WINDOW", "", "ro", "packets that each link keeps until they are acknowledged"},
	{RegFeatures, "FEATURES", "", "ro", "see the table of features"},
	{RegVLNumbers, "VL_NUMBERS", "", "ro", "the virtual links that the interface carries out have numbers below this, from 1 on"},
	{RegVLSlots, "VL_SLOTS", "", "ro", "packets that all of them together hold for sending"},
	{RegVLWindow, "VL_WINDOW", "", "ro", "packets that one of them holds for sending, and MESSAGEs of one that the host has, at most"},
	{RegContexts, "CONTEXTS", "", "ro", "the contexts of messages that the interface carries out have numbers below this, from 1 on"},
	{RegScratch, "SCRATCH", "", "rw", "any value, for tests of the host port"},
	{RegControl, "CONTROL", "", "rw", "see the table of control fields; 0 after reset"},
	{RegNodeID, "NODE_ID", "", "rw", "number of this node, in its lower 16 bits, which the ends of its links tell when they start; 0 after reset"},
	{RegNonce, "NONCE", "", "rw", "random number of this life of the node; 0 after reset: until another is written all links stay down; a write starts those that are up again"},
	{RegLinkStatus, "LINK_STATUS", "link", "rw", "status of a link; see the table of status fields; a write with LOST set clears LOST, and nothing else"},
	{RegPeer, "PEER", "link", "ro", "who is at the other end of a link; see the table of peer fields"},
	{RegTrace, "TRACE", "trace register", "", "the trace buffer; see the table of its registers"},
	{RegInject, "INJECT", "16*link + inject register", "", "the error injector of a link; see the table of its registers"},
	{RegCounters, "COUNTERS", "16*link + counter", "ro", "a counter of a link; see the table of counters"},
	{RegRouterCounters, "ROUTER_COUNTERS", "4*port + router counter", "ro", "packets that the router has dropped; see the table of its counters"},
	{RegPortStatus, "PORT_STATUS", "port", "ro", "status of a router's port, fields as of LINK_STATUS; of port 0, which is the node itself, UP"},
	{RegPortPeer, "PORT_PEER", "port", "ro", "who is at the other end of a router's port, fields as of PEER; of port 0 nobody"},
	{RegFrameTable, "FRAME_TABLE", "frame", "rw", "who may write a frame; see the table of entry fields"},
	{RegPortCounters, "PORT_COUNTERS", "16*port + counter", "ro", "a counter of a router's port; see the table of counters"},
	{RegTraceRing, "TRACE_RING", "2*place + word", "ro", "the records of the trace buffer, two words each"},
	{RegRouteTable, "ROUTE_TABLE", "node", "rw", "by which port packets for a node leave the router; see the table of route fields; 0 after reset"},
	{RegContext, "CONTEXT", "8*number + context register", "", "a context of messages; see the table of its registers"},
	{RegVL, "VL", "8*number + VL register", "", "a virtual link; see the table of its registers"},
	{RegBarrier, "BARRIER", "4*group + barrier register", "", "a barrier group; see the table of its registers"},
	{RegGroupTable, "GROUP_TABLE", "group", "rw", "by which ports packets for a multicast group leave the router, a bit each, bit 0 the node itself; 0 after reset"},
}

// Bits is a bit field of a register or a packet byte.
type Bits struct {
	Name string
	Lo   int
	Bits int
	Doc  string
}

// Of extracts the field from a register value.
func (b Bits) Of(v uint32) uint32 { return v >> b.Lo & (1<<b.Bits - 1) }

// In returns a register value with the field set to v and all else zero.
func (b Bits) In(v uint32) uint32 { return v & (1<<b.Bits - 1) << b.Lo }

// Fields of a link status register.
var (
	StatusUp       = Bits{"UP", 0, 1, "the link is up"}
	StatusPeerStop = Bits{"PEER_STOP", 1, 1, "the peer says STOP"}
	StatusOwnStop  = Bits{"OWN_STOP", 2, 1, "this end says STOP"}
	StatusTrapped  = Bits{"TRAPPED", 3, 1, "the link's packets wait for RESUME"}
	StatusMissing  = Bits{"MISSING", 4, 1, "a frame is missing: this end says LOST"}
	StatusQueued   = Bits{"QUEUED", 5, 1, "the link's transmit queue is not empty; 0 for the host port"}
	StatusLost     = Bits{"LOST", 6, 1, "packets of the host have been dropped; until this is cleared all others are refused; 0 for the host port"}
	StatusForeign  = Bits{"FOREIGN", 7, 1, "of a link of several lanes: one is cabled to another end than the others"}
	StatusEpoch    = Bits{"EPOCH", 8, 8, "this end's epoch"}
	StatusLanes    = Bits{"LANES", 16, 8, "of a link of several lanes: those over which frames go, a bit each; 0 for a link with one"}
	StatusFreed    = Bits{"FREED", 24, 8, "packets freed since reset, modulo 2^8, as in SPACE; 0 for the host port"}
)

// Fields of a register that says who the peer is.
var (
	PeerNode    = Bits{"NODE", 0, 16, "the peer's node id; 0 if unknown"}
	PeerRefused = Bits{"REFUSED", 30, 1, "the peer takes no packets as long as those of this interface, or has other lanes: the link stays down"}
	PeerKnown   = Bits{"KNOWN", 31, 1, "the peer has said who it is"}
)

// Fields of a frame table entry.
var (
	FrameLink  = Bits{"LINK", 0, 3, "link that may write the frame, if VL is 0"}
	FrameVL    = Bits{"VL", 8, 16, "virtual link that may write the frame, one that the interface carries out; 0: none"}
	FrameValid = Bits{"VALID", 31, 1, "the frame may be written"}
)

// Fields of the CONTROL register.
var (
	ControlNotify  = Bits{"NOTIFY", 0, 1, "remote writes are reported by NOTIFY"}
	ControlGateway = Bits{"GATEWAY", 1, 1, "the host gets ROUTEs for other nodes too; always 0 without ROUTES, and with ROUTER"}
)

// SubReg is a row of the registers of a block.
type SubReg struct {
	Name   string
	Access string // "ro", "rw" or "wo"
	Doc    string
}

// Features of an interface, bits of the FEATURES register.
var (
	FeaturePaging   = Bits{"PAGING", 0, 1, "remote paging"}
	FeatureNotify   = Bits{"NOTIFY", 1, 1, "NOTIFY packets"}
	FeatureTrace    = Bits{"TRACE", 2, 1, "trace buffer"}
	FeatureInjector = Bits{"INJECTOR", 3, 1, "fault injector"}
	FeatureRoutes   = Bits{"ROUTES", 4, 1, "takes ROUTE packets"}
	FeatureRouter   = Bits{"ROUTER", 5, 1, "has a router, with the registers of one"}
	FeatureVirtual  = Bits{"VIRTUAL", 6, 1, "carries out virtual links"}
	FeatureBarriers = Bits{"BARRIERS", 7, 1, "carries out barriers"}
	FeatureMessages = Bits{"MESSAGES", 8, 1, "carries out contexts of messages"}
)

// StatusFields, PeerFields, FrameFields, ControlFields and Features list the fields of the registers of that name. Not to be modified.
var (
	StatusFields = [...]Bits{StatusUp, StatusPeerStop, StatusOwnStop, StatusTrapped, StatusMissing, StatusQueued, StatusLost,
		StatusForeign, StatusEpoch, StatusLanes, StatusFreed}
	PeerFields    = [...]Bits{PeerNode, PeerRefused, PeerKnown}
	FrameFields   = [...]Bits{FrameLink, FrameVL, FrameValid}
	ControlFields = [...]Bits{ControlNotify, ControlGateway}
	Features      = [...]Bits{FeaturePaging, FeatureNotify, FeatureTrace, FeatureInjector, FeatureRoutes, FeatureRouter, FeatureVirtual, FeatureBarriers, FeatureMessages}
)
