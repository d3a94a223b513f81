package linkproto

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// TraceRecord is a record as the ring of a trace buffer holds it.
type TraceRecord struct {
	Time   uint32 // clock, modulo 2^32
	Port   uint8  // 0 is the host port
	Lost   bool   // events of this port were lost since its last record
	Events uint32 // a bit for each TraceEvent
}

// DecodeTraceRecord takes a record's two words apart.
func DecodeTraceRecord(words [2]uint32) TraceRecord {
	return TraceRecord{Time: words[0], Port: uint8(TraceWordPort.Of(words[1])), Lost: TraceWordLost.Of(words[1]) != 0, Events: TraceWordEvents.Of(words[1])}
}

// Words is the record as the ring holds it.
func (r TraceRecord) Words() [2]uint32 {
	w := TraceWordPort.In(uint32(r.Port)) | TraceWordEvents.In(r.Events)
	if r.Lost {
		w |= TraceWordLost.In(1)
	}
	return [2]uint32{r.Time, w}
}

// TraceSetup selects what to record.
type TraceSetup struct {
	Events       []TraceEvent // to be recorded; nil: all
	Ports        []int        // whose events are; nil: all
	Trigger      []TraceEvent // that trigger; nil: none does, and recording goes on until it is stopped
	TriggerPorts []int        // whose events trigger; nil: all
	Post         uint16       // records after the trigger's
}

// Start programs the trace buffer and lets it record; write writes a register.
func (s TraceSetup) Start(write func(Reg, uint32) error) error {
	for _, p := range slices.Concat(s.Ports, s.TriggerPorts) {
		if p < 0 || p >= TracePortsRecord.Bits {
			return fmt.Errorf("the trace buffer knows ports 0 to %d, not %d", TracePortsRecord.Bits-1, p)
		}
	}
	mask := func(events []TraceEvent) (m uint32) {
		for _, e := range events {
			m |= e.Bit()
		}
		return m
	}
	ports := func(list []int) uint32 {
		if list == nil {
			return 0xFF
		}
		m := uint32(0)
		for _, p := range list {
			m |= 1 << p
		}
		return m
	}
	record := mask(s.Events)
	if s.Events == nil {
		record = 1<<NumTraceEvents - 1
	}
	return errors.Join(
		write(TraceMask.Reg(), record),
		write(TraceTrigger.Reg(), mask(s.Trigger)),
		write(TracePorts.Reg(), TracePortsRecord.In(ports(s.Ports))|TracePortsTrigger.In(ports(s.TriggerPorts))),
		write(TracePost.Reg(), uint32(s.Post)),
		write(TraceControl.Reg(), TraceRun.In(1)))
}

// Trace is what a trace buffer has recorded.
type Trace struct {
	Entries   []TraceEntry `json:"entries"` // ordered by time
	Triggered bool         `json:"triggered"`
	Written   uint32       `json:"written"` // records since recording began; those in excess of Entries have been overwritten
	Lost      uint32       `json:"lost"`    // clocks of a port whose events were lost
}

// TraceEntry is what happened at a port in a clock.
type TraceEntry struct {
	Time    uint64       `json:"time"` // clocks since reset; counted from the last multiple of 2^32 before the first entry
	Port    int          `json:"port"` // 0 is the host port
	Events  []TraceEvent `json:"events"`
	Lost    bool         `json:"lost,omitempty"`    // events of this port were lost since its last entry
	Trigger bool         `json:"trigger,omitempty"` // it triggered, or came first after the host did
}

// Record is the entry as the ring holds it.
func (e TraceEntry) Record() TraceRecord {
	r := TraceRecord{Time: uint32(e.Time), Port: uint8(e.Port), Lost: e.Lost}
	for _, event := range e.Events {
		r.Events |= event.Bit()
	}
	return r
}

// Errors of ReadTrace.
var (
	ErrNoTrace   = errors.New("the network interface has no trace buffer: it must be built with TRACE set to a number of records")
	ErrRecording = errors.New("the trace buffer is still recording: write 0 to its CONTROL first")
)

