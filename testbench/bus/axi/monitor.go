package axi

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// Rules of the handshake and of answers, by sections of IHI 0022E, as Violation.Rule and Config.Waive name them. RuleStall is of Config.
const (
	// RuleValid: once valid is 1, it stays until ready has taken the transfer.
	RuleValid = "AXI A3.2.1 valid"
	// RuleStable: nothing else of the channel changes meanwhile.
	RuleStable = "AXI A3.2.1 stable"
	// RuleReset: valid is 0 in reset and at the first edge after it.
	RuleReset = "AXI A3.1.2"
	// RuleResponse: an answer comes after the address, and that of a write after its last data, with the ID of a transaction under way.
	RuleResponse = "AXI A3.3.1"
	// RuleLast: WLAST and RLAST come with the last transfer, and with no other.
	RuleLast = "AXI A3.4.1 last"
	// RuleStrobes: WSTRB is 0 for lanes that the transfer does not use.
	RuleStrobes = "AXI A3.4.3"
	// RuleExOkay: EXOKAY answers an exclusive access only, and none of AXI4-Lite.
	RuleExOkay = "AXI A7.2"
	RuleStall  = "MaxStall"
)

// Monitor checks a bus, whoever drives it, and puts its transactions together.
type Monitor struct {
	*layout
	watches  [5]*verilator.Watch
	next     [5]verilator.Event
	rows     [5][]uint64 // with next
	have     [5]bool
	writes   []*Transaction // whose data have not ended
	data     []beat         // of writes whose address has not come
	answers  map[uint64][]*Transaction
	reads    map[uint64][]*Transaction
	open     int
	ended    uint64
	beats    uint64
	coverage *coverage
}

// beat is a transfer of W that has come before its address.
type beat struct {
	row  []uint64
	edge uint64
	last bool
}

// NewMonitor watches the bus of the ports with a prefix, of which the design may be slave or master.
func NewMonitor(bench *testbench.Bench, prefix string, c Config) (*Monitor, error) {
	l, err := open(bench, prefix, c, true)
	if errors.Is(err, verilator.ErrPort) {
		if out, other := open(bench, prefix, c, false); other == nil {
			l, err = out, nil
		}
	}
	if err != nil {
		return nil, err
	}
	m := &Monitor{layout: l, answers: map[uint64][]*Transaction{}, reads: map[uint64][]*Transaction{}}
	if c.Coverage != nil {
		m.coverage = newCoverage(c.Coverage, l)
		bench.Cover(c.Coverage)
	}
	for i := range l.channels {
		if m.watches[i], err = l.Instance.Watch(l.channels[i].Channel, c.TooLong(c.MaxStall), func(*verilator.Watch) { m.read() }); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Port, err)
		}
		m.rows[i] = make([]uint64, len(l.channels[i].row))
	}
	return m, nil
}

// Outstanding is how many transactions have begun and not ended.
func (m *Monitor) Outstanding() int { return m.open }

// Transactions is how many have ended.
func (m *Monitor) Transactions() uint64 { return m.ended }

// Beats is how many transfers of data have moved, on both channels.
func (m *Monitor) Beats() uint64 { return m.beats }

// order is that of channels at one edge: what answers comes before what is asked, since an answer needs an earlier edge.
var order = [5]int{b, r, aw, ar, w}

// read takes the events of all channels in the order of their edges.
func (m *Monitor) read() {
	for {
		first := -1
		for _, i := range order {
			if !m.have[i] && m.watches[i] != nil {
				m.next[i], m.have[i] = m.watches[i].Next(m.rows[i][1:])
			}
			if m.have[i] && (first < 0 || m.next[i].Cycle < m.next[first].Cycle) {
				first = i
			}
		}
		if first < 0 {
			return
		}
		m.have[first] = false
		c := &m.channels[first]
		copy(c.row, m.rows[first])
		m.see(first, c, m.next[first])
	}
}

func (m *Monitor) see(i int, c *channel, e verilator.Event) {
	name := strings.ToUpper(c.name)
	switch e.Seen {
	case verilator.Moved:
		c.row[0] = e.Data
		m.moved(i, c, e)
	case verilator.InReset:
		m.writes, m.data, m.open = nil, nil, 0
		clear(m.answers)
		clear(m.reads)
	case verilator.Withdrawn:
		m.ViolateAt(e.Cycle, RuleValid, "%sVALID was withdrawn before %sREADY took the transfer", name, name)
	case verilator.Altered:
		m.ViolateAt(e.Cycle, RuleStable, "%s changed while the transfer waited for %sREADY", c.field(e.Data), name)
	case verilator.ValidInReset:
		m.ViolateAt(e.Cycle, RuleReset, "%sVALID is 1 in reset or at the first edge after it", name)
	case verilator.Stalled:
		m.ViolateAt(e.Cycle, RuleStall, "%sREADY has not come for more than %d cycles", name, m.config.MaxStall)
	}
}

// field returns what the i-th field of a watch's event is called: 0 and from 2 on words of the row, 1 last.
func (c *channel) field(i uint64) string {
	switch {
	case i == 1:
		return strings.ToUpper(c.name) + "LAST"
	case i > 1:
		i--
	}
	return strings.ToUpper(c.names[i])
}

