// Command lmmc verifies, measures and examines the LMMC network interface. `lmmc help` lists what it does.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards"
	boardfigures "github.com/stafflink/lmmc/boards/figures"
	"github.com/stafflink/lmmc/boards/flash"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/virtual/usbbench"
	"github.com/stafflink/lmmc/boards/virtual/vhci"
	"github.com/stafflink/lmmc/cmd/lmmc/project"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/conformance"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/guest"
	"github.com/stafflink/lmmc/testbench/prove"
	"github.com/stafflink/lmmc/testbench/report"
	"github.com/stafflink/lmmc/testbench/scenarios"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

// Exit codes. The description of the program, its README and its tests say the same.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitTool        = 3
	exitInterrupted = 130
)

const description = `Exit codes:
0    done, and every check passed
1    a check failed, a figure misses its limit, or an error occurred
2    wrong command line; nothing was done
3    a tool is missing or too old: see lmmc doctor
130  interrupted`

// errUsage is wrapped by errors about the command line.
var errUsage = errors.New("usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// contents is what the program runs.
type contents struct {
	scenarios []suite.Scenario
	figures   []figures.Figure
	record    func(*report.Input, context.Context) error // what only the report shows
	boards    []flash.Board
	machine   plugged.System // into which they are plugged
}

// allFigures are those of the NI and of boards, in the order of the table.
func allFigures() []figures.Figure {
	return slices.Concat(figures.Modules(), boardfigures.Synthesis, boardfigures.Link, figures.Systems(), boardfigures.USB, newFigures)
}

func main() {
	guest.Init()
	usbbench.Init()
	known, err := knownBoards()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lmmc:", err)
		os.Exit(exitFailed)
	}
	os.Exit(run(os.Args, os.Stdout, os.Stderr, contents{
		scenarios: scenarios.All(), figures: allFigures(), record: (*report.Input).Record, boards: known,
	}))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer, c contents) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once

	app := newApp(stdout, stderr, c)
	err := app.RunContext(ctx, flagsFirst(app, args))
	if len(args) == 3 && (args[1] == "help" || args[1] == "h") && err != nil {
		err = noCommand(app, args[2])
	}
	if err = targetHinted(err, args); err != nil {
		text := strings.TrimPrefix(err.Error(), errUsage.Error()+": ")
		fmt.Fprintln(stderr, "lmmc:", text)
	}
	return exitCode(err)
}

func exitCode(err error) int {
	var coder cli.ExitCoder // the library's own, for example for help on a command that does not exist
	var exit *guest.ExitError
	var program *programError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errUsage), errors.Is(err, suite.ErrOptions), errors.Is(err, soak.ErrOptions), errors.Is(err, conformance.ErrOptions),
		errors.Is(err, hostdrv.ErrTarget), errors.Is(err, boards.ErrUnknown), errors.Is(err, project.ErrOptions),
		errors.As(err, &coder):
		return exitUsage
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &program):
		return program.code
	case errors.Is(err, verilator.ErrTool), errors.Is(err, guest.ErrTool), errors.Is(err, prove.ErrTool), errors.Is(err, usb.ErrNotBuilt), errors.Is(err, vhci.ErrNoKernel), errors.Is(err, flash.ErrTool),
		errors.Is(err, campaign.ErrLauncher):
		return exitTool
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

func newApp(stdout, stderr io.Writer, c contents) *cli.App {
	parts := groups(c)
	app := &cli.App{
		Name:                  "lmmc",
		Usage:                 "verify a network interface, use it from Go, and build it for boards",
		Description:           description,
		Version:               readVersion().Version,
		EnableBashCompletion:  true,
		Writer:                stdout,
		ErrWriter:             stderr,
		ExitErrHandler:        func(*cli.Context, error) {}, // run maps errors to exit codes
		Commands:              all(parts),
		CustomAppHelpTemplate: helpTemplate(parts),
		Action: func(ctx *cli.Context) error {
			if name := ctx.Args().First(); name != "" {
				return noCommand(ctx.App, name)
			}
			return cli.ShowAppHelp(ctx)
		},
	}
	app.OnUsageError = func(_ *cli.Context, err error, _ bool) error {
		return usagef("%s; see lmmc help", flagError(err, app.Flags))
	}
	prepare(app.Commands, "")
	return app
}

