package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/nearest"
)

// group is a part of the list of commands.
type group struct {
	name     string
	commands []*cli.Command
}

func groups(c contents) []group {
	return []group{
		{"verify", []*cli.Command{
			newCommand(), simCommand(c.scenarios), conformCommand(), shrinkCommand(), soakCommand(), proveCommand(), mutateCommand(), fuzzCommand(), regsCommand(), coverageCommand(), junitCommand(),
			benchCommand(c.figures), reportCommand(c.record),
		}},
		{"targets", []*cli.Command{
			infoCommand(), topCommand(), pingCommand(), readCommand(), writeCommand(), portsCommand(), connectCommand(), acceptCommand(), traceCommand(), replayCommand(),
		}},
		{"boards", []*cli.Command{
			boardsCommand(c.boards, c.machine), buildCommand(), flashCommand(c.boards, c.machine), loopCommand(c.boards, c.machine), vboardCommand(), udevCommand(),
		}},
		{"networks", []*cli.Command{netCommand(), msgCommand(), sockCommand(), ipCommand(), runCommand(), socketsCommand()}},
		{"share", []*cli.Command{serveCommand()}},
		{"tools", []*cli.Command{
			doctorCommand(c), guestCommand(), versionCommand(), completionCommand(), rewriterCommand(), workerCommand(c), netPartCommand(), netBenchHostCommand(),
		}},
	}
}

// all returns the commands of all groups.
func all(groups []group) (commands []*cli.Command) {
	for _, g := range groups {
		commands = append(commands, g.commands...)
	}
	return commands
}

// helpTemplate is the library's for the program, with the commands in groups: the library sorts its own by name.
func helpTemplate(groups []group) string {
	var b strings.Builder
	for _, g := range groups {
		fmt.Fprintf(&b, "\n   %s\n", g.name)
		for _, c := range g.commands {
			if !c.Hidden {
				fmt.Fprintf(&b, "      %-10s  %s\n", c.Name, c.Usage)
			}
		}
	}
	return `NAME:
   {{template "helpNameTemplate" .}}

USAGE:
   lmmc COMMAND [--FLAG...] [ARGUMENT...]
   lmmc COMMAND --help

COMMANDS:` + strings.TrimRight(b.String(), "\n") + `

   {{template "descriptionTemplate" .}}
`
}

// commandNames are the commands that help lists.
func commandNames(app *cli.App) []string {
	return collect(app.VisibleCommands(), func(c *cli.Command) string { return c.Name })
}

// flagNames are a command's flags, as they are written.
func flagNames(flags []cli.Flag) (names []string) {
	for _, f := range flags {
		for _, name := range f.Names() {
			if len(name) > 1 {
				names = append(names, "--"+name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// wantsCommand is the action of a command that has others below it, for none of them.
func wantsCommand(of string, commands []*cli.Command) cli.ActionFunc {
	names := collect(commands, func(c *cli.Command) string { return c.Name })
	return func(ctx *cli.Context) error {
		name := ctx.Args().First()
		if name == "" {
			return usagef("%s takes a command: %s; see lmmc %[1]s --help", of, strings.Join(names, ", "))
		}
		return usagef("no command %s %q%s; there are %s", of, name, nearest.Hint(name, names), strings.Join(names, ", "))
	}
}
