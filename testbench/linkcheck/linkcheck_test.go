package linkcheck_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/flowctl"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/linkcheck"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

const page = 64

// cable joins an end that is checked with its peer. Both are endpoints in Go, whose host sends random packets and reads what comes.
type cable struct {
	end, peer *flowctl.Endpoint
	checker   *linkcheck.Checker
	rng       *rand.Rand
	clock     uint64
	noise     float64                                     // chance that a symbol is damaged
	say       func(s linkproto.Symbol) []linkproto.Symbol // what becomes of what the end says; nil: nothing
	busy      bool                                        // the hosts send
	tell      []linkproto.Symbol                          // that the checker hears, but not the end
	deaf      bool                                        // the checker hears nothing else
	words     ni.WordReader                               // of the peer, on their way
}

func endConfig(port uint8) flowctl.Config {
	return flowctl.Config{MaxPacket: linkproto.MaxPacket(page), Nonce: 0x1235 << port, Port: port, Node: uint16(port), ReceiveBytes: 1024, High: 700}
}

func join(t check.TB, seed uint64, told func(*linkcheck.Config)) *cable {
	c := &cable{rng: rand.New(rand.NewPCG(seed, 1)), busy: true}
	ours, theirs := endConfig(1), endConfig(2)
	ours.Nonce |= 1
	theirs.Nonce |= 1
	c.end, c.peer = check.Must(flowctl.New(ours))(t), check.Must(flowctl.New(theirs))(t)
	ours = c.end.Config()
	log, _ := linkproto.PageOf(ours.MaxPacket)
	cfg := linkcheck.Config{MaxPacket: ours.MaxPacket, Headroom: ours.ReceiveBytes - ours.High,
		Init:     linkproto.Init{Version: linkproto.Version, Page: log, Lanes: 1},
		AckDelay: ours.AckDelay, WordTimer: ours.WordTimer, Retry: ours.Retry, RetryLimit: ours.RetryLimit}
	if told != nil {
		told(&cfg)
	}
	c.checker = linkcheck.New(cfg)
	return c
}

// run lets a number of clocks pass, and returns what the checker found.
func (c *cable) run(clocks int) error {
	for range clocks {
		c.clock++
		for i, e := range []*flowctl.Endpoint{c.end, c.peer} {
			if c.busy && c.rng.IntN(20) == 0 {
				e.Lost()
				_ = e.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: c.rng.Uint32(), Data: make([]byte, c.rng.IntN(page))})) // or it is full
			}
			if c.rng.IntN(60) < 2+i {
				e.Receive()
			}
		}
		said, heard := c.end.Next(), c.peer.Next()
		line := []linkproto.Symbol{said}
		if c.say != nil {
			line = c.say(said)
		}
		heard = c.words.Pass(heard)
		if heard != linkproto.SymIdle && c.rng.Float64() < c.noise {
			heard ^= 1 << c.rng.IntN(8)
		}
		if heard == linkproto.SymIdle && len(c.tell) > 0 {
			c.checker.ToEnd(c.clock, c.tell[0])
			c.tell = c.tell[1:]
		}
		if !c.deaf {
			c.checker.ToEnd(c.clock, heard)
		}
		c.end.Feed([]linkproto.Symbol{heard})
		for _, s := range line {
			c.checker.FromEnd(c.clock, s)
			if c.rng.Float64() < c.noise {
				s ^= 1 << c.rng.IntN(8)
			}
			c.peer.Feed([]linkproto.Symbol{s})
		}
		c.end.Tick(1)
		c.peer.Tick(1)
		if err := c.checker.Advance(c.clock); err != nil {
			return err
		}
	}
	return nil
}

// TestEndpoint checks the link layer in Go, which knows nothing of these checks: whatever the noise and however often either end starts again, it keeps the protocol.
func TestEndpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := join(t, rapid.Uint64().Draw(t, "seed"), nil)
		c.noise = rapid.SampledFrom([]float64{0, 1e-4, 1e-3, 1e-2}).Draw(t, "noise")
		for range rapid.IntRange(1, 5).Draw(t, "lives") {
			check.Fatal(t, c.run(rapid.IntRange(2000, 20_000).Draw(t, "clocks")))
			switch rapid.IntRange(0, 2).Draw(t, "then") {
			case 0:
				c.peer.Restart()
			case 1:
				c.end.SetNonce(c.rng.Uint32() | 1)
			}
		}
	})
}

