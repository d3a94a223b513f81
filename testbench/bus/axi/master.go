package axi

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/verilator"
)

// depth is how many transfers of a channel fit between Go and the design.
const depth = 1024

// Master drives a design that is a slave. Its method SetThrottle makes it what testbench.RandomStall acts on.
type Master struct {
	throttles
	*layout
	aw, w, ar *verilator.Source
	b, r      *verilator.Sink
	writes    map[uint64][]*Pending // by ID
	reads     map[uint64][]*Pending
	lasts     uint64 // reads that have ended
	ends      uint64 // transactions that have
	starts    uint64 // transactions that were queued
	onReset   []verilator.Until
}

// NewMaster drives the bus of the ports with a prefix.
func NewMaster(bench *testbench.Bench, prefix string, c Config) (*Master, error) {
	l, err := open(bench, prefix, c, true)
	if err != nil {
		return nil, err
	}
	m := &Master{layout: l, writes: map[uint64][]*Pending{}, reads: map[uint64][]*Pending{}}
	for i, to := range map[int]**verilator.Source{aw: &m.aw, w: &m.w, ar: &m.ar} {
		if *to, err = l.source(i, depth); err != nil {
			return nil, err
		}
	}
	for i, to := range map[int]**verilator.Sink{b: &m.b, r: &m.r} {
		if *to, err = l.sink(i, 4*depth); err != nil {
			return nil, err
		}
	}
	m.throttles = throttles{m.aw, m.w, m.ar, m.b, m.r}
	m.onReset = l.UntilReset()
	l.OnReset(m.reset)
	return m, nil
}

// Pending is a transaction that a Master has been told to do.
type Pending struct {
	Transaction
	m     *Master
	start uint64
	done  bool
	reset bool
}

// Err returns what the response means, or bus.ErrReset.
func (p *Pending) Err() error {
	if p.reset {
		return fmt.Errorf("%s: %w", &p.Transaction, bus.ErrReset)
	}
	return p.Transaction.Err()
}

// Done reports whether it has ended.
func (p *Pending) Done() bool {
	p.m.collect()
	return p.done
}

// Wait waits until it has ended, and returns what its response means, or bus.ErrReset for one that had begun when the reset acted.
func (p *Pending) Wait(c *testbench.Task) error {
	m := p.m
	for m.collect(); !p.done; {
		hint := m.b.Has(1)
		if !p.Write {
			hint = m.r.Has(1)
			if !m.lite {
				hint = m.r.Ended(m.lasts + 1)
			}
		}
		ends := m.ends // the hint is good for one more
		c.Await("the end of a transaction on "+m.Port.String(), hint, func() bool {
			m.collect()
			return m.ends != ends
		}, m.onReset...)
	}
	return p.Err()
}

// Start queues a transaction; it waits while there is no room. The Master keeps Data and Strobe of a write until they are queued, and sets Data of a read.
// One that breaks the rules, or that the bus cannot carry, fails the bench.
func (m *Master) Start(c *testbench.Task, t Transaction) *Pending {
	t.Len = max(t.Len, 1)
	if err := m.carries(&t); err != nil {
		c.Fatalf("%s: %w", m.Port, err)
	}
	p := &Pending{Transaction: t, m: m}
	address, to, waiting := &m.channels[ar], m.ar, m.reads
	if t.Write {
		address, to, waiting = &m.channels[aw], m.aw, m.writes
	} else {
		p.Data, p.DataUser = make([]byte, 0, t.Len<<t.Size), nil
	}
	m.room(c, to, &t)
	p.start = m.starts
	m.starts++
	m.address(address, &t)
	address.put(to, false)
	waiting[t.ID] = append(waiting[t.ID], p)
	for i := 0; t.Write && i < t.Len; i++ {
		m.wdata(&t, i)
		m.channels[w].put(m.w, i == t.Len-1)
	}
	return p
}

