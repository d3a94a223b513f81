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
		Usage:     "run a command under its own Linux kernel, in QEMU",
		ArgsUsage: "[COMMAND [ARGUMENT...]]",
		Description: "The guest has Debian's kernel, the command, its shared libraries and what the flags add, but no disk and no\n" +
			"network, and ends with the command. Flags come before the command. The exit code is the command's, or 128 plus the signal that ended it.\n" +
			"A test program of go test also gets its testdata, and its coverage is brought back:\n" +
			"  go test -exec 'lmmc guest --module ftdi_sio' ./...\n" +
			"Without a command the guest boots and ends.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "module", Usage: "load kernel module `NAME` and those it depends on"},
			&cli.StringSliceFlag{Name: "program", Usage: "copy the program `NAME` into the guest"},
			&cli.StringSliceFlag{Name: "file", Usage: "copy `FILE` or a folder into the guest, under the same path", TakesFile: true},
			&cli.StringSliceFlag{Name: "env", Usage: "set the variable `NAME=VALUE` for the command, or pass on NAME"},
			&cli.StringFlag{Name: "results", Usage: "bring back the files that the command makes in folder `DIR`", TakesFile: true},
			&cli.DurationFlag{Name: "timeout", Usage: "end the command after `TIME`, first by SIGQUIT, then by ending the guest", Value: 10 * time.Minute},
			&cli.IntFlag{Name: "cpus", Usage: "`N` processors", Value: 2},
			&cli.IntFlag{Name: "memory", Usage: "`N` MiB of memory, files included", Value: 1024},
			&cli.StringFlag{Name: "accel", Usage: "run QEMU with `NAME`, kvm or tcg (default: kvm if a probe of it succeeds)"},
			&cli.BoolFlag{Name: "console", Usage: "print the kernel log to stderr"},
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
		return usagef("--timeout %v: want a time above 0", c.Deadline)
	case c.Memory < 256:
		return usagef("--memory %d: want at least 256 MiB", c.Memory)
	case c.Accel != "" && c.Accel != "kvm" && c.Accel != "tcg":
		return usagef("--accel %s: want kvm or tcg", c.Accel)
	case ctx.Bool("json") && ctx.Args().Present():
		return usagef("--json excludes a command: it reports how the guest boots")
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
	return show(ctx, boot, func(b *strings.Builder, boot guest.Boot) {
		fmt.Fprintf(b, "Linux %s boots in %.1f s (%s)\n", boot.Kernel, boot.Seconds, boot.Accel)
	})
}
