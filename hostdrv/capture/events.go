package capture

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// Clock relates the clock of an NI to the target's time, by looking at both now and then.
type Clock struct {
	first, last moment
	seen        bool
}

// moment is a clock, counted in full since some multiple of 2^32, and the time at which it was.
type moment struct {
	clock uint64
	at    time.Duration
}

// Add adds what NI.TraceState has said. Less than 2^32 clocks may lie between two of them.
func (c *Clock) Add(s hostdrv.TraceState) {
	if !c.seen {
		c.first, c.seen = moment{uint64(s.Clock), s.Now}, true
		c.last = c.first
		return
	}
	c.last = moment{c.last.clock + uint64(s.Clock-uint32(c.last.clock)), s.Now}
}

// at is when it was so many clocks before the last moment.
func (c *Clock) at(before int64) time.Duration {
	if c.last.clock == c.first.clock {
		return c.last.at
	}
	period := float64(c.last.at-c.first.at) / float64(c.last.clock-c.first.clock)
	return c.last.at - time.Duration(float64(before)*period)
}

// Trace adds what a trace buffer has recorded, with an interface for each port at which something happened. The target's time counts from began,
// and the last record is less than 2^31 clocks from the last moment of the clock. What triggered has the comment "trigger".
func (w *Writer) Trace(t linkproto.Trace, c *Clock, began time.Time) {
	ports := map[int]uint32{}
	for _, e := range t.Entries {
		ports[e.Port] = 0
	}
	for _, p := range slices.Sorted(maps.Keys(ports)) {
		name := "host port"
		if p > 0 {
			name = fmt.Sprint("link ", p)
		}
		ports[p] = w.port(name, "trace buffer", linkTypeEvents)
	}
	if len(t.Entries) == 0 {
		return
	}
	last := t.Entries[len(t.Entries)-1].Time
	age := int64(int32(uint32(c.last.clock) - uint32(last)))
	for _, e := range t.Entries {
		words := e.Record().Words()
		data := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, words[0]), words[1])
		comment := ""
		if e.Trigger {
			comment = "trigger"
		}
		w.record(ports[e.Port], began.Add(c.at(age+int64(last-e.Time))), data, 0, comment)
	}
}
