package scenarios

import (
	"errors"
	"slices"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

func full(err error) bool { return errors.Is(err, flowctl.ErrFull) }

// state is what a rogue end in the place of a peer would know.
func (s *harness) state(link int) *stimulus.State {
	end := s.peer(link).Link
	return &stimulus.State{Next: uint8(end.Counter(linkproto.CntTxPackets)), Expected: uint8(end.Counter(linkproto.CntRxPackets)),
		Life: linkproto.LifeOf(end.Config().Nonce, end.Config().Port, end.Status().Epoch), Key: seal(end)}
}

// violate commits violations in a row, and wants counters to have gone up as they say, since the tally began.
func (s *harness) violate(x *inserter, t *tally, state *stimulus.State, all []stimulus.Violation, names ...linkproto.Counter) {
	var line []linkproto.Symbol
	for _, v := range all {
		line = append(line, v.Symbols(state)...)
		for c, n := range v.Want {
			t.want[c] += n
		}
	}
	try.Wrap(try.Run(func() {
		s.send(x, line)
		if len(names) > 0 { // the link starts again
			s.waitUp(1)
		}
		try.OK(t.check(names...))
	}), "after %v", all)
	try.OK(s.traffic.Check())
}

func hostilePeer(s *harness) {
	var count numbered
	site := stimulus.Site{Params: s.Params, Legal: func() []byte { return s.write(1) }}
	rules := slices.Concat(stimulus.Rules, stimulus.Delivering)
	for range 3 {
		x, state := s.insert(s.peer(1)), s.state(1)
		t := s.quietTally(1)
		// Every rule once, in random order, in a few bursts.
		for order := range slices.Chunk(s.rng.Perm(len(rules)), 5) {
			var burst []stimulus.Violation
			for _, i := range order {
				burst = append(burst, rules[i].Draw(s.rng, site))
			}
			s.violate(x, t, state, burst)
		}
		for _, rule := range stimulus.Restarting {
			restart := []stimulus.Violation{rule.Draw(s.rng, site)}
			s.violate(x, t, s.state(1), restart, linkproto.CntRestarts, linkproto.CntLostPackets)
		}
		s.send(x, garbage(s.rng, 5000))
		s.restartPeer(1)
		s.waitUp(1)
		try.OK(s.traffic.Check())
		s.fromPeer(1, 20)
		try.OK(s.traffic.Check())
		count.toPeer(s, 1, 20)
	}
}

func hostileFlood(s *harness) {
	page := s.Params.PageBytes
	var ports []*ni.Port
	for l := 1; l <= s.Params.Links; l++ {
		s.peer(l).Swallow = (&ni.WordReader{DropStop: true}).PassAll
		ports = append(ports, s.peer(l))
	}
	const each = 60
	sent := make([]int, len(ports))
	slowest, asked := uint64(0), s.Cycles
	// Each begins with a PAGE. Behind it nothing leaves the receive FIFOs until RESUME.
	s.node.Host.Received = func(p linkproto.Packet) {
		if p.Type != linkproto.TypeTrap {
			try.Failf("the flood is told as %v", p)
		}
	}
	for i, p := range ports {
		try.OK(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(i), Port: s.rng.Uint32()})))
		sent[i]++
	}
	held := s.Cycles + 2*uint64(s.Params.RxBytes)
	try.OK(s.Until(2_000_000, "the floods to be acknowledged", func() bool {
		if held > 0 && s.Cycles > held {
			held = 0
			for l := range ports {
				if a := try.Get(s.Ask(0, linkproto.Packet{Type: linkproto.TypeResume, Via: uint8(l + 1)})); a.Status != linkproto.StatusOK {
					try.Failf("RESUME of link %d: %v", l+1, a.Status)
				}
			}
		}
		quiet := true
		for i, p := range ports {
			for sent[i] < each {
				frame := i + s.Params.Links*(sent[i]%2)
				data := s.rng.Bytes(page)
				if full(p.Link.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: uint32(frame * page), Data: data}))) {
					break
				}
				copy(s.node.Image[frame*page:], data)
				sent[i]++
				s.run.Stats.Packets++
				s.run.Stats.Bytes += uint64(page)
			}
			quiet = quiet && sent[i] == each && p.Link.Queued() == 0
		}
		asked = s.Cycles
		if _, err := s.ReadRegister(0, linkproto.RegMagic); err != nil {
			return true
		}
		slowest = max(slowest, s.Cycles-asked)
		return quiet
	}))
	if slowest > 2000 {
		try.Failf("during the flood a register read took %d clocks", slowest)
	}
	try.OK(s.Run(4 * s.Params.RxBytes))
	overruns, stops := uint32(0), uint32(0)
	for l := range ports {
		c := try.Get(s.Counters(0, l+1))
		overruns, stops = overruns+c[linkproto.CntRxOverrun], stops+c[linkproto.CntStops]
		if c[linkproto.CntRxPackets] != each || c[linkproto.CntDenied]+c[linkproto.CntBadPacket] != 0 {
			try.Failf("link %d: %d packets, %d denied, %d bad, want %d, 0, 0", l+1, c[linkproto.CntRxPackets], c[linkproto.CntDenied], c[linkproto.CntBadPacket], each)
		}
	}
	if overruns == 0 || stops == 0 {
		try.Failf("the flood did nothing: %d overruns, %d stops", overruns, stops)
	}
	s.run.Log("%d overruns, %d stops, register reads within %d clocks", overruns, stops, slowest)
}