// ReadTrace reads what the trace buffer of a network interface holds; read reads a register. It returns ErrNoTrace, ErrRecording or
// an error of read.
func ReadTrace(read func(Reg) (uint32, error)) (Trace, error) {
	var failed error
	get := func(r Reg) uint32 {
		if failed != nil {
			return 0
		}
		v, err := read(r)
		failed = err
		return v
	}
	features := get(RegFeatures)
	if failed == nil && FeatureTrace.Of(features) == 0 {
		return Trace{}, ErrNoTrace
	}
	control := get(TraceControl.Reg())
	if failed == nil && TraceRun.Of(control) != 0 {
		return Trace{}, ErrRecording
	}
	depth, count, mark := get(TraceDepth.Reg()), get(TraceCount.Reg()), get(TraceMark.Reg())
	t := Trace{Triggered: TraceTriggered.Of(control) != 0, Written: count, Lost: get(TraceLost.Reg())}
	if failed == nil && (depth == 0 || depth > MaxTraceDepth) {
		return t, fmt.Errorf("the trace buffer claims %d records, there are 1 to %d", depth, MaxTraceDepth)
	}
	var records []TraceRecord
	trigger := -1
	for n := count - min(count, depth); n != count && failed == nil; n++ {
		if t.Triggered && n == mark {
			trigger = len(records)
		}
		place := int(n % depth)
		records = append(records, DecodeTraceRecord([2]uint32{get(TraceRingReg(place, 0)), get(TraceRingReg(place, 1))}))
	}
	t.Entries = timeline(records, trigger)
	return t, failed
}

// disorder is how many clocks a record may be older than the one before it in the ring.
const disorder = 16

// timeline gives records in the order of the ring their times in full, and sorts them.
func timeline(records []TraceRecord, trigger int) []TraceEntry {
	const cycle = 1 << 32
	entries := make([]TraceEntry, 0, len(records))
	now, before := uint64(cycle), true // a cycle ahead, as the second may be older than the first
	for i, r := range records {
		passed := r.Time - uint32(now)
		now += uint64(passed)
		if i > 0 && passed > cycle-1-disorder {
			now -= cycle
		}
		before = before && now >= cycle
		e := TraceEntry{Time: now, Port: int(r.Port), Lost: r.Lost, Trigger: i == trigger}
		for bit := range TraceEvent(TraceWordEvents.Bits) {
			if r.Events&bit.Bit() != 0 {
				e.Events = append(e.Events, bit)
			}
		}
		entries = append(entries, e)
	}
	for i := range entries {
		if before {
			entries[i].Time -= cycle
		}
	}
	slices.SortStableFunc(entries, func(a, b TraceEntry) int {
		return cmp.Or(cmp.Compare(a.Time, b.Time), cmp.Compare(a.Port, b.Port))
	})
	return entries
}

// Format writes the trace as a table: clocks counted from the trigger, or from the first entry if there is none.
func (t Trace) Format(w io.Writer) error {
	zero := uint64(0)
	for i, e := range t.Entries {
		if i == 0 || e.Trigger {
			zero = e.Time
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "%10s  %-6s  %s\n", "clock", "port", "what happened")
	for _, e := range t.Entries {
		port, names := "host", []string{}
		if e.Port > 0 {
			port = fmt.Sprintf("link %d", e.Port)
		}
		for _, event := range e.Events {
			names = append(names, event.String())
		}
		what := strings.Join(names, ", ")
		if e.Lost {
			what += "  (events of this port before were lost)"
		}
		if e.Trigger {
			what += "  <- trigger"
		}
		fmt.Fprintf(&s, "%10d  %-6s  %s\n", int64(e.Time-zero), port, what)
	}
	if more := int(t.Written) - len(t.Entries); more > 0 {
		fmt.Fprintf(&s, "%d older records were overwritten\n", more)
	}
	if t.Lost > 0 {
		fmt.Fprintf(&s, "%d times a port's events were lost for want of time\n", t.Lost)
	}
	_, err := io.WriteString(w, s.String())
	return err
}

// MarshalText and UnmarshalText make an event its name in JSON.
func (e TraceEvent) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (e *TraceEvent) UnmarshalText(text []byte) error {
	for i := range TraceEvent(NumTraceEvents) {
		if i.String() == string(text) {
			*e = i
			return nil
		}
	}
	return fmt.Errorf("no trace event %q", text)
}
