package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/nearest"
)

func netCommand() *cli.Command {
	commands := []*cli.Command{netBarrierCommand(), netBenchCommand(), netCheckCommand(), netLogPCommand(), netRunCommand(), netTopCommand(), netTopoCommand(), netTraceCommand(), netUpCommand()}
	names := collect(commands, func(c *cli.Command) string { return c.Name })
	return &cli.Command{
		Name:        "net",
		Usage:       "make, check and run networks of many network interfaces and switches",
		ArgsUsage:   "COMMAND",
		Description: "doc/network.md describes topology files.",
		Subcommands: commands,
		Action: func(ctx *cli.Context) error {
			name := ctx.Args().First()
			if name == "" {
				return usagef("net takes a command: %s; see lmmc net --help", strings.Join(names, ", "))
			}
			return usagef("no command net %q%s; there are %s", name, nearest.Hint(name, names), strings.Join(names, ", "))
		},
	}
}
