package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
)

// Bounds of the time between two looks.
const (
	shortestTop = 50 * time.Millisecond
	longestTop  = time.Minute
)

func topCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "top",
		Usage:     "monitor a target: links, requests, flow control, ports and paging",
		ArgsUsage: "[TARGET]",
		Description: "On a terminal it runs until q is pressed. Elsewhere it prints one sample, as with --once, or with --json one sample a line\n" +
			"until interrupted. Rates are per second of the target's time, between two samples. Current problems are red.\n\n" + targetHelp + sharedHelp,
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "interval", Usage: "sample every `TIME`", Value: time.Second},
			&cli.BoolFlag{Name: "once", Usage: "print one sample after one interval, and end"},
			jsonFlag,
			recordFlag,
		},
		Action: onTarget(runTop),
	}, sharedTarget)
}

func runTop(ctx *cli.Context, target string) error {
	interval := ctx.Duration("interval")
	if interval < shortestTop || interval > longestTop {
		return usagef("--interval %v: want %v to %v", interval, shortestTop, longestTop)
	}
	n := openReporter(ctx, target)
	defer try.Finally(n.Close)
	w := &watcher{target: target, n: n, interval: interval}
	try.OK(w.begin(ctx.Context))
	if ctx.Bool("once") || ctx.Bool("json") || !isTerminal(ctx.App.Writer) {
		try.OK(w.print(ctx))
		return nil
	}
	during, cancel := context.WithCancel(ctx.Context)
	defer cancel() // the look that is underway when it ends
	p := tea.NewProgram(topModel{watcher: w, ctx: during}, tea.WithContext(ctx.Context), tea.WithoutSignalHandler(), tea.WithOutput(ctx.App.Writer), tea.WithInput(os.Stdin))
	end, err := p.Run()
	if ctx.Context.Err() != nil {
		return nil // to be interrupted is how it ends
	}
	if m, ok := end.(topModel); ok {
		err = errors.Join(err, m.failed)
	}
	try.OK(err)
	return nil
}

// watcher looks at a target now and then.
type watcher struct {
	target   string
	n        reporter
	interval time.Duration
	before   hostdrv.Report
	looked   time.Time
}

func (w *watcher) begin(ctx context.Context) (err error) {
	w.before, err = w.n.Report(ctx)
	w.looked = time.Now()
	return err
}

// look looks after an interval.
func (w *watcher) look(ctx context.Context) (topSample, error) {
	select {
	case <-ctx.Done():
		return topSample{}, ctx.Err()
	case <-time.After(w.interval):
	}
	r, err := w.n.Report(ctx)
	if err != nil {
		return topSample{}, err
	}
	now := time.Now()
	s := sampled(w.target, w.before, r, now.Sub(w.looked))
	w.before, w.looked = r, now
	return s, nil
}

// print is for what is no terminal.
func (w *watcher) print(ctx *cli.Context) error {
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
			_, err = fmt.Fprintln(ctx.App.Writer, new(topView).render(&s, ""))
			return err
		}
		if err != nil || ctx.Bool("once") {
			return err
		}
	}
}

// topModel is the terminal's view.
type topModel struct {
	watcher *watcher
	ctx     context.Context // of looks
	view    topView
	sample  *topSample // nil at first
	paused  bool
	failed  error
}

// Init begins to look.
func (m topModel) Init() tea.Cmd { return m.look }

// look is what happens beside the view: one at a time.
func (m topModel) look() tea.Msg {
	s, err := m.watcher.look(m.ctx)
	if err != nil {
		return err
	}
	return &s
}

// Update takes keys and looks.
func (m topModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.height = msg.Height
	case error:
		m.failed = msg
		return m, tea.Quit
	case *topSample:
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
func (m topModel) View() tea.View {
	text := m.watcher.target + ": looking"
	if m.sample != nil {
		m.view.styled = true
		last := "q quit   space pause"
		if m.paused {
			last = "q quit   space go on   paused"
		}
		text = m.view.render(m.sample, last)
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = "lmmc top " + m.watcher.target
	return v
}
