package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/build"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/results"
)

// virtualScheme is that of targets that are boards themselves, and need none on the desk.
const virtualScheme = "vboard"

func loopCommand(all []flash.Board, s plugged.System) *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "loop",
		Usage:     "build a bitstream, flash it and run the conformance suite on the board",
		ArgsUsage: "TARGET",
		Description: "Runs lmmc build, lmmc flash and lmmc conform, and prints how long each took. It stops at the first step that fails.\n" +
			"TARGET is the board's, such as usb:0403:6010 or serial:/dev/ttyUSB1; its default baud rate is that of the bitstream.\n" +
			"vboard:BOARD needs no board: a virtual board starts with the bitstream in its flash.\n" +
			"In a project of lmmc new it builds the project's design, and runs the project's check of it instead of lmmc conform.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "board", Usage: "build for `BOARD[/CONFIG]` (default: that of vboard:BOARD; needed for any other target)"},
			&cli.StringFlag{Name: "image", Usage: "use the bitstream `FILE` instead of building one", TakesFile: true},
			&cli.IntFlag{Name: "seeds", Usage: "try `N` seeds of the placer", Value: build.DefaultSeeds},
			&cli.StringFlag{Name: "serial", Usage: "flash the board with serial number `S`"},
			&cli.StringFlag{Name: "run", Usage: "run only the case of this name, or those that match `REGEXP`"},
			&cli.Uint64Flag{Name: "seed", Usage: "seed `N` of all random choices in the cases", Value: 1},
			jsonFlag,
		},
		Action: func(ctx *cli.Context) error {
			l := loop{Context: ctx, boards: all, system: s, loopReport: loopReport{Steps: []loopStep{}}}
			l.prepare()
			return l.run()
		},
	})
}

// loopReport is the document of lmmc loop.
type loopReport struct {
	Stamp   results.Stamp       `json:"stamp"`
	Target  string              `json:"target"`
	Board   string              `json:"board"` // and configuration
	File    string              `json:"file"`  // the bitstream
	Steps   []loopStep          `json:"steps"`
	Seconds float64             `json:"seconds"` // of all steps, by wall-clock time
	Build   *build.Report       `json:"build"`   // null without this step
	Flash   *flash.Outcome      `json:"flash"`   // null if the board is virtual
	Conform *conformance.Report `json:"conform"` // null if a step before it failed
}

// loopStep is a step that was done.
type loopStep struct {
	Name    string  `json:"name"` // "build", "flash" and "conform", or "check" of a project's own design
	Seconds float64 `json:"seconds"`
	Error   string  `json:"error"` // "" if there was none
	Note    string  `json:"note"`  // what came of it
}

// loop is a loop that is gone through.
type loop struct {
	*cli.Context
	loopReport
	boards   []flash.Board
	system   plugged.System
	config   *boards.Config // to be built; nil for none
	design   *boards.Design // of the project, if the bitstream holds it; nil for the network interface
	progress *ticker
}

// prepare checks the command line before anything takes long.
func (l *loop) prepare() {
	if l.NArg() != 1 {
		try.OK(usagef("loop takes one target, such as vboard:hx8k or usb:0403:6010; see lmmc loop --help"))
	}
	try.Get(conformance.Choose(conformance.Cases(), l.String("run")))
	l.Target, l.File = l.Args().First(), l.String("image")
	target, err := url.Parse(l.Target)
	switch {
	case err != nil || target.Scheme == "":
		try.OK(usagef("%s: not a target; see lmmc loop --help", l.Target))
	case l.virtual() && target.Host != "":
		try.OK(usagef("%s: cannot flash a served board: use lmmc loop usb: after lmmc vboard attach, or lmmc loop vboard:BOARD", l.Target))
	case target.Query().Has("image"):
		try.OK(usagef("%s: want no image option: name the bitstream with --image, or let lmmc loop build it", l.Target))
	case l.File != "":
		return // it says for which board it is
	}
	name := l.String("board")
	if name == "" && l.virtual() {
		name = target.Opaque
	}
	all := try.Get(allBoards())
	if name == "" {
		if len(all) != 1 {
			try.OK(usagef("unknown board at %s: name it with --board; lmmc build --list lists them", l.Target))
		}
		name = all[0].Name
	}
	l.config = try.Get(boards.Find(all, name))
}

func (l *loop) virtual() bool { return strings.HasPrefix(l.Target, virtualScheme+":") }

// run goes through the steps, and writes what came of them.
func (l *loop) run() error {
	l.progress = startTicker(l.App.ErrWriter, "loop")
	err := try.Run(l.steps)
	l.progress.stop()
	l.Stamp = try.Get(newStamp(l.Context, "", "yosys", "nextpnr-ice40", "verilator"))
	return errors.Join(err, finish(l.Context, true, "loop", &l.loopReport, writeLoop))
}

func (l *loop) steps() {
	if l.config != nil {
		l.step("build", l.build)
	}
	data := try.Get(readBitstream(l.File))
	l.step("flash", func() (string, error) { return l.flash(data) })
	if l.design != nil {
		l.step("check", l.check)
		return
	}
	l.step("conform", l.conform)
}

// step does one, and notes how long it took.
func (l *loop) step(name string, do func() (string, error)) {
	l.progress.set("%s", name)
	start := time.Now()
	note, err := do()
	s := loopStep{Name: name, Seconds: time.Since(start).Seconds(), Note: note}
	if err != nil {
		s.Error = err.Error()
	}
	l.Steps = append(l.Steps, s)
	l.Seconds += s.Seconds
	try.OK(err)
}

