package net_test

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni/moduletest"
)

// Sizes of the virtual links under test. Times are in clocks.
const (
	vlBits, vlSlots, vlWindow = 3, 16, 6
	vlMax                     = 64 + linkproto.PacketExtra
	vlTick, vlRetry           = 514, 4 // no power of two: 513, a tick's last clock, has ones and zeros
	vlAckDelay                = 512
)

// Registers of a virtual link.
const (
	vlPeer, vlNumber, vlKey      = int(linkproto.VLRegPeer), int(linkproto.VLRegNumber), int(linkproto.VLRegKey)
	vlStatus, vlExpect, vlCounts = int(linkproto.VLRegStatus), int(linkproto.VLRegExpect), int(linkproto.VLRegCounts)
)

// What the status says.
const vlUp, vlPeerStop, vlOwnStop, vlTrapped, vlQueued, vlGaveUp, vlIsOpen = 1, 2, 4, 8, 32, 64, 128

const leastMessage = linkproto.HeaderBytes + 8

// netVL is module net_vl, that is net_vl_engine with net_vl_rules, net_vl_queues and net_vl_slots, net_vl_receive and net_vl_send, with its host. It has no contexts: those of net_vl_context are
// tested in rtl/ni, with ni_messages.
type netVL struct {
	SValid, SReady, SLast, SCancel, SBegins, Sent, Refused, Told       *bool   `port:"*"`
	TValid, TReady, TLast, TVoid, IValid, IReady, ILast, IVoid         *bool   `port:"*"`
	MRoom, MHalts, MValid, MReady, MLast, MVoid, MHost                 *bool   `port:"*"`
	ToldReady, CSpace                                                  *bool   `port:"*"`
	CEn, CWrite, CResume, CDone, COk, EvBad, EvReplay, EvDrop          *bool   `port:"*"`
	SData, SVl, ToldVl, ToldFreed, TData, IData, MVl, MData, CVl, CReg *uint8  `port:"*"`
	Node, ToldStatus, SSize                                            *uint16 `port:"*"`
	CWdata, CValue                                                     *uint32 `port:"*"`

	w       *vlWorld
	b       *testbench.Bench
	r       *testbench.Rand
	side    int
	in      [][]byte // ROUTEs that have come
	put     int      // bytes of the first that have been taken
	out     []byte   // of the ROUTE that is made
	have    []byte   // of the packet that comes
	sending []byte
	by      int // virtual link that sends it
	gone    int // bytes that have
	slow    float64
	halts   float64
	voids   float64 // chance that what comes is taken back, and comes anew
	accepts [1 << vlBits]int
	freed   [1 << vlBits]int
	given   [1 << vlBits]int    // MESSAGEs since it was opened
	returns [1 << vlBits]int    // and of them those that the host has said it freed
	keeps   bool                // the host frees none
	full    bool                // it has room for none
	stuck   bool                // it takes no last byte of a packet
	stalled bool                // the network takes no byte of it
	numbers [1 << vlBits]uint16 // of their other ends
	handed  map[handed]bool
	tells   int // times it was told of something
	closed  [1 << vlBits]bool
	refused int
	last    bool                                                                  // what became of the packet sent last
	seen    struct{ replays, drops, bad, voids, halts, ahead, undone, words int } // ahead: ROUTEs that begin while a packet comes; of which undone are taken back
}

// handed is a packet that was handed to a virtual link, with the number of its other end.
type handed struct {
	to     uint16
	packet string
}

// flight is a ROUTE on its way.
type flight struct {
	to, at int
	bytes  []byte
}

// vlWorld is two nodes, 1 and 2, and a network between them that keeps no order.
type vlWorld struct {
	t                    *testing.T
	r                    *testbench.Rand
	rtl                  [2]*netVL
	soft                 map[uint16]*flowctl.VirtualLink // at node 2, by number, if that is not RTL
	stalled              map[uint16]bool                 // its host reads nothing
	want                 [2][1 << vlBits][][]byte        // packets underway to a side, by the number that the virtual link has at side 0
	came                 [2][1 << vlBits]int
	said                 [2][256]int // ROUTEs with packets to a side, by its number of the virtual link
	network              []flight
	cut, messages        bool
	lose, double, damage float64
	spread, now          int
}

