package golden

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/stimulus"
)

// A line's reader tells what each symbol completes, words within frames too.
func TestLineReader(t *testing.T) {
	resume := linkproto.AppendFrame(nil, 0, 255, stimulus.Encode(linkproto.Packet{Type: linkproto.TypeResume, Via: 1}))
	grant := linkproto.AppendFrame(nil, 0, 0, writeRegister(linkproto.FrameReg(3), 1))
	stopped := linkproto.AppendWord(nil, 0, linkproto.Word{Kind: linkproto.KindLost, Stop: true})
	went := linkproto.AppendInit(nil, linkproto.Init{Version: linkproto.Version})
	line := slices.Concat(resume[:3], stopped, resume[3:], went, grant, grant[:4], []linkproto.Symbol{linkproto.SymAbort})
	r := lineReader{longest: len(grant) - linkproto.FrameOverhead + 1}
	var got []string
	for i, s := range line {
		r.next(s, func(what happening) { got = append(got, fmt.Sprint(i, " ", what)) })
	}
	word := len(stopped)
	first := len(resume) + word
	second := first + len(went) + len(grant)
	want := []string{"0 frame begins"}
	for _, x := range []struct {
		at   int
		what []happening
	}{
		{3 + word, []happening{lost, stop}}, {first, []happening{ends, resumes}}, {first + len(went), []happening{initial, goes}},
		{first + len(went) + 1, []happening{begins}}, {second, []happening{ends, grants, wraps, nearly}}, {second + 1, []happening{begins}},
		{second + 5, []happening{aborted}},
	} {
		for _, what := range x.what {
			want = append(want, fmt.Sprint(x.at-1, " ", what))
		}
	}
	check.Equal(t, "what the line brings", got, want)
}

// Two frames that are on their way come as far apart as the sweep says, whatever goes before them.
func TestAim(t *testing.T) {
	frame := linkproto.AppendFrame(nil, 0, 0, stimulus.RawPacket(linkproto.TypeWrite, 0, make([]byte, 8)))
	cables := []*cable{{}, {}}
	a := newAimer(testbench.NewRand(1))
	seen := map[int]bool{}
	for range 400 {
		var begun [2]int
		for _, c := range cables {
			c.queue.waits = true
			c.queue.pass(frame)
		}
		x, y, _ := a.choose(cables)
		want := distance(a.first+a.tries[[2]target{x.target, y.target}], x.what, y.what)
		a.aim(cables)
		for i, c := range cables {
			from := 0
			for len(c.queue.symbols) > 0 {
				sent := c.queue.pass(nil)
				if at := slices.Index(sent, map[happening]linkproto.Symbol{begins: linkproto.SymSOP, ends: linkproto.SymEOP}[[]aimed{x, y}[i].what]); at >= 0 {
					begun[i] = from + at
				}
				from += look
			}
		}
		check.Equal(t, "clocks apart", begun[1]-begun[0], want)
		seen[want] = true
	}
	for d := -reach; d <= reach; d++ {
		if !seen[d] {
			t.Errorf("nothing was aimed %d clocks apart", d)
		}
	}
}

// Two things are a pair whatever the order in which their lines were read, and across looks.
func TestPairs(t *testing.T) {
	p := &pairs{found: map[pair]bool{}, rare: map[event]bool{}}
	p.recent = []at{{110, line{0, true}, ends}, {100, line{1, true}, ack}, {103, line{1, false}, ends}}
	p.look()
	p.recent = append(p.recent, at{108, line{1, true}, begins})
	p.look()
	var got []string
	for _, e := range p.events() {
		got = append(got, e.point+": "+e.bin)
	}
	slices.Sort(got)
	check.Equal(t, "pairs", got, []string{"arriving at a link, leaving by it: ACK, frame ends, +3", "arriving from the host, arriving at a link: frame ends, frame begins, -2"})
}
