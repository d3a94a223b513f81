package link_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// The sizes and times of the endpoints in these tests: small, so that everything wraps, fills and runs out soon.
const (
	maxPacket = 136
	replay    = 1024
	rxBytes   = 1024
	headroom  = 256
	ackDelay  = 64
	wordTimer = 256
	retry     = 700 // before silence has the link start again
	limit     = 3
)

// traffic checks one direction: packets arrive in order, each at most once, and none is missing without a report.
type traffic struct {
	name     string
	least    int // bytes of the shortest packet
	first    int // number of the first packet: its upper four bits say whose it is, 0 but where several ends take turns
	offered  [][]byte
	next     int // first packet that may arrive
	skipped  int // packets that were passed over
	reported int // packets reported lost
	reset    bool
}

func (tr *traffic) offer(rng *testbench.Rand) []byte {
	n := tr.least + rng.Size(maxPacket-tr.least, 0)
	tr.offered = append(tr.offered, packet(tr.first+len(tr.offered), n))
	return tr.offered[len(tr.offered)-1]
}

func (tr *traffic) arrive(t *testing.T, p []byte) {
	for i := tr.next; i < len(tr.offered); i++ {
		if bytes.Equal(p, tr.offered[i]) {
			tr.skipped += i - tr.next
			tr.next = i + 1
			return
		}
	}
	t.Fatalf("%s: packet % x is none of those that can arrive from number %d of %d on", tr.name, p[:min(len(p), 16)], tr.next, len(tr.offered))
}

// cable is one direction of a link, with faults.
type cable struct {
	rng    *testbench.Rand
	delay  int
	faults faults
	burst  int
	cut    bool
	line   []linkproto.Symbol // in flight, oldest first; IDLE where there is nothing
}

// faults are shares of symbols.
type faults struct{ flip, drop, repeat, burst, cut float64 }

// step puts one symbol in and takes what comes out in the same symbol time: one symbol as a rule.
func (c *cable) step(s linkproto.Symbol, out func(linkproto.Symbol)) {
	f := &c.faults
	if f.burst > 0 && c.rng.Chance(f.burst) {
		c.burst = c.rng.Between(1, 12)
	}
	if f.cut > 0 && c.rng.Chance(f.cut) {
		c.cut = !c.cut
	}
	switch {
	case c.cut:
		s = linkproto.SymIdle
	case c.burst > 0:
		c.burst--
		s = linkproto.Symbol(c.rng.IntN(512))
	case f.flip > 0 && c.rng.Chance(f.flip):
		s ^= 1 << c.rng.IntN(9)
		if c.rng.Chance(0.3) {
			s = linkproto.SymErr
		}
	}
	if !c.cut && f.drop > 0 && c.rng.Chance(f.drop) {
		s = linkproto.SymIdle
	}
	c.line = append(c.line, s)
	if f.repeat > 0 && c.rng.Chance(f.repeat) {
		c.line = append(c.line, s)
	}
	for n := len(c.line) - c.delay; n > 0; n-- {
		out(c.line[0])
		c.line = c.line[1:]
	}
}

// mixed is link_endpoint at one end of a cable, and flowctl.Endpoint at the other.
type mixed struct {
	says linkproto.Life // the peer's, where symbols are fed
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	pins struct {
		Rst, SValid, SReady, SLast, MValid, MReady, MLast, Tick, TxReady, RxValid, HasRoom, Renew, Anonymous *bool   `port:"*"`
		SData, MData, FreedPackets                                                                           *uint8  `port:"*"`
		TxSym, RxSym, FreedBytes, Events, Status, Node                                                       *uint16 `port:"*"`
		Nonce, Peer                                                                                          *uint32 `port:"*"`
	}
	port uint8
	peer *flowctl.Endpoint
	cfg  flowctl.Config // of the next one

	out, in   cable      // away from the RTL and towards it
	up        traffic    // the same of packets
	downs     []*traffic // of each Go end that the RTL hears in turn
	at        int        // which of them it is now
	loading   []byte     // what is left of the packet being loaded
	coming    []byte     // what has come of the packet being read
	arrived   []linkproto.Symbol
	period    int     // clocks a symbol; 0: random
	offer     float64 // chance that either host offers a packet it could
	take      float64 // chance that either host takes a byte, or a packet, that it could
	seen      eventsSeen
	loaded    uint8 // packets that the replay buffer took
	phase     int
	stopped   bool // by the RTL
	stops     int
	peerTotal [linkproto.NumCounters]uint32 // of Go endpoints that were replaced
}

// newMixed returns one at a link, newMixedAt at a port: both ends of a host's cable, port 0, have no nonce, and put up with silence.
func newMixed(t *testing.T, delay int) *mixed { return newMixedAt(t, 1, delay) }

