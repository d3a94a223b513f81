package linkproto

import "encoding/binary"

// ContextReg is the number of one of the registers that an interface has for a context of messages which it carries out.
type ContextReg uint8

// The registers of a context.
const (
	ContextRegRegion ContextReg = iota
	ContextRegStatus
	ContextRegSendTail
	ContextRegReceiveTail
	ContextRegSendHead
	ContextRegReceiveHead
	ContextRegCompletions
	NumContextRegs = iota
)

// Sizes of the contexts of an interface.
const (
	ContextStride  = 8 // registers from one context's to the next one's
	MaxContextBits = 8 // logarithm to base 2 of the most contexts that an interface carries out
)

// ContextRegs lists the registers of a context in order of their number. Not to be modified.
var ContextRegs = [NumContextRegs]SubReg{
	{"REGION", "rw", "the frames of the receive buffer that it has, and the size of its rings; a write while it is enabled changes nothing; see the table of fields"},
	{"STATUS", "rw", "its status; a write with ENABLED set begins with all counts 0, one with ENABLED clear ends; see the table of fields"},
	{"SEND_TAIL", "rw", "sends that the host has posted, modulo 2^16; written while it is enabled only"},
	{"RECEIVE_TAIL", "rw", "receives that the host has posted, modulo 2^16; written while it is enabled only"},
	{"SEND_HEAD", "ro", "sends that the interface has taken, modulo 2^16"},
	{"RECEIVE_HEAD", "ro", "receives that the interface has taken, modulo 2^16"},
	{"COMPLETIONS", "ro", "descriptors that it has completed, modulo 2^16"},
}

// Reg returns the register of a context.
func (r ContextReg) Reg(context int) Reg { return RegContext + ContextStride*Reg(context) + Reg(r) }

// Fields of the registers of a context.
var (
	ContextFirst   = Bits{"FIRST", 0, 8, "first frame of its region"}
	ContextLast    = Bits{"LAST", 8, 8, "last frame of its region"}
	ContextSize    = Bits{"SIZE", 16, 4, "logarithm to base 2 of the entries of its rings of sends and of receives"}
	ContextEnabled = Bits{"ENABLED", 0, 1, "it takes descriptors"}
	ContextFault   = Bits{"FAULT", 4, 4, "why it does not, if it has ended by itself; see the table of faults"}
)

// ContextRegionFields and ContextStatusFields list the fields of those registers. Not to be modified.
var (
	ContextRegionFields = [...]Bits{ContextFirst, ContextLast, ContextSize}
	ContextStatusFields = [...]Bits{ContextEnabled, ContextFault}
)

// contextFields lists the fields of a register of a context, by its number in the block.
func (r Reg) contextFields() []Bits {
	switch ContextReg(r % ContextStride) {
	case ContextRegRegion:
		return ContextRegionFields[:]
	case ContextRegStatus:
		return ContextStatusFields[:]
	}
	return nil
}

// NamedDoc is a row of a table whose rows are numbered from 0 on.
type NamedDoc struct{ Name, Doc string }

// Faults of a context.
const (
	FaultNone = iota
	FaultRegion
	FaultTail
)

// ContextFaults lists why a context has ended by itself. Not to be modified.
var ContextFaults = [...]NamedDoc{
	{"NONE", "it has not"},
	{"REGION", "LAST is before FIRST or is no frame, SIZE is too large, or the rings do not fit the region: it has not begun"},
	{"TAIL", "a tail was written that is behind the one before, or further before its head than the ring has entries"},
}

// Rings of a context: of sends, of receives, and of completions, which is twice as long as the others.
const (
	RingEntry       = 16 // bytes
	MaxRingSize     = 12 // highest SIZE
	RingReceives    = 1  // rings of sends before that of receives
	RingCompletions = 2  // and before that of completions
)

// RingsOf is how many bytes the rings take at the beginning of a region, if that of sends has so many entries.
func RingsOf(entries int) int { return (RingCompletions + 2) * RingEntry * entries }

// CompletionStatus says how a descriptor was completed.
type CompletionStatus uint8

// Statuses of completions. CompletionReceiveBit is set in that of a receive besides.
const (
	CompletionOK CompletionStatus = iota
	CompletionBadDescriptor
	CompletionBadLink
	CompletionClosed
	CompletionTooLong
	CompletionBroken

	CompletionReceiveBit = 7
)

// CompletionStatuses lists the statuses of completions. Not to be modified.
var CompletionStatuses = [...]NamedDoc{
	{"OK", "the message has been acknowledged, or has come"},
	{"BAD_DESCRIPTOR", "the bytes are not in the region behind the rings, or their address is no multiple of 4"},
	{"BAD_LINK", "of a send: the virtual link is not the context's, or not open"},
	{"CLOSED", "of a send: the virtual link has closed before all of the message was acknowledged"},
	{"TOO_LONG", "of a receive: the message is longer than the descriptor, and is dropped"},
	{"BROKEN", "of a receive: a MESSAGE broke the rules, or the virtual link has closed in the middle of the message"},
}

// Posted is a descriptor as it stands in a ring. Of a receive Tag and VL are 0.
type Posted struct {
	Addr, Length, Tag uint32
	VL, Cookie        uint16
}

// Append appends the 16 bytes.
func (d Posted) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, d.Addr)
	dst = binary.LittleEndian.AppendUint32(dst, d.Length)
	dst = binary.LittleEndian.AppendUint32(dst, d.Tag)
	dst = binary.LittleEndian.AppendUint16(dst, d.VL)
	return binary.LittleEndian.AppendUint16(dst, d.Cookie)
}

// DecodePosted takes an entry of 16 bytes apart.
func DecodePosted(b []byte) Posted {
	_ = b[RingEntry-1]
	return Posted{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]),
		binary.LittleEndian.Uint16(b[12:]), binary.LittleEndian.Uint16(b[14:])}
}

// Completion is a completion as it stands in a ring.
type Completion struct {
	Length, Tag uint32 // of the message
	VL, Cookie  uint16
	Receive     bool
	Status      CompletionStatus
}

// Append appends the 16 bytes.
func (c Completion) Append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, c.Length)
	dst = binary.LittleEndian.AppendUint32(dst, c.Tag)
	dst = binary.LittleEndian.AppendUint16(dst, c.VL)
	dst = binary.LittleEndian.AppendUint16(dst, c.Cookie)
	status := byte(c.Status)
	if c.Receive {
		status |= 1 << CompletionReceiveBit
	}
	return append(dst, status, 0, 0, 0)
}

// DecodeCompletion takes an entry of 16 bytes apart; ok is false if it says what cannot be.
func DecodeCompletion(b []byte) (c Completion, ok bool) {
	_ = b[RingEntry-1]
	c = Completion{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint16(b[8:]), binary.LittleEndian.Uint16(b[10:]),
		b[12]>>CompletionReceiveBit != 0, CompletionStatus(b[12] &^ (1 << CompletionReceiveBit))}
	return c, int(c.Status) < len(CompletionStatuses) && b[13]|b[14]|b[15] == 0
}
