package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// busy are two looks at an NI with trouble: a counter wraps, link 2 goes down.
func busy() topSample {
	id := hostdrv.Identity{Links: 2, Frames: 4, PageBytes: 1024, Window: 128, ReplayBytes: 4096}
	look := func(now time.Duration, in, crc uint32, up bool, ins uint64) hostdrv.Report {
		links := make([]hostdrv.LinkReport, 3)
		links[0].Status.Up = true
		links[1] = hostdrv.LinkReport{Status: hostdrv.LinkStatus{Up: true, Trapped: true}, Packets: 3, Bytes: 2048}
		links[1].Counters[linkproto.CntRxPackets], links[1].Counters[linkproto.CntRxCRC] = in, crc
		links[2].Status.Up = up
		links[2].Counters[linkproto.CntDenied] = 5
		return hostdrv.Report{Identity: id, Now: now, Links: links, Tables: &hostdrv.Tables{
			Ports: []hostdrv.PortEntry{
				{Port: 1, Link: 1, Direction: "send", State: "connected", Policy: "late", Frame: 3, Unsent: 1500},
				{Port: 7, Link: 2, Direction: "receive", State: "connected", Frame: -1}},
			Frames: []hostdrv.RecvFrameEntry{{Frame: 0, Link: 1}, {Frame: 1, Link: 1, Port: 9}, {Frame: 2, Link: 2}},
			Send:   []hostdrv.SendFrameEntry{{Link: 1, Frame: 3, Port: 1}},
			Stats:  hostdrv.NodeStats{PageIns: ins},
		}}
	}
	return sampled("test:", look(time.Second, 0xFFFFFF00, 10, true, 4), look(3*time.Second, 0x100, 12, false, 8), 2*time.Second)
}

func TestTopView(t *testing.T) {
	s := busy()
	want := `test:   links 2, frames 4 of 1,024 bytes   time 3s

link  state                        in/s      out/s           in          out  stops/s   trouble  underway
host  up                              0          0            0            0        0         0
1     up, trapped                   256          0          256            0        0        12  [#####.....] 3 of 128 packets, 2,048 of 4,096 bytes
2     down                            0          0            0            0        0         5  [..........] 0 of 128 packets, 0 of 4,096 bytes
link 1     rx_crc 12 (+2)
link 2     denied 5

paging     1 send ports, 1 receive ports, 1 of them without a frame; 1,500 bytes written late
           page-outs 0/s (0), page-ins 2/s (8), refreshes 0/s (0)
frames     link 1: . 9
           link 2: .
peers'     link 1: 1

      port  link direction  state        policy      frame   unsent
         1     1 send       connected    late            3    1,500
         7     2 receive    connected                  out        0`
	check.Equal(t, "screen", new(topView).render(&s, ""), want)
	low := topView{styled: true, height: 6}
	lines := strings.Split(low.render(&s, "keys"), "\n")
	if len(lines) != 6 || lines[5] != dim+"keys"+plain || !strings.HasPrefix(lines[0], bold+"test:") {
		t.Errorf("six lines are %q", lines)
	}
	full := topView{styled: true}
	if text := full.render(&s, ""); !strings.Contains(text, red+"link 1     rx_crc") || !strings.Contains(text, red+"2     down") || strings.Contains(text, red+"link 2") {
		t.Errorf("what is in red: %q", text)
	}
	for wall, want := range map[time.Duration]string{20 * time.Second: ", 10 % of real time", 2100 * time.Millisecond: "", 0: ""} {
		if s.Wall = wall; s.pace() != want {
			t.Errorf("2 s in %v: %q", wall, s.pace())
		}
	}
	if s.Time = 0; s.perSecond(7) != 0 {
		t.Error("a rate of no time")
	}
}

func TestGauge(t *testing.T) {
	for want, v := range map[string][4]int{
		"[..........]": {0, 128, 0, 4096}, "[#.........]": {1, 128, 12, 4096}, "[#####.....]": {64, 128, 0, 4096}, "[##########]": {1, 128, 9999, 4096},
	} {
		check.Equal(t, fmt.Sprintf("gauge of %v", v), gauge(v[0], v[1], v[2], v[3]), want)
	}
}

// screen is what a program writes to a terminal.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return s.text.Write(p)
}

// shows waits for a text.
func (s *screen) shows(t *testing.T, want string) {
	t.Helper()
	for {
		s.mu.Lock()
		there := strings.Contains(s.text.String(), want)
		s.mu.Unlock()
		if there {
			return
		}
		select {
		case <-s.more:
		case <-t.Context().Done():
			t.Fatalf("%q does not come", want)
		}
	}
}

// failing is an NI that fails at some look.
type failing struct {
	reporter
	looks int
}

func (f *failing) Report(ctx context.Context) (hostdrv.Report, error) {
	if f.looks--; f.looks < 0 {
		return hostdrv.Report{}, hostdrv.ErrGone
	}
	return f.reporter.Report(ctx)
}

// terminal runs top on what stands for a terminal, with keys typed into it.
func terminal(t *testing.T, n reporter) (s *screen, keys io.Writer, end func() topModel[topSample]) {
	t.Helper()
	w := check.Must(watchTarget(t.Context(), "model:", n, time.Millisecond))(t)
	in, keys := io.Pipe()
	s = &screen{more: make(chan struct{}, 1)}
	p := tea.NewProgram(topModel[topSample]{watching: w, ctx: t.Context()}, tea.WithContext(t.Context()), tea.WithoutSignalHandler(), tea.WithInput(in), tea.WithOutput(s),
		tea.WithWindowSize(120, 20), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	ended := make(chan topModel[topSample], 1)
	go func() {
		m, err := p.Run()
		check.Error(t, err)
		ended <- m.(topModel[topSample])
	}()
	return s, keys, func() topModel[topSample] { return <-ended }
}

func TestTopOnATerminal(t *testing.T) {
	n := check.Must(hostdrv.Open(t.Context(), "model:?links=2", hostdrv.Options{}))(t)
	defer n.Close()
	s, keys, end := terminal(t, n)
	s.shows(t, "links 2, frames 4")
	io.WriteString(keys, " ")
	s.shows(t, "paused")
	io.WriteString(keys, "q")
	if m := end(); m.failed != nil || !m.paused {
		t.Errorf("ended with %+v", m)
	}
	_, _, end = terminal(t, &failing{n, 3})
	if m := end(); !errors.Is(m.failed, hostdrv.ErrGone) {
		t.Errorf("an NI that fails: %v", m.failed)
	}
}
