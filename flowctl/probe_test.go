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
	seen *linkproto.Deframer
}

// peerEpoch is the probe's epoch; the endpoint's first one is 1.
const peerEpoch = 90

func newProbe(t *testing.T, c flowctl.Config) *probe {
	e := newEndpoint(t, c)
	return &probe{t, e, linkproto.NewDeframer(e.Config().MaxPacket)}
}

// upProbe returns a probe of an endpoint that has come up.
func upProbe(t *testing.T, c flowctl.Config) *probe {
	p := newProbe(t, c)
	p.word(linkproto.Word{Kind: linkproto.KindInit, Value: peerEpoch, Echo: 1})
	p.expect("ACK 0 echo 90")
	return p
}

func (p *probe) word(w linkproto.Word) { p.Feed(linkproto.AppendWord(nil, w)) }

// ack feeds ACK{n} of the present session.
func (p *probe) ack(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindAck, Value: n, Echo: p.Status().Epoch})
}

// lost feeds LOST{n} of the present session.
func (p *probe) lost(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindLost, Value: n, Echo: p.Status().Epoch})
}

// stop feeds ACK{n} with STOP.
func (p *probe) stop(n uint8) {
	p.word(linkproto.Word{Kind: linkproto.KindAck, Value: n, Echo: p.Status().Epoch, Stop: true})
}

// frame feeds a frame with a packet of n bytes.
func (p *probe) frame(seq uint8, n int) { p.Feed(linkproto.AppendFrame(nil, seq, packetOf(n))) }

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
	found := []string{}
	for len(line) > 0 {
		ev, k := p.seen.Next(line)
		line = line[k:]
		switch w := ev.Word; ev.Kind {
		case linkproto.EventNone:
		case linkproto.EventFrame:
			found = append(found, fmt.Sprintf("frame %d", ev.Seq))
		case linkproto.EventWord:
			s := fmt.Sprintf("%v %d echo %d", w.Kind, w.Value, w.Echo)
			if w.Stop {
				s += " STOP"
			}
			found = append(found, s)
		default:
			found = append(found, ev.Reason.Error())
		}
	}
	return found
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