func (l *loop) build() (string, error) {
	built, err := build.Build(l.Context.Context, l.config, build.Options{Seeds: l.Int("seeds"), Progress: func(step string, done, total int) {
		l.progress.set("build: %s, %d of %d seeds", step, done, total)
	}})
	if built == nil {
		return "", err
	}
	l.Build, l.File = &built.Report, built.Bitstream()
	return fmt.Sprintf("%v, %.1f MHz and %g are needed, %d of %d logic cells", l.config, built.BestRun().MHz, built.NeedMHz, built.Logic.Used, built.Logic.Of), err
}

// flash has the board start from the bitstream, and completes the target by what that says of itself.
func (l *loop) flash(data []byte) (string, error) {
	file, err := bitstream.Read(data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", l.File, err)
	}
	if file.Info == nil {
		return "", fmt.Errorf("%s: names no board, as bitstreams of lmmc build do", l.File)
	}
	l.Board = file.Info.Board + "/" + file.Info.Config
	if file.Info.Own() {
		l.design, l.File = ownDesign(file.Info.Board), try.Get(filepath.Abs(l.File))
	}
	if l.virtual() {
		return l.start(file.Info)
	}
	board, known := boardNamed(l.boards, file.Info.Board)
	if !known {
		return "", fmt.Errorf("%s: built for board %s, which lmmc flash does not know", l.File, file.Info.Board)
	}
	noteRTL(l.Context, l.File, file)
	l.Target = withOption(withOption(l.Target, "baud", file.Info.Params["baud"], "serial", "usb"), "serial", l.String("serial"), "usb")
	keep, err := flashKeep()
	if err != nil {
		return "", err
	}
	o, err := flash.Write(l.Context.Context, flash.Job{
		Board: board, Kinds: kinds(l.boards), System: l.system, Serial: l.String("serial"), Data: data, Keep: keep,
		Progress: func(p flash.Progress) { l.progress.set("flash: %s, %d of %d bytes", p.Stage, p.Done, p.Total) },
	})
	if err != nil {
		return "", err
	}
	l.Flash = &o
	if o.Unchanged {
		return fmt.Sprintf("%v had it already", o.Device), nil
	}
	return fmt.Sprintf("%v has it and runs it", o.Device), nil
}

// start starts a virtual board once, so that what is wrong with the bitstream is not told by the first case.
func (l *loop) start(info *bitstream.Info) (string, error) {
	name, _, _ := strings.Cut(l.Target, "?")
	if board := strings.TrimPrefix(name, virtualScheme+":"); board != info.Board {
		return "", fmt.Errorf("%w: %s is for board %s, this is %s", flash.ErrFile, l.File, info.Board, board)
	}
	l.Target = withOption(l.Target, "image", l.File, virtualScheme)
	t, err := hostdrv.Dial(l.Context.Context, l.Target)
	if err != nil {
		return "", err
	}
	return "the virtual board started from it", t.Close()
}

// withOption adds an option to a target of one of some schemes, if it does not have it. No value adds nothing.
func withOption(target, name, value string, schemes ...string) string {
	u, err := url.Parse(target)
	if err != nil || value == "" || !slices.Contains(schemes, u.Scheme) || u.Query().Has(name) {
		return target
	}
	gap := "?"
	if u.RawQuery != "" {
		gap = "&"
	}
	return target + gap + name + "=" + url.QueryEscape(value)
}

// ownDesign is the design of the project in the present folder that a bitstream for a board holds.
func ownDesign(board string) *boards.Design {
	own := try.Get(boards.LoadProject(os.DirFS(".")))
	i := slices.IndexFunc(own, func(b *boards.Board) bool { return b.Name == board })
	if i < 0 || own[i].Design.Check == "" {
		try.Failf("the bitstream holds a project's own design: want design.check in boards/%s/board.toml of the present folder, the command that checks it", board)
	}
	return own[i].Design
}

// check runs the project's own check of the board.
func (l *loop) check() (string, error) {
	cmd := exec.CommandContext(l.Context.Context, "sh", "-c", l.design.Check)
	cmd.Env = append(os.Environ(), "LMMC_TARGET="+l.Target)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", l.design.Check, err, strings.TrimSpace(string(out)))
	}
	return l.design.Check, nil
}

func (l *loop) conform() (string, error) {
	report, err := conformance.Execute(l.Context.Context, l.Target, conformance.Options{
		Filter: l.String("run"), Seed: l.Uint64("seed"), Effort: 1, Transcripts: transcripts,
		Progress: func(p conformance.Progress) {
			l.progress.set("conform: %d of %d cases, %d failed, now %s", p.Done, p.Total, p.Failed, p.Next)
		},
	})
	if report == nil {
		return "", err
	}
	l.Conform = report
	failed := report.Count(conformance.Fail)
	return fmt.Sprintf("%d passed, %d failed, %d skipped", report.Count(conformance.Pass), failed, report.Count(conformance.Skip)),
		orFailed(err, failed, len(report.Results), "cases")
}

func writeLoop(b *strings.Builder, r *loopReport) {
	if r.Conform != nil {
		writeFailures(b, r.Conform)
	}
	t := table{names: []string{"step", ">seconds", "what came of it"}}
	for _, s := range r.Steps {
		note := s.Note
		if s.Error != "" {
			note = strings.TrimPrefix(note+"; it failed", "; ")
		}
		t.add(s.Name, strconv.FormatFloat(s.Seconds, 'f', 1, 64), note)
	}
	t.add("all", strconv.FormatFloat(r.Seconds, 'f', 1, 64), "")
	t.write(b)
}
