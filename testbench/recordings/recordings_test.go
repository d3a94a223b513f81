package recordings

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/timing"
)

// TestRecordings holds that each recording shows what its text says.
func TestRecordings(t *testing.T) {
	diagrams, stages, err := All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	shows := map[string][]string{ // in this order
		"remote-write": {"host A to its network interface: frame 1: WRITE via 1 addr 0x40, 8 bytes", "A to B: frame 0: WRITE addr 0x40, 8 bytes", "word at 0x40 written", "B to A: word ACK 1 GO",
			"word at 0x44 written"},
		"init":        {"A to B: word INIT node ", "B to A: word INIT node ", "word ACK 0 GO", "is up", "is up"},
		"stop-go":     {"A to B: frame 7: WRITE", "B wants STOP", "B to A: word ACK 7 STOP", "B's reader takes: packet 0", "B to A: word ACK 7 GO"},
		"lost-replay": {"frame 1: ", "a bit is inverted", "frame 2: ", "B to A: word LOST 1 GO", "frame 1: ", "frame 2: ", "packet 1", "frame 3: ", "packet 2", "packet 3", "ACK 4 GO"},
		"page-resume": {"PAGE frame 0, port 7", "WRITE addr 0x40", "TRAP via 1 of PAGE frame 0, port 7", "WRITE addr 0x48", "B holds", "RESUME via 1", "word at 0x40 written", "DONE via 1 tag 2, OK",
			"word at 0x4c written"},
		"notify": {"WRITE addr 0x40", "BUF_DATA", "word at 0x40 written", "word at 0x4c written", "NOTIFY frame 0"},
	}
	for _, d := range diagrams {
		var text strings.Builder
		for _, h := range d.Happenings() {
			fmt.Fprintf(&text, "%d+%d %s: %s\n", h.At, h.For, h.Lane, h.Text)
		}
		rest := text.String()
		for _, want := range shows[d.Name] {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%s does not show %q in its place:\n%s", d.Name, want, &text)
				break
			}
			rest = after
		}
		if len(shows[d.Name]) == 0 {
			t.Errorf("nothing is known of %s", d.Name)
		}
		delete(shows, d.Name)
		check(t, d, text.String())
	}
	for name := range shows {
		t.Errorf("%s was not recorded", name)
	}

	at := 0
	for _, s := range stages {
		if s.From != at || s.To <= s.From {
			t.Errorf("stage %s goes from %d to %d, the one before it ends at %d", s.Name, s.From, s.To, at)
		}
		at = s.To
	}
	if at <= linkproto.CRCBytes+1 || at > 41 { // the last byte waits for the host's CRC, and the link's comes behind it
		t.Errorf("a remote write of 8 bytes takes %d clocks, want more than CRC and EOP on the link and at most what write_latency_8 must, and the clock of the last symbol", at)
	}
}

// check looks for what a diagram must not show.
func check(t *testing.T, d timing.Diagram, text string) {
	switch d.Name {
	case "stop-go":
		stopped, going := d.Marks[0].At+20, d.Marks[2].At // 20: STOP is on its way
		for _, s := range d.Lanes[0].Spans {
			for _, p := range s.Parts {
				if p.From < going && p.To > stopped {
					t.Errorf("A sends from %d to %d, STOP holds from %d to %d", p.From, p.To, stopped, going)
				}
			}
		}
	case "page-resume":
		for _, s := range d.Lanes[len(d.Lanes)-1].Spans {
			if s.From >= d.Marks[0].At && s.From < d.Marks[1].At {
				t.Errorf("written at clock %d, held from %d to %d", s.From, d.Marks[0].At, d.Marks[1].At)
			}
		}
	case "notify":
		first, last := 1<<16, -1
		told := regexp.MustCompile(`NOTIFY frame 0, first (\d+), last (\d+)`).FindAllStringSubmatch(text, -1)
		for _, m := range told {
			var from, to int
			fmt.Sscan(m[1], &from)
			fmt.Sscan(m[2], &to)
			first, last = min(first, from), max(last, to)
		}
		if len(told) >= 4 || first != 0x40 || last != 0x4f {
			t.Errorf("%d NOTIFYs tell of %#x to %#x, want fewer than the 4 writes, and 0x40 to 0x4f:\n%s", len(told), first, last, text)
		}
	}
}