func (m *Monitor) moved(i int, c *channel, e verilator.Event) {
	if m.coverage != nil {
		m.coverage.stall[i].Sample(int64(e.Waited))
	}
	switch i {
	case aw, ar:
		m.asked(i == aw, c, e)
	case w:
		m.beats++
		if len(m.writes) == 0 {
			m.data = append(m.data, beat{append([]uint64(nil), c.row...), e.Cycle, e.Last})
			return
		}
		m.wrote(e.Cycle, e.Last)
	case b:
		key := c.value(bID)
		t := first(m.answers, key)
		if t == nil || t.End > e.Cycle-e.Waited-1 {
			m.ViolateAt(e.Cycle, RuleResponse, "BVALID with ID %d, and no write of it has its address and last data", key)
			if t == nil {
				return
			}
		}
		remove(m.answers, key)
		t.Resp, t.RespUser = Resp(c.value(bResp)), c.value(bUser)
		m.end(t, e.Cycle)
	case r:
		m.beats++
		m.answered(c, e)
	}
}

// asked takes an address.
func (m *Monitor) asked(write bool, c *channel, e verilator.Event) {
	t := m.addressed(c, write, e.Cycle)
	m.open++
	if rule, how := t.breaks(m.size); rule != "" {
		m.ViolateAt(e.Cycle, rule, "%s: %s", strings.ToUpper(c.name), how)
		t.Size, t.Burst = min(t.Size, m.size), t.Burst%ReservedBurst
	}
	if m.coverage != nil {
		m.coverage.address(t, m)
	}
	if !write {
		t.Data = make([]byte, 0, t.Len<<t.Size)
		m.reads[t.ID] = append(m.reads[t.ID], t)
		return
	}
	m.writes = append(m.writes, t)
	for len(m.data) > 0 && len(m.writes) > 0 {
		early := m.data[0]
		m.data = m.data[1:]
		copy(m.channels[w].row, early.row)
		m.wrote(early.edge, early.last)
	}
}

// wrote takes data of the oldest write.
func (m *Monitor) wrote(edge uint64, last bool) {
	t := m.writes[0]
	n := len(t.Data) >> t.Size
	m.strobes(t, n, edge)
	m.written(t, n)
	n++
	last = last || m.lite
	if last != (n == t.Len) {
		m.ViolateAt(edge, RuleLast, "WLAST is %d with transfer %d of %s", truth(last), n, t)
	}
	if n < t.Len {
		return
	}
	m.writes = m.writes[1:]
	t.End = max(edge, t.Begin) // of what is asked, for now
	m.answers[t.ID] = append(m.answers[t.ID], t)
}

// strobes checks WSTRB of the i-th transfer.
func (m *Monitor) strobes(t *Transaction, i int, edge uint64) {
	c := &m.channels[w]
	if !c.has(wStrb) || i >= t.Len {
		return
	}
	from := int(t.at(i) % uint64(m.bytes))
	end := int(t.container(i)%uint64(m.bytes)) + 1<<t.Size
	if m.lite {
		from = 0 // a slave may look at whole words only
	}
	for k, word := range c.words(wStrb) {
		low, high := min(max(from-64*k, 0), 64), min(max(end-64*k, 0), 64)
		may := ^uint64(0) << low & (^uint64(0) >> (64 - high))
		if low == 64 || high == 0 {
			may = 0
		}
		if wrong := word &^ may; wrong != 0 {
			m.ViolateAt(edge, RuleStrobes, "WSTRB of transfer %d of %s is %#x, and bytes %d to %d are its own", i+1, t, word, from, end-1)
			return
		}
	}
}

// answered takes data of a read.
func (m *Monitor) answered(c *channel, e verilator.Event) {
	key := c.value(rID)
	t := first(m.reads, key)
	if t == nil || t.Begin > e.Cycle-e.Waited-1 {
		m.ViolateAt(e.Cycle, RuleResponse, "RVALID with ID %d, and no read of it has been asked for", key)
		if t == nil {
			return
		}
	}
	n := len(t.Data) >> t.Size
	m.layout.read(t, n)
	n++
	last := e.Last || m.lite
	if last != (n == t.Len) {
		m.ViolateAt(e.Cycle, RuleLast, "RLAST is %d with transfer %d of %s", truth(last), n, t)
	}
	if n == t.Len {
		remove(m.reads, key)
		m.end(t, e.Cycle)
	}
}

func (m *Monitor) end(t *Transaction, edge uint64) {
	t.End = edge
	m.open--
	m.ended++
	if t.Resp == ExOkay && !t.Lock {
		m.ViolateAt(edge, RuleExOkay, "EXOKAY for %s, which is not exclusive", t)
	}
	if m.coverage != nil {
		m.coverage.response(t)
	}
	if m.config.Ended != nil {
		m.config.Ended(t)
	}
}

func first(open map[uint64][]*Transaction, key uint64) *Transaction {
	if q := open[key]; len(q) > 0 {
		return q[0]
	}
	return nil
}

func remove(open map[uint64][]*Transaction, key uint64) {
	q := open[key]
	copy(q, q[1:])
	open[key] = q[:len(q)-1]
}