func newMixedAt(t *testing.T, port uint8, delay int) *mixed {
	return newMixedOf(t, "link_endpoint", port, delay)
}

// newMixedOf has another module in the place of link_endpoint.
func newMixedOf(t *testing.T, module string, port uint8, delay int) *mixed {
	m := &mixed{t: t, says: goLife, period: 1, offer: 1, take: 1, port: port}
	par := params{"MAX_PACKET": maxPacket, "REPLAY_BYTES": replay, "RX_BYTES": rxBytes, "PORT": port,
		"HEADROOM": headroom, "ACK_DELAY": ackDelay, "WORD_TIMER": wordTimer, "RETRY": retry, "RETRY_LIMIT": limit}
	m.cfg = flowctl.Config{MaxPacket: maxPacket, ReplayBytes: replay, ReceiveBytes: rxBytes, High: rxBytes - headroom, Port: port, Node: 0x1234,
		AckDelay: ackDelay, WordTimer: wordTimer, Retry: retry, RetryLimit: limit, Epoch: 200}
	if port == 0 {
		par["SILENCE"], m.cfg.Silence = 0, -1
	}
	m.b = moduletest.New(t, module, par, &m.pins)
	m.rng = m.b.Rand("mixed")
	if port != 0 {
		*m.pins.Nonce, *m.pins.Node, m.cfg.Nonce = m.rng.Uint32(), 0xABCD, m.rng.Uint32()|1
	}
	m.b.Reset("rst", 4)
	m.out = cable{rng: m.b.Rand("out"), delay: delay}
	m.in = cable{rng: m.b.Rand("in"), delay: delay}
	m.up = traffic{name: "from RTL to Go", least: 5}
	m.downs = []*traffic{{name: "from Go to RTL", least: 5}}
	m.replacePeer()
	return m
}

// replacePeer starts the Go end again.
func (m *mixed) replacePeer() {
	if m.peer != nil {
		m.down().reset, m.up.reset = true, true
		for i := range m.peerTotal {
			m.peerTotal[i] += m.peer.Counter(linkproto.Counter(i))
		}
	}
	m.cfg.Epoch = linkproto.NextEpoch(m.cfg.Epoch)
	if m.port != 0 && m.rng.Chance(0.3) {
		m.cfg.Nonce = m.rng.Uint32() | 1 // the node starts again, or it is another one
	}
	m.peer = check.Must(flowctl.New(m.cfg))(m.t)
}

// key is that of what the peer sends.
func (m *mixed) key() linkproto.Key { return linkproto.KeyOf(m.life(), m.says) }

// life is the RTL's.
func (m *mixed) life() linkproto.Life {
	return linkproto.LifeOf(*m.pins.Nonce, m.port, m.epoch())
}

// down is the traffic of the present Go end.
func (m *mixed) down() *traffic { return m.downs[m.at] }

// fromWhom is the traffic that a packet belongs to: a short one does not tell, where there is one Go end only.
func (m *mixed) fromWhom(p []byte) *traffic {
	if len(m.downs) == 1 {
		return m.downs[0]
	}
	return m.downs[p[4]>>4]
}

// epoch is the RTL's.
func (m *mixed) epoch() uint8 { return uint8(linkproto.StatusEpoch.Of(uint32(*m.pins.Status))) }

// resetRTL resets the Verilog end.
func (m *mixed) resetRTL() {
	m.down().reset, m.up.reset = true, true
	m.loading, m.coming, m.loaded = nil, nil, 0
	*m.pins.SValid, *m.pins.MReady, *m.pins.RxValid, *m.pins.Tick, *m.pins.TxReady = false, false, false, false, false
	m.b.Reset("rst", uint64(m.rng.Between(2, 4))) // two clocks at least, as link_replay and link_framer ask
}

func (m *mixed) rtlUp() bool { return *m.pins.Status&1 != 0 }

