package cluster

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/verilator"
)

// source is the host of a network interface under a workload: it makes messages at times that are drawn beforehand, whether or not the network
// takes them, and sends each as soon as it may. It is at the end of the host's cable, and so sees each clock.
type source struct {
	*NI
	index int
	run   *run
	clock *verilator.Clock
	rng   *testbench.Rand
	sinks []*verilator.Sink    // what arrives, by link
	lines [][]linkproto.Symbol // what goes to the network interface next, by lane

	active bool    // messages are made
	due    float64 // clock at which the next one is
	queue  []*message
	beats  []verilator.Beat
	most   int // bytes of the longest packet that has arrived
}

// message is one of a workload.
type message struct {
	from, to    int
	made        uint64 // clock in which its first symbol could be on the host's cable
	size        int
	sent, count int // of its packets
	left        int // packets that have not arrived
}

// frameSymbols are those of a frame with a routed write of so many bytes.
func frameSymbols(size int) int {
	return linkproto.FrameOverhead + linkproto.RouteExtra + linkproto.PacketExtra - 1 + size
}

// Emit sends the symbols of the clocks to come over a lane.
func (s *source) Emit(lane int, dst []linkproto.Symbol) int {
	if lane == 0 {
		s.fill(len(dst))
	}
	return copy(dst, s.lines[lane])
}

// fill has all lanes send for so many clocks. What is made meanwhile is sent from its clock on, not before.
func (s *source) fill(clocks int) {
	now := s.clock.Cycles() + 2 // in which the first symbol is on the cable
	for lane := range s.lines {
		s.lines[lane] = s.lines[lane][:0]
	}
	for n := 0; n < clocks; {
		for s.active && s.due < float64(now+uint64(n))+1 {
			s.make(now + uint64(n))
		}
		s.send()
		end := clocks
		if s.active {
			end = min(end, int(s.due-float64(now)))
		}
		for lane, line := range s.lines {
			line = slices.Grow(line, clocks)[:end]
			for i := n + s.End.Emit(lane, line[n:]); i < end; i++ {
				line[i] = linkproto.SymIdle
			}
			s.lines[lane] = line
		}
		n = end
	}
}

// make makes a message.
func (s *source) make(now uint64) {
	w := s.run.work
	m := &message{from: s.index, to: s.run.pattern.draw(s.rng, s.index), made: now, size: s.rng.Between(w.Least, w.Most)}
	m.count = (m.size + s.run.page - 1) / s.run.page
	m.left = m.count
	s.queue = append(s.queue, m)
	s.run.sample().made += float64(messageSymbols(m.size, s.run.page))
	s.due += -math.Log(1-s.rng.Float64()) * s.run.gap
}

// messageSymbols are those of all frames of a message.
func messageSymbols(size, page int) (all int) {
	for count := (size + page - 1) / page; count > 0; count-- {
		part := size / count
		size -= part
		all += frameSymbols(part)
	}
	return all
}

// tagBytes are those in which each packet has a tag; what is behind is the same in all.
const tagBytes = 4

// send sends packets as long as there is room for them.
func (s *source) send() {
	for len(s.queue) > 0 && !(s.run.few && s.Link != nil && s.Link.Queued() > 1) {
		m := s.queue[0]
		size, to := m.part(m.sent), s.run.NIs[m.to]
		credit := s.Credit(int(s.run.via(s.NI, to.Node)))
		if !credit.HasRoom(frameSymbols(size) - linkproto.FrameOverhead) {
			return
		}
		write := linkproto.Packet{Type: linkproto.TypeWrite, Data: s.run.payload[:size]}
		tag := s.run.flights.begin(m)
		binary.LittleEndian.PutUint32(write.Data, tag)
		_, packet := s.run.datagram(s.NI, to.Node, write)
		if err := s.SendRaw(packet); err != nil {
			s.run.flights.end(tag)
			if !errors.Is(err, ni.ErrBusy) {
				try.OK(err)
			}
			return
		}
		credit.Sent(len(packet))
		if m.sent++; m.sent == m.count {
			s.queue = s.queue[1:]
		}
	}
}

// part is the size of a packet's data: a message is shared out among as few packets as its size allows, all of about one length.
func (m *message) part(index int) int {
	left := m.size
	for i := range index + 1 {
		part := left / (m.count - i)
		if i == index {
			return part
		}
		left -= part
	}
	panic("cluster: a message has no such packet")
}

// flights are the packets underway, by the tag that each has in its first four bytes.
type flights struct {
	messages []*message // by tag; nil: not in use
	free     []uint32
}

func (f *flights) begin(m *message) (tag uint32) {
	if len(f.free) == 0 {
		f.messages = append(f.messages, m)
		return uint32(len(f.messages) - 1)
	}
	tag = f.free[len(f.free)-1]
	f.free = f.free[:len(f.free)-1]
	f.messages[tag] = m
	return tag
}

// end returns the message of a packet that is no longer underway; nil if there is none with such a tag.
func (f *flights) end(tag uint32) *message {
	if int(tag) >= len(f.messages) || f.messages[tag] == nil {
		return nil
	}
	m := f.messages[tag]
	f.messages[tag] = nil
	f.free = append(f.free, tag)
	return m
}

func (f *flights) underway() int { return len(f.messages) - len(f.free) }

// arrived takes what has come to the network interface since the last look.
func (s *source) arrived() {
	for _, sink := range s.sinks {
		for {
			n := sink.Read(s.beats)
			if n == 0 {
				break
			}
			for _, b := range s.beats[:n] {
				s.take(uint32(b.Data), b.Cycle)
			}
		}
	}
}

func (s *source) take(tag uint32, clock uint64) {
	m := s.run.flights.end(tag)
	if m == nil {
		try.Failf("cluster: a packet with tag %d has come to %s, and none is underway", tag, s.run.name(s.NI))
	}
	if m.to != s.index {
		try.Failf("cluster: a packet from %s to %s has come to %s", s.run.name(s.run.NIs[m.from]), s.run.name(s.run.NIs[m.to]), s.run.name(s.NI))
	}
	index := m.count - m.left // in order, as all packets of a pair come
	s.most = max(s.most, m.part(index))
	at := s.run.sample()
	at.came += float64(frameSymbols(m.part(index)))
	at.payload += m.part(index)
	if m.left--; m.left == 0 {
		at.messages++
		at.latency += float64(clock - m.made)
		try.OK(at.histogram.RecordValue(int64(clock - m.made)))
	}
}
