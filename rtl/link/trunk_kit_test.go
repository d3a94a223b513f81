package link_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// trunk is link_trunk at one end of some lanes, and flowctl.Trunk at the other.
type trunk struct {
	t    *testing.T
	b    *testbench.Bench
	rng  *testbench.Rand
	pins struct {
		Rst, SValid, SReady, SLast, MValid, MReady, MLast, HasRoom, Renew, Anonymous, SayTake, Coming *bool   `port:"*"`
		Tick, TxReady, RxValid, FreedPackets, Open, Foreign                                           *uint8  `port:"*"`
		FreedBytes, Events, Status, Node, Say, Heard                                                  *uint16 `port:"*"`
		Nonce, Peer                                                                                   *uint32 `port:"*"`
	}
	s, m  *moduletest.Beats
	lanes int
	port  uint8
	peer  *flowctl.Trunk
	cfg   flowctl.Config // of the next one

	out, in []cable // away from the RTL and towards it, by its lanes
	to      []int   // the Go end's lane at the other end of each
	arrived [][]linkproto.Symbol
	up      traffic
	down    traffic
	loading []byte
	coming  []byte
	period  int // clocks a symbol
	phase   int
	offer   float64 // chance that either host offers a packet it could
	take    float64 // chance that either host takes a beat, or a packet, that it could
	seen    eventsSeen
	loaded  uint8
	told    []uint16 // BARRIERs that the RTL has heard, {group, value} each
}

// trunkRx is the size of receive FIFOs, and of what a lane holds, in these tests.
const trunkRx, trunkSkew, trunkReplay = 2048, 1024, 4096

// newTrunk returns one with so many lanes, over which symbols take delay(lane) symbol times.
func newTrunk(t *testing.T, lanes, width int, delay func(lane int) int) *trunk {
	return newTrunkAt(t, 1, lanes, width, delay)
}

func newTrunkAt(t *testing.T, port uint8, lanes, width int, delay func(lane int) int) *trunk {
	m := &trunk{t: t, lanes: lanes, port: port, period: 1, offer: 1, take: 1, arrived: make([][]linkproto.Symbol, lanes)}
	par := params{"LANES": lanes, "WIDTH": width, "MAX_PACKET": maxPacket, "REPLAY_BYTES": trunkReplay, "RX_BYTES": trunkRx, "SKEW_BYTES": trunkSkew,
		"PORT": port, "HEADROOM": headroom, "ACK_DELAY": ackDelay, "WORD_TIMER": trunkTimer, "RETRY": trunkRetry, "RETRY_LIMIT": limit, "BARRIER": 1}
	m.cfg = flowctl.Config{Lanes: lanes, MaxPacket: maxPacket, ReplayBytes: trunkReplay, ReceiveBytes: trunkRx, High: trunkRx - headroom, Port: port,
		Node: 0x1234, AckDelay: ackDelay, WordTimer: trunkTimer, Retry: trunkRetry, RetryLimit: limit, Epoch: 200, SkewBytes: trunkSkew, Barriers: true}
	if port == 0 {
		par["SILENCE"], m.cfg.Silence = 0, -1
	}
	m.b = moduletest.New(t, "link_trunk", par, &m.pins)
	m.s, m.m = moduletest.NewBeats(t, m.b, "s", width), moduletest.NewBeats(t, m.b, "m", width)
	m.rng = m.b.Rand("trunk")
	if port != 0 {
		*m.pins.Nonce, *m.pins.Node, m.cfg.Nonce = m.rng.Uint32(), 0xABCD, m.rng.Uint32()|1
	}
	m.b.Reset("rst", 4)
	for k := range lanes {
		m.out = append(m.out, cable{rng: m.b.Rand(fmt.Sprint("out", k)), delay: delay(k)})
		m.in = append(m.in, cable{rng: m.b.Rand(fmt.Sprint("in", k)), delay: delay(k)})
		m.to = append(m.to, k)
	}
	m.up, m.down = traffic{name: "from RTL to Go", least: 5}, traffic{name: "from Go to RTL", least: 5}
	m.replacePeer()
	return m
}

const trunkTimer, trunkRetry = 512, 4000

// replacePeer starts the Go end again.
func (m *trunk) replacePeer() {
	m.down.reset, m.up.reset = m.peer != nil, m.peer != nil
	m.cfg.Epoch = linkproto.NextEpoch(m.cfg.Epoch)
	m.peer = check.Must(flowctl.NewTrunk(m.cfg))(m.t)
}

