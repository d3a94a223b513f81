package avalon

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// StreamConfig says what a streaming interface is like. The zero value has ready with latency 0, and symbols of 8 bits, the first in the high bits.
type StreamConfig struct {
	bus.Config
	// ReadyLatency is the number of cycles from ready to the cycle in which data may come.
	ReadyLatency int
}

// Packet is a packet of bytes on a stream.
type Packet struct {
	Data    []byte
	Channel uint64
	// Error is the bits of error, of all words.
	Error uint64
}

// stream is an interface as wires, with what both ends and the checker need to know.
type stream struct {
	*bus.Port
	config                                              StreamConfig
	data, valid, ready, sop, eop, empty, channel, error *testbench.Signal
	readies                                             []bool // of the last cycles, the newest last
	may                                                 bool   // data may come in this cycle
	moved                                               bool   // at this edge
	was                                                 [6]uint64
	held                                                bool
	inside                                              bool
	coverage                                            testbench.Coverage
	size, stall                                         *testbench.Point
}

func openStream(b *testbench.Bench, prefix string, c StreamConfig, d verilator.Direction) (*stream, error) {
	p, err := bus.Open(b, "avalon-st", prefix, c.Config)
	if err != nil {
		return nil, err
	}
	s := &stream{Port: p, config: c}
	if err := p.Find(
		bus.Wire{To: &s.data, Name: "data", Direction: d},
		bus.Wire{To: &s.valid, Name: "valid", Direction: d, Width: 1},
		bus.Wire{To: &s.ready, Name: "ready", Direction: 1 - d, Width: 1, Optional: true},
		bus.Wire{To: &s.sop, Name: "startofpacket|sop", Direction: d, Width: 1},
		bus.Wire{To: &s.eop, Name: "endofpacket|eop", Direction: d, Width: 1},
		bus.Wire{To: &s.empty, Name: "empty", Direction: d, Optional: true},
		bus.Wire{To: &s.channel, Name: "channel", Direction: d, Optional: true},
		bus.Wire{To: &s.error, Name: "error", Direction: d, Optional: true},
	); err != nil {
		return nil, err
	}
	switch w := s.data.Width(); {
	case w%8 != 0:
		return nil, fmt.Errorf("%s: %w: data has %d bits, want a multiple of 8", p, verilator.ErrPort, w)
	case w > 8 && s.empty == nil:
		return nil, fmt.Errorf("%s: %w: data has %d bytes a word, and there is no empty: name it in Names[\"empty\"]", p, verilator.ErrPort, w/8)
	case c.ReadyLatency < 0 || c.ReadyLatency > 8:
		return nil, fmt.Errorf("%s: StreamConfig.ReadyLatency is %d: want 0 to 8", p, c.ReadyLatency)
	}
	s.readies = make([]bool, c.ReadyLatency)
	s.Cover(&s.coverage)
	s.size = s.coverage.Point("bytes in the last word", testbench.Value("all", 0), testbench.Range("some", 1, 1<<62))
	if s.empty == nil {
		s.size.Without("a word is a byte", "some")
	}
	s.stall = s.coverage.Point("ready", testbench.Value("0", 0), testbench.Value("1", 1))
	if s.ready == nil {
		s.stall.Without("the stream has no ready", "0")
	}
	return s, nil
}

// Coverage counts ready, and how full the last words of packets are.
func (s *stream) Coverage() *testbench.Coverage { return &s.coverage }

func (s *stream) bytes() int { return s.data.Width() / 8 }

// see looks at the stream before a rising edge.
func (s *stream) see() {
	ready := bus.Get(s.ready, 1) != 0
	s.readies = append(s.readies, ready)
	s.may = s.readies[0]
	s.readies = s.readies[1:]
	s.moved = false
	if s.InReset() {
		s.held, s.inside = false, false
		clear(s.readies)
		return
	}
	s.stall.Sample(int64(bus.Bit(ready)))
	valid := s.valid.Is()
	is := [6]uint64{s.data.Get(), s.sop.Get(), s.eop.Get(), bus.Get(s.empty, 0), bus.Get(s.channel, 0), bus.Get(s.error, 0)}
	if s.held && (!valid || is != s.was) {
		s.Violate(RuleReady, "data changed, or valid fell, before ready: %#x, before %#x", is, s.was)
	}
	s.was, s.held = is, valid && !s.may && s.config.ReadyLatency == 0
	switch {
	case !valid:
	case s.may:
		s.moved = true
		s.packet()
	case s.config.ReadyLatency > 0:
		s.Violate(RuleReady, "valid is 1 and ready was 0 %d cycles before", s.config.ReadyLatency)
	}
}

