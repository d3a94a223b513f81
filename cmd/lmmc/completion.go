package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// What asks lmmc itself, by the library's hidden flag, what could come next: lmmc.SHELL for each shell.
//
//go:embed completion
var completions embed.FS

// shells are those that can complete, and how they are told to at each start.
var shells = []struct{ name, start string }{
	{"bash", `to ~/.bashrc:                   eval "$(lmmc completion bash)"`},
	{"zsh", `to ~/.zshrc, after compinit:   eval "$(lmmc completion zsh)"`},
	{"fish", `to ~/.config/fish/config.fish:  lmmc completion fish | source`},
}

func completionCommand() *cli.Command {
	var names []string
	description := "SHELL is bash (the default), zsh or fish. Add the line"
	for _, s := range shells {
		names = append(names, s.name)
		description += "\n" + s.start
	}
	return completed(&cli.Command{
		Name:        "completion",
		Usage:       "print the completion script for a shell: commands, flags, targets and other names",
		ArgsUsage:   "[SHELL]",
		Description: description,
		Action: func(ctx *cli.Context) error {
			shell := cmp.Or(ctx.Args().First(), names[0])
			if ctx.NArg() > 1 || !slices.Contains(names, shell) {
				return usagef("no completion for %[2]q; want one of %[1]s", strings.Join(names, ", "), strings.Join(ctx.Args().Slice(), " "))
			}
			script, err := completions.ReadFile("completion/lmmc." + shell)
			if err == nil {
				_, err = ctx.App.Writer.Write(script)
			}
			return err
		},
	}, names...)
}

// completed makes a command offer its flags after a dash, and the names otherwise.
func completed(command *cli.Command, names ...string) *cli.Command {
	flags := cli.DefaultCompleteWithFlags(command)
	command.BashComplete = func(ctx *cli.Context) {
		flags(ctx)
		for _, name := range names {
			fmt.Fprintln(ctx.App.Writer, name)
		}
	}
	return command
}
