package golden

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/ni"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// Two models at different times, seeds and epochs are no different: what depends on time is left out of transcripts.
func TestModelsAgree(t *testing.T) {
	for seed := range uint64(len(stimulus.Shapes)) {
		p := stimulus.Draw(seed, stimulus.Kinds, 20)
		result, err := Check(p, open(t, p, 1, 7), open(t, p, 2, 7))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if result.Packets < uint64(stimulus.Kinds*20) {
			t.Errorf("seed %d: %d packets", seed, result.Packets)
		}
	}
}

// A program may begin with a round of any kind, as one that has been shrunk does.
func TestEveryKindBegins(t *testing.T) {
	p := stimulus.Draw(1, stimulus.Kinds, 5)
	for _, r := range p.Rounds {
		one := p
		one.Rounds = []stimulus.Round{r}
		if _, err := Check(one, open(t, p, 1, 7), open(t, p, 2, 7)); err != nil {
			t.Error(err)
		}
	}
}

// Behind a round of any kind, at rest, every cable knows which number the network interface expects next.
func TestNextNumber(t *testing.T) {
	p := stimulus.Draw(1, stimulus.Kinds, 5)
	pl := NewPlayer(open(t, p, 1, 7), p)
	for i, r := range p.Rounds {
		_, err := pl.Play(i)
		check.Fatal(t, err)
		check.Fatal(t, try.Run(pl.rest))
		for port, c := range pl.cables {
			check.Equal(t, fmt.Sprintf("next number at port %d behind a round of %v", port, r.Kind), c.next(), c.words.Number)
		}
	}
}

func open(t *testing.T, p stimulus.Program, seed, hash uint64) *World {
	t.Helper()
	return check.Must(NewModel(t.Context(), p.Params, seed, hash))(t)
}

// The least difference shows, with the place, the round and what both did.
func TestDifferenceShows(t *testing.T) {
	p := stimulus.Draw(1, 3*stimulus.Kinds, 20)
	_, err := Check(p, open(t, p, 1, 7), open(t, p, 1, 8)) // another hash in the identity
	var d *Difference
	if !errors.As(err, &d) || d.Lane != "host" || !strings.Contains(err.Error(), "reg 0x2 value 0x7") || !strings.Contains(err.Error(), "reg 0x2 value 0x8") {
		t.Errorf("got %v", err)
	}
}

// A program that shows a difference shrinks to the packet that makes it, and plays the same from its file.
func TestDifferenceShrinks(t *testing.T) {
	play := func(p stimulus.Program) error {
		_, err := Check(p, open(t, p, 1, 7), open(t, p, 2, 8)) // another hash in the identity
		return err
	}
	p := stimulus.Draw(1, 3*stimulus.Kinds, 20)
	failed := play(p)
	if failed == nil {
		t.Fatal("no difference")
	}
	small := stimulus.Shrink(t.Context(), p, func(p stimulus.Program) bool { return Alike(play(p), failed) })
	if want := ", 1 packets, 0 violations"; !strings.HasPrefix(small.Size(), "1 rounds") || !strings.HasSuffix(small.Size(), want) {
		t.Errorf("shrunk to %s, want 1 rounds%s", small.Size(), want)
	}
	path := filepath.Join(t.TempDir(), "p.json")
	check.Fatal(t, small.WriteFile(path))
	again, err := stimulus.ReadFile(path)
	if err != nil || !Alike(play(again), failed) {
		t.Errorf("%v; read again, it shows %v, and showed %v", err, play(again), failed)
	}
}

func TestProgramsFollowFromTheirSeed(t *testing.T) {
	check.Equal(t, "two draws of a seed", stimulus.Draw(5, stimulus.Kinds, 10), stimulus.Draw(5, stimulus.Kinds, 10))
	if reflect.DeepEqual(stimulus.Draw(5, stimulus.Kinds, 10), stimulus.Draw(10, stimulus.Kinds, 10)) {
		t.Error("two seeds give the same")
	}
}