// clock moves everything by one clock.
func (m *mixed) clock() {
	p := &m.pins
	m.seen.add(*p.Events)
	was := m.stopped
	if m.stopped = linkproto.StatusOwnStop.Of(uint32(*p.Status)) != 0; m.stopped && !was {
		m.stops++
	}
	symbol := m.period == 1
	switch {
	case m.period == 0:
		symbol = m.rng.Chance(0.5)
	case m.period > 1:
		m.phase = (m.phase + 1) % m.period
		symbol = m.phase == 0
	}
	*p.TxReady, *p.Tick = symbol, symbol
	if symbol {
		m.out.step(linkproto.Symbol(*p.TxSym), func(s linkproto.Symbol) { m.peer.Feed([]linkproto.Symbol{s}) })
		m.in.step(m.peer.Next(), func(s linkproto.Symbol) {
			if s != linkproto.SymIdle || len(m.arrived) == 0 { // symbols that the cable repeats find time in the gaps
				m.arrived = append(m.arrived, s)
			}
		})
		m.peer.Tick(1)
	}
	if *p.RxValid = len(m.arrived) > 0; *p.RxValid {
		*p.RxSym = uint16(m.arrived[0])
		m.arrived = m.arrived[1:]
	} else {
		*p.RxSym = uint16(m.rng.IntN(512))
	}
	m.load()
	m.hosts()
	moved := *p.SValid && *p.SReady // ready depends on registers only: it is at the edge what it is now
	m.b.Step(1)
	if moved {
		if m.loading = m.loading[1:]; len(m.loading) == 0 {
			m.loaded++
		}
		*p.SValid = false
	}
}

// load puts the next byte of a packet before the RTL.
func (m *mixed) load() {
	p := &m.pins
	if !*p.SValid {
		if len(m.loading) == 0 && m.rng.Chance(m.offer) {
			m.loading = m.up.offer(m.rng)
		}
		*p.SValid = len(m.loading) > 0 && m.rng.Chance(max(m.offer, 0.2))
	}
	*p.SData, *p.SLast = uint8(m.rng.IntN(256)), m.rng.Bool()
	if *p.SValid {
		*p.SData, *p.SLast = m.loading[0], len(m.loading) == 1
	}
}

// hosts takes what has arrived at both ends, and gives the Go end packets.
func (m *mixed) hosts() {
	p := &m.pins
	*p.MReady = m.rng.Chance(m.take)
	if *p.MReady && *p.MValid {
		m.coming = append(m.coming, *p.MData)
		if *p.MLast {
			m.fromWhom(m.coming).arrive(m.t, m.coming)
			m.coming = m.coming[:0]
		}
	}
	if m.rng.Chance(m.take / 8) {
		if got, ok := m.peer.Receive(); ok {
			m.up.arrive(m.t, got)
		}
	}
	if m.rng.Chance(m.offer / 8) {
		m.lost()
		if err := m.peer.Send(m.down().offer(m.rng)); err != nil {
			if !errors.Is(err, flowctl.ErrFull) {
				m.t.Fatal(err)
			}
			m.down().offered = m.down().offered[:len(m.down().offered)-1]
		}
	}
}

func (m *mixed) lost() {
	if loss, ok := m.peer.Lost(); ok {
		m.down().reported += int(loss.Count)
	}
}

func (m *mixed) clocks(n int) {
	for range n {
		m.clock()
	}
}

// idle reports whether both ends are up and nothing waits anywhere.
func (m *mixed) idle() bool {
	p := &m.pins
	return m.rtlUp() && m.peer.Status().Up && len(m.loading) == 0 && *p.FreedPackets == m.loaded && m.peer.Queued() == 0 &&
		m.peer.Readable() == 0 && !*p.MValid
}

// settle ends the faults, stops the traffic and waits until all is delivered; then it accounts for every packet.
func (m *mixed) settle() {
	m.t.Helper()
	m.offer, m.take = 0, 1
	for _, c := range []*cable{&m.out, &m.in} {
		c.faults, c.cut, c.burst = faults{}, false, 0
	}
	symbols := 4*limit*retry + 4*replay + 16*wordTimer
	for n := 0; !m.idle(); n++ {
		if n > symbols*max(m.period, 2) {
			m.t.Fatalf("the link does not come to rest: status %04x, %+v, %d loaded, %d freed, %d queued", *m.pins.Status, m.peer.Status(),
				m.loaded, *m.pins.FreedPackets, m.peer.Queued())
		}
		m.clock()
	}
	m.clocks(wordTimer)
	m.lost()
	m.up.reported = m.seen[linkproto.CntLostPackets]
	for _, tr := range []*traffic{&m.up, m.down()} {
		missing := tr.skipped + len(tr.offered) - tr.next
		if !tr.reset && missing > tr.reported {
			m.t.Errorf("%s: %d of %d packets missing, %d reported lost", tr.name, missing, len(tr.offered), tr.reported)
		}
		if tr.next == 0 && !tr.reset {
			m.t.Errorf("%s: nothing arrived", tr.name)
		}
	}
	if *m.pins.Status&6 != 0 || m.peer.Status().PeerStop || m.peer.Status().OwnStop {
		m.t.Errorf("STOP on an empty link: status %04x, %+v", *m.pins.Status, m.peer.Status())
	}
}

// total is a counter of the Go end, summed over all its sessions.
func (m *mixed) total(c linkproto.Counter) int { return int(m.peerTotal[c] + m.peer.Counter(c)) }
