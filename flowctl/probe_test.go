package flowctl_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// probe plays the peer of one endpoint, symbol by symbol.
type probe struct {
	t *testing.T
	*flowctl.Endpoint
	seen  *linkproto.Deframer
	epoch uint8 // that it has last said
}

// peerEpoch is the probe's first epoch; the endpoint's is 1.
const peerEpoch = 90

const peerNode, peerMaxPacket = 77, 8200

// message is an INIT of the probe in an epoch, or another word for the endpoint in its epoch.
type message struct {
	linkproto.Word
	epoch uint8
}

func peerLife(epoch uint8) linkproto.Life { return linkproto.LifeOf(0, 0, epoch) }

// ownLife is that of an endpoint without a nonce.
func ownLife(epoch uint8) linkproto.Life { return linkproto.LifeOf(0, 0, epoch) }

// peerIn is what an endpoint knows of the probe in an epoch.
func peerIn(epoch uint8) flowctl.Peer {
	return flowctl.Peer{Known: true, Node: peerNode, Life: peerLife(epoch), MaxPacket: peerMaxPacket, Lanes: 1}
}

func (p *probe) say(m message) {
	if m.Kind != linkproto.KindInit {
		p.Feed(linkproto.AppendWord(nil, linkproto.KeyOf(ownLife(m.epoch), peerLife(p.epoch)), m.Word))
		return
	}
	p.epoch = m.epoch
	p.Feed(linkproto.AppendInit(nil, linkproto.Init{Stop: m.Stop, Version: linkproto.Version, Node: peerNode, Life: peerLife(m.epoch),
		Page: 13, Lanes: 1}))
}

func newProbe(t *testing.T, c flowctl.Config) *probe {
	e := newEndpoint(t, c)
	return &probe{t, e, linkproto.NewDeframer(e.Config().MaxPacket), peerEpoch}
}

// upProbe returns a probe of an endpoint that has come up.
func upProbe(t *testing.T, c flowctl.Config) *probe {
	p := newProbe(t, c)
	p.say(initWord(peerEpoch))
	p.ack(0)
	p.expect("ACK 0")
	return p
}

// word feeds a word of the present session.
func (p *probe) word(w linkproto.Word) { p.say(message{w, p.Status().Epoch}) }

// ack feeds ACK{n} of the present session.
func (p *probe) ack(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindAck, Value: n})
}

// lost feeds LOST{n} of the present session.
func (p *probe) lost(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindLost, Value: n})
}

// stop feeds ACK{n} with STOP.
func (p *probe) stop(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindAck, Value: n, Stop: true})
}

// frame feeds a frame with a packet of n bytes.
func (p *probe) frame(seq uint8, n int) { p.Feed(p.framed(seq, packetOf(n))) }

// framed returns a frame of the present session.
func (p *probe) framed(seq uint8, packet []byte) []linkproto.Symbol {
	return linkproto.AppendFrame(nil, linkproto.KeyOf(ownLife(p.Status().Epoch), peerLife(p.epoch)), seq, packet)
}

// send queues packets of ten bytes.
func (p *probe) send(packets int) {
	p.t.Helper()
	for range packets {
		check.Fatal(p.t, p.Send(packetOf(10)))
	}
}

// packetOf returns a packet of n bytes.
func packetOf(n int) []byte {
	b := make([]byte, n)
	b[0], b[1], b[2] = byte(linkproto.TypeWrite), byte(n-linkproto.HeaderBytes), byte((n-linkproto.HeaderBytes)>>8)
	return b
}

// take emits at most n symbols and returns what they complete.
func (p *probe) take(n int) []string {
	line := make([]linkproto.Symbol, n)
	line = line[:p.Emit(line)]
	p.seen.SetKey(linkproto.KeyOf(peerLife(p.epoch), ownLife(p.Status().Epoch)))
	found := []string{}
	for len(line) > 0 {
		ev, k := p.seen.Next(line)
		line = line[k:]
		switch w := ev.Word; ev.Kind {
		case linkproto.EventNone:
		case linkproto.EventFrame:
			found = append(found, fmt.Sprintf("frame %d", ev.Seq))
		case linkproto.EventWord:
			found = append(found, fmt.Sprintf("%v %d%s", w.Kind, w.Value, stopped(w.Stop)))
		case linkproto.EventInit:
			found = append(found, fmt.Sprintf("INIT %d%s", ev.Init.Life>>linkproto.LifeEpochShift, stopped(ev.Init.Stop)))
		default:
			found = append(found, ev.Reason.Error())
		}
	}
	return found
}

func stopped(stop bool) string {
	if stop {
		return " STOP"
	}
	return ""
}

// expect takes all there is to send now and compares it.
func (p *probe) expect(want ...string) {
	p.t.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, p.take(1<<16)); diff != "" {
		p.t.Fatalf("sent (-want +got):\n%s", diff)
	}
}

// counts checks counters: every one not named must be 0.
func (p *probe) counts(want map[linkproto.Counter]uint32) {
	p.t.Helper()
	for c := range linkproto.Counter(linkproto.NumCounters) {
		check.Equal(p.t, c.String(), p.Counter(c), want[c])
	}
}
