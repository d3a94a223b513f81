package paging

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/scenarios/harness"
	"github.com/stafflink/lmmc/testbench/stimulus"
	"github.com/stafflink/lmmc/testbench/suite"
)

// Losses are the scenarios of traps and pages that get lost.
var Losses = []suite.Scenario{
	{Name: "trap-lost", Doc: "a host starts again about when a trap is told: it finds the link TRAPPED, has the TRAP told again, serves it, nothing is lost", Seeds: 2,
		Run: harness.WithPeers(harness.TwoLinks, []int{1}, trapLost)},
	{Name: "page-lost", Doc: "links start again in the middle of PAGEs and WRITEs: no WRITE arrives behind a PAGE that was lost, refusals name their link", Seeds: 1,
		Run: harness.WithPeers(harness.TwoLinks, []int{1, 2}, pageLost)},
}

// restartHost puts a new host in the place of the one before.
func restartHost(s *harness.Harness) {
	host := s.Node.Host
	try.OK(host.Restart(linkproto.NextEpoch(host.Link.Status().Epoch)))
}

func trapLost(s *harness.Harness) {
	host, peer := s.Node.Host, s.Peer(1)
	asked, told := 0, 0
	for round := range 60 {
		var traps [][]byte
		host.Received = func(q linkproto.Packet) {
			if q.Type == linkproto.TypeTrap {
				traps = append(traps, bytes.Clone(q.Data))
			}
		}
		packet := linkproto.Packet{Type: linkproto.TypePage, Frame: uint16(s.Rand.IntN(s.Params.Frames)), Port: s.Rand.Uint32()}
		kept := packet
		if s.Rand.Bool() {
			packet = linkproto.Packet{Type: linkproto.TypeConnect, Port: s.Rand.Uint32(), Data: make([]byte, s.Rand.IntN(linkproto.MaxParams+1))}
			kept = linkproto.Packet{Type: packet.Type, Port: packet.Port}
		}
		wait := s.Rand.IntN(400)
		if round%3 == 0 {
			wait = 0 // the TRAP finds the new host
		}
		try.OK(peer.Link.Send(stimulus.Encode(packet)), peer.Link.Send(s.Write(1)), s.Run(wait))
		seen := len(traps)
		restartHost(s)
		traps = nil
		err := s.Until(100_000, "the new host", func() bool { return host.Link.Status().Up })
		for status := uint32(0); err == nil && len(traps) == 0 && linkproto.StatusTrapped.Of(status) == 0; {
			if _, err = s.ReadRegister(0, linkproto.RegMagic); err == nil { // then a TRAP that met the restart is over
				status, err = s.ReadRegister(0, linkproto.LinkStatusReg(1))
			}
		}
		if err != nil {
			try.Failf("round %d, the old host had %d traps: %w", round, seen, err)
		}
		want := stimulus.Encode(packet)
		if told++; len(traps) == 0 {
			a, err := s.Ask(0, linkproto.Packet{Type: linkproto.TypeRetrap, Via: 1})
			if err != nil || a.Status != linkproto.StatusOK {
				try.OK(fmt.Errorf("round %d: RETRAP of a link that is trapped: %v", round, a.Status), err)
			}
			try.OK(s.Until(10_000, "the TRAP", func() bool { return len(traps) > 0 }))
			want = stimulus.Encode(kept)
			asked++
		}
		if len(traps) != 1 || !bytes.Equal(traps[0], want) {
			try.Failf("round %d: TRAPs of % x, want one of % x", round, traps, want)
		}
		if a, err := s.Ask(0, linkproto.Packet{Type: linkproto.TypeResume, Via: 1}); err != nil || a.Status != linkproto.StatusOK {
			try.OK(fmt.Errorf("round %d: RESUME: %v", round, a.Status), err)
		}
		try.Wrap(errors.Join(s.Until(100_000, "the write behind the trap", func() bool { return peer.Link.Queued() == 0 }), s.Run(2000), s.Traffic.Check()), "round %d", round)
	}
	if least := told / 4; asked < least || told-asked < least {
		try.Failf("of %d traps %d were told again, want %d to %d", told, asked, least, told-least)
	}
}

// pageWriter is a host that pages by one link, and what its peer makes of that: each WRITE carries the port that it is meant for.
type pageWriter struct {
	link    int
	at      map[int]uint32 // frame to port, as the host sees it
	peer    map[int]uint32 // and the peer
	arrived int
}

// write sends a WRITE to any port, behind a PAGE if it has no frame.
func (w *pageWriter) write(s *harness.Harness) {
	frame, port := s.Rand.IntN(4), s.Rand.Uint32()%8
	for _, q := range []linkproto.Packet{
		{Type: linkproto.TypePage, Via: uint8(w.link), Frame: uint16(frame), Port: port},
		{Type: linkproto.TypeWrite, Via: uint8(w.link), Addr: uint32(frame * s.Params.PageBytes), Data: binary.LittleEndian.AppendUint32(nil, port)},
	} {
		has, in := w.at[frame]
		if q.Type == linkproto.TypePage && in && has == port {
			continue
		}
		if err := s.Node.Host.Forward(q); err != nil {
			if errors.Is(err, ni.ErrNoCredit) || errors.Is(err, ni.ErrBusy) {
				return // and no WRITE without its PAGE
			}
			try.OK(err)
		}
		w.at[frame] = port
		s.Suite.Stats.Packets++
	}
}

// take lets the peer carry out what has come.
func (w *pageWriter) take(s *harness.Harness) {
	for raw, ok := s.Peer(w.link).Link.Receive(); ok; raw, ok = s.Peer(w.link).Link.Receive() {
		var q linkproto.Packet
		try.OK(q.Decode(raw))
		if q.Type == linkproto.TypePage {
			w.peer[int(q.Frame)] = q.Port
			continue
		}
		frame, port := int(q.Addr)/s.Params.PageBytes, binary.LittleEndian.Uint32(q.Data)
		if have, in := w.peer[frame]; !in || have != port {
			try.Failf("link %d: a write to port %d arrives in frame %d, which has port %d", w.link, port, frame, have)
		}
		w.arrived++
	}
}

func pageLost(s *harness.Harness) {
	host := s.Node.Host
	var writers []*pageWriter
	for link := 1; link <= 2; link++ {
		writers = append(writers, &pageWriter{link: link, at: map[int]uint32{}, peer: map[int]uint32{}})
	}
	restarts, losses := 0, 0
	for range 4000 {
		for _, w := range writers {
			for range 1 + s.Rand.IntN(4) {
				w.write(s)
			}
			w.take(s)
			if host.Credit(w.link).Refused == 0 || host.Credit(w.link).HasRoom(s.Params.MaxPacket()) {
				continue
			}
			// Something was refused, perhaps: what the peer has is unknown.
			lost := try.Get(s.Admit(0, w.link))
			if lost {
				clear(w.at)
				losses++
			}
		}
		if s.Rand.IntN(50) == 0 {
			restarts++
			writers[0].take(s)
			s.RestartPeer(1)
		}
		try.OK(s.Run(s.Rand.IntN(100)))
	}
	if restarts == 0 || losses == 0 || host.Credit(2).Refused > 0 || writers[0].arrived < 100 || writers[1].arrived < 100 {
		try.Failf("%d restarts, %d losses; refused %d and %d, arrived %d and %d", restarts, losses, host.Credit(1).Refused, host.Credit(2).Refused,
			writers[0].arrived, writers[1].arrived)
	}
}