// resetRTL resets the Verilog end.
func (m *trunk) resetRTL() {
	m.down.reset, m.up.reset = true, true
	m.loading, m.coming, m.loaded = nil, nil, 0
	*m.pins.SValid, *m.pins.MReady, *m.pins.RxValid, *m.pins.Tick, *m.pins.TxReady = false, false, 0, 0, 0
	m.b.Reset("rst", uint64(m.rng.Between(2, 4))) // two clocks at least, as link_replay asks
}

func (m *trunk) rtlUp() bool { return *m.pins.Status&1 != 0 }

// key is what words of a peer of this life are sealed with.
func (m *trunk) key(life linkproto.Life) linkproto.Key {
	return linkproto.KeyOf(linkproto.LifeOf(*m.pins.Nonce, m.port, uint8(*m.pins.Status>>8)), life)
}

// sends is the symbol that the RTL sends next on a lane.
func (m *trunk) sends(lane int) linkproto.Symbol {
	return linkproto.Symbol(check.Must(m.b.Model().Peek(fmt.Sprintf("tx_sym[%d:%d]", 9*lane+8, 9*lane)))(m.t))
}

// says counts the words that the RTL says on each lane in so many clocks, by kind. A symbol takes one clock.
func (m *trunk) says(clocks int) []map[linkproto.Kind]int {
	kinds, words := make([]map[linkproto.Kind]int, m.lanes), make([]*linkproto.Deframer, m.lanes)
	m.clocks(linkproto.WordSymbols + linkproto.InitSymbols)
	for k := range words {
		kinds[k], words[k] = map[linkproto.Kind]int{}, linkproto.NewDeframer(maxPacket)
		words[k].TakeAny()
	}
	for range clocks {
		for k := range words {
			switch ev, _ := words[k].Next([]linkproto.Symbol{m.sends(k)}); ev.Kind {
			case linkproto.EventInit:
				kinds[k][linkproto.KindInit]++
			case linkproto.EventWord:
				kinds[k][ev.Word.Kind]++
			}
		}
		m.clock()
	}
	return kinds
}

// damage takes three bytes out of the next frame from the RTL; a symbol takes one clock.
func (m *trunk) damage() {
	m.t.Helper()
	for range trunkTimer {
		for k := range m.lanes {
			if m.sends(k) == linkproto.SymSOP {
				m.clock()
				m.out[k].cut = true
				m.clocks(3)
				m.out[k].cut = false
				return
			}
		}
		m.clock()
	}
	m.t.Fatal("no frame begins")
}

// clock moves everything by one clock.
func (m *trunk) clock() {
	p := &m.pins
	m.seen.add(*p.Events)
	m.phase = (m.phase + 1) % m.period
	symbol := m.phase == 0
	*p.TxReady, *p.Tick = 0, 0
	model := m.b.Model()
	if symbol {
		*p.TxReady, *p.Tick = 1<<m.lanes-1, 1<<m.lanes-1
		for k := range m.lanes {
			m.out[k].step(m.sends(k), func(s linkproto.Symbol) { m.peer.Feed(m.to[k], []linkproto.Symbol{s}) })
			back := [1]linkproto.Symbol{linkproto.SymIdle}
			m.peer.Emit(m.to[k], back[:])
			m.in[k].step(back[0], func(s linkproto.Symbol) {
				if s != linkproto.SymIdle || len(m.arrived[k]) == 0 { // symbols that the cable repeats find time in the gaps
					m.arrived[k] = append(m.arrived[k], s)
				}
			})
		}
		m.peer.Tick(1)
	}
	*p.RxValid = 0
	for k := range m.lanes {
		if len(m.arrived[k]) > 0 {
			*p.RxValid |= 1 << k
			check.Fatal(m.t, model.Poke(fmt.Sprintf("rx_sym[%d:%d]", 9*k+8, 9*k), uint64(m.arrived[k][0])))
			m.arrived[k] = m.arrived[k][1:]
		}
	}
	moves := m.load()
	m.hosts()
	check.Fatal(m.t, model.Eval())
	if *p.Heard>>13 == 3 { // all of it in one clock
		m.told = append(m.told, *p.Heard&0x1FFF)
	}
	taken := *p.SayTake
	m.b.Step(1)
	if taken {
		*p.Say = 0
	}
	if moves > 0 {
		if m.loading = m.loading[moves:]; len(m.loading) == 0 {
			m.loaded++
		}
		*p.SValid = false
	}
}

