package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/stafflink/lmmc/testbench/results"
)

var jsonFlag = &cli.BoolFlag{Name: "json", Usage: "print JSON"}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// show prints v as JSON with --json, and as text otherwise.
func show[V any](ctx *cli.Context, v V, write func(*strings.Builder, V)) error {
	if ctx.Bool("json") {
		return writeJSON(ctx.App.Writer, v)
	}
	var b strings.Builder
	write(&b, v)
	_, err := io.WriteString(ctx.App.Writer, b.String())
	return err
}

// list shows items as a table. row says what JSON tells of an item, and what its cells are.
func list[V, R any](ctx *cli.Context, items []V, names []string, row func(V) (R, []string)) error {
	rows := []R{}
	t := table{names: names}
	for _, item := range items {
		r, cells := row(item)
		rows = append(rows, r)
		t.add(cells...)
	}
	return show(ctx, rows, func(b *strings.Builder, _ []R) { t.write(b) })
}

// finish shows a document, and if it is to be kept writes it under a name for lmmc report.
func finish[V any](ctx *cli.Context, keep bool, name string, document V, write func(*strings.Builder, V)) error {
	var err error
	if keep {
		err = results.Write(results.Dir, name, document)
	}
	return errors.Join(err, show(ctx, document, write))
}

// orFailed is err, or says that some of so many things failed.
func orFailed(err error, failed, all int, things string) error {
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d %s failed", failed, all, things)
	}
	return err
}

// collect returns what of gives for each of a list.
func collect[V, R any](list []V, of func(V) R) (all []R) {
	for _, v := range list {
		all = append(all, of(v))
	}
	return all
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// table prints columns that are as wide as what is in them. Names starting with ">" align to the right.
type table struct {
	names []string
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(b *strings.Builder) {
	head := make([]string, len(t.names))
	for i, name := range t.names {
		head[i] = strings.TrimPrefix(name, ">")
	}
	all := append([][]string{head}, t.rows...)
	width := make([]int, len(head))
	for _, row := range all {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if strings.HasPrefix(t.names[i], ">") {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
			line.WriteString("  ")
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// thousands writes 1234567 as 1,234,567.
func thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// number writes a value with about four digits.
func number(v float64) string {
	if a := math.Abs(v); a >= 1000 && a < 1e15 {
		s := thousands(uint64(math.Round(a)))
		if v < 0 {
			s = "-" + s
		}
		return s
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// portName is what a port is called in tables: a link by its number.
func portName(link int) string {
	if link == 0 {
		return "host"
	}
	return strconv.Itoa(link)
}

// indented is a text of several lines as a part of a list.
func indented(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}

func duration(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// ticker keeps one line of a terminal up to date; on anything else it does nothing.
type ticker struct {
	mutex sync.Mutex
	text  string
	quit  chan struct{}
	ended chan struct{}
}

func startTicker(w io.Writer, text string) *ticker {
	t := &ticker{text: text}
	if !isTerminal(w) {
		return t
	}
	t.quit, t.ended = make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(t.ended)
		again := time.NewTicker(250 * time.Millisecond)
		defer again.Stop()
		for {
			t.mutex.Lock()
			line := fmt.Sprintf("%3.0f s  %s", time.Since(start).Seconds(), t.text)
			t.mutex.Unlock()
			if width, _, err := term.GetSize(int(w.(*os.File).Fd())); err == nil && width > 0 && len(line) >= width {
				line = line[:width-1]
			}
			fmt.Fprintf(w, "\r\x1b[K%s", line)
			select {
			case <-t.quit:
				fmt.Fprint(w, "\r\x1b[K")
				return
			case <-again.C:
			}
		}
	}()
	return t
}

func (t *ticker) set(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.text = fmt.Sprintf(format, args...)
}

// stop leaves an empty line, the first time.
func (t *ticker) stop() {
	if t.quit != nil {
		close(t.quit)
		<-t.ended
		t.quit = nil
	}
}