// room waits for room for all of a transaction, so that no other one comes in between, and one that is given up meanwhile leaves nothing behind.
func (m *Master) room(c *testbench.Task, address *verilator.Source, t *Transaction) {
	for {
		full := address
		switch {
		case address.Room() == 0:
		case t.Write && m.w.Room() < t.Len:
			full = m.w
		default:
			return
		}
		c.Await("room for a transaction on "+m.Port.String(), full.HasRoom(depth/2), func() bool { return full.Room() >= depth/2 })
	}
}

// carries refuses what the bus cannot carry, and what breaks its rules.
func (m *Master) carries(t *Transaction) error {
	address := &m.channels[ar]
	if t.Write {
		address = &m.channels[aw]
	}
	most := 256
	if m.lite {
		most = 1
		if t.Size != m.size || t.Burst != Incr || t.Lock {
			return fmt.Errorf("%w: %s: AXI4-Lite has transfers of %d bytes, no bursts and no exclusive accesses", ErrTransaction, t, m.bytes)
		}
	}
	if t.Len > most || t.Size < 0 || t.Size > 7 {
		return fmt.Errorf("%w: %s: want 1 to %d transfers of 1 to %d bytes", ErrTransaction, t, most, m.bytes)
	}
	if rule, how := t.breaks(m.size); rule != "" && !m.config.Unchecked {
		return fmt.Errorf("%w: %s (%s); Config.Unchecked sends it", ErrTransaction, how, rule)
	} else if t.Size > m.size && t.Write {
		return fmt.Errorf("%w: %s: the bus has %d bytes", ErrTransaction, t, m.bytes)
	}
	for k, v := range [addressSignals]uint64{addr: t.Addr, id: t.ID, lock: truth(t.Lock), cache: t.Cache, prot: t.Prot, qos: t.QoS, region: t.Region, user: t.User} {
		if s := address.signals[k]; s.width < 64 && v>>s.width != 0 {
			return fmt.Errorf("%w: %s: %#x in %s%s of %d bits", ErrWidth, t, v, address.name, addressNames[k], s.width)
		}
	}
	if !t.Write {
		return nil
	}
	if t.DataUser != nil && len(t.DataUser) != t.Len {
		return fmt.Errorf("%w: %s: DataUser has %d values: want %d, or none", ErrTransaction, t, len(t.DataUser), t.Len)
	}
	if err := m.channels[w].users(wUser, t, t.DataUser...); err != nil {
		return err
	}
	n := t.Len << t.Size
	if len(t.Data) != n || t.Strobe != nil && len(t.Strobe) != (n+7)/8 {
		return fmt.Errorf("%w: %s: Data has %d bytes and Strobe %d: want %d, and %d or none", ErrTransaction, t, len(t.Data), len(t.Strobe), n, (n+7)/8)
	}
	if !m.channels[w].has(wStrb) && (t.Strobe != nil || t.Size != m.size || t.below(0) != 0) {
		return fmt.Errorf("%w: %s: without WSTRB whole words are written", ErrTransaction, t)
	}
	return nil
}

// collect takes what has come.
func (m *Master) collect() {
	for {
		beat, ok := m.channels[b].get(m.b)
		if !ok {
			break
		}
		c := &m.channels[b]
		if p := m.oldest(m.writes, c.value(bID), beat.Cycle); p != nil {
			p.Resp, p.RespUser, p.End, p.done = Resp(c.value(bResp)), c.value(bUser), beat.Cycle, true
			m.retire(m.writes, c.value(bID))
			m.ends++
		}
	}
	for {
		beat, ok := m.channels[r].get(m.r)
		if !ok {
			return
		}
		last := beat.Last || m.lite
		if last {
			m.lasts++
		}
		key := m.channels[r].value(rID)
		p := m.oldest(m.reads, key, beat.Cycle)
		if p == nil {
			continue
		}
		if n := len(p.Data) >> p.Size; p.Size > m.size { // as only Config.Unchecked asks for
			p.Resp = max(p.Resp, Resp(m.channels[r].value(rResp)))
		} else if n < p.Len {
			m.read(&p.Transaction, n)
			if n++; last != (n == p.Len) {
				m.ViolateAt(beat.Cycle, RuleLast, "RLAST is %d with transfer %d of %s", truth(last), n, &p.Transaction)
			}
		}
		if last {
			p.End, p.done = beat.Cycle, true
			m.retire(m.reads, key)
			m.ends++
		}
	}
}

