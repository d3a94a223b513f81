package ethernet

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// Rules, by the clauses of IEEE 802.3.
const (
	RulePreamble = "IEEE 802.3, 3.2.1"      // seven octets 0x55, of which an interface may lose some
	RuleStartOf  = "IEEE 802.3, 3.2.2"      // the start delimiter
	RuleFCS      = "IEEE 802.3, 3.2.9"      // the frame check sequence
	RuleSize     = "IEEE 802.3, 4.4.2 size" // minFrameSize, maxFrameSize
	RuleGap      = "IEEE 802.3, 4.4.2 gap"  // interPacketGap
	RuleOctets   = "IEEE 802.3, 3.4"        // whole octets
	RuleGMII     = "IEEE 802.3, table 35-1" // encodings of EN, ER and data
	RuleStart    = "IEEE 802.3, 46.2.1"     // between frames, and where they begin
	RuleEnd      = "IEEE 802.3, 46.2.4"     // Terminate ends a frame
	RuleXGMII    = "IEEE 802.3, table 46-3" // control characters
)

// Sink watches an interface at which the design sends, and checks what comes.
type Sink struct {
	*bus.Port
	config  Config
	octets  []byte
	inside  bool
	error   bool
	gap     int
	any     bool
	frames  []Frame
	count   uint64
	sampled testbench.Coverage
	size    *testbench.Point
	gaps    *testbench.Point
	kind    *testbench.Point
}

// NewGMIISink watches GMII, or MII if the data has 4 bits.
func NewGMIISink(b *testbench.Bench, prefix string, c Config) (*Sink, error) {
	return newSink(b, "gmii", prefix, c, &gmii{})
}

// NewRGMIISink watches RGMII. Config.Clock is the clock with whose edges the data is valid: TXC. Below 1 Gbit/s, where designs divide a clock for it, an
// output TXC is followed instead: at each edge of Config.Clock, which must be faster.
func NewRGMIISink(b *testbench.Bench, prefix string, c Config) (*Sink, error) {
	return newSink(b, "rgmii", prefix, c, &rgmii{slow: c.slow()})
}

// NewXGMIISink watches XGMII of 32 or 64 bits.
func NewXGMIISink(b *testbench.Bench, prefix string, c Config) (*Sink, error) {
	return newSink(b, "xgmii", prefix, c, &xgmii{})
}

func newSink(b *testbench.Bench, kind, prefix string, c Config, pins pins) (*Sink, error) {
	p, err := bus.Open(b, kind, prefix, c.Config)
	if err != nil {
		return nil, err
	}
	if err := c.check(pins); err != nil {
		return nil, fmt.Errorf("%s: %w", p, err)
	}
	c.MaxFrame, c.MinGap = cmp.Or(c.MaxFrame, MaxFrame), cmp.Or(c.MinGap, MinGap)
	s := &Sink{Port: p, config: c}
	if err := pins.find(p, verilator.Out); err != nil {
		return nil, err
	}
	s.Cover(&s.sampled)
	s.size = s.sampled.Point("size", testbench.Value("64", MinFrame), testbench.Range("65 to 127", 65, 127), testbench.Range("128 to 1517", 128, int64(c.MaxFrame)-1),
		testbench.Value("longest", int64(c.MaxFrame)))
	s.gaps = s.sampled.Point("gap", testbench.Value("shortest", int64(c.MinGap)), testbench.Range("up to 4 more", int64(c.MinGap)+1, int64(c.MinGap)+4),
		testbench.Range("longer", int64(c.MinGap)+5, 1<<62))
	s.kind = s.sampled.Point("frame", testbench.Value("good", 0), testbench.Value("wrong FCS", 1), testbench.Value("error", 2))
	pins.receive(s)
	return s, nil
}

// Coverage counts sizes, gaps, and frames with errors.
func (s *Sink) Coverage() *testbench.Coverage { return &s.sampled }

// Count is how many frames have come.
func (s *Sink) Count() uint64 { return s.count }

// Get waits for the next frame.
func (s *Sink) Get(c *testbench.Task) Frame {
	c.Until(func() bool { return len(s.frames) > 0 }, 0)
	f := s.frames[0]
	s.frames = s.frames[1:]
	return f
}

func (s *Sink) restart() { s.octets, s.inside, s.error, s.gap, s.any = nil, false, false, 0, false }

// take takes the next octet of the interface, in a frame or between frames.
func (s *Sink) take(x octet) {
	switch {
	case s.InReset():
		s.restart()
	case x.valid && !s.inside:
		s.inside, s.octets, s.error = true, []byte{x.value}, x.error
	case x.valid:
		s.octets, s.error = append(s.octets, x.value), s.error || x.error
	case s.inside:
		s.end()
		s.inside, s.gap, s.any = false, 1, true
	default:
		s.gap++
	}
}

func (s *Sink) end() {
	f := Frame{Error: s.error, Gap: s.gap, Edge: s.Clock.Cycles() + 1}
	if s.any {
		if s.gaps.Sample(int64(s.gap)); s.gap < s.config.MinGap {
			s.Violate(RuleGap, "%d octets between two frames, want %d", s.gap, s.config.MinGap)
		}
	}
	at := 0
	for at < len(s.octets) && s.octets[at] == preambleOctet {
		at++
	}
	if at > preambleOctets {
		s.Violate(RulePreamble, "a preamble of %d octets, want %d", at, preambleOctets)
	}
	f.Preamble = preambleOctets - at
	if at == len(s.octets) || s.octets[at] != startDelimiter {
		if !s.error {
			s.Violate(RuleStartOf, "no start delimiter after %d octets of preamble in % x …", at, s.octets[:min(len(s.octets), 12)])
		}
		return
	}
	frame := s.octets[at+1:]
	if s.size.Sample(int64(len(frame))); (len(frame) < MinFrame || len(frame) > s.config.MaxFrame) && !s.error {
		s.Violate(RuleSize, "a frame of %d octets, want %d to %d", len(frame), MinFrame, s.config.MaxFrame)
	}
	if len(frame) < 4 {
		return
	}
	f.Data = frame[:len(frame)-4]
	got := binary.LittleEndian.Uint32(frame[len(f.Data):])
	f.BadFCS = got != FCS(f.Data)
	switch {
	case f.Error:
		s.kind.Hit("error")
	case f.BadFCS:
		s.kind.Hit("wrong FCS")
		s.Violate(RuleFCS, "the frame check sequence of a frame of %d octets is %08x, want %08x", len(frame), got, FCS(f.Data))
	default:
		s.kind.Hit("good")
	}
	s.count++
	s.frames = append(s.frames, f)
	if s.config.Item != nil {
		s.config.Item(f)
	}
}
