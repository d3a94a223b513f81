package testbench

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/stafflink/lmmc/verilator"
)

// Transactions records what a part of the design or of the bench does above the level of signals: the writes of a bus, the packets
// of a link. A wave shows them as texts beside the signals, in a scope "transactions": each while it lasts, those that overlap in lanes of
// their own; Bench.Transcribe writes them down. Of an instance that leaves no wave and a bench without transcripts nothing is kept.
type Transactions struct {
	i     *Instance
	name  string
	lanes []*lane
}

// lane shows one transaction at a time.
type lane struct {
	busy  bool
	texts []verilator.Text
}

// Transaction is something that takes time.
type Transaction struct {
	of     *Transactions
	lane   int
	record Record
	ended  bool
}

// Record is what a transcript says of a transaction.
type Record struct {
	Lane  string  `json:"lane"`
	Name  string  `json:"name"`
	Begin Instant `json:"begin"`
	End   Instant `json:"end"`
	// Fields are pairs of a name and a value, in the order given.
	Fields []Attribute `json:"fields,omitempty"`
}

// Instant is a time, in the unit of Config.Period, and how often the main clock had risen then.
type Instant struct {
	Time  uint64 `json:"time"`
	Cycle uint64 `json:"cycle"`
}

// Attribute is a property of a transaction.
type Attribute struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// Transactions returns the instance's transactions of a name, as "axi.write".
func (i *Instance) Transactions(name string) *Transactions {
	for _, t := range i.transactions {
		if t.name == name {
			return t
		}
	}
	t := &Transactions{i: i, name: name}
	i.transactions = append(i.transactions, t)
	return t
}

// Begin begins a transaction now. Fields are pairs of a name and a value, as those of slog; what has methods String or MarshalText prints by them.
func (t *Transactions) Begin(name string, fields ...any) *Transaction {
	b := t.i.bench
	x := &Transaction{of: t, lane: -1, record: Record{Lane: t.name, Name: name, Begin: b.instant(), Fields: attributes(fields)}}
	if !t.i.recorded {
		return x
	}
	for n, lane := range t.lanes {
		if !lane.busy {
			x.lane = n
			break
		}
	}
	if x.lane < 0 {
		x.lane = len(t.lanes)
		t.lanes = append(t.lanes, new(lane))
	}
	t.lanes[x.lane].busy = true
	t.say(x, x.record.text())
	return x
}

// Add gives the transaction more fields, as what its answer was.
func (x *Transaction) Add(fields ...any) {
	x.record.Fields = append(x.record.Fields, attributes(fields)...)
	x.of.say(x, x.record.text())
}

// End ends the transaction now. To end it again changes nothing.
func (x *Transaction) End() {
	if x.ended {
		return
	}
	x.ended = true
	x.of.say(x, "")
	if x.lane >= 0 {
		x.of.lanes[x.lane].busy = false
	}
	b := x.of.i.bench
	x.record.End = b.instant()
	for _, write := range b.transcripts {
		if err := write(&x.record); err != nil {
			b.Errorf("testbench: transcript: %w", err)
		}
	}
}

func (b *Bench) instant() Instant { return Instant{b.Time(), b.Cycle()} }

// say changes the text of a transaction's lane.
func (t *Transactions) say(x *Transaction, text string) {
	if x.lane < 0 {
		return
	}
	l, now := t.lanes[x.lane], t.i.bench.Time()
	if len(l.texts) == cap(l.texts) {
		l.forget(now - min(now, t.i.bench.waveLength()))
	}
	l.texts = append(l.texts, verilator.Text{Time: now, Text: text})
}

// forget drops texts that a wave from that time on does not show.
func (l *lane) forget(before uint64) {
	n := 0
	for n+1 < len(l.texts) && l.texts[n+1].Time <= before {
		n++
	}
	if n > len(l.texts)/2 {
		l.texts = append(l.texts[:0], l.texts[n:]...)
	}
}

// waveLength is the longest stretch that a wave shows: two intervals of the recorder and the one that has begun.
func (b *Bench) waveLength() uint64 { return 3 * b.config.WaveCycles * b.config.Period }

// laneTexts returns the texts of an instance's transactions.
func (i *Instance) laneTexts() (lanes []verilator.Lane) {
	for _, t := range i.transactions {
		for n, l := range t.lanes {
			name := t.name
			if n > 0 {
				name += fmt.Sprintf("#%d", n+1)
			}
			lanes = append(lanes, verilator.Lane{Name: strings.ReplaceAll(name, " ", "_"), Changes: l.texts})
		}
	}
	return lanes
}

// Transcript is a way to write transactions down, a line each, when they end.
type Transcript int

const (
	// Text is "time 120 to 150, cycles 12 to 15: axi: write addr=0x40".
	Text Transcript = iota
	// JSON is a Record as JSON.
	JSON
)

// Transcribe writes transactions that end from now on. An error of the writer fails the bench.
func (b *Bench) Transcribe(w io.Writer, as Transcript) {
	write := func(r *Record) error {
		_, err := fmt.Fprintf(w, "time %d to %d, cycles %d to %d: %s: %s\n", r.Begin.Time, r.End.Time, r.Begin.Cycle, r.End.Cycle, r.Lane, r.text())
		return err
	}
	if as == JSON {
		encoder := json.NewEncoder(w)
		write = func(r *Record) error { return encoder.Encode(r) }
	}
	b.transcripts = append(b.transcripts, write)
}

// text is a record's name and fields.
func (r *Record) text() string {
	var s strings.Builder
	s.WriteString(r.Name)
	for _, f := range r.Fields {
		fmt.Fprintf(&s, " %s=%v", f.Key, f.Value)
	}
	return s.String()
}

// Hex is a number that prints in hexadecimal.
type Hex uint64

func (h Hex) String() string { return fmt.Sprintf("%#x", uint64(h)) }

// attributes makes pairs of a list, as slog does: a value without a name is called "!".
func attributes(fields []any) (pairs []Attribute) {
	for len(fields) > 0 {
		key, named := fields[0].(string)
		if !named || len(fields) == 1 {
			pairs, fields = append(pairs, Attribute{"!", fields[0]}), fields[1:]
			continue
		}
		pairs, fields = append(pairs, Attribute{cmp.Or(key, "!"), fields[1]}), fields[2:]
	}
	return pairs
}
