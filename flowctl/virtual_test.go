package flowctl_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// smallVirtual has times and sizes that a test can exhaust.
var smallVirtual = flowctl.VirtualConfig{
	MaxPacket: linkproto.MaxPacket(64), Window: 6, ReplayBytes: 400, ReceiveBytes: 600, AckDelay: 20, Retry: 200, RetryLimit: 4,
}

// Over a network that loses, damages, doubles and reorders, packets come once and in order, or are reported; when it is well again all get through.
func TestVirtualLinks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := smallVirtual
		c.Window = rapid.SampledFrom([]int{1, 6, 127}).Draw(t, "window")
		w := newVirtuals(t, rapid.Uint64().Draw(t, "seed"), c)
		t.Repeat(map[string]func(*rapid.T){
			"run": func(t *rapid.T) { w.run(rapid.SampledFrom([]int{3, 100, 500, 2000}).Draw(t, "ticks")) },
			"send": func(t *rapid.T) {
				i, n := w.side(t), rapid.SampledFrom([]int{7, 20, c.MaxPacket}).Draw(t, "bytes")
				for range rapid.SampledFrom([]int{1, 3, 20}).Draw(t, "packets") {
					w.send(i, n)
				}
			},
			"talk": func(t *rapid.T) {
				w.sides[w.side(t)].talk = rapid.SampledFrom([]int{0, 7, 40, c.MaxPacket}).Draw(t, "bytes")
			},
			"stall": func(t *rapid.T) { s := &w.sides[w.side(t)]; s.stalled = !s.stalled },
			"faults": func(t *rapid.T) {
				for i := range w.cut {
					w.cut[i] = rapid.SampledFrom([]bool{false, false, true}).Draw(t, "cut")
				}
				w.spread = rapid.SampledFrom([]int{1, 10, 300}).Draw(t, "ticks")
				chance := rapid.SampledFrom([]int{0, 0, 50, 400})
				w.lose, w.double, w.damage = chance.Draw(t, "lose"), chance.Draw(t, "double"), chance.Draw(t, "damage")
			},
			"restart": func(t *rapid.T) { w.restart(w.side(t)) },
			"give up": func(t *rapid.T) {
				i := w.side(t)
				w.sides[i].Restart()
				w.collect(i)
			},
		})
		w.settle()
	})
}

func (w *virtuals) side(t *rapid.T) int { return rapid.IntRange(0, 1).Draw(t, "side") }

func (w *virtuals) run(ticks int) {
	for range ticks {
		w.step()
	}
}

// up is a world whose ends are up.
func upVirtuals(t *testing.T, c flowctl.VirtualConfig) *virtuals {
	w := newVirtuals(t, 1, c)
	for n := 0; !w.quiet(); n++ {
		if w.step(); n > 1000 {
			t.Fatal("the ends do not come up")
		}
	}
	return w
}

// On a network without faults nothing is sent twice, no end restarts, and the handshake takes one word each way and an answer.
func TestVirtualLinkWithoutFaults(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	if w.now > 6 {
		t.Errorf("up after %d ticks, want a few", w.now)
	}
	for i := range w.sides {
		w.sides[i].talk = 40
	}
	w.run(20_000)
	w.settle()
	for i := range w.sides {
		s := &w.sides[i]
		for _, c := range []linkproto.Counter{linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntReplays, linkproto.CntRestarts, linkproto.CntBadWord, linkproto.CntRxOverrun} {
			if n := s.Counter(c); n != 0 {
				t.Errorf("side %d: %v is %d", i, c, n)
			}
		}
		if n := len(s.sent); n < 15_000 {
			t.Errorf("side %d sent %d packets in 20000 ticks", i, n)
		}
	}
}

// A ROUTE that was underway while its number's low bits came around is not taken for the packet that has them now.
func TestVirtualLinkStale(t *testing.T) {
	c := smallVirtual
	c.Window = linkproto.VLMaxWindow
	w := upVirtuals(t, c)
	w.send(0, 20)
	old, ok := w.sides[0].Emit(nil)
	if !ok {
		t.Fatal("nothing to send")
	}
	w.put(1, old)
	for len(w.sides[0].sent) < 256 {
		w.send(0, 20)
		w.step()
	}
	for !w.quiet() {
		w.step()
	}
	before := w.sides[1].Counter(linkproto.CntBadWord)
	w.feed(1, old)
	if w.read(1) {
		t.Error("the packet of before was delivered again")
	}
	if got := w.sides[1].Counter(linkproto.CntBadWord) - before; got != 1 {
		t.Errorf("it counted %d times as damaged, want once", got)
	}
	w.settle()
}

// Numbers pass 2^16 without a hitch, so their high bits do too.
func TestVirtualLinkLongLife(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	w.lose, w.spread = 20, 5
	w.sides[0].talk, w.sides[1].talk = 7, 7
	for len(w.sides[0].sent) < 1<<16+1000 {
		w.step()
	}
	w.settle()
	if n := w.sides[0].Counter(linkproto.CntRestarts); n != 0 {
		t.Errorf("%d restarts", n)
	}
}