// peerNumber is the number at side 1 of a virtual link.
func peerNumber(vl int) int { return vl ^ 5 }

func newVLWorld(t *testing.T, both bool) *vlWorld {
	w := &vlWorld{t: t, spread: 1, soft: map[uint16]*flowctl.VirtualLink{}, stalled: map[uint16]bool{}}
	for side := range w.rtl {
		if side == 0 || both {
			n := &netVL{w: w, side: side, handed: map[handed]bool{}}
			n.b = moduletest.Open(t, "net_vl", params{"VIRTUAL": vlBits, "SLOTS": vlSlots, "MAX_PACKET": vlMax, "WINDOW": vlWindow,
				"TICK": vlTick, "RETRY": vlRetry}, n)
			n.r = n.b.Rand("host")
			*n.Node = uint16(1 + side)
			w.rtl[side] = n
		}
	}
	w.r = w.rtl[0].b.Rand("network")
	for range 300 { // the table is cleared
		w.step()
	}
	return w
}

// open opens a virtual link at both ends.
func (w *vlWorld) open(vl int) {
	own, far := linkproto.Life(w.r.Uint32()|1), linkproto.Life(w.r.Uint32()|1)
	number := uint16(peerNumber(vl))
	if w.rtl[1] == nil {
		number |= 0x100
		v := check.Must(flowctl.NewVirtual(flowctl.VirtualConfig{
			Node: 2, Peer: 1, Number: number, Channel: uint16(vl), NewLife: func() linkproto.Life { return far }, MaxPacket: vlMax, Window: 6,
			Retry: vlTick * vlRetry, AckDelay: vlAckDelay,
		}))(w.t)
		init := linkproto.VLInit{Number: uint16(vl), Life: own, Heard: far, Page: 6, Channel: uint16(vl)}
		r := linkproto.Route{Dest: 2, Src: 1, State: linkproto.VLState{Kind: linkproto.KindInit}.Byte(), Next: linkproto.Version, Packet: init.Append(nil)}
		raw := check.Must(r.Append(nil))(w.t)
		v.Feed(&r, raw)
		if !v.Status().Up {
			w.t.Fatalf("virtual link %d stays down: %+v", vl, v.Status())
		}
		w.soft[number] = v
	} else {
		w.rtl[1].opens(peerNumber(vl), 1, uint16(vl), linkproto.KeyOf(own, far))
	}
	w.rtl[0].opens(vl, 2, number, linkproto.KeyOf(far, own))
}

func (n *netVL) opens(vl int, peer, number uint16, key linkproto.Key) {
	n.opensAs(vl, peer, number, key, vlIsOpen|vlUp)
}

func (n *netVL) opensAs(vl int, peer, number uint16, key linkproto.Key, status uint32) {
	n.write(vl, vlPeer, uint32(peer)|2<<16)
	n.write(vl, vlNumber, uint32(number))
	n.write(vl, vlKey, uint32(key))
	n.write(vl, vlStatus, status)
	n.numbers[vl] = number
	n.given[vl], n.returns[vl], n.closed[vl] = 0, 0, false
}

func (n *netVL) write(vl, reg int, value uint32) {
	*n.CWrite, *n.CWdata = true, value
	n.control(vl, reg)
	*n.CWrite = false
}

// read reads a register.
func (n *netVL) read(vl, reg int) uint32 { return n.control(vl, reg) }

// control lets the world run until the host's request is done.
func (n *netVL) control(vl, reg int) (value uint32) {
	*n.CEn, *n.CVl, *n.CReg = true, uint8(vl), uint8(reg)
	for range 2000 {
		check.Fatal(n.w.t, n.b.Model().Eval())
		done := *n.CDone
		value = *n.CValue
		if done && *n.CResume && !*n.COk {
			n.w.t.Fatalf("virtual link %d cannot be resumed", vl)
		}
		n.w.step()
		if done {
			*n.CEn, *n.CResume = false, false
			return value
		}
	}
	n.w.t.Fatalf("register %d of virtual link %d has no answer", reg, vl)
	return 0
}

// number is what a virtual link of this side is called at side 0.
func (n *netVL) number(vl uint8) int {
	if n.side == 1 {
		return peerNumber(int(vl))
	}
	return int(vl)
}

