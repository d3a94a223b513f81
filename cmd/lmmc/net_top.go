package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

func netTopCommand() *cli.Command {
	return &cli.Command{
		Name:      "top",
		Usage:     "monitor a network that lmmc net up runs: nodes and cables, load, STOP, losses",
		ArgsUsage: "[DIR|URL]",
		Description: "DIR is the folder of the network's sockets (default: " + defaultNetDir() + "), URL that of its page. On a terminal it runs until q is pressed.\n" +
			"Elsewhere it prints one sample, as with --once, or with --json one sample a line until interrupted. Loads are shares of the clocks between two samples.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "interval", Usage: "sample every `TIME`", Value: time.Second},
			&cli.BoolFlag{Name: "drops", Usage: "ask all routers what they have dropped, which takes packets; switches that are models tell without"},
			&cli.BoolFlag{Name: "once", Usage: "print one sample after one interval, and end"},
			jsonFlag,
		},
		Action: netTop,
	}
}

func netTop(ctx *cli.Context) error {
	if ctx.NArg() > 1 {
		return usagef("net top takes one folder or URL; see lmmc net top --help")
	}
	interval := ctx.Duration("interval")
	if interval < shortestTop || interval > longestTop {
		return usagef("--interval %v: want %v to %v", interval, shortestTop, longestTop)
	}
	place := cmp.Or(ctx.Args().First(), defaultNetDir())
	w := &netWatcher{place: place, client: live.NewClient(place), interval: interval, drops: ctx.Bool("drops")}
	w.shape = try.Get(w.client.Shape(ctx.Context))
	w.shape.SVG = ""
	w.before, w.looked = try.Get(w.state(ctx.Context)), time.Now()
	if ctx.Bool("once") || ctx.Bool("json") || !isTerminal(ctx.App.Writer) {
		return w.print(ctx)
	}
	during, cancel := context.WithCancel(ctx.Context)
	defer cancel() // the look that is underway when it ends
	p := tea.NewProgram(netTopModel{watcher: w, ctx: during}, tea.WithContext(ctx.Context), tea.WithoutSignalHandler(), tea.WithOutput(ctx.App.Writer), tea.WithInput(os.Stdin))
	end, err := p.Run()
	if ctx.Context.Err() != nil {
		return nil // to be interrupted is how it ends
	}
	if m, ok := end.(netTopModel); ok {
		err = errors.Join(err, m.failed)
	}
	return err
}

// netWatcher looks at a network now and then.
type netWatcher struct {
	place    string
	client   *live.Client
	shape    live.Shape
	interval time.Duration
	drops    bool // routers are asked for
	before   live.State
	looked   time.Time
}

// look looks after an interval.
func (w *netWatcher) look(ctx context.Context) (netSample, error) {
	select {
	case <-ctx.Done():
		return netSample{}, ctx.Err()
	case <-time.After(w.interval):
	}
	now, err := w.state(ctx)
	if err != nil {
		return netSample{}, err
	}
	at := time.Now()
	s := sampledNet(w.place, w.shape, w.before, now, at.Sub(w.looked))
	w.before, w.looked = now, at
	return s, nil
}

func (w *netWatcher) state(ctx context.Context) (s live.State, err error) {
	var dropped []cluster.SwitchLook
	if w.drops {
		dropped, err = w.client.Drops(ctx)
	}
	if err == nil {
		s, err = w.client.State(ctx)
	}
	if w.drops {
		s.Switches = dropped
	}
	return s, err
}

// print is for what is no terminal.
func (w *netWatcher) print(ctx *cli.Context) error {
	for {
		s, err := w.look(ctx.Context)
		switch {
		case ctx.Context.Err() != nil && !ctx.Bool("once"):
			return nil // to be interrupted is how it ends
		case err != nil:
			return err
		case ctx.Bool("json"):
			err = json.NewEncoder(ctx.App.Writer).Encode(s)
		default:
			_, err = fmt.Fprintln(ctx.App.Writer, new(topView).renderNet(&s, ""))
			return err
		}
		if err != nil || ctx.Bool("once") {
			return err
		}
	}
}

// netTopModel is the terminal's view.
type netTopModel struct {
	watcher *netWatcher
	ctx     context.Context // of looks
	view    topView
	sample  *netSample // nil at first
	paused  bool
	failed  error
}

// Init begins to look.
func (m netTopModel) Init() tea.Cmd { return m.look }

// look is what happens beside the view: one at a time.
func (m netTopModel) look() tea.Msg {
	s, err := m.watcher.look(m.ctx)
	if err != nil {
		return err
	}
	return &s
}

// Update takes keys and looks.
func (m netTopModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.height = msg.Height
	case error:
		m.failed = msg
		return m, tea.Quit
	case *netSample:
		if !m.paused {
			m.sample = msg
		}
		return m, m.look
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "ctrl+c", "esc":
			return m, tea.Quit
		case "space", "p":
			m.paused = !m.paused
		}
	}
	return m, nil
}

// View draws the last look.
func (m netTopModel) View() tea.View {
	text := m.watcher.place + ": looking"
	if m.sample != nil {
		m.view.styled = true
		last := "q quit   space pause"
		if m.paused {
			last = "q quit   space go on   paused"
		}
		text = m.view.renderNet(m.sample, last)
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = "lmmc net top " + m.watcher.place
	return v
}