func TestCompare(t *testing.T) {
	transcript := func(lines ...string) *Transcript {
		tr := newTranscript(0, stimulus.Plain)
		tr.Lanes["a"] = lines
		return tr
	}
	for _, c := range []struct {
		have, want []string
		line       int // -1: none
	}{
		{[]string{"x", "y"}, []string{"x", "y"}, -1},
		{[]string{"x", "y"}, []string{"x"}, 1},
		{[]string{"x"}, []string{"x", "y"}, 1},
		{[]string{"z", "y"}, []string{"x", "y"}, 0},
		{[]string{"ask -> " + unknown}, []string{"ask -> OK"}, -1},
		{[]string{"ask -> " + unknown}, []string{"other -> OK"}, 0},
	} {
		err := Compare(transcript(c.have...), transcript(c.want...))
		var d *Difference
		if at := -1; errors.As(err, &d) {
			at = d.Line
			if at != c.line {
				t.Errorf("%q and %q differ at %d, want %d", c.have, c.want, at, c.line)
			}
		} else if err != nil || c.line >= 0 {
			t.Errorf("%q and %q: %v, want line %d", c.have, c.want, err, c.line)
		}
	}
	a, b := transcript(), transcript()
	a.Buffer, b.Buffer = []byte{1, 2, 3}, []byte{1, 2, 4}
	check.Fails(t, "different buffers", Compare(a, b), nil, "receive buffer")
}

func TestExplain(t *testing.T) {
	writes := []span{{0, 3}, {8, 9}, {0, 3}, {20, 29}}
	for _, c := range []struct {
		notes    []span
		ok, gaps bool // explained, and when some may be missing
	}{
		{[]span{{0, 3}, {8, 9}, {0, 3}, {20, 29}}, true, true},
		{[]span{{0, 9}, {0, 29}}, true, true},
		{[]span{{0, 29}}, true, true},
		{[]span{{0, 3}, {0, 9}, {20, 29}}, true, true},
		{[]span{{0, 9}}, false, true},   // the rest is missing
		{[]span{{8, 29}}, false, false}, // not the smallest
		{[]span{{0, 4}, {8, 29}}, false, false},
		{[]span{{20, 29}, {0, 9}}, false, false}, // not in order
		{nil, false, true},
	} {
		if _, ok := explain(c.notes, writes, false); ok != c.ok {
			t.Errorf("%v: %v, want %v", c.notes, ok, c.ok)
		}
		if _, ok := explain(c.notes, writes, true); ok != c.gaps {
			t.Errorf("%v, with gaps: %v, want %v", c.notes, ok, c.gaps)
		}
	}
	groups, _ := explain([]span{{0, 9}, {0, 29}}, writes, false)
	check.Equal(t, "groups", groups, [][]span{{{0, 3}, {8, 9}}, {{0, 3}, {20, 29}}})
}

// A forged frame is good but for its length field, and the next is as it was; a word between passes.
func TestForge(t *testing.T) {
	c, key := &cable{}, linkproto.Key(0x12345678)
	c.forged[5] = newForgery(7, 256)
	payload := stimulus.RawPacket(linkproto.TypeWrite, 0, []byte{1, 2, 3, 4})
	var line []linkproto.Symbol
	for seq := range uint8(2) {
		frame := linkproto.AppendFrame(nil, key, 5+seq, payload)
		line = append(line, frame[:4]...)
		line = linkproto.AppendWord(line, key, linkproto.Word{Kind: linkproto.KindAck, Value: 77})
		line = linkproto.AppendInit(line, linkproto.Init{Version: 9, Lanes: 1})
		line = append(line, frame[4:]...)
	}
	d := linkproto.NewDeframer(100)
	d.SetKey(key)
	var got []string
	for line = c.mangle(line); len(line) > 0; {
		ev, n := d.Next(line)
		line = line[n:]
		got = append(got, fmt.Sprintf("%d %d % x %d", ev.Kind, ev.Seq, ev.Payload, ev.Word.Value))
	}
	want := []string{"2 0  77", "5 0  0", "1 5 01 04 01 01 02 03 04 0", "2 0  77", "5 0  0", "1 6 01 04 00 01 02 03 04 0"} // 5: of version 9
	check.Equal(t, "events", got, want)
	check.Equal(t, "what the end expects", c.wants, 77)
}

