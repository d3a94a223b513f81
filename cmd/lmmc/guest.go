package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/testbench/guest"
)

// guestName is the one command whose arguments are another command with its own flags.
const guestName = "guest"

func guestCommand() *cli.Command {
	return &cli.Command{
		Name:      guestName,
		Usage:     "run a command under a Linux kernel of its own, in QEMU",
		ArgsUsage: "[COMMAND [ARGUMENT...]]",
		Description: "The guest has the command, the shared libraries it needs and what the flags name, a kernel as Debian ships it, no disk and no\n" +
			"network, and ends with the command. Flags come before the command. The exit code is the command's, or 128 and the signal that ended it.\n" +
			"The command may be a program that go test has made, which then has its folder testdata and brings its coverage back:\n" +
			"  go test -exec 'lmmc guest --module ftdi_sio' ./...\n" +
			"Without a command the guest only boots.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "module", Usage: "load module `NAME` of the kernel, with those it depends on"},
			&cli.StringSliceFlag{Name: "program", Usage: "give the guest the program `NAME` too"},
			&cli.StringSliceFlag{Name: "file", Usage: "give the guest `FILE`, or what is in a folder, under the same path", TakesFile: true},
			&cli.StringSliceFlag{Name: "env", Usage: "set the variable `NAME=VALUE` for the command, or NAME as it is set here"},
			&cli.StringFlag{Name: "results", Usage: "bring back what files the command makes in the folder `DIR`", TakesFile: true},
			&cli.DurationFlag{Name: "timeout", Usage: "give the command up after this `TIME`: first by SIGQUIT, then for good", Value: 10 * time.Minute},
			&cli.IntFlag{Name: "cpus", Usage: "`N` processors", Value: 2},
			&cli.IntFlag{Name: "memory", Usage: "`N` MiB of memory, files included", Value: 1024},
			&cli.StringFlag{Name: "accel", Usage: "run QEMU with `NAME`, kvm or tcg (default: kvm if it has been seen to work)"},
			&cli.BoolFlag{Name: "console", Usage: "print what the kernel says to stderr"},
			jsonFlag,
		},
		Action: runGuest,
	}
}

func runGuest(ctx *cli.Context) error {
	c := guest.Config{
		Command:  ctx.Args().Slice(),
		Modules:  ctx.StringSlice("module"),
		Programs: ctx.StringSlice("program"),
		Files:    ctx.StringSlice("file"),
		Results:  ctx.String("results"),
		Deadline: ctx.Duration("timeout"),
		CPUs:     ctx.Int("cpus"),
		Memory:   ctx.Int("memory"),
		Accel:    ctx.String("accel"),
		Stdout:   ctx.App.Writer,
		Stderr:   ctx.App.ErrWriter,
	}
	for _, v := range ctx.StringSlice("env") {
		if !strings.Contains(v, "=") {
			v += "=" + os.Getenv(v)
		}
		c.Env = append(c.Env, v)
	}
	switch {
	case c.Deadline <= 0:
		return usagef("--timeout %v: more than nothing is needed", c.Deadline)
	case c.CPUs < 1:
		return usagef("--cpus %d: at least 1 is needed", c.CPUs)
	case c.Memory < 256:
		return usagef("--memory %d: a kernel needs at least 256 MiB", c.Memory)
	case c.Accel != "" && c.Accel != "kvm" && c.Accel != "tcg":
		return usagef("--accel %s: want kvm or tcg", c.Accel)
	case ctx.Bool("json") && ctx.Args().Present():
		return usagef("--json tells how a guest boots, and is for one without a command")
	}
	if ctx.Bool("console") {
		c.Console = ctx.App.ErrWriter
	}
	if ctx.Args().Present() && filepath.Ext(ctx.Args().First()) == ".test" && c.Results == "" {
		var err error
		if c, err = c.ForTest(); err != nil {
			return err
		}
	}
	progress := startTicker(ctx.App.ErrWriter, "booting Linux")
	stop := sync.OnceFunc(progress.stop)
	defer stop()
	var boot guest.Boot
	c.Ready = func(b guest.Boot) {
		stop()
		boot = b
	}
	if err := guest.Run(ctx.Context, c); err != nil || ctx.Args().Present() {
		return err
	}
	if ctx.Bool("json") {
		return writeJSON(ctx.App.Writer, boot)
	}
	_, err := fmt.Fprintf(ctx.App.Writer, "Linux %s boots in %.1f s (%s)\n", boot.Kernel, boot.Seconds, boot.Accel)
	return err
}
