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
)

// Bounds of the time between two looks.
const (
	shortestTop = 50 * time.Millisecond
	longestTop  = time.Minute
)

// topFlags are those of the commands that look now and then.
func topFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "interval", Usage: "sample every `TIME`", Value: time.Second},
		&cli.BoolFlag{Name: "once", Usage: "print one sample after one interval, and end"},
		jsonFlag,
	}
}

// topInterval reads the time between two looks.
func topInterval(ctx *cli.Context) (time.Duration, error) {
	interval := ctx.Duration("interval")
	if interval < shortestTop || interval > longestTop {
		return 0, usagef("--interval %v: want %v to %v", interval, shortestTop, longestTop)
	}
	return interval, nil
}

// watching is something that is looked at now and then: a target, or a network.
type watching[S any] struct {
	name     string // what stands in the view and in its title
	interval time.Duration
	sample   func(ctx context.Context) (S, error) // what has happened since it was called last
	render   func(v *topView, s *S, last string) string
}

// look looks after an interval.
func (w *watching[S]) look(ctx context.Context) (s S, err error) {
	select {
	case <-ctx.Done():
		return s, ctx.Err()
	case <-time.After(w.interval):
		return w.sample(ctx)
	}
}

// run shows it on a terminal until a key ends it, or prints what it sees.
func (w *watching[S]) run(ctx *cli.Context) error {
	if ctx.Bool("once") || ctx.Bool("json") || !isTerminal(ctx.App.Writer) {
		return w.print(ctx)
	}
	during, cancel := context.WithCancel(ctx.Context)
	defer cancel() // the look that is underway when it ends
	p := tea.NewProgram(topModel[S]{watching: w, ctx: during}, tea.WithContext(ctx.Context), tea.WithoutSignalHandler(), tea.WithOutput(ctx.App.Writer), tea.WithInput(os.Stdin))
	end, err := p.Run()
	if ctx.Context.Err() != nil {
		return nil // to be interrupted is how it ends
	}
	if m, ok := end.(topModel[S]); ok {
		err = errors.Join(err, m.failed)
	}
	return err
}

// print is for what is no terminal.
func (w *watching[S]) print(ctx *cli.Context) error {
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
			_, err = fmt.Fprintln(ctx.App.Writer, w.render(new(topView), &s, ""))
			return err
		}
		if err != nil || ctx.Bool("once") {
			return err
		}
	}
}

// topModel is the terminal's view.
type topModel[S any] struct {
	watching *watching[S]
	ctx      context.Context // of looks
	view     topView
	sample   *S // nil at first
	paused   bool
	failed   error
}

// Init begins to look.
func (m topModel[S]) Init() tea.Cmd { return m.look }

// look is what happens beside the view: one at a time.
func (m topModel[S]) look() tea.Msg {
	s, err := m.watching.look(m.ctx)
	if err != nil {
		return err
	}
	return &s
}

// Update takes keys and looks.
func (m topModel[S]) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.view.height = msg.Height
	case error:
		m.failed = msg
		return m, tea.Quit
	case *S:
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
func (m topModel[S]) View() tea.View {
	text := m.watching.name + ": looking"
	if m.sample != nil {
		m.view.styled = true
		last := "q quit   space pause"
		if m.paused {
			last = "q quit   space go on   paused"
		}
		text = m.watching.render(&m.view, m.sample, last)
	}
	v := tea.NewView(text)
	v.AltScreen = true
	v.WindowTitle = "lmmc " + m.watching.name
	return v
}
