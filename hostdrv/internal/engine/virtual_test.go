package engine

import (
	"bytes"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// talker is a virtual link with a Taker that sends what is posted, and notes what it is told. What it says waits in said.
type talker struct {
	core   *Core
	link   *Virtual
	posted []uint32 // tags
	told   []string
	said   [][]byte
	life   linkproto.Life
}

func (p *talker) Take(m linkproto.Packet) bool { p.told = append(p.told, "taken"); return true }
func (p *talker) Broken()                      { p.told = append(p.told, "broken") }
func (p *talker) Lost(uint64)                  { p.told = append(p.told, "lost") }
func (p *talker) Turn() {
	for len(p.posted) > 0 && p.link.Offer(&linkproto.Packet{Type: linkproto.TypeMessage, MsgTag: p.posted[0]}) {
		p.posted = p.posted[1:]
	}
}

func (p *talker) post() {
	p.posted = append(p.posted, 1)
	p.link.Touch()
}

// hears feeds what another one has said, and leaves the link as it is marked.
func (p *talker) hears(other *talker) {
	said := other.said
	other.said = nil
	for _, raw := range said {
		var r linkproto.Route
		if r.Open(raw) == nil {
			p.core.feedVirtual(&r, raw)
		}
	}
}

// told is the Handler of a talker.
type told struct {
	Handler
	by *talker
}

func (h told) Lost(int)   { h.by.told = append(h.by.told, "lost") }
func (h told) Trap(*Trap) { h.by.told = append(h.by.told, "trap") }

// talk is two ends of a virtual link that is up, with a Taker or without.
func talk(t *testing.T, taker bool) (ends [2]*talker) {
	for i := range ends {
		p := &talker{core: check.Must(New(Config{Epoch: 1, LinkTimeout: 1}))(t), life: linkproto.Life(100 * (i + 1))}
		p.core.id, p.core.events, p.core.resume.done = Identity{Links: 1, Frames: 1, PageBytes: 1024}, told{nil, p}, true
		p.core.Relay = func(route []byte) { p.said = append(p.said, bytes.Clone(route)) }
		v := VirtualConfig{Via: 1, Node: uint16(1 + i), Peer: uint16(2 - i), Channel: 1, NewLife: func() linkproto.Life {
			p.life++
			return p.life
		}}
		if taker {
			v.Taker = p
		}
		p.link = check.Must(p.core.NewVirtual(v))(t)
		p.link.Touch()
		ends[i] = p
	}
	for range 4 {
		for i, p := range ends {
			p.core.turnVirtuals()
			ends[1-i].hears(p)
		}
	}
	if !ends[0].link.Status().Up || !ends[1].link.Status().Up {
		t.Fatal("the link is down")
	}
	return ends
}

// TestPostedGoesBeforeClose holds that what was posted before a link was closed is on its way.
func TestPostedGoesBeforeClose(t *testing.T) {
	ends := talk(t, true)
	ends[0].post()
	ends[0].link.Close()
	ends[1].hears(ends[0])
	ends[1].core.Settle()
	if len(ends[1].told) == 0 || ends[1].told[0] != "taken" {
		t.Errorf("the peer was told %q, want taken at first", ends[1].told)
	}
}

// TestRestartIsToldAtOnce holds that a Taker hears of a restart of its link before it gets what comes behind, and when the time for that runs out while the link waits for its turn.
func TestRestartIsToldAtOnce(t *testing.T) {
	ends := talk(t, true)
	ends[0].post()
	ends[0].core.Settle()
	ends[1].link.Restart()
	ends[1].core.sendVirtuals()
	ends[0].said = nil // the message is lost
	ends[0].hears(ends[1])
	if len(ends[0].told) == 0 || ends[0].told[0] != "lost" {
		t.Errorf("after the peer's INIT the Taker was told %q, want lost at first", ends[0].told)
	}

	ends = talk(t, true)
	ends[0].post()
	ends[0].core.Settle()
	for range linkproto.DefaultRetryLimit - 1 {
		ends[0].core.now += 1 << 30
		ends[0].link.tick()
	}
	ends[0].link.rearm() // its turn has come, and others are before it
	ends[0].core.now += 1 << 30
	ends[0].core.sendVirtuals()
	if len(ends[0].told) == 0 || ends[0].told[0] != "lost" {
		t.Errorf("when nobody has acknowledged for long the Taker was told %q, want lost at first", ends[0].told)
	}
}

// TestForwardTellsNobody: who forwards a packet hears of what has come, or is lost, only afterwards.
func TestForwardTellsNobody(t *testing.T) {
	page := linkproto.Packet{Type: linkproto.TypePage}
	for want, prepare := range map[string]func(ends [2]*talker){
		"lost": func(ends [2]*talker) { // nobody acknowledges
			for range linkproto.DefaultRetryLimit - 1 {
				ends[0].core.now += 1 << 30
				ends[0].link.tick()
			}
			ends[0].core.now += 1 << 30
		},
		"trap": func(ends [2]*talker) { // what has come has waited until fewer requests do
			ends[0].core.backlog = make([]*Call, virtualBacklog)
			ends[1].link.Forward(&page)
			ends[1].core.Settle()
			ends[0].hears(ends[1])
			ends[0].core.backlog = nil
		},
	} {
		ends := talk(t, false)
		forward := func() {
			if sent, err := ends[0].link.Forward(&page); !sent || err != nil {
				t.Fatal(want, sent, err)
			}
		}
		forward()
		ends[0].core.Settle()
		prepare(ends)
		forward()
		check.Equal(t, want+": told inside Forward", ends[0].told, nil)
		ends[0].core.Settle()
		check.Equal(t, want+": told afterwards", ends[0].told, []string{want})
	}
}