// TestRules has an end break one rule at a time.
func TestRules(t *testing.T) {
	word := func(c *cable, change func(*linkproto.Word)) []linkproto.Symbol {
		s := c.end.Status()
		w := linkproto.Word{Kind: linkproto.KindAck, Value: uint8(c.end.Counter(linkproto.CntRxPackets))}
		change(&w)
		life := linkproto.LifeOf(c.end.Config().Nonce, c.end.Config().Port, s.Epoch)
		return linkproto.AppendWord(nil, linkproto.KeyOf(s.Peer.Life, life), w)
	}
	// only passes what is no word, or is one.
	only := func(words bool) func(linkproto.Symbol) []linkproto.Symbol {
		inside := 0
		return func(s linkproto.Symbol) []linkproto.Symbol {
			if s == linkproto.SymLSW {
				inside = linkproto.WordSymbols
			}
			if inside--; (inside >= 0) == words {
				return []linkproto.Symbol{s}
			}
			return nil
		}
	}
	// once replaces the first symbol for which a condition holds.
	once := func(holds func(linkproto.Symbol) bool, by ...linkproto.Symbol) func(linkproto.Symbol) []linkproto.Symbol {
		return func(s linkproto.Symbol) []linkproto.Symbol {
			if by == nil || !holds(s) {
				return []linkproto.Symbol{s}
			}
			line := by
			by = nil
			return line
		}
	}
	is := func(want linkproto.Symbol) func(linkproto.Symbol) bool {
		return func(s linkproto.Symbol) bool { return s == want }
	}
	// whole passes words as they are.
	whole := func(frames func(linkproto.Symbol) []linkproto.Symbol) func(linkproto.Symbol) []linkproto.Symbol {
		words := only(true)
		return func(s linkproto.Symbol) []linkproto.Symbol {
			if line := words(s); line != nil || s == linkproto.SymIdle {
				return line
			}
			return frames(s)
		}
	}
	quiet := func(c *cable, line []linkproto.Symbol) {
		c.busy = false
		c.say = once(is(linkproto.SymIdle), line...)
	}
	for _, test := range []struct {
		name string
		do   func(*cable)
		want string
	}{
		{"no words", func(c *cable) { c.say = only(false) }, "not told"},
		{"LOST not said", func(c *cable) { c.say, c.noise = only(false), 0.05 }, "at once"},
		{"STOP disregarded", func(c *cable) {
			s := c.peer.Status()
			life := linkproto.LifeOf(c.peer.Config().Nonce, c.peer.Config().Port, s.Epoch)
			c.tell = linkproto.AppendWord(nil, linkproto.KeyOf(s.Peer.Life, life), linkproto.Word{Stop: true, Value: uint8(c.peer.Counter(linkproto.CntRxPackets))})
		}, "after STOP"},
		{"not sent again", func(c *cable) {
			c.busy, c.deaf = false, true
			_ = c.end.Send(stimulus.Encode(linkproto.Packet{Type: linkproto.TypeWrite}))
		}, "not sent again"},
		{"a frame sent again for nothing", func(c *cable) {
			var frame []linkproto.Symbol
			c.say = func(s linkproto.Symbol) []linkproto.Symbol {
				if frame = append(frame, s); s != linkproto.SymEOP {
					return nil
				}
				return append(frame, frame...)
			}
			c.say = whole(c.say)
		}, "want"},
		{"silence", func(c *cable) {
			c.busy = false
			c.say = func(linkproto.Symbol) []linkproto.Symbol { return nil }
		}, "no word for"},
		{"a word too many", func(c *cable) { quiet(c, word(c, func(*linkproto.Word) {})) }, "might have waited"},
		{"acknowledged too early", func(c *cable) { quiet(c, word(c, func(w *linkproto.Word) { w.Value++ })) }, "the end has heard"},
		{"LOST with nothing missing", func(c *cable) { quiet(c, word(c, func(w *linkproto.Word) { w.Kind = linkproto.KindLost })) }, "the end has heard"},
		{"BARRIER", func(c *cable) { quiet(c, word(c, func(w *linkproto.Word) { w.Kind = linkproto.KindBarrier })) }, "BARRIER"},
		{"a word of another key", func(c *cable) { quiet(c, linkproto.AppendWord(nil, 1, linkproto.Word{})) }, "does not take"},
		{"INIT while up", func(c *cable) {
			s, own := c.end.Status(), c.end.Config()
			quiet(c, linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Node: own.Node, Life: linkproto.LifeOf(own.Nonce, own.Port, s.Epoch), Page: 6, Lanes: 1}))
		}, "INIT, though"},
		{"INIT of another page", func(c *cable) {
			quiet(c, linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Page: 7, Lanes: 1}))
		}, "want"},
		{"a word cut off", func(c *cable) { quiet(c, []linkproto.Symbol{linkproto.SymLSW, 0, linkproto.SymLSW}) }, "cut off"},
		{"data outside a frame", func(c *cable) { quiet(c, []linkproto.Symbol{1}) }, "outside a frame"},
		{"EOP for nothing", func(c *cable) { quiet(c, []linkproto.Symbol{linkproto.SymEOP}) }, "outside a frame"},
		{"ERR in a frame", func(c *cable) { c.say = once(is(linkproto.SymEOP), linkproto.SymErr) }, "frame"},
		{"EOP missing", func(c *cable) { c.say = once(is(linkproto.SymEOP), linkproto.SymIdle) }, "inside another"},
		{"a frame taken back for nothing", func(c *cable) { c.say = once(is(linkproto.SymEOP), linkproto.SymAbort) }, "frame"},
		{"a wrong number", func(c *cable) { c.say = once(is(linkproto.SymSOP), linkproto.SymSOP, 200) }, "want"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := join(t, 1, nil)
			check.Fatal(t, c.run(20_000))
			for c.busy = false; c.end.IdleFor() < 1000 || c.peer.IdleFor() < 1000; {
				check.Fatal(t, c.run(1))
			}
			c.busy = true
			test.do(c)
			if err := c.run(10 * linkproto.DefaultRetry); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestTimes has a checker told other times than the end keeps, with a peer that acknowledges nothing from some time on.
func TestTimes(t *testing.T) {
	for _, test := range []struct {
		name string
		told func(*linkcheck.Config)
		want string
	}{
		{"given up too late", func(l *linkcheck.Config) { l.RetryLimit /= 2 }, "not given up"},
		{"given up too early", func(l *linkcheck.Config) { l.RetryLimit *= 2 }, "for nothing"},
		{"sent again too late", func(l *linkcheck.Config) { l.Retry /= 2 }, "not sent again"},
		{"sent again too early", func(l *linkcheck.Config) { l.Retry *= 2 }, "want"},
		{"told too early", func(l *linkcheck.Config) { l.AckDelay += 64 }, "might have waited"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := join(t, 1, test.told)
			err := c.run(20_000)
			c.words.Hold = &linkproto.Word{Value: c.words.Number}
			if err == nil {
				err = c.run(10 * linkproto.DefaultRetry)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestEpochs has an end that is down name its lives.
func TestEpochs(t *testing.T) {
	own := endConfig(1)
	life := func(nonce uint32, epoch uint8) linkproto.Life { return linkproto.LifeOf(nonce, 1, epoch) }
	for _, test := range []struct {
		name  string
		lives []linkproto.Life
		want  string // "": right
	}{
		{"the next epoch", []linkproto.Life{life(own.Nonce, 1), life(own.Nonce, 2), life(own.Nonce, 2)}, ""},
		{"one is left out", []linkproto.Life{life(own.Nonce, 1), life(own.Nonce, 5), life(own.Nonce, 5)}, "of another epoch than the next"},
		{"and then the next", []linkproto.Life{life(own.Nonce, 1), life(own.Nonce, 5), life(own.Nonce, 6)}, "of another epoch than the next"},
		{"another nonce, of which one byte comes first", []linkproto.Life{life(own.Nonce, 1), life(own.Nonce^0xA0<<24, 2), life(0xA0_123457, 2)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := join(t, 1, nil)
			var err error
			for _, life := range append(slices.Repeat(test.lives[:1], 5), test.lives[1:]...) {
				for _, s := range linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version, Life: life, Page: 6, Lanes: 1}) {
					c.clock++
					c.checker.FromEnd(c.clock, s)
				}
				c.clock += linkproto.DefaultAckDelay
				err = cmp.Or(err, c.checker.Advance(c.clock))
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}