// prepare gives commands, and those below them, what is the same for all. Their names follow that of what they are below.
func prepare(commands []*cli.Command, above string) {
	for _, command := range commands {
		name := above + command.Name
		steps := command.Action
		command.Action = func(ctx *cli.Context) (err error) { // the actions end by package try too
			ended := try.Run(func() { err = steps(ctx) })
			return cmp.Or(ended, err)
		}
		command.HideHelpCommand = true
		tidyDefaults(command.Flags)
		command.OnUsageError = func(ctx *cli.Context, err error, _ bool) error {
			return usagef("%s; see lmmc %s --help", flagError(err, ctx.Command.Flags), name)
		}
		noArguments := command.ArgsUsage == ""
		if noArguments {
			command.ArgsUsage = " " // an empty one reads "[arguments...]"
		}
		command.Before = func(ctx *cli.Context) error { return checkCommandLine(ctx, name, noArguments) }
		prepare(command.Subcommands, name+" ")
	}
}

// tidyDefaults lets help show one default of each flag, and none of a switch: the library would add the zero value.
func tidyDefaults(flags []cli.Flag) {
	own := func(usage, text *string) {
		if before, after, ok := strings.Cut(*usage, " (default: "); ok {
			*usage, *text = before, strings.TrimSuffix(after, ")")
		}
	}
	for _, f := range flags {
		switch f := f.(type) {
		case *cli.BoolFlag:
			f.DisableDefaultText = true
		case *cli.IntFlag:
			own(&f.Usage, &f.DefaultText)
		case *cli.DurationFlag:
			own(&f.Usage, &f.DefaultText)
		}
	}
}

func noCommand(app *cli.App, name string) error {
	return usagef("no command %q%s; see lmmc help", name, nearest.Hint(name, commandNames(app)))
}

// flagError says what is wrong with the flags, and for one that does not exist which may be meant.
func flagError(err error, flags []cli.Flag) string {
	if name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); unknown {
		return fmt.Sprintf("no flag --%s%s", strings.TrimPrefix(name, "-"), nearest.Hint("--"+strings.TrimPrefix(name, "-"), flagNames(flags)))
	}
	return err.Error()
}

// checkCommandLine checks what is the same for all commands: numbers are 1 or more.
func checkCommandLine(ctx *cli.Context, name string, noArguments bool) error {
	if noArguments && ctx.Args().Present() {
		return usagef("%s takes no argument %q; see lmmc %[1]s --help", name, ctx.Args().First())
	}
	for _, f := range ctx.Command.Flags {
		if f, ok := f.(*cli.IntFlag); ok && ctx.IsSet(f.Name) && ctx.Int(f.Name) < 1 {
			return usagef("--%s %d: want 1 or more", f.Name, ctx.Int(f.Name))
		}
	}
	return nil
}

// flagsFirst moves the flags of a command before its arguments, since the library takes all that follows the first
// argument for arguments. After "--" everything is an argument. When help is asked for nothing else counts.
func flagsFirst(app *cli.App, args []string) []string {
	if len(args) < 3 || args[len(args)-1] == "--generate-bash-completion" {
		return args
	}
	command, depth := commandOf(app, args)
	if command == nil || command.Name == guestName || len(command.Subcommands) > 0 {
		return args
	}
	takesValue := map[string]bool{}
	for _, flag := range command.Flags {
		_, isBool := flag.(*cli.BoolFlag)
		for _, name := range flag.Names() {
			takesValue[name] = !isBool
		}
	}
	var flags, rest []string
	for i := depth; i < len(args); i++ {
		arg := args[i]
		name := strings.TrimLeft(arg, "-")
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case !strings.HasPrefix(arg, "-"):
			rest = append(rest, arg)
		case arg == "-h" || arg == "--help":
			return append(slices.Clone(args[:depth]), arg) // with arguments beside it the library looks for help on those
		case takesValue[name] && i+1 < len(args):
			i++
			flags = append(flags, arg, args[i])
		default:
			flags = append(flags, arg)
		}
	}
	sorted := append(slices.Clone(args[:depth]), flags...)
	if len(rest) > 0 {
		sorted = append(append(sorted, "--"), rest...)
	}
	return sorted
}

// commandOf is the command that a command line is for, nil if there is none, and how many of the arguments name it.
func commandOf(app *cli.App, args []string) (command *cli.Command, depth int) {
	command, depth = app.Command(args[1]), 2
	for command != nil && depth < len(args) {
		i := slices.IndexFunc(command.Subcommands, func(c *cli.Command) bool { return c.HasName(args[depth]) })
		if i < 0 {
			break
		}
		command, depth = command.Subcommands[i], depth+1
	}
	return command, depth
}