// load puts the next beat of a packet before the RTL, and returns how many bytes of it move.
func (m *trunk) load() int {
	p := &m.pins
	if len(m.loading) == 0 && *p.HasRoom && m.rng.Chance(m.offer) {
		m.loading = m.up.offer(m.rng)
	}
	if !*p.SValid {
		*p.SValid = len(m.loading) > 0 && m.rng.Chance(max(m.offer, 0.2))
	}
	if !*p.SValid {
		return 0
	}
	n := m.s.Put(m.loading)
	*p.SLast = n == len(m.loading)
	check.Fatal(m.t, m.b.Model().Eval())
	if !*p.SReady {
		return 0
	}
	return n
}

// hosts takes what has arrived at both ends, and gives the Go end packets.
func (m *trunk) hosts() {
	p := &m.pins
	*p.MReady = m.rng.Chance(m.take)
	if *p.MReady && *p.MValid {
		m.coming = append(m.coming, m.m.Get()...)
		if *p.MLast {
			m.down.arrive(m.t, m.coming)
			m.coming = m.coming[:0]
		}
	}
	if m.rng.Chance(m.take / 4) {
		if got, ok := m.peer.Receive(); ok {
			m.up.arrive(m.t, got)
		}
	}
	if m.rng.Chance(m.offer / 4) {
		m.lost()
		if err := m.peer.Send(m.down.offer(m.rng)); err != nil {
			if !errors.Is(err, flowctl.ErrFull) {
				m.t.Fatal(err)
			}
			m.down.offered = m.down.offered[:len(m.down.offered)-1]
		}
	}
}

func (m *trunk) lost() {
	if loss, ok := m.peer.Lost(); ok {
		m.down.reported += int(loss.Count)
	}
}

func (m *trunk) clocks(n int) {
	for range n {
		m.clock()
	}
}

// open is over how many lanes frames go, from the RTL and from the Go end.
func (m *trunk) open() (rtl, peer int) {
	for k := range m.lanes {
		rtl += int(*m.pins.Open >> k & 1)
		if m.peer.Lane(k).Open {
			peer++
		}
	}
	return rtl, peer
}

// wants fails the test if not so many lanes are open at both ends.
func (m *trunk) wants(open int) {
	m.t.Helper()
	rtl, peer := m.open()
	check.Equal(m.t, "open lanes", [2]int{rtl, peer}, [2]int{open, open})
}

// idle reports whether both ends are up, all lanes open, and nothing waits anywhere.
func (m *trunk) idle() bool {
	rtl, peer := m.open()
	return m.rtlUp() && m.peer.Status().Up && len(m.loading) == 0 && *m.pins.FreedPackets == m.loaded && m.peer.Queued() == 0 &&
		m.peer.Readable() == 0 && !*m.pins.MValid && rtl == m.lanes && peer == m.lanes
}

// settle ends the faults, stops the traffic and waits until all is delivered and all lanes are open; then it accounts for every packet.
func (m *trunk) settle() {
	m.t.Helper()
	m.offer, m.take = 0, 1
	for k := range m.lanes {
		for _, c := range []*cable{&m.out[k], &m.in[k]} {
			c.faults, c.cut, c.burst = faults{}, false, 0
		}
	}
	symbols := 2*limit*trunkRetry + 4*trunkReplay + 2*linkproto.LaneTrialTimers<<linkproto.LaneTrialDoublings*trunkTimer
	for n := 0; !m.idle(); n++ {
		if n > symbols*m.period {
			rtl, peer := m.open()
			m.t.Fatalf("the link does not come to rest: status %04x, %+v, %d loaded, %d freed, %d queued, %d and %d lanes open", *m.pins.Status,
				m.peer.Status(), m.loaded, *m.pins.FreedPackets, m.peer.Queued(), rtl, peer)
		}
		m.clock()
	}
	m.clocks(trunkTimer)
	m.lost()
	m.up.reported = m.seen[linkproto.CntLostPackets]
	for _, tr := range []*traffic{&m.up, &m.down} {
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
