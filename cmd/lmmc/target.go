package main

import (
	"context"
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/try"
)

// targetForms says what a TARGET is, for the descriptions of commands that take one; targetHelp, what none stands for.
const targetForms = "TARGET is model:, rtl:, gates:BOARD, bits:BOARD, vboard:BOARD, serial:PATH, usb:VENDOR:PRODUCT or tcp:HOST:PORT, with options after a question mark, as in\n" +
	"rtl:?links=2&frames=8 or serial:/dev/ttyUSB1?baud=3000000"

const targetHelp = targetForms + ". The default is " + defaultTarget

// targetCommand completes a command that takes a target: with targets, and with what else is given.
func targetCommand(command *cli.Command, names ...string) *cli.Command {
	return completed(command, append(names, targetNames()...)...)
}

// targetNames are the targets that are boards, and how others begin.
func targetNames() (names []string) {
	simulated := boardNames(hasBitstreams)
	boards := map[string][]string{"gates": simulated, "bits": simulated, virtualScheme: virtual.Kinds()}
	for _, scheme := range hostdrv.Schemes() {
		for _, board := range boards[scheme] {
			names = append(names, scheme+":"+board)
		}
		if boards[scheme] == nil {
			names = append(names, scheme+":")
		}
	}
	return names
}

// sharedTarget is how targets begin that another process serves.
const sharedTarget = hostdrv.SharedScheme + ":"

// recordFlag is for the commands that open a target: openTarget reads it.
var recordFlag = &cli.StringFlag{Name: "record", Usage: "record the host's cable to `FILE`, for lmmc replay", EnvVars: []string{"LMMC_RECORD"}, TakesFile: true}

// opened is an open target.
type opened struct {
	*hostdrv.NI
	recorder *record.Recorder // nil if nothing is recorded
}

// openTarget opens a target for a command that has recordFlag.
func openTarget(ctx *cli.Context, target string, o hostdrv.Options) *opened {
	t := &opened{}
	if path := ctx.String("record"); path != "" {
		t.recorder = try.Get(record.Create(path))
		o = t.recorder.Options(o)
	}
	var err error
	if t.NI, err = hostdrv.Open(ctx.Context, target, o); err != nil && t.recorder != nil {
		err = errors.Join(err, t.recorder.Close())
	}
	try.OK(err)
	return t
}

// Close closes the target and completes the recording.
func (t *opened) Close() error {
	err := t.NI.Close()
	if t.recorder != nil {
		err = errors.Join(err, t.recorder.Close())
	}
	return err
}

// reporter is an NI that is asked how it is: one that is opened for that, or one of another process, which goes on.
type reporter interface {
	Report(context.Context) (hostdrv.Report, error)
	Close() error
}

// sharedHelp goes with targetHelp for commands that open a reporter.
const sharedHelp = ".\nunix:PATH is a network interface shared by lmmc serve, together with its other users"

// openReporter is openTarget for commands that only look.
func openReporter(ctx *cli.Context, target string) reporter {
	if isShared(target) {
		return openShared(ctx, target)
	}
	n := openTarget(ctx, target, hostdrv.Options{})
	awaitLinks(ctx.Context, n.NI)
	return n
}

func isShared(target string) bool { return strings.HasPrefix(target, sharedTarget) }

func openShared(ctx *cli.Context, target string) *hostdrv.Node {
	if ctx.String("record") != "" {
		try.OK(usagef("%s: --record cannot see a shared cable: use lmmc serve --record", target))
	}
	return try.Get(hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{}, hostdrv.NodeOptions{}))
}

// withNode opens a target and starts a node on it, or uses another process's, for as long as do takes.
func withNode(ctx *cli.Context, target string, do func(*hostdrv.Node)) {
	if isShared(target) {
		node := openShared(ctx, target)
		defer try.Finally(node.Close)
		do(node)
		return
	}
	n := openTarget(ctx, target, hostdrv.Options{})
	defer try.Finally(n.Close)
	do(try.Get(hostdrv.Start(ctx.Context, n.NI, hostdrv.NodeOptions{})))
	for link := range n.Identity().Links { // what the other nodes are told by it last
		try.OK(n.Sync(ctx.Context, link+1))
	}
}

// onTarget makes an action of one on a target: the only argument, or the default.
func onTarget(do func(ctx *cli.Context, target string) error) cli.ActionFunc {
	return func(ctx *cli.Context) error { return do(ctx, targetArgument(ctx)) }
}

// targetArgument returns the only argument, or the default.
func targetArgument(ctx *cli.Context) string {
	if ctx.NArg() > 1 {
		try.OK(usagef("%s takes one target; see lmmc %[1]s --help", ctx.Command.Name))
	}
	if ctx.NArg() == 0 {
		return defaultTarget
	}
	return ctx.Args().First()
}