// step lets a clock pass.
func (n *netVL) step() {
	*n.SValid = n.sending != nil && n.gone < len(n.sending) && !n.r.Chance(n.slow)
	if *n.SCancel = *n.SValid && n.gone > 0 && n.r.Chance(n.slow/60); *n.SCancel { // and it comes anew
		*n.SValid, n.gone = false, 0
	}
	if *n.SValid {
		*n.SData, *n.SLast, *n.SVl = n.sending[n.gone], n.gone == len(n.sending)-1, uint8(n.by)
	}
	*n.SBegins = n.sending != nil && n.gone < len(n.sending) && !*n.SCancel && (*n.SBegins || *n.SValid || n.gone > 0 || n.r.Chance(0.2))
	if *n.SBegins {
		*n.SVl, *n.SSize = uint8(n.by), uint16(len(n.sending))
	}
	*n.IValid, *n.IVoid = len(n.in) > 0 && !n.r.Chance(n.slow), false
	if *n.IValid {
		if n.put > 0 && n.r.Chance(n.voids) {
			*n.IValid, *n.IVoid = false, true
			n.put = 0
		} else {
			*n.IData, *n.ILast = n.in[0][n.put], n.put == len(n.in[0])-1
		}
	}
	*n.TReady, *n.MReady, *n.MRoom, *n.MHalts = !n.r.Chance(n.slow) && !n.stalled, !n.r.Chance(n.slow), !n.full && !n.r.Chance(n.slow/5), n.r.Chance(n.halts)
	*n.ToldReady = !n.r.Chance(n.slow)
	check.Fatal(n.w.t, n.b.Model().Eval())
	if n.stuck && *n.MValid && *n.MLast {
		*n.MReady = false
		check.Fatal(n.w.t, n.b.Model().Eval())
	}
	n.take()
	n.b.Step(1)
}

// take looks at what moves in the clock that comes.
func (n *netVL) take() {
	w := n.w
	if *n.IValid && *n.IReady {
		if n.put++; *n.ILast {
			n.in, n.put = n.in[1:], 0
		}
	}
	if *n.TVoid {
		if *n.TValid {
			w.t.Fatal("a ROUTE is taken back, and goes on")
		}
		n.seen.undone += min(len(n.out), 1)
		n.out = nil
	}
	if *n.TValid && *n.TReady {
		count(&n.seen.ahead, n.out == nil && n.gone > 0 && n.gone < len(n.sending))
		if n.out = append(n.out, *n.TData); *n.TLast {
			packet := n.out[linkproto.RouteFields : len(n.out)-linkproto.CRCBytes]
			var r linkproto.Route
			check.Fatal(w.t, r.Open(n.out))
			if r.Src != *n.Node || r.Dest != uint16(2-n.side) || r.State&^0xE1 != 0 || r.State>>6 > uint8(linkproto.KindLost) {
				w.t.Fatalf("clock %d: side %d sends %v, state %#x", w.now, n.side, &r, r.State)
			}
			if len(packet) >= leastMessage && bytes.Equal(packet, n.sending) {
				w.t.Fatalf("clock %d: a ROUTE ends before it is said whether its packet is the link's", w.now)
			}
			if len(packet) > 0 && !n.handed[handed{r.VL, string(packet)}] {
				w.t.Fatalf("clock %d: side %d sends % x to end %d of a virtual link to which it was not handed", w.now, n.side, packet, r.VL)
			}
			count(&n.seen.words, len(packet) == 0)
			w.send(1-n.side, n.out)
			n.out = nil
		}
	}
	n.host()
	if *n.SValid && *n.SReady {
		n.gone++
	}
	if *n.Sent {
		if n.last = !*n.Refused; n.last {
			vl := n.number(uint8(n.by))
			w.want[1-n.side][vl] = append(w.want[1-n.side][vl], n.sending)
			n.handed[handed{n.numbers[n.by], string(n.sending)}] = true
			n.accepts[n.by]++
		} else {
			n.refused++
		}
		n.sending = nil
	}
	if *n.Told {
		n.freed[*n.ToldVl] += int(*n.ToldFreed - uint8(n.freed[*n.ToldVl]))
		n.closed[*n.ToldVl] = *n.ToldStatus&vlIsOpen == 0
		n.tells++
	}
	count(&n.seen.replays, *n.EvReplay)
	count(&n.seen.drops, *n.EvDrop)
	count(&n.seen.bad, *n.EvBad)
}

