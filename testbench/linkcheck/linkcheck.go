// Package linkcheck checks what one end of a link says. It follows both directions of the end's cable, symbol by symbol, and knows from
// doc/protocol.md what the end may say then, what it must say, and by when. It knows nothing of how the end is made, and shares
// nothing with package flowctl but the numbers of the protocol.
package linkcheck

import (
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// Config describes the end. It has one lane, which takes a symbol a clock. Times are in clocks. The nonce of its node is odd: an even one counts as none.
type Config struct {
	Host      bool // the end is a network interface's port to its host
	MaxPacket int  // that the end takes, and may have to send
	Init      linkproto.Init
	Barriers  bool // the end says BARRIERs
	Headroom  int  // symbols for which the end has room when it says STOP

	AckDelay, WordTimer, Retry, RetryLimit int
}

const (
	// lag is how long after a symbol has come the end may still act as if it had not.
	lag = 16
	// prompt is how long what has to be said at once may take.
	prompt = 64
)

// Checker follows the cable of an end. Make it with New.
type Checker struct {
	cfg     Config
	err     error
	pending []timed // towards the end, not looked at yet
	clock   uint64  // of the last symbol looked at, or of Advance

	in, out  *linkproto.Deframer
	received receiving
	words    words
	sent     sending

	life    linkproto.Life // of the end
	named   bool           // the end has said it
	settled uint64         // from then on the end's words are to agree with what it has heard
	doubt   error          // of that life, unless the next one shows that the host wrote NONCE meanwhile: the INIT has bytes of both nonces then
	unsure  bool           // whether the end has heard of its peer shows with the peer's next INIT
}

type timed struct {
	clock  uint64
	symbol linkproto.Symbol
}

// New returns a Checker for an end that has just come out of reset.
func New(c Config) *Checker {
	k := &Checker{cfg: c, in: linkproto.NewDeframer(c.MaxPacket), out: linkproto.NewDeframer(c.MaxPacket)}
	k.Reset()
	return k
}

// Reset is for when the end is in reset: nothing of before counts.
func (k *Checker) Reset() {
	k.in.Reset()
	k.out.Reset()
	k.pending, k.named, k.life, k.doubt, k.unsure = k.pending[:0], false, 0, nil, false
	k.received, k.words, k.sent = receiving{}, words{}, sending{}
	k.seal()
}

// ToEnd takes a symbol that reaches the end in a clock; those of one line come in order.
func (k *Checker) ToEnd(clock uint64, s linkproto.Symbol) {
	if s != linkproto.SymIdle {
		k.pending = append(k.pending, timed{clock, s})
	}
}

// FromEnd takes a symbol that the end says in a clock, when ToEnd has had all before it.
func (k *Checker) FromEnd(clock uint64, s linkproto.Symbol) {
	if s == linkproto.SymIdle {
		return
	}
	k.Advance(clock)
	k.say(s)
}

// Advance says that all symbols before a clock have been told. It returns what was wrong at first.
func (k *Checker) Advance(clock uint64) error {
	n := 0
	for ; n < len(k.pending) && k.pending[n].clock <= clock; n++ {
		k.overdue(k.pending[n].clock)
		k.clock = k.pending[n].clock
		k.hear(k.pending[n].symbol)
	}
	k.pending = k.pending[:copy(k.pending, k.pending[n:])]
	k.overdue(clock)
	k.clock = clock
	return k.err
}

// Stops is how often the end has said STOP behind GO since it was in reset.
func (k *Checker) Stops() int { return k.words.stops }

// events calls do with what a symbol completes.
func events(d *linkproto.Deframer, s linkproto.Symbol, do func(linkproto.Event)) {
	line := [1]linkproto.Symbol{s}
	for n := 0; n == 0; {
		var ev linkproto.Event
		if ev, n = d.Next(line[:]); ev.Kind != linkproto.EventNone {
			do(ev)
		}
	}
}

// fail keeps the first fault.
func (k *Checker) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf("linkcheck: clock %d: %s", k.clock, fmt.Sprintf(format, args...))
	}
}

// unsettle is for when the end, or its peer, begins another life: when just the end notices is not known to a clock.
func (k *Checker) unsettle() { k.settled = k.clock + prompt }

// sure reports whether what the end says since a clock must agree with what it has heard.
func (k *Checker) sure(since uint64) bool { return k.named && !k.unsure && since >= k.settled }

// seal sets the keys for both directions.
func (k *Checker) seal() {
	if !k.named || !k.received.known {
		k.in.TakeAny()
		k.out.TakeAny()
		return
	}
	key := linkproto.KeyOf(k.received.peer.Life, k.life)
	k.out.SetKey(key)
	k.in.SetKey(key.Back())
}