func TestDeafen(t *testing.T) {
	c, key := &cable{words: ni.WordReader{DropStop: true}}, linkproto.Key(0x9ABCDEF0)
	word, init := linkproto.Word{Kind: linkproto.KindLost, Stop: true, Value: 3}, linkproto.Init{Stop: true, Version: linkproto.Version, Life: 77, Lanes: 1}
	line := linkproto.AppendInit(linkproto.AppendWord([]linkproto.Symbol{1, 2}, key, word), init)
	line = append(line, linkproto.SymEOP)
	d := linkproto.NewDeframer(100)
	d.SetKey(key)
	word.Stop, init.Stop = false, false
	found := 0
	for line = c.swallow(line); len(line) > 0; {
		ev, n := d.Next(line)
		line = line[n:]
		if ev.Kind == linkproto.EventWord && ev.Word == word || ev.Kind == linkproto.EventInit && ev.Init == init {
			found++
		}
	}
	check.Equal(t, "words that say GO", found, 2)
}

// While words pass, frames are damaged or missing.
func TestSpoil(t *testing.T) {
	for frames, want := range map[frames][]linkproto.EventKind{
		whole: {linkproto.EventWord, linkproto.EventFrame}, damaged: {linkproto.EventWord, linkproto.EventBadFrame}, missing: {linkproto.EventWord},
	} {
		c := &cable{frames: frames}
		frame := linkproto.AppendFrame(nil, 0, 5, stimulus.RawPacket(linkproto.TypeWrite, 0, []byte{1, 2, 3, 4}))
		line := append(linkproto.AppendWord(frame[:4:4], 0, linkproto.Word{Kind: linkproto.KindLost}), frame[4:]...)
		d := linkproto.NewDeframer(100)
		var got []linkproto.EventKind
		for line = c.swallow(line); len(line) > 0; {
			ev, n := d.Next(line)
			line, got = line[n:], append(got, ev.Kind)
		}
		check.Equal(t, fmt.Sprint("frames ", frames), got, want)
	}
}

// Frames that are slipped in and taken back are nothing to a receiver, and stand in no frame and no word.
func TestTakeBack(t *testing.T) {
	c := newCable(open(t, stimulus.Draw(1, 1, 1), 1, 7).Ports[0])
	for line := make([]linkproto.Symbol, look); c.port.Link.Emit(line) > 0; {
		continue
	}
	c.aborts = testbench.NewRand(1)
	for _, between := range []bool{true, false} {
		c.inFrame = !between
		d, aborts := linkproto.NewDeframer(100), 0
		for range 1000 {
			line := c.mangle(nil)
			if ev, _ := d.Next(line); ev.Kind != linkproto.EventNone {
				t.Fatalf("%v is %+v", line, ev)
			}
			if len(line) > 0 && line[0] == linkproto.SymSOP && line[len(line)-1] == linkproto.SymAbort {
				aborts++
			}
		}
		if (aborts > 10) != between {
			t.Errorf("%d frames are taken back; between frames %v", aborts, between)
		}
	}
}

// Every violation that can be drawn is counted by the model as its rule says, at the host port and at a link.
func TestModelCountsViolations(t *testing.T) {
	p := stimulus.Draw(1, 1, 1)
	pl := NewPlayer(open(t, p, 1, 1), p)
	rng := testbench.NewRand(1)
	for i, rule := range slices.Concat(stimulus.Rules, stimulus.AtHost) {
		r := stimulus.Round{Kind: stimulus.Violate, Links: make([]stimulus.Link, p.Params.Links)}
		for range p.Params.Links + 1 {
			r.Violations = append(r.Violations, nil)
		}
		for port := range p.Params.Links {
			if port > 0 && i >= len(stimulus.Rules) {
				break
			}
			for range 10 {
				r.Violations[port] = append(r.Violations[port], rule.Draw(rng, stimulus.Site{Params: p.Params}))
			}
		}
		pl.round, pl.out = &r, newTranscript(0, r.Kind)
		if err := errors.Join(try.Run(func() { pl.begin(); pl.violate() }), pl.wrong); err != nil {
			t.Errorf("%s: %v", rule.Name, err)
			pl.wrong = nil
		}
	}
}
