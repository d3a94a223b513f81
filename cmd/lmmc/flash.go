package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cheggaaa/pb/v3"
	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/rtl"
)

func flashCommand(all []flash.Board, s plugged.System) *cli.Command {
	command := &cli.Command{
		Name:      "flash",
		Usage:     "write a bitstream to a board",
		ArgsUsage: "[BOARD[/CONFIG] [FILE]]",
		Description: "Without FILE it writes the bitstream that lmmc build left in " + buildFolder + "/BOARD. It checks the bitstream before writing and\n" +
			"verifies the flash after. If writing fails or is interrupted, it restores the old contents of the flash. In a project of lmmc new\n" +
			"with one board, BOARD is that.",
		Flags: []cli.Flag{
			jsonFlag,
			&cli.BoolFlag{Name: "flash", Usage: "write to the flash from which the FPGA starts (default)"},
			&cli.BoolFlag{Name: "sram", Usage: "write to the FPGA itself, until reset or power loss; most boards need jumpers for this"},
			&cli.StringFlag{Name: "serial", Usage: "write to the board with serial number `S`; lmmc boards lists them"},
			&cli.StringFlag{Name: "with", Usage: "use `TOOL`, " + strings.Join(flash.Tools(), " or ") + ", instead of the board's default"},
			&cli.BoolFlag{Name: "unprotect", Usage: "remove write protection"},
			&cli.BoolFlag{Name: "foreign", Usage: "accept a bitstream that names no board; its device must match"},
		},
	}
	names := collect(all, func(b flash.Board) string { return b.Name })
	command.Action = func(ctx *cli.Context) error {
		what := ctx.Args().First()
		if own := try.Get(boards.LoadProject(os.DirFS("."))); what == "" && len(own) == 1 {
			what = own[0].Name
		}
		if what == "" || ctx.NArg() > 2 {
			return usagef("flash takes a board and at most one file; see lmmc flash --help")
		}
		name, config, _ := strings.Cut(what, "/")
		at := slices.Index(names, name)
		if at < 0 {
			return cannotFlash(what)
		}
		if with := ctx.String("with"); with != "" && !slices.Contains(flash.Tools(), with) {
			return usagef("--with %s: no such tool%s; there are %s", with, nearest.Hint(with, flash.Tools()), strings.Join(flash.Tools(), ", "))
		}
		job := flash.Job{
			Board: all[at], Kinds: kinds(all), System: s, Serial: ctx.String("serial"),
			Unprotect: ctx.Bool("unprotect"), Foreign: ctx.Bool("foreign"),
		}
		if with := ctx.String("with"); with != "" {
			job.Board.Tool = with
		}
		if ctx.Bool("sram") {
			job.Memory = flash.SRAM
			if ctx.Bool("flash") || job.Unprotect {
				return usagef("--sram excludes --flash and --unprotect")
			}
		}
		file := ctx.Args().Get(1)
		if file == "" {
			file = builtFor(name, config)
		}
		return flashFile(ctx, job, file, config)
	}
	return completed(command, names...)
}

// cannotFlash says why a board that is not among those that can be written to is not.
func cannotFlash(name string) error {
	return usagef("%s: synthesis only, lmmc makes no bitstreams for it", try.Get(boards.Find(try.Get(allBoards()), name)).Board.Name)
}

// buildFolder is where lmmc build puts what it makes.
const buildFolder = "build"

// builtFor finds the one bitstream that was built for a board in a configuration. If that is "" it may be any, but
// where there are several it is the board's default, as it is for lmmc build.
func builtFor(board, config string) string {
	dir := filepath.Join(buildFolder, board)
	var found []bitstreamInfo
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".bin" || !e.Type().IsRegular() {
			return err
		}
		info, err := describeBitstream(name)
		if err == nil && info.Info != nil && info.Info.Board == board && (config == "" || info.Info.Config == config) {
			found = append(found, info)
		}
		return nil // other files are nobody's concern here
	})
	if !os.IsNotExist(err) {
		try.OK(err)
	}
	what := strings.TrimSuffix(board+"/"+config, "/")
	meant, err := boards.Find(try.Get(allBoards()), what)
	if len(found) == 0 {
		try.OK(err)
		try.Failf("no bitstream for %s in %s: run lmmc build %[1]s", what, dir)
	}
	if len(found) > 1 && err == nil && slices.ContainsFunc(found, func(f bitstreamInfo) bool { return f.Info.Config == meant.Name }) {
		found = slices.DeleteFunc(found, func(f bitstreamInfo) bool { return f.Info.Config != meant.Name })
	}
	if len(found) > 1 {
		files := collect(found, func(f bitstreamInfo) string { return f.File })
		try.OK(usagef("several bitstreams for %s: name one of %s", what, strings.Join(files, ", ")))
	}
	return found[0].File
}

// flashFile writes a file, which must be of a configuration unless that is "".
func flashFile(ctx *cli.Context, job flash.Job, file, config string) error {
	job.Data = try.Get(readBitstream(file))
	checked, err := flash.Check(job.Board, job.Data, job.Foreign)
	try.Wrap(err, "%s", file)
	if config != "" && (checked.Info == nil || checked.Info.Config != config) {
		return fmt.Errorf("%s: not configuration %s of %s; see lmmc info %[1]s", file, config, job.Board.Name)
	}
	noteRTL(ctx, file, checked)
	job.Keep = try.Get(flashKeep())
	bar := startBar(ctx)
	job.Progress = bar.set
	o, err := flash.Write(ctx.Context, job)
	bar.finish()
	try.OK(err)
	type document struct {
		Board string `json:"board"`
		File  string `json:"file"`
		flash.Outcome
	}
	return show(ctx, document{job.Board.Name, file, o}, func(b *strings.Builder, d document) {
		what := "written to flash and verified, FPGA started"
		switch {
		case job.Memory == flash.SRAM:
			what = "loaded into the FPGA until reset or power loss"
		case d.Unchanged:
			what = "already in flash"
		}
		fmt.Fprintf(b, "%s (%v): %s, %s bytes, %s\n", d.Board, d.Device, file, thousands(uint64(d.Bytes)), what)
	})
}

// flashKeep is the folder for what a flash held until it holds the new.
func flashKeep() (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "lmmc", "flash"), err
}

// noteRTL tells of a bitstream that this program's models do not agree with.
func noteRTL(ctx *cli.Context, file string, f *bitstream.File) {
	if f.Info != nil && !f.Info.Own() && f.Info.Hash != rtl.Hash() {
		fmt.Fprintf(ctx.App.ErrWriter, "lmmc: note: %s has RTL %016x, this program has %016x\n", file, f.Info.Hash, rtl.Hash())
	}
}

// stageBar is a progress bar on a terminal; on anything else it is none.
type stageBar struct{ bar *pb.ProgressBar }

func startBar(ctx *cli.Context) stageBar {
	if !isTerminal(ctx.App.ErrWriter) {
		return stageBar{}
	}
	bar := pb.ProgressBarTemplate(`{{string . "stage" | printf "%-9s"}} {{bar .}} {{percent .}}`).New(1)
	bar.Set(pb.CleanOnFinish, true).SetWriter(ctx.App.ErrWriter)
	return stageBar{bar.Start()}
}

func (b stageBar) set(p flash.Progress) {
	if b.bar != nil {
		b.bar.Set("stage", string(p.Stage)).SetTotal(int64(p.Total)).SetCurrent(int64(p.Done))
	}
}

func (b stageBar) finish() {
	if b.bar != nil {
		b.bar.Finish()
	}
}
