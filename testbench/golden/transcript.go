package golden

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Transcript is what happened in one round: a list of lines for each lane, which depend neither on time nor on other lanes.
type Transcript struct {
	Round  int
	Kind   stimulus.Kind
	Lanes  map[string][]string
	Buffer []byte // the receive buffer at the end

	Notified map[int][]span // what NOTIFY told, by frame, in order
	Written  map[int][]span // what remote writes changed, if the network interface is in Go
	Muted    bool           // NOTIFY was off all the time
	Gaps     bool           // NOTIFY was off for a time, or some were lost
	Unsure   int            // a frame whose writes depend on time, -1 for none
	Counts   []Counts       // of each port, what its counters counted

	events []event // cases that came up by themselves
	judged []event // what became of packets, if the network interface is in Go
}

func (t *Transcript) hit(point, bin string) { t.events = append(t.events, event{point, bin}) }

// Counts is what the counters of a port counted in a round.
type Counts [linkproto.NumCounters]uint32

func newTranscript(round int, kind stimulus.Kind) *Transcript {
	return &Transcript{Round: round, Kind: kind, Lanes: map[string][]string{}, Unsure: -1,
		Notified: map[int][]span{}, Written: map[int][]span{}}
}

func (t *Transcript) line(lane, format string, args ...any) {
	t.Lanes[lane] = append(t.Lanes[lane], fmt.Sprintf(format, args...))
}

// unknown ends a line whose rest this world cannot tell, or which may be anything.
const unknown = "(unknown)"

func sameLine(a, b string) bool {
	if a == b {
		return true
	}
	before, _, lost := strings.Cut(a, unknown)
	if !lost {
		before, _, lost = strings.Cut(b, unknown)
	}
	return lost && strings.HasPrefix(a, before) && strings.HasPrefix(b, before)
}

// Difference is the first place where two transcripts of a round differ.
type Difference struct {
	Round      int
	Kind       stimulus.Kind
	Lane       string
	Line       int
	Have, Want []string // the lines about it, of what was tested and of the reference
}

// Error shows the lines of both.
func (d *Difference) Error() string {
	var s strings.Builder
	fmt.Fprintf(&s, "round %d (%v), lane %q: line %d differs\n", d.Round, d.Kind, d.Lane, d.Line)
	for _, side := range []struct {
		name  string
		lines []string
	}{{"the RTL", d.Have}, {"the model", d.Want}} {
		fmt.Fprintf(&s, "%s:\n", side.name)
		for _, l := range side.lines {
			fmt.Fprintf(&s, "  %s\n", l)
		}
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// around is how many lines before the difference are shown.
const around = 6

// Compare returns an error, a *Difference if there is one, unless the transcript of a round agrees with that of a model, and both with
// what the model has written.
func Compare(have, want *Transcript) error {
	lanes := slices.Sorted(maps.Keys(have.Lanes))
	for _, lane := range slices.Sorted(maps.Keys(want.Lanes)) {
		if !slices.Contains(lanes, lane) {
			lanes = append(lanes, lane)
		}
	}
	for _, lane := range lanes {
		a, b := have.Lanes[lane], want.Lanes[lane]
		for i := range max(len(a), len(b)) {
			if i < len(a) && i < len(b) && sameLine(a[i], b[i]) {
				continue
			}
			return &Difference{have.Round, have.Kind, lane, i, excerpt(a, i), excerpt(b, i)}
		}
	}
	if at := firstDifference(have.Buffer, want.Buffer); at >= 0 {
		show := func(b []byte) []string {
			from := max(at-8, 0)
			return []string{fmt.Sprintf("from %#x: % x", from, b[from:min(at+24, len(b))])}
		}
		return &Difference{have.Round, have.Kind, "receive buffer", at, show(have.Buffer), show(want.Buffer)}
	}
	return errors.Join(checkNotes(have, want.Written), checkNotes(want, want.Written))
}

func firstDifference(a, b []byte) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

func excerpt(lines []string, at int) []string {
	var out []string
	for i := max(at-around, 0); i < min(at+3, len(lines)); i++ {
		mark := "  "
		if i == at {
			mark = "> "
		}
		out = append(out, mark+lines[i])
	}
	if at >= len(lines) {
		out = append(out, "> (nothing)")
	}
	return out
}

// show describes a packet in one line.
func show(raw []byte) string {
	var p linkproto.Packet
	err := p.Decode(raw)
	s := fmt.Sprint(p.Type)
	if p.Via != 0 {
		s += fmt.Sprintf(" via %d", p.Via)
	}
	if err != nil {
		return fmt.Sprintf("%s (malformed) %s", s, showBytes(raw))
	}
	for _, f := range p.Type.Info().Fields {
		s += map[linkproto.FieldID]string{
			linkproto.FieldTag: fmt.Sprintf(" tag %#02x", p.Tag), linkproto.FieldAddr: fmt.Sprintf(" addr %#x", p.Addr),
			linkproto.FieldReg: fmt.Sprintf(" reg %#x", uint16(p.Reg)), linkproto.FieldValue: fmt.Sprintf(" value %#x", p.Value),
			linkproto.FieldCount: fmt.Sprintf(" count %d", p.Count), linkproto.FieldStatus: " " + p.Status.String(),
			linkproto.FieldFrame: fmt.Sprintf(" frame %d", p.Frame), linkproto.FieldPort: fmt.Sprintf(" port %#x", p.Port),
			linkproto.FieldFirst: fmt.Sprintf(" first %d", p.First), linkproto.FieldLast: fmt.Sprintf(" last %d", p.Last),
			linkproto.FieldBytes: fmt.Sprintf(" bytes %d", p.Bytes), linkproto.FieldPackets: fmt.Sprintf(" packets %d", p.Packets),
			linkproto.FieldData: " " + showBytes(p.Data),
		}[f.ID]
	}
	return s
}

// showBytes shows a few bytes, and the check value of many.
func showBytes(b []byte) string {
	const most = 12
	if len(b) <= most {
		return fmt.Sprintf("[%s]", bytes.TrimSpace(fmt.Appendf(nil, "% x", b)))
	}
	return fmt.Sprintf("[% x … %d bytes, CRC-32 %08x]", b[:most], len(b), crc32.ChecksumIEEE(b))
}
