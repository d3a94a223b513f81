package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

func traceCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "trace",
		Usage:     "capture the host's cable for Wireshark, and record events at the links",
		ArgsUsage: "[TARGET]",
		Description: "With --output it writes the cable's frames and words to a pcapng file, which Wireshark reads with our dissector:\n" +
			"lmmc trace --dissector lmmc.lua; wireshark -X lua_script:lmmc.lua FILE\n" +
			"A network interface with a trace buffer records events at its links, which are printed and added to the file.\n" +
			"It ends when interrupted, after --for, or after a --trigger and --post more records; it fails if --for ends first.\n" +
			"To capture other programs, share the network interface: lmmc serve TARGET, then lmmc trace unix:\n\n" + targetHelp + sharedHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write the capture to `FILE`; - is standard output", TakesFile: true},
			&cli.BoolFlag{Name: "all", Usage: "also capture link state words that repeat the one before, and the requests of this command"},
			&cli.DurationFlag{Name: "for", Usage: "end after `TIME` of the target's, such as 200ms; the time of a simulation passes only while a program waits for it"},
			&cli.StringSliceFlag{Name: "events", Usage: "record only `EVENTS`, such as rx_crc,stops; doc/protocol.md lists them"},
			&cli.StringSliceFlag{Name: "ports", Usage: "record events at `PORTS`, such as host,1", DefaultText: "all links"},
			&cli.StringSliceFlag{Name: "trigger", Usage: "end after one of `EVENTS`"},
			&cli.StringSliceFlag{Name: "trigger-ports", Usage: "of the --trigger, want it at one of `PORTS`", DefaultText: "those that are recorded"},
			&cli.UintFlag{Name: "post", Usage: "after the --trigger, record `N` more", Value: 32},
			&cli.StringFlag{Name: "from", Usage: "convert `FILE`, written by --record, instead of capturing a target", TakesFile: true},
			&cli.StringFlag{Name: "dissector", Usage: "write the Wireshark dissector to `FILE`, and do nothing else; - is standard output", TakesFile: true},
			jsonFlag,
			recordFlag,
		},
		Action: runTrace,
	}, append(eventNames(), sharedTarget)...)
}

func runTrace(ctx *cli.Context) error {
	if ctx.IsSet("dissector") {
		if ctx.Args().Present() || ctx.NumFlags() > 1 {
			return usagef("--dissector excludes arguments and other flags")
		}
		return withOutput(ctx, ctx.String("dissector"), func(w io.Writer) { try.Get(io.WriteString(w, linkproto.Dissector)) })
	}
	if ctx.IsSet("from") {
		return convert(ctx)
	}
	t := &tracing{target: targetArgument(ctx)}
	t.asked = ctx.IsSet("events") || ctx.IsSet("ports") || ctx.IsSet("trigger") || ctx.String("output") == ""
	t.setup = traceSetup(ctx)
	if ctx.IsSet("for") && ctx.Duration("for") <= 0 {
		return usagef("--for %v: want a time above 0", ctx.Duration("for"))
	}
	if ctx.String("output") == "-" && ctx.Bool("json") {
		return usagef("--json and --output - exclude each other")
	}
	if ctx.String("output") == "" {
		t.run(ctx, nil)
		return nil
	}
	return withOutput(ctx, ctx.String("output"), func(w io.Writer) { t.run(ctx, w) })
}

// withOutput calls write with a file, or the standard output. A file that it could not begin is removed.
func withOutput(ctx *cli.Context, path string, write func(io.Writer)) error {
	if path == "-" {
		if isTerminal(ctx.App.Writer) {
			return usagef("--output -: standard output is a terminal; redirect it to a file or to wireshark")
		}
		return try.Run(func() { write(ctx.App.Writer) })
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = try.Run(func() { write(f) })
	if info, e := f.Stat(); err != nil && e == nil && info.Size() == 0 {
		err = errors.Join(err, os.Remove(path))
	}
	return errors.Join(err, f.Close())
}

// traceSetup reads what the trace buffer is to record.
func traceSetup(ctx *cli.Context) (s linkproto.TraceSetup) {
	events := func(flag string) (list []linkproto.TraceEvent) {
		for _, name := range ctx.StringSlice(flag) {
			var e linkproto.TraceEvent
			if e.UnmarshalText([]byte(name)) != nil {
				try.OK(usagef("--%s: no event %q%s; there are %s", flag, name, nearest.Hint(name, eventNames()), strings.Join(eventNames(), ", ")))
			}
			list = append(list, e)
		}
		return list
	}
	ports := func(flag string) (list []int) {
		for _, name := range ctx.StringSlice(flag) {
			port, err := strconv.Atoi(name)
			if name != "host" && (err != nil || port < 1 || port > linkproto.MaxLinks) {
				try.OK(usagef("--%s: no port %q; want host or the number of a link", flag, name))
			}
			list = append(list, port) // the host's is 0
		}
		return list
	}
	s.Events, s.Ports, s.Trigger, s.TriggerPorts = events("events"), ports("ports"), events("trigger"), ports("trigger-ports")
	post := ctx.Uint("post")
	if len(s.Trigger) == 0 && (ctx.IsSet("trigger-ports") || ctx.IsSet("post")) {
		try.OK(usagef("--trigger-ports and --post need --trigger"))
	}
	if post > math.MaxUint16 {
		try.OK(usagef("--post %d: want at most %d", post, math.MaxUint16))
	}
	s.Post = uint16(post)
	return s
}

func eventNames() (names []string) {
	for e := range linkproto.TraceEvent(linkproto.NumTraceEvents) {
		names = append(names, e.String())
	}
	return names
}

// convert makes a capture of recorded sessions.
func convert(ctx *cli.Context) error {
	for _, name := range ctx.FlagNames() {
		if name != "from" && name != "output" && name != "o" && name != "all" {
			return usagef("--from takes --output and --all, not --%s", name)
		}
	}
	if ctx.Args().Present() || ctx.String("output") == "" {
		return usagef("--from needs --output and no target")
	}
	sessions, err := record.ReadFile(ctx.String("from"))
	if err != nil && !errors.Is(err, record.ErrTruncated) { // what there is of it
		return err
	}
	return errors.Join(err, withOutput(ctx, ctx.String("output"), func(w io.Writer) {
		c := capture.NewWriter(w)
		for _, s := range sessions {
			c.Session(s, ctx.Bool("all"))
		}
		try.OK(c.Err())
	}))
}

// traceReport is what lmmc trace tells of a target.
type traceReport struct {
	Target string           `json:"target"`
	Output string           `json:"output,omitempty"`
	Time   time.Duration    `json:"time_ns"` // of the target's
	Trace  *linkproto.Trace `json:"trace"`   // null without a trace buffer
}

func (r traceReport) write(ctx *cli.Context) error {
	out := ctx.App.Writer
	if r.Output == "-" {
		return nil
	}
	if ctx.Bool("json") {
		return writeJSON(out, r)
	}
	if r.Trace != nil {
		try.OK(r.Trace.Format(out))
	}
	if r.Output == "" {
		return nil
	}
	_, err := fmt.Fprintf(out, "captured %v of %s to %s\n", r.Time.Round(time.Microsecond), r.Target, r.Output)
	return err
}

// tracer is an NI to be traced: of this process, or of another.
type tracer interface {
	reporter
	StartTrace(context.Context, linkproto.TraceSetup) error
	TraceState(context.Context) (hostdrv.TraceState, error)
	ReadTrace(context.Context) (linkproto.Trace, error)
	WithTimeout(context.Context, time.Duration) (context.Context, context.CancelFunc)
}
