package soak

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
)

// What a link may do wrong; each error of a run wraps one of these, or is about the run itself.
var (
	ErrLost    = errors.New("packet lost")
	ErrOrder   = errors.New("packet duplicated or out of order")
	ErrDamaged = errors.New("packet damaged")
	ErrWedged  = errors.New("link wedged")
	ErrCount   = errors.New("wrong count")
)

// flow is one direction of a link: the packets under way, which of them may be missing, and the faults that the direction has
// still to recover from. Packets are numbered from 0 in the order in which they were sent.
type flow struct {
	name    string
	packets [][]byte // sent, and not yet delivered or passed over; the first is number next
	next    uint64
	base    uint64 // number of the first packet of the sender's present life
	allowed []allowedLoss
	past    [64][]byte // delivered or passed over last, by number

	delivered, bytes uint64
	missing          uint64 // packets passed over
	deaths           uint64 // packets that the receiver may have had and lost when it started again
	dying            bool   // the receiver has started again and the sender does not know yet

	limit    uint64   // clocks within which a fault has to be recovered from; 0 for none
	faults   []uint64 // clocks of the receiver at which they ended, ascending
	recovery histogram
}

// allowedLoss says which packets may be missing, and why.
type allowedLoss struct {
	from, to uint64
	why      reason
}

type reason int

const (
	reported reason = iota // lost when the link or the sender started again
	died                   // acknowledged by a receiver that started again before it was read
)

// end is the number of the next packet to be sent.
func (f *flow) end() uint64 { return f.next + uint64(len(f.packets)) }

func (f *flow) send(packet []byte) { f.packets = append(f.packets, packet) }

func (f *flow) allowLoss(from, to uint64, why reason) {
	if from < to && to > f.next {
		f.allowed = append(f.allowed, allowedLoss{from, to, why})
	}
}

// faultEnded notes that faults ended at some clocks of the receiver.
func (f *flow) faultEnded(at ...uint64) {
	f.faults = append(f.faults, at...)
	slices.Sort(f.faults)
}

// postpone notes that what the direction has to recover for is sent from a clock of the receiver on only.
func (f *flow) postpone(from uint64) {
	for i := range f.faults {
		f.faults[i] = max(f.faults[i], from)
	}
}

// margin is how many clocks before its first byte shows a packet may have been on the wire for the last time.
const margin = 4

// arrive takes a packet from the receiver, with the clocks of its first and its last byte.
func (f *flow) arrive(packet []byte, first, last uint64) error {
	i := slices.IndexFunc(f.packets, func(p []byte) bool { return bytes.Equal(p, packet) })
	if i < 0 {
		return f.unknown(packet)
	}
	for n := range i {
		if !f.pass() {
			return fmt.Errorf("%w: %s: packet %d was not reported, and %d came", ErrLost, f.name, f.next, f.next+uint64(i-n))
		}
	}
	f.forget()
	f.deaths, f.dying = 0, false
	f.delivered++
	f.bytes += uint64(len(packet))
	n := 0
	for ; n < len(f.faults) && f.faults[n]+margin < first; n++ {
		f.recovery[last-f.faults[n]]++
	}
	if n > 0 && f.limit > 0 && last-f.faults[0] > f.limit {
		return fmt.Errorf("%w: %s: a packet arrived only %d clocks after the end of a fault, want at most %d", ErrWedged, f.name, last-f.faults[0], f.limit)
	}
	f.faults = f.faults[n:]
	return nil
}

// pass leaves the next packet out, if it may be missing.
func (f *flow) pass() bool {
	why, found := died, false
	for _, e := range f.allowed {
		if f.next >= e.from && f.next < e.to && e.why <= why && (e.why != died || f.deaths > 0) {
			why, found = e.why, true
		}
	}
	if !found {
		return false
	}
	if why == died {
		f.deaths--
	}
	f.missing++
	f.forget()
	return true
}

// forget moves on to the packet after the next.
func (f *flow) forget() {
	f.past[f.next%uint64(len(f.past))] = f.packets[0]
	f.packets[0] = nil
	f.packets = f.packets[1:]
	f.next++
	if len(f.allowed) > 0 {
		f.allowed = slices.DeleteFunc(f.allowed, func(e allowedLoss) bool { return e.to <= f.next })
	}
}

// unknown says what is wrong with a packet that is none of those under way.
func (f *flow) unknown(packet []byte) error {
	for k := range uint64(len(f.past)) {
		if n := f.next - 1 - k; k < f.next && bytes.Equal(f.past[n%uint64(len(f.past))], packet) {
			return fmt.Errorf("%w: %s: packet %d came when %d was due", ErrOrder, f.name, n, f.next)
		}
	}
	if len(f.packets) == 0 {
		return fmt.Errorf("%w: %s: % x came, and nothing was under way", ErrOrder, f.name, head(packet))
	}
	return fmt.Errorf("%w: %s: packet %d has %d bytes, % x, and should have %d, % x", ErrDamaged, f.name, f.next,
		len(packet), head(packet), len(f.packets[0]), head(f.packets[0]))
}

func head(p []byte) []byte { return p[:min(len(p), 16)] }

// finish passes over what has not come, once nothing more can.
func (f *flow) finish() error {
	for len(f.packets) > 0 {
		if !f.pass() {
			return fmt.Errorf("%w: %s: packet %d never came and was not reported", ErrLost, f.name, f.next)
		}
	}
	return nil
}
