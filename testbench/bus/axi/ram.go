package axi

import (
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus"
	"github.com/stafflink/lmmc/testbench/bus/memory"
	"github.com/stafflink/lmmc/verilator"
)

// RAM is a slave in front of a memory, for a design that is a master. It answers DECERR beyond the memory's bounds and SLVERR where the memory gives another
// error. It serves exclusive accesses (section A7.2). Its method SetThrottle makes it what testbench.RandomStall acts on.
type RAM struct {
	throttles
	*layout
	target       bus.Target
	aw, w, ar    *verilator.Sink
	b, r         *verilator.Source
	rand         *testbench.Rand
	reservations map[uint64]stretch // by ID
	lasts        uint64             // writes whose data were taken
	resets       uint64
}

// stretch is what an exclusive read has reserved.
type stretch struct{ addr, bytes uint64 }

// NewRAM answers on the bus of the ports with a prefix, out of a memory.
func NewRAM(bench *testbench.Bench, prefix string, target bus.Target, c Config) (*RAM, error) {
	l, err := open(bench, prefix, c, false)
	if err != nil {
		return nil, err
	}
	m := &RAM{layout: l, target: target, rand: bench.Rand("axi.ram." + l.Port.String()), reservations: map[uint64]stretch{}}
	for i, to := range map[int]**verilator.Sink{aw: &m.aw, w: &m.w, ar: &m.ar} {
		if *to, err = l.sink(i, depth); err != nil {
			return nil, err
		}
	}
	answers := depth
	if c.Reorder {
		answers = 4 // so that requests come together, from which to choose
	}
	for i, to := range map[int]**verilator.Source{b: &m.b, r: &m.r} {
		if *to, err = l.source(i, answers); err != nil {
			return nil, err
		}
	}
	m.throttles = throttles{m.aw, m.w, m.ar, m.b, m.r}
	l.OnReset(m.reset)
	bench.Background("reads of "+l.Port.String(), m.serveReads)
	bench.Background("writes of "+l.Port.String(), m.serveWrites)
	return m, nil
}

// reset drops all that is under way; serveReads and serveWrites begin anew.
func (m *RAM) reset() {
	m.resets++
	for _, s := range []*verilator.Sink{m.aw, m.w, m.ar} {
		s.Discard()
	}
	for _, s := range []*verilator.Source{m.b, m.r} {
		s.Discard(s.Pending())
	}
	m.lasts = m.w.Frames()
	clear(m.reservations)
}

// choose returns one of the oldest of each ID.
func (m *RAM) choose(open []*Transaction) int {
	if !m.config.Reorder || len(open) < 2 {
		return 0
	}
	var oldest []int
	for i, t := range open {
		first := true
		for _, earlier := range open[:i] {
			first = first && earlier.ID != t.ID
		}
		if first {
			oldest = append(oldest, i)
		}
	}
	return oldest[m.rand.IntN(len(oldest))]
}

func (m *RAM) serveReads(c *testbench.Task) {
	for {
		m.readsUntilReset(c)
	}
}

func (m *RAM) readsUntilReset(c *testbench.Task) {
	var open []*Transaction
	next := map[*Transaction]int{}
	resets := m.resets
	for {
		if len(open) == 0 {
			c.Await("a read on "+m.Port.String(), m.ar.Has(1), func() bool { return m.ar.Len() > 0 })
			resets = m.resets
		}
		for {
			beat, ok := m.channels[ar].get(m.ar)
			if !ok {
				break
			}
			open = append(open, m.addressed(&m.channels[ar], false, beat.Cycle))
		}
		k := m.choose(open)
		t := open[k]
		if next[t] == 0 {
			m.fetch(t)
		}
		for i := next[t]; i < t.Len; i++ {
			if m.r.Room() == 0 {
				c.Await("room for data on "+m.Port.String(), m.r.HasRoom(1), func() bool { return m.r.Room() > 0 })
				if resets != m.resets {
					return
				}
			}
			m.rdata(t, i)
			m.channels[r].put(m.r, i == t.Len-1)
			next[t] = i + 1
			if m.config.Reorder && m.rand.Chance(0.3) {
				break // another may come in between
			}
		}
		if next[t] == t.Len {
			delete(next, t)
			open = append(open[:k], open[k+1:]...)
		}
	}
}

// fetch reads what a transaction asks for.
func (m *RAM) fetch(t *Transaction) {
	if m.tooLarge(t) {
		t.Size = m.size // of what is answered
	}
	t.Data = make([]byte, t.Len<<t.Size)
	if t.Resp != Okay || m.refused(t) {
		return
	}
	for from, n := 0, 0; from < t.Len; from += n {
		n = m.run(t, from)
		if err := m.target.Read(t.container(from), t.Data[from<<t.Size:(from+n)<<t.Size]); err != nil {
			t.Resp = max(t.Resp, respond(err))
		}
	}
	if t.Lock && t.Resp == Okay {
		t.Resp = ExOkay
		m.reservations[t.ID] = stretch{t.Addr, uint64(t.Len) << t.Size}
	}
}

// tooLarge refuses transfers of more bytes than the bus has, which break the rules: monitors say so.
func (m *RAM) tooLarge(t *Transaction) bool {
	if t.Size <= m.size {
		return false
	}
	t.Resp = SlvErr
	return true
}