func count(n *int, event bool) {
	if event {
		*n++
	}
}

// host takes packets that have come. One that halts its virtual link is looked at when the module does: while the last byte is still to come.
func (n *netVL) host() {
	if *n.MVoid {
		if *n.MValid {
			n.w.t.Fatal("a packet is taken back, and goes on")
		}
		n.have = nil
		n.seen.voids++
	}
	if !*n.MValid || !*n.MReady {
		return
	}
	if n.have = append(n.have, *n.MData); *n.MLast {
		if n.closed[*n.MVl] {
			n.w.t.Fatalf("a packet comes by virtual link %d, of which the host has been told that it is closed", *n.MVl)
		}
		message := linkproto.Type(n.have[0]) == linkproto.TypeMessage
		check.Equal(n.w.t, "it is for the host", *n.MHost, message)
		if message && len(n.have) >= leastMessage {
			n.given[*n.MVl]++
			check.Equal(n.w.t, "the host has more MESSAGEs than the window", n.given[*n.MVl]-n.returns[*n.MVl] > vlWindow, false)
		}
		n.w.deliver(n.side, n.number(*n.MVl), n.have)
		n.have = nil
	}
}

// deliver compares a packet that has come with what is to come.
func (w *vlWorld) deliver(side, vl int, packet []byte) {
	want := &w.want[side][vl]
	if len(*want) == 0 || !bytes.Equal((*want)[0], packet) {
		w.t.Fatalf("clock %d: side %d, virtual link %d: % x comes, want the first of % x", w.now, side, vl, packet, *want)
	}
	*want = (*want)[1:]
	w.came[side][vl]++
}

// send gives a ROUTE to the network.
func (w *vlWorld) send(to int, route []byte) {
	if route[linkproto.RoutePathAt+3]&1 != 0 {
		w.said[to][route[linkproto.RoutePathAt+1]]++
	}
	if w.cut || w.r.Chance(w.lose) {
		return
	}
	for more := true; more; more = w.r.Chance(w.double) {
		b := bytes.Clone(route)
		if w.r.Chance(w.damage) {
			b[w.r.Between(0, len(b)-1)] ^= 1 << w.r.Between(0, 7)
		}
		w.network = append(w.network, flight{to, w.now + w.r.Between(1, w.spread), b})
	}
}

// step lets a clock pass everywhere.
func (w *vlWorld) step() {
	for _, n := range w.rtl {
		if n != nil {
			n.step()
		}
	}
	left := w.network[:0]
	for _, f := range w.network {
		switch {
		case f.at > w.now:
			left = append(left, f)
		case w.rtl[f.to] != nil:
			w.rtl[f.to].in = append(w.rtl[f.to].in, f.bytes)
		default:
			var r linkproto.Route
			if r.Open(f.bytes) == nil && w.soft[r.VL] != nil {
				w.soft[r.VL].Feed(&r, f.bytes)
			}
		}
	}
	w.network = left
	for vl := range 1 << vlBits {
		number := uint16(peerNumber(vl)) | 0x100
		v := w.soft[number]
		if v == nil {
			continue
		}
		if route, ok := v.Emit(nil); ok {
			w.send(0, route)
		}
		v.Tick(1)
		if w.stalled[number] {
			continue
		}
		if packet, ok := v.Receive(); ok {
			w.deliver(1, vl, packet)
		}
	}
	w.now++
}

// hand has a packet sent, and waits until it is the virtual link's, or refused.
func (n *netVL) hand(vl int, packet []byte) (taken bool) {
	for n.sending != nil { // one before
		n.w.step()
	}
	n.sending, n.by, n.gone = packet, vl, 0
	for range 5000 {
		if n.w.step(); n.sending == nil {
			return n.last
		}
	}
	n.w.t.Fatalf("side %d takes no packet", n.side)
	return false
}

// route is a ROUTE that says the state of an end that has neither sent nor taken anything.
func (w *vlWorld) route(src, dest, vl uint16, key linkproto.Key) []byte {
	r := linkproto.Route{Src: src, Dest: dest, VL: vl, State: linkproto.VLState{Kind: linkproto.KindAck}.Byte()}
	return check.Must(r.Seal(nil, key))(w.t)
}
