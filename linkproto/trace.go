package linkproto

import "fmt"

// TraceReg is the number of a register of the trace buffer.
type TraceReg uint8

// The registers of the trace buffer.
const (
	TraceControl TraceReg = iota
	TraceMask
	TraceTrigger
	TracePorts
	TracePost
	TraceDepth
	TraceCount
	TraceMark
	TraceLost
	TraceNow
)

// Reg returns the register's number.
func (r TraceReg) Reg() Reg { return RegTrace + Reg(r) }

// TraceRingReg returns the register with a word (0 or 1) of the record at a place of the ring.
func TraceRingReg(place, word int) Reg { return RegTraceRing + Reg(2*place+word) }

// MaxTraceDepth is the most records that a ring has.
const MaxTraceDepth = 8192

// TraceRegs lists the registers of the trace buffer in order of their number. Not to be modified.
var TraceRegs = [...]SubReg{
	{"CONTROL", "rw", "see the table of fields; 0 after reset"},
	{"MASK", "rw", "events that are recorded, a bit each"},
	{"TRIGGER", "rw", "events that trigger, if they are recorded"},
	{"PORTS", "rw", "see the table of fields"},
	{"POST", "rw", "records written after the trigger's, up to 65535; then recording stops"},
	{"DEPTH", "ro", "records that the ring holds"},
	{"COUNT", "ro", "records written since RUN; record n is at place n modulo DEPTH"},
	{"MARK", "ro", "number of the record that triggered, or COUNT as it was when the host did; 0 before"},
	{"LOST", "ro", "clocks of a port whose events were lost for want of time to write them"},
	{"NOW", "ro", "the clock, counted since reset, modulo 2^32"},
}

// Fields of the trace buffer's registers and of the second word of a record.
var (
	TraceRun          = Bits{"RUN", 0, 1, "written 1: recording begins anew; 0: it stops. Reads whether it goes on"}
	TraceTriggered    = Bits{"TRIGGER", 1, 1, "written 1 while recording: triggers. Reads whether something has"}
	TracePortsRecord  = Bits{"RECORD", 0, 8, "ports whose events are recorded, bit 0 the host port"}
	TracePortsTrigger = Bits{"TRIGGER", 8, 8, "ports whose events trigger"}
	TraceWordEvents   = Bits{"EVENTS", 0, 28, "what happened at the port in that clock, a bit for each event"}
	TraceWordLost     = Bits{"LOST", 28, 1, "events of this port were lost since its last record"}
	TraceWordPort     = Bits{"PORT", 29, 3, "the port, 0 the host's"}
)

// TraceControlFields, TracePortsFields and TraceWordFields list the fields of CONTROL, PORTS and a record's second word. Not to be modified.
var (
	TraceControlFields = [...]Bits{TraceRun, TraceTriggered}
	TracePortsFields   = [...]Bits{TracePortsRecord, TracePortsTrigger}
	TraceWordFields    = [...]Bits{TraceWordEvents, TraceWordLost, TraceWordPort}
)

// TraceEvent is the number of an event, and of its bit in a record. The first NumCounters are what the counter of that number counts.
type TraceEvent uint8

// The events that are no counter's.
const (
	EvUp TraceEvent = NumCounters + iota
	EvPeerStop
	EvPeerGo
	EvGo
	EvMissing
	EvFound
	EvTrapped
	EvResumed
	EvInjected
	EvZero
	NumTraceEvents = iota + NumCounters
)

// TraceEventInfo is a row of TraceEvents.
type TraceEventInfo struct {
	Event TraceEvent
	Name  string // as in Verilog, in capitals: LP_EV_<Name>
	Doc   string
}

// TraceEvents lists the events that are no counter's in order of their number. Not to be modified.
var TraceEvents = [...]TraceEventInfo{
	{EvUp, "up", "the link came up; it leaves UP with restarts"},
	{EvPeerStop, "peer_stop", "the peer said STOP"},
	{EvPeerGo, "peer_go", "the peer said GO"},
	{EvGo, "go", "this end says GO again; STOP is stops"},
	{EvMissing, "missing", "a frame is missing: this end says LOST from here on"},
	{EvFound, "found", "the missing frame has come, or the link has started again"},
	{EvTrapped, "trapped", "a TRAP was sent: the link's packets wait"},
	{EvResumed, "resumed", "RESUME was carried out"},
	{EvInjected, "injected", "the error injector hit a symbol"},
	{EvZero, "zero", "the clock has passed zero; at the host port, recorded whatever MASK and PORTS say, up to some clocks late"},
}

// String returns the event's name in the tables.
func (e TraceEvent) String() string {
	switch {
	case e < NumCounters:
		return Counter(e).String()
	case e < NumTraceEvents:
		return TraceEvents[e-NumCounters].Name
	}
	return fmt.Sprintf("event(%d)", uint8(e))
}

// Bit returns a mask with the event's bit.
func (e TraceEvent) Bit() uint32 { return 1 << e }