// run returns how many transfers from one on have addresses in a row.
func (m *RAM) run(t *Transaction, from int) int {
	n := 1
	if t.Burst == Fixed {
		return n
	}
	for from+n < t.Len && t.container(from+n) == t.container(from)+uint64(n)<<t.Size {
		n++
		if t.Burst == Incr {
			return t.Len - from
		}
	}
	return n
}

// refused lets Config.Respond answer.
func (m *RAM) refused(t *Transaction) bool {
	if m.config.Respond == nil {
		return false
	}
	t.Resp = m.config.Respond(t)
	err := m.channels[b].users(bUser, t, t.RespUser)
	if !t.Write {
		if t.DataUser != nil && len(t.DataUser) != t.Len {
			err = fmt.Errorf("%w: %s: DataUser has %d values: want %d, or none", ErrTransaction, t, len(t.DataUser), t.Len)
			t.DataUser = nil
		} else {
			err = m.channels[r].users(rUser, t, t.DataUser...)
		}
	}
	if err != nil {
		m.Bench.Errorf("%s: Config.Respond: %w", m.Port, err)
	}
	return t.Resp > ExOkay
}

func respond(err error) Resp {
	if errors.Is(err, memory.ErrBounds) {
		return DecErr
	}
	return SlvErr
}

// whole tells whether all data of a write have come.
func (m *RAM) whole() bool {
	if m.lite {
		return m.w.Len() > 0
	}
	return m.w.Frames() > m.lasts
}

func (m *RAM) serveWrites(c *testbench.Task) {
	for {
		m.writesUntilReset(c)
	}
}

func (m *RAM) writesUntilReset(c *testbench.Task) {
	var open []*Transaction // carried out and not answered
	resets := m.resets
	for {
		if len(open) == 0 {
			c.Await("a write on "+m.Port.String(), m.aw.Has(1), func() bool { return m.aw.Len() > 0 })
			resets = m.resets
		}
		for m.aw.Len() > 0 && (len(open) == 0 || m.whole()) {
			beat, _ := m.channels[aw].get(m.aw)
			t := m.addressed(&m.channels[aw], true, beat.Cycle)
			hint := m.w.Has(1)
			if !m.lite {
				hint = m.w.Ended(m.lasts + 1)
			}
			if c.Await("the data of a write on "+m.Port.String(), hint, m.whole); resets != m.resets {
				return
			}
			m.store(t)
			open = append(open, t)
		}
		k := m.choose(open)
		t := open[k]
		if m.b.Room() == 0 {
			c.Await("room for a response on "+m.Port.String(), m.b.HasRoom(1), func() bool { return m.b.Room() > 0 })
			if resets != m.resets {
				return
			}
		}
		m.channels[b].set(bResp, uint64(t.Resp))
		m.channels[b].set(bID, t.ID)
		m.channels[b].set(bUser, t.RespUser)
		m.channels[b].put(m.b, false)
		open = append(open[:k], open[k+1:]...)
	}
}

// store takes the data of a write and carries it out.
func (m *RAM) store(t *Transaction) {
	t.Data = make([]byte, 0, t.Len<<t.Size)
	large := m.tooLarge(t)
	for i := 0; ; i++ {
		beat, ok := m.channels[w].get(m.w)
		if !ok {
			return // a master that breaks the rules: monitors say so
		}
		if i < t.Len && !large {
			m.written(t, i)
		}
		if beat.Last || m.lite {
			break
		}
	}
	m.lasts++
	t.Len = min(t.Len, len(t.Data)>>t.Size)
	if t.Len == 0 || m.refused(t) || !m.reserved(t) {
		return
	}
	for from, n := 0, 0; from < t.Len; from += n {
		n = m.run(t, from)
		for at, end := from<<t.Size, (from+n)<<t.Size; at < end; at += 64 {
			address := t.container(from) + uint64(at-from<<t.Size)
			part := t.Data[at:min(at+64, end)]
			if err := m.target.WriteLanes(address, part, t.strobes(at, len(part))); err != nil {
				t.Resp = max(t.Resp, respond(err))
			}
		}
	}
}

// strobes returns up to 64 bits of those of Data from a byte on.
func (t *Transaction) strobes(at, n int) (enable uint64) {
	if t.Strobe == nil {
		enable = ^uint64(0) >> (64 - n)
	} else {
		for k := 0; k < n; k++ {
			i := at + k
			if i%8 == 0 && k+8 <= n {
				enable |= uint64(t.Strobe[i/8]) << k
				k += 7
				continue
			}
			enable |= uint64(t.Strobe[i/8]>>(i%8)&1) << k
		}
	}
	if at == 0 {
		below := t.below(0)
		enable = enable >> below << below
	}
	return enable
}

// reserved tells whether a write is to be carried out, and ends the reservations that it touches.
func (m *RAM) reserved(t *Transaction) bool {
	own := stretch{t.Addr, uint64(t.Len) << t.Size}
	if t.Burst == Wrap {
		own.addr -= t.Addr % own.bytes
	}
	if t.Lock {
		if m.reservations[t.ID] != own {
			return false
		}
		t.Resp = ExOkay
	}
	for key, held := range m.reservations {
		if own.addr < held.addr+held.bytes && held.addr < own.addr+own.bytes {
			delete(m.reservations, key)
		}
	}
	return true
}
