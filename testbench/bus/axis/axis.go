// Package axis models AXI4-Stream (Arm IHI 0051A): a source, a sink, and a monitor that checks the rules, collects frames and counts what has come up.
//
//	in, err := axis.NewSource(b, "s_axis", axis.Config{})
//	out, err := axis.NewSink(b, "m_axis", axis.Config{})
//	b.Go("send", func(c *testbench.Task) { in.Send(c, axis.Frame{Data: []byte("hello"), Dest: 2}) })
//	b.Go("receive", func(c *testbench.Task) { got := out.Receive(c) … })
//
// A design has which signals it likes: TVALID and TREADY, of which TREADY may be absent, and any of TDATA, TKEEP, TSTRB, TLAST, TID, TDEST
// and TUSER, TDATA and TUSER of any width. The engine of package verilator moves transfers; Go moves frames.
package axis

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what a stream is like. The zero value works.
type Config struct {
	bus.Config
	// Index and Count say that the ports hold Count streams side by side, of which this is number Index, counted from 0; Count 0 means 1.
	Index, Count int
	// Depth is how many transfers fit between Go and the design; 0 means 1024.
	Depth int
	// MaxStall is how many cycles a Monitor lets a transfer wait for TREADY; 0 means any number.
	MaxStall uint64
	// Packed lets a Monitor refuse null bytes but in the last transfer of a frame, above its data: many cores take no others.
	Packed bool
	// Frame is called by a Monitor with each frame, at the latest 256 cycles after its end.
	Frame func(Frame)
	// Coverage is where a Monitor adds points of its own, and counts; nil means that it does not.
	Coverage *testbench.Coverage
}

// ErrFrame is wrapped by errors about frames that a stream cannot carry.
var ErrFrame = errors.New("frame does not fit the stream")

// span is where a signal lies in a row: width bits from a word on.
type span struct{ at, width int }

func (s span) words() int { return (s.width + 63) / 64 }

// layout is where the signals of a stream lie in the words of an item, a row.
type layout struct {
	*bus.Port
	channel                          verilator.Channel
	lanes                            int // bytes a transfer
	data, keep, strb, id, dest, user span
	names                            []string // of the words
	row                              []uint64
	whole                            uint64 // TKEEP and TSTRB with all lanes, if they are a word
}

// open finds the ports of a stream that enters the design (In) or leaves it.
func open(b *testbench.Bench, prefix string, c Config, way verilator.Direction) (*layout, error) {
	port, err := bus.Open(b, "axis", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	c.Count = cmp.Or(c.Count, 1)
	if c.Count < 1 || c.Index < 0 || c.Index >= c.Count {
		return nil, fmt.Errorf("%s: index %d of %d streams: want 0 to %d", port, c.Index, c.Count, c.Count-1)
	}
	l := &layout{Port: port, channel: port.Channel()}
	other := verilator.Out
	if way == verilator.Out {
		other = verilator.In
	}
	wire := func(name string) bus.Wire { return bus.Wire{Name: name, Direction: way, Optional: true} }
	valid := bus.Wire{Name: "tvalid", Direction: way}
	fields, err := port.Fields(valid, bus.Wire{Name: "tready", Direction: other, Optional: true}, wire("tlast"),
		wire("tdata"), wire("tkeep"), wire("tstrb"), wire("tid"), wire("tdest"), wire("tuser"))
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if fields[i], err = fields[i].Slice(c.Index, c.Count); err != nil {
			return nil, fmt.Errorf("%s: %w", port, err)
		}
		if i < 3 && fields[i].Width > 1 {
			return nil, fmt.Errorf("%s: %w: %s has %d bits, want 1 (or Config.Count, if streams lie side by side)", port, verilator.ErrPort, fields[i], fields[i].Width)
		}
	}
	l.channel.Valid, l.channel.Ready, l.channel.Last = fields[0].String(), fields[1].String(), fields[2].String()
	l.channel.Depth = cmp.Or(c.Depth, 1024)
	var words []string
	for i, s := range []*span{&l.data, &l.keep, &l.strb, &l.id, &l.dest, &l.user} {
		f := fields[3+i]
		*s = span{len(words), f.Width}
		words = append(words, f.Words()...)
		for len(l.names) < len(words) {
			l.names = append(l.names, []string{"TDATA", "TKEEP", "TSTRB", "TID", "TDEST", "TUSER"}[i])
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: %w: the stream has none of TDATA, TKEEP, TSTRB, TID, TDEST, TUSER", port, verilator.ErrPort)
	}
	l.channel.Data, l.channel.Parts, l.row = words[0], words[1:], make([]uint64, len(words))
	return l, l.check()
}

// check refuses widths that do not go together.
func (l *layout) check() error {
	l.lanes = (l.data.width + 7) / 8
	l.whole = ^uint64(0) >> (64 - min(max(l.lanes, 1), 64))
	for _, s := range []struct {
		span
		name string
	}{{l.keep, "TKEEP"}, {l.strb, "TSTRB"}} {
		if s.width != 0 && s.width != l.lanes {
			return fmt.Errorf("%s: %w: %s has %d bits, want one for each of the %d bytes of TDATA (%d bits)", l.Port, verilator.ErrPort, s.name, s.width,
				l.lanes, l.data.width)
		}
	}
	for _, s := range []struct {
		span
		name string
	}{{l.id, "TID"}, {l.dest, "TDEST"}} {
		if s.width > 64 {
			return fmt.Errorf("%s: %w: %s has %d bits, this model takes up to 64", l.Port, verilator.ErrPort, s.name, s.width)
		}
	}
	return nil
}

// name returns what the i-th field of a watch's event is called: 0 and from 2 on words of the row, 1 TLAST.
func (l *layout) name(i uint64) string {
	switch {
	case i == 1:
		return "TLAST"
	case i > 1:
		i--
	}
	return l.names[i]
}

// value returns a signal of up to 64 bits of the row; 0 when it is not there.
func (l *layout) value(s span) uint64 {
	if s.width == 0 {
		return 0
	}
	return l.row[s.at]
}

// bit returns bit i of a signal, and true when it is not there.
func (l *layout) bit(s span, i int) bool { return s.width == 0 || l.row[s.at+i/64]>>(i%64)&1 != 0 }

// full tells whether all bits of TKEEP or TSTRB are 1.
func (l *layout) full(s span) bool {
	if s.width <= 64 {
		return s.width == 0 || l.row[s.at] == l.whole
	}
	for i := range s.width {
		if !l.bit(s, i) {
			return false
		}
	}
	return true
}
