package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

const bashCompletion = `_lmmc() {
	local words=("${COMP_WORDS[@]:0:COMP_CWORD}") word="${COMP_WORDS[COMP_CWORD]}"
	[[ $word == -* ]] && words+=("$word")
	COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "$word"))
}
complete -o default -F _lmmc lmmc
`

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:        "completion",
		Usage:       "print what makes bash complete lmmc's commands, flags and names",
		Description: "Put this into ~/.bashrc:\neval \"$(lmmc completion)\"",
		Action: func(ctx *cli.Context) error {
			_, err := fmt.Fprint(ctx.App.Writer, bashCompletion)
			return err
		},
	}
}

// completeWith offers the command's flags after a dash, and the names otherwise.
func completeWith(command *cli.Command, names []string) cli.BashCompleteFunc {
	flags := cli.DefaultCompleteWithFlags(command)
	return func(ctx *cli.Context) {
		flags(ctx)
		for _, name := range names {
			fmt.Fprintln(ctx.App.Writer, name)
		}
	}
}