// reset ends the transactions that have begun, and drops what is left of them.
func (m *Master) reset() {
	m.collect()
	addresses, data := m.begun(m.writes, m.aw.Pending(), m.w.Pending())
	m.aw.Discard(addresses)
	m.w.Discard(data)
	m.begun(m.reads, m.ar.Pending(), 0)
}

// begun ends those transactions of which an address or data have been taken. It returns how many of the addresses and data that are left belong to them.
func (m *Master) begun(waiting map[uint64][]*Pending, addresses, data int) (int, int) {
	var all []*Pending
	for _, q := range waiting {
		all = append(all, q...)
	}
	slices.SortFunc(all, func(a, b *Pending) int { return cmp.Compare(b.start, a.start) }) // the last one first
	n := 0
	for ; n < len(all) && addresses > 0 && (!all[n].Write || data >= all[n].Len); n++ {
		addresses--
		if all[n].Write {
			data -= all[n].Len
		}
	}
	for _, p := range all[n:] {
		p.reset, p.done, p.End = true, true, m.Clock.Cycles()
		m.ends++
	}
	for key, q := range waiting {
		waiting[key] = slices.DeleteFunc(q, func(p *Pending) bool { return p.done })
	}
	return addresses, data
}

func (m *Master) oldest(waiting map[uint64][]*Pending, key, edge uint64) *Pending {
	if q := waiting[key]; len(q) > 0 {
		return q[0]
	}
	m.ViolateAt(edge, RuleResponse, "a response with ID %d, which no transaction has that is under way", key)
	return nil
}

func (m *Master) retire(waiting map[uint64][]*Pending, key uint64) {
	q := waiting[key]
	copy(q, q[1:])
	waiting[key] = q[:len(q)-1]
}

// Write writes bytes at any address, in bursts (INCR) of ID 0, and waits for their end.
func (m *Master) Write(c *testbench.Task, address uint64, p []byte) error {
	return m.bursts(c, address, p, true)
}

// Read fills p with what stands at any address and after, in bursts (INCR) of ID 0.
func (m *Master) Read(c *testbench.Task, address uint64, p []byte) error {
	return m.bursts(c, address, p, false)
}

func (m *Master) bursts(c *testbench.Task, address uint64, p []byte, write bool) error {
	most := cmp.Or(m.config.MaxBurst, 256)
	if m.lite {
		most = 1
	}
	var all []*Pending
	var ends []int // where the bytes of each end in p
	for at := 0; at < len(p); {
		from := address + uint64(at)
		below := int(from % uint64(m.bytes))
		n := min(len(p)-at, most*m.bytes-below, 4096-int(from%4096))
		beats := (below + n + m.bytes - 1) / m.bytes
		t := Transaction{Write: write, Addr: from, Len: beats, Size: m.size}
		if m.lite {
			t.Addr -= uint64(below) // slaves need not look at the low bits
		}
		if write {
			t.Data = make([]byte, beats*m.bytes)
			copy(t.Data[below:], p[at:at+n])
			if below > 0 || n%m.bytes != 0 {
				t.Strobe = make([]byte, (len(t.Data)+7)/8)
				for k := below; k < below+n; k++ {
					t.Strobe[k/8] |= 1 << (k % 8)
				}
			}
		}
		at += n
		all, ends = append(all, m.Start(c, t)), append(ends, at)
	}
	var first error
	at := 0
	for i, t := range all {
		if err := t.Wait(c); err != nil && first == nil {
			first = err
		}
		if !write {
			below := int((address + uint64(at)) % uint64(m.bytes))
			copy(p[at:ends[i]], t.Data[min(below, len(t.Data)):])
		}
		at = ends[i]
	}
	return first
}
