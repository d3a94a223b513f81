// Package axi models AXI4 and AXI4-Lite (Arm IHI 0022E): a master, a slave in front of a memory, a monitor that checks the rules and counts what has come up, and
// a checker of what is between masters and slaves.
//
//	m, err := axi.NewMaster(b, "s_axi", axi.Config{})
//	b.Go("cpu", func(c *testbench.Task) { err := m.Write(c, 0x1003, data); err = m.Read(c, 0x1003, data) })
//
// A bus without AWLEN and ARLEN is AXI4-Lite. Signals that a design lacks are left out. The engine of package verilator moves transfers; Go moves transactions.
// A reset ends transactions that have begun: those of a Master with bus.ErrReset. Those that have not go on behind it.
package axi

import (
	"cmp"
	"fmt"
	"math/bits"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Config says what a bus is like. The zero value works.
type Config struct {
	bus.Config
	// Index and Count say that the ports hold Count buses side by side, of which this is number Index, counted from 0; Count 0 means 1.
	Index, Count int
	// MaxBurst is the greatest length of the bursts of Master.Write and Read; 0 means 256, or 1 for AXI4-Lite.
	MaxBurst int
	// Unchecked lets a Master send what breaks the rules, for tests of designs and of checkers.
	Unchecked bool
	// Reorder lets a RAM answer transactions of different IDs in any order, and put their data in between each other.
	Reorder bool
	// Respond decides how a RAM answers; what is neither Okay nor ExOkay is not carried out. It may set RespUser of a write and DataUser of a read. Nil
	// means Okay.
	Respond func(*Transaction) Resp
	// MaxStall is how many cycles a Monitor lets a transfer wait for ready; 0 means any number.
	MaxStall uint64
	// Ended is called by a Monitor with each transaction, at the latest 256 cycles after its end.
	Ended func(*Transaction)
	// Coverage is where a Monitor adds points of its own, and counts; nil means that it does not.
	Coverage *testbench.Coverage
}

// Channels of a bus.
const (
	aw = iota
	w
	b
	ar
	r
)

// Words of the rows of address channels. Those of the others follow from spans.
const (
	addr = iota
	id
	length
	size
	burst
	lock
	cache
	prot
	qos
	region
	user
	addressSignals
)

var addressNames = [addressSignals]string{"addr", "id", "len", "size", "burst", "lock", "cache", "prot", "qos", "region", "user"}

// span is where a signal lies in a row: width bits from a word on; 0 bits when it is not there.
type span struct{ at, width int }

// channel is one of the five.
type channel struct {
	verilator.Channel
	name    string
	signals []span   // in the order of its names
	names   []string // of the words of a row
	row     []uint64
}

// value returns a signal of the row; 0 when it is not there.
func (c *channel) value(i int) uint64 {
	if c.signals[i].width == 0 {
		return 0
	}
	return c.row[c.signals[i].at]
}

func (c *channel) has(i int) bool { return c.signals[i].width > 0 }

func (c *channel) set(i int, v uint64) {
	if c.signals[i].width > 0 {
		c.row[c.signals[i].at] = v
	}
}

// Signals of the other channels.
const (
	wData, wStrb, wUser      = 0, 1, 2
	bResp, bID, bUser        = 0, 1, 2
	rData, rResp, rID, rUser = 0, 1, 2, 3
)

var channelNames = [5]string{"aw", "w", "b", "ar", "r"}

// layout is where the signals of a bus lie.
type layout struct {
	*bus.Port
	config   Config
	channels [5]channel
	bytes    int // of a transfer
	size     int // its logarithm
	lite     bool
}

// open finds the ports of a bus of which the design is the slave, or the master.
func open(bench *testbench.Bench, prefix string, c Config, slave bool) (*layout, error) {
	port, err := bus.Open(bench, "axi", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	c.Count = cmp.Or(c.Count, 1)
	if c.Count < 1 || c.Index < 0 || c.Index >= c.Count {
		return nil, fmt.Errorf("%s: index %d of %d buses: want 0 to %d", port, c.Index, c.Count, c.Count-1)
	}
	l := &layout{Port: port, config: c}
	var wires []bus.Wire
	for i, name := range channelNames {
		forward := verilator.In // of valid
		if slave == (i == b || i == r) {
			forward = verilator.Out
		}
		back := verilator.In + verilator.Out - forward
		wires = append(wires, bus.Wire{Name: name + "valid", Direction: forward}, bus.Wire{Name: name + "ready", Direction: back},
			bus.Wire{Name: name + "last", Direction: forward, Optional: true})
		for k, signal := range payload(i) {
			wires = append(wires, bus.Wire{Name: name + signal, Direction: forward, Optional: k > 0 && !(i == r && k == 1)})
		}
	}
	fields, err := port.Fields(wires...)
	if err != nil {
		return nil, err
	}
	for i, name := range channelNames {
		n := 3 + len(payload(i))
		if err := l.lay(i, name, fields[:n]); err != nil {
			return nil, fmt.Errorf("%s: %w", port, err)
		}
		fields = fields[n:]
	}
	return l, l.check()
}

func payload(channel int) []string {
	switch channel {
	case w:
		return []string{"data", "strb", "user"}
	case b:
		return []string{"resp", "id", "user"}
	case r:
		return []string{"data", "resp", "id", "user"}
	}
	return addressNames[:]
}

// lay makes a channel of its ports: valid, ready, last and the others.
func (l *layout) lay(i int, name string, fields []bus.Field) error {
	c := &l.channels[i]
	c.name, c.Channel = name, l.Port.Channel()
	var words []string
	for k := range fields {
		f, err := fields[k].Slice(l.config.Index, l.config.Count)
		if err != nil {
			return err
		}
		if k < 3 {
			if f.Width > 1 {
				return fmt.Errorf("%w: %s has %d bits, want 1 (or Config.Count, if buses lie side by side)", verilator.ErrPort, f, f.Width)
			}
			*[]*string{&c.Valid, &c.Ready, &c.Last}[k] = f.String()
			continue
		}
		if signal := payload(i)[k-3]; signal != "data" && signal != "strb" && f.Width > 64 {
			return fmt.Errorf("%w: %s has %d bits, this model takes up to 64", verilator.ErrPort, f, f.Width)
		}
		c.signals = append(c.signals, span{len(words), f.Width})
		words = append(words, f.Words()...)
		for len(c.names) < len(words) {
			c.names = append(c.names, name+payload(i)[k-3])
		}
	}
	c.Data, c.Parts, c.row = words[0], words[1:], make([]uint64, len(words))
	return nil
}

// check refuses widths that do not go together.
func (l *layout) check() error {
	data := l.channels[w].signals[wData].width
	l.bytes, l.size = data/8, bits.Len(uint(data/8))-1
	if data < 8 || data > 1024 || data&(data-1) != 0 {
		return fmt.Errorf("%s: %w: WDATA has %d bits, want 8, 16, 32 … 1024", l.Port, verilator.ErrPort, data)
	}
	if read := l.channels[r].signals[rData].width; read != data {
		return fmt.Errorf("%s: %w: RDATA has %d bits and WDATA %d", l.Port, verilator.ErrPort, read, data)
	}
	if strb := l.channels[w].signals[wStrb].width; strb != 0 && strb != l.bytes {
		return fmt.Errorf("%s: %w: WSTRB has %d bits, want one for each of the %d bytes of WDATA", l.Port, verilator.ErrPort, strb, l.bytes)
	}
	l.lite = !l.channels[aw].has(length) && !l.channels[ar].has(length)
	for _, i := range []int{aw, ar} {
		c := &l.channels[i]
		for k, want := range map[int]int{length: 8, size: 3, burst: 2, lock: 1, cache: 4, prot: 3, qos: 4, region: 4} {
			if have := c.signals[k].width; have != 0 && have != want {
				return fmt.Errorf("%s: %w: %s%s has %d bits, want %d", l.Port, verilator.ErrPort, c.name, addressNames[k], have, want)
			}
		}
		if l.lite {
			continue
		}
		for _, k := range []int{length, size, burst} {
			if !c.has(k) {
				return fmt.Errorf("%s: %w: there is no %s%s, which AXI4 needs; AXI4-Lite has none of len, size and burst on both sides", l.Port,
					verilator.ErrPort, c.name, addressNames[k])
			}
		}
	}
	if !l.lite && (l.channels[w].Last == "" || l.channels[r].Last == "") {
		return fmt.Errorf("%s: %w: WLAST or RLAST is missing", l.Port, verilator.ErrPort)
	}
	return nil
}

// source drives a channel.
func (l *layout) source(i, depth int) (*verilator.Source, error) {
	ch := l.channels[i].Channel
	ch.Depth = depth
	s, err := l.Instance.Source(ch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Port, err)
	}
	return s, nil
}

// sink takes what comes on a channel.
func (l *layout) sink(i, depth int) (*verilator.Sink, error) {
	ch := l.channels[i].Channel
	ch.Depth = depth
	s, err := l.Instance.Sink(ch)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.Port, err)
	}
	return s, nil
}

// put queues the row of a channel.
func (c *channel) put(s *verilator.Source, last bool) { s.PutParts(c.row[0], last, c.row[1:]) }

// get takes the next item to the row.
func (c *channel) get(s *verilator.Sink) (beat verilator.Beat, ok bool) {
	beat, ok = s.GetParts(c.row[1:])
	c.row[0] = beat.Data
	return beat, ok
}

// throttles holds up several channels alike.
type throttles []testbench.Throttled

// SetThrottle sets the share of cycles, 0 to 1, in which channels that the model drives offer nothing new and those that it takes from are not ready.
func (t throttles) SetThrottle(share float64) {
	for _, s := range t {
		s.SetThrottle(share)
	}
}
