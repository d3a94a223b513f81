package main

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
)

func checkpointFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "save", Usage: "with --at or --every: save a checkpoint in `FILE`, and keep the one before in FILE.old; compiles and runs slower", TakesFile: true},
		&cli.Uint64Flag{Name: "at", Usage: "with --save: at clock `N`, counted from reset on, or the next at which packets are sent"},
		&cli.Uint64Flag{Name: "every", Usage: "with --save: again every `N` clocks"},
		&cli.StringFlag{Name: "restore", Usage: "continue the run of the checkpoint in `FILE`, with its traffic, seed and rung", TakesFile: true},
	}
}

// keeper saves checkpoints of a run.
type keeper struct {
	file        string
	next, every uint64
	saved       int
}

// keeperOf reads the flags; nil: no checkpoints are saved.
func keeperOf(ctx *cli.Context) *keeper {
	k := &keeper{file: ctx.String("save"), next: ctx.Uint64("at"), every: ctx.Uint64("every")}
	timed := k.next > 0 || k.every > 0
	switch {
	case timed != (k.file != ""):
		try.OK(usagef("--save takes --at or --every, which say when, and they take it"))
	case k.file == "":
		return nil
	}
	if k.next == 0 {
		k.next = k.every
	}
	return k
}

// look saves a checkpoint if it is time to.
func (k *keeper) look(c *cluster.Cluster) error {
	if c.Cycles < k.next {
		return nil
	}
	k.next = math.MaxUint64
	if k.every > 0 {
		k.next = c.Cycles + k.every
	}
	now, err := c.Checkpoint()
	if err != nil {
		return err
	}
	half := k.file + ".new"
	f, err := os.Create(half)
	if err != nil {
		return err
	}
	if err := errors.Join(now.Write(f), f.Close()); err != nil {
		return err
	}
	if k.saved++; k.saved > 1 {
		if err := os.Rename(k.file, k.old()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(half, k.file)
}

func (k *keeper) old() string { return k.file + ".old" }

// last is the file from which a failure is repeated: the newest checkpoint may be of a time when it had happened already.
func (k *keeper) last() string {
	if k.saved > 1 {
		return k.old()
	}
	return k.file
}

// restored reads the checkpoint to begin from, nil if there is none, and has the run be what it was, as far as flags do not say otherwise.
func restored(ctx *cli.Context, config *cluster.Config, traffic *cluster.Traffic) {
	name := ctx.String("restore")
	if name == "" {
		return
	}
	f := try.Get(os.Open(name))
	defer f.Close()
	from, err := cluster.ReadCheckpoint(f)
	if err != nil {
		try.Failf("%s: %w", name, err)
	}
	for flag, same := range map[string]bool{"packets": traffic.Packets == from.Traffic.Packets, "size": traffic.Bytes == from.Traffic.Bytes, "pages": traffic.Pages == from.Traffic.Pages} {
		if ctx.IsSet(flag) && !same {
			try.OK(usagef("--%s: %s was made with another: leave it out, since a run that continues has the traffic that it had", flag, name))
		}
	}
	*traffic, config.From = from.Traffic, from
	for flag, restore := range map[string]func(){
		"seed": func() { config.Seed = from.Config.Seed }, "rung": func() { config.Rung = from.Config.Rung },
		"manager": func() { config.Manager = from.Config.Manager }, "routing": func() { config.Routing = from.Config.Routing },
	} {
		if !ctx.IsSet(flag) {
			restore()
		}
	}
}