func (s *stream) packet() {
	empty := bus.Get(s.empty, 0)
	switch sop := s.sop.Is(); {
	case sop && s.inside:
		s.Violate(RulePacket, "startofpacket within a packet")
	case !sop && !s.inside:
		s.Violate(RulePacket, "data between packets, without startofpacket")
	}
	if s.inside = !s.eop.Is(); s.inside && empty != 0 {
		s.Violate(RulePacket, "empty is %d before the last word", empty)
	}
	if empty >= uint64(s.bytes()) {
		s.Violate(RulePacket, "empty is %d of %d bytes", empty, s.bytes())
	}
	if !s.inside {
		s.size.Sample(int64(empty))
	}
}

// Source drives a stream of the design. Throttled, it leaves gaps.
type Source struct {
	*stream
	bus.Stall
	queue []Packet
	at    int // bytes of the first that are gone
	asks  bool
}

// NewSource drives the stream of the ports with a prefix.
func NewSource(b *testbench.Bench, prefix string, c StreamConfig) (*Source, error) {
	w, err := openStream(b, prefix, c, verilator.In)
	if err != nil {
		return nil, err
	}
	s := &Source{stream: w, Stall: w.Stalls()}
	s.valid.Set(0)
	s.Run(s.see, s.drive)
	return s, nil
}

// Put queues packets of one byte and more.
func (s *Source) Put(packets ...Packet) {
	for _, p := range packets {
		if len(p.Data) == 0 {
			s.Bench.Fatalf("%s: a packet without data", s)
		}
	}
	s.queue = append(s.queue, packets...)
}

// Drain waits until the design has taken all.
func (s *Source) Drain(c *testbench.Task) { c.Until(func() bool { return len(s.queue) == 0 }, 0) }

func (s *Source) drive() {
	if s.InReset() {
		s.valid.Set(0)
		s.asks, s.at = false, 0
		return
	}
	if s.asks && s.moved {
		s.asks = false
		if s.at += s.bytes(); s.at >= len(s.queue[0].Data) {
			s.queue, s.at = s.queue[1:], 0
		}
	}
	if s.asks && s.config.ReadyLatency == 0 {
		return
	}
	s.valid.Set(0)
	s.asks = false
	if len(s.queue) == 0 || s.Stall.Now() || s.config.ReadyLatency > 0 && !s.readies[0] {
		return
	}
	p := &s.queue[0]
	rest := p.Data[s.at:]
	n := min(len(rest), s.bytes())
	var word uint64
	for i := range s.bytes() {
		word <<= 8
		if i < n {
			word |= uint64(rest[i])
		}
	}
	s.asks = true
	s.valid.Set(1)
	s.data.Set(word)
	s.sop.Set(bus.Bit(s.at == 0))
	s.eop.Set(bus.Bit(n == len(rest)))
	bus.Set(s.empty, uint64(s.bytes()-n))
	bus.Set(s.channel, p.Channel)
	bus.Set(s.error, p.Error)
}

// Sink collects a stream of the design. Throttled, it is not ready.
type Sink struct {
	*stream
	bus.Stall
	now     Packet
	packets []Packet
}

// NewSink collects the stream of the ports with a prefix.
func NewSink(b *testbench.Bench, prefix string, c StreamConfig) (*Sink, error) {
	w, err := openStream(b, prefix, c, verilator.Out)
	if err != nil {
		return nil, err
	}
	s := &Sink{stream: w, Stall: w.Stalls()}
	bus.Set(s.ready, 0)
	s.Run(s.take, func() { bus.Set(s.ready, bus.Bit(!s.InReset() && !s.Stall.Now())) })
	return s, nil
}

// Get waits for the next packet.
func (s *Sink) Get(c *testbench.Task) Packet {
	c.Until(func() bool { return len(s.packets) > 0 }, 0)
	p := s.packets[0]
	s.packets = s.packets[1:]
	return p
}

func (s *Sink) take() {
	s.see()
	switch {
	case s.InReset():
		s.now = Packet{}
	case s.moved:
		if s.sop.Is() {
			s.now = Packet{Channel: bus.Get(s.channel, 0)}
		}
		word, n := s.data.Get(), s.bytes()
		if s.eop.Is() {
			n -= min(n, int(bus.Get(s.empty, 0)))
		}
		for i := range n {
			s.now.Data = append(s.now.Data, byte(word>>(8*(s.bytes()-1-i))))
		}
		s.now.Error |= bus.Get(s.error, 0)
		if s.eop.Is() {
			s.packets, s.now = append(s.packets, s.now), Packet{}
		}
	}
}