// A receiver that is full says STOP. Its GO may be lost: the sender asks, and an answer keeps the link up for as long as it takes.
func TestVirtualLinkStop(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	w.sides[1].stalled, w.sides[0].talk = true, 60
	w.run(100 * smallVirtual.Retry)
	s := w.sides[0].Status()
	if !s.Up || !s.PeerStop || w.sides[0].Counter(linkproto.CntRestarts) != 0 {
		t.Fatalf("behind STOP the sender is %+v", s)
	}
	asked := w.sides[0].Counter(linkproto.CntRetries)
	if asked < 50 {
		t.Errorf("the sender asked %d times, want each Retry", asked)
	}
	if n := w.sides[1].Counter(linkproto.CntRxOverrun) + w.sides[1].Counter(linkproto.CntRxGap); n > asked {
		t.Errorf("%d packets came behind STOP that were not taken, asked for %d times", n, asked)
	}
	w.lose, w.sides[1].stalled = 1000, false
	w.run(50) // the GO is lost
	w.settle()
	if n := w.sides[0].Counter(linkproto.CntLostPackets); n != 0 {
		t.Errorf("%d packets were lost", n)
	}
}

// One lost packet of many is sent again within a way there and back, not when the timer runs out, and its followers once.
func TestVirtualLinkLost(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	for range 5 {
		w.send(0, 20)
	}
	w.lose = 1000
	w.step()
	w.lose = 0
	begin := w.now
	for !w.quiet() {
		w.step()
	}
	if took := w.now - begin; took > smallVirtual.AckDelay+20 {
		t.Errorf("it took %d ticks", took)
	}
	if n := w.sides[0].Counter(linkproto.CntReplays); n != 1 {
		t.Errorf("the sender went back %d times", n)
	}
}

// So it is when each packet of the other direction says LOST.
func TestVirtualLinkLostBothWays(t *testing.T) {
	c := smallVirtual
	c.Window, c.ReplayBytes, c.ReceiveBytes = linkproto.VLMaxWindow, 4000, 4000
	w := upVirtuals(t, c)
	w.delay = 10
	w.sides[0].talk, w.sides[1].talk = 20, 20
	w.run(100)
	w.cut[1] = true
	w.step()
	w.cut[1] = false
	w.run(300)
	if n := w.sides[0].Counter(linkproto.CntReplays); n != 1 {
		t.Errorf("the sender went back %d times for one packet", n)
	}
	w.settle()
}

// An acknowledgement that is lost is said again when the packet comes again.
func TestVirtualLinkAcknowledgementLost(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	w.send(0, 20)
	w.step()
	w.step()
	w.lose = 1000
	w.run(smallVirtual.AckDelay + 5)
	w.settle()
	if n := w.sides[0].Counter(linkproto.CntLostPackets); n != 0 || w.sides[0].Counter(linkproto.CntRetries) != 1 {
		t.Errorf("%d packets were given up, %d retries", n, w.sides[0].Counter(linkproto.CntRetries))
	}
}

// An INIT of a former life that comes late misleads the peer, until this end says again who it is.
func TestVirtualLinkLateInit(t *testing.T) {
	w := newVirtuals(t, 1, smallVirtual)
	emit := func(i int) []byte { b, _ := w.sides[i].Emit(nil); return b }
	late := emit(0)
	w.sides[0].Restart()
	emit(1)
	w.feed(1, emit(0))
	w.feed(0, emit(1))
	if !w.sides[0].Status().Up {
		t.Fatal("side 0 knows its peer, which knows it, and is not up")
	}
	w.feed(1, late)
	w.settle()
}

// A number that the peer cannot expect releases nothing.
func TestVirtualLinkImpossible(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	w.send(0, 20)
	w.send(0, 20)
	w.sides[0].Emit(nil) // one of them is sent
	from, to := w.sides[1].Status(), w.sides[0].Status()
	r := linkproto.Route{Dest: 1, Src: 2, VL: w.sides[0].number, State: linkproto.VLState{Kind: linkproto.KindAck}.Byte(), Next: 2}
	w.feed(0, check.Must(r.Seal(nil, linkproto.KeyOf(to.Life, from.Life).At(0, 2)))(t))
	if n := w.sides[0].Counter(linkproto.CntBadWord); n != 1 || w.sides[0].Queued() != 2 {
		t.Errorf("it counted %d times, and %d packets wait", n, w.sides[0].Queued())
	}
	w.settle()
}

// A peer that is gone is given up after RetryLimit, and what was sent is reported.
func TestVirtualLinkGone(t *testing.T) {
	w := upVirtuals(t, smallVirtual)
	w.cut = [2]bool{true, true}
	w.send(0, 30)
	w.run(15 * smallVirtual.Retry * smallVirtual.RetryLimit)
	if s := w.sides[0].Status(); s.Up || w.sides[0].sent[0] != reported {
		t.Errorf("the sender is %+v, its packet %v", s, w.sides[0].sent[0])
	}
	w.settle()
}

