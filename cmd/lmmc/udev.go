package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv/udev"
	"github.com/stafflink/lmmc/internal/try"
)

func udevCommand() *cli.Command {
	return &cli.Command{
		Name:  "udev",
		Usage: "install the udev rules that let users access boards",
		Description: "Writes " + udev.File + " and reloads udev. It needs root: sudo lmmc udev.\n" +
			"The logged-in user and the group dialout may then use boards with an FTDI bridge chip.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "print", Usage: "print the rules and do nothing else"},
			&cli.StringSliceFlag{Name: "vendor", Usage: "also allow boards with USB vendor `ID`, four hexadecimal digits"},
			&cli.StringFlag{Name: "file", Usage: "write the rules to `FILE`, and do not reload udev", TakesFile: true},
		},
		Action: func(ctx *cli.Context) error {
			var vendors []uint16
			for _, text := range ctx.StringSlice("vendor") {
				v, err := strconv.ParseUint(text, 16, 16)
				if err != nil {
					return usagef("--vendor %s: want four hexadecimal digits, as in --vendor %04x", text, udev.FTDI)
				}
				vendors = append(vendors, uint16(v))
			}
			rules := udev.Rules(vendors...)
			if ctx.Bool("print") {
				_, err := fmt.Fprint(ctx.App.Writer, rules)
				return err
			}
			return writeRules(ctx, rules)
		},
	}
}

func writeRules(ctx *cli.Context, rules string) error {
	file := udev.File
	if ctx.IsSet("file") {
		file = ctx.String("file")
	}
	err := os.WriteFile(file, []byte(rules), 0o644)
	switch {
	case errors.Is(err, fs.ErrPermission) && !ctx.IsSet("file"):
		err = fmt.Errorf("%w: run sudo lmmc udev", err)
	case errors.Is(err, fs.ErrNotExist) && !ctx.IsSet("file"):
		err = fmt.Errorf("%w: no udev on this machine; --file writes the rules for another machine", err)
	}
	try.OK(err)
	if _, err := fmt.Fprintln(ctx.App.Writer, "wrote", file); err != nil || ctx.IsSet("file") {
		return err
	}
	try.OK(reloadRules(ctx.Context))
	_, err = fmt.Fprintln(ctx.App.Writer, "udev reloaded; a new member of group dialout has to log in again")
	return err
}

// reloadRules makes udev read its rules again and follow them for what is plugged in.
func reloadRules(ctx context.Context) error {
	for _, args := range [][]string{{"control", "--reload"}, {"trigger", "--subsystem-match=tty", "--subsystem-match=usb", "--subsystem-match=usb-serial"}} {
		if out, err := exec.CommandContext(ctx, "udevadm", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("udevadm %s: %w: %s: unplug the boards and plug them in again", args[0], err, bytes.TrimSpace(out))
		}
	}
	return nil
}