// An end at whose peer's node nobody has the channel knows so until somebody has; a refusal of another life, or of an end that is up, changes nothing.
func TestVirtualLinkAlone(t *testing.T) {
	w := newVirtuals(t, 1, smallVirtual)
	refuse := func(heard linkproto.Life) {
		c := w.sides[0].Config()
		none := linkproto.VLInit{Heard: heard, Channel: c.Channel}.Append(nil)
		r := linkproto.Route{Dest: c.Node, Src: c.Peer, State: linkproto.VLState{Kind: linkproto.KindInit}.Byte(), Next: linkproto.Version, Packet: none}
		w.feed(0, check.Must(r.Append(nil))(t))
	}
	life := w.sides[0].Status().Life
	refuse(life + 1)
	check.Equal(t, "of another life", w.sides[0].Alone(), false)
	refuse(life)
	check.Equal(t, "refused", w.sides[0].Alone(), true)
	w.run(20 * smallVirtual.Retry)
	check.Equal(t, "up", w.sides[0].Status().Up && !w.sides[0].Alone(), true)
	refuse(life)
	check.Equal(t, "up still", w.sides[0].Status().Up && !w.sides[0].Alone(), true)
	w.settle()
}

// An end whose pages are of another size stays down, and says so.
func TestVirtualLinkRefuses(t *testing.T) {
	w := newVirtuals(t, 1, smallVirtual)
	w.cfg.MaxPacket, w.cfg.ReplayBytes, w.cfg.ReceiveBytes = linkproto.MaxPacket(128), 0, 0
	w.restart(1)
	w.run(1000)
	for i := range w.sides {
		if s := w.sides[i].Status(); s.Up || !s.Refused {
			t.Errorf("side %d: %+v", i, s)
		}
	}
}

func TestVirtualConfig(t *testing.T) {
	good := smallVirtual
	good.Node, good.Peer, good.Number, good.NewLife = 1, 2, 3, func() linkproto.Life { return 4 }
	check.Must(flowctl.NewVirtual(good))(t)
	for name, change := range map[string]func(*flowctl.VirtualConfig){
		"no node":         func(c *flowctl.VirtualConfig) { c.Node = 0 },
		"itself":          func(c *flowctl.VirtualConfig) { c.Peer = c.Node },
		"no number":       func(c *flowctl.VirtualConfig) { c.Number = 0 },
		"window":          func(c *flowctl.VirtualConfig) { c.Window = 128 },
		"packet":          func(c *flowctl.VirtualConfig) { c.MaxPacket = 100 },
		"small replay":    func(c *flowctl.VirtualConfig) { c.ReplayBytes = 10 },
		"no lives":        func(c *flowctl.VirtualConfig) { c.NewLife = nil },
		"retry":           func(c *flowctl.VirtualConfig) { c.Retry = c.AckDelay },
		"negative window": func(c *flowctl.VirtualConfig) { c.Window = -1 },
	} {
		c := good
		change(&c)
		if _, err := flowctl.NewVirtual(c); !errors.Is(err, flowctl.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever comes, an end neither panics nor delivers anything.
func FuzzVirtualLink(f *testing.F) {
	w := newVirtuals(f, 1, smallVirtual)
	init, _ := w.sides[1].Emit(nil)
	f.Add(init, []byte{})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		w := newVirtuals(t, 1, smallVirtual)
		for _, b := range [][]byte{first, second} {
			w.feed(0, b)
			w.sides[0].Emit(nil)
		}
		if _, ok := w.sides[0].Receive(); ok {
			t.Error("something was delivered")
		}
	})
}

// An end that refuses what comes behind each packet for a while, as behind a trap, has it sent again when it says GO, however late the sender hears STOP.
func TestVirtualLinkTraps(t *testing.T) {
	const packets, way, trapped = 30, 10, 3 // ticks
	taken, until, now := 0, 0, 0
	take := func([]byte) bool {
		if now < until {
			return false
		}
		taken, until = taken+1, now+trapped
		return true
	}
	c := flowctl.VirtualConfig{Node: 1, Peer: 2, Retry: 1 << 16}
	sender := check.Must(flowctl.NewFlow(c, func([]byte) bool { return true }))(t)
	c.Node, c.Peer = 2, 1
	receiver := check.Must(flowctl.NewFlow(c, take))(t)
	ends := []*flowctl.VirtualFlow{sender, receiver}
	for _, end := range ends {
		end.Open(1, 0)
		end.ComeUp()
	}
	for range packets {
		check.Fatal(t, sender.Send(make([]byte, linkproto.MinPacket)))
	}
	var network []underRoute
	for ; taken < packets && now < 1<<16; now++ {
		for i, end := range ends {
			end.Tick(1)
			if route, ok := end.Emit(nil); ok {
				network = append(network, underRoute{1 - i, now + way, route})
			}
		}
		for len(network) > 0 && network[0].at <= now {
			var r linkproto.Route
			check.Fatal(t, r.Open(network[0].bytes))
			ends[network[0].to].Feed(&r, network[0].bytes)
			network = network[1:]
		}
		receiver.SetStop(now < until)
	}
	if most := packets * 2 * (way + trapped); taken < packets || now > most {
		t.Errorf("%d of %d packets in %d ticks, want all in %d", taken, packets, now, most)
	}
}
