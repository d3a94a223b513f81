package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/hostdrv/replay"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/results"
	"github.com/stafflink/lmmc/testbench/wire"
)

// waveClocks is how many clocks a wave of a replay shows at least.
const waveClocks = 20_000

// replayReport is what lmmc replay tells.
type replayReport struct {
	File    string        `json:"file"`
	Session int           `json:"session"` // from 1
	Header  record.Header `json:"recorded"`
	Target  string        `json:"target"`
	replay.Result
	Wave   string `json:"wave,omitempty"`
	Shrunk string `json:"shrunk,omitempty"` // the file with the shortest session that differs
}

func replayCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "replay",
		Usage:     "replay a recorded session on another target and compare the answers",
		ArgsUsage: "FILE",
		Description: "FILE was written with --record. It compares all packets from the network interfaces, except what depends on time\n" +
			"(see doc/driver.md). model: and rtl: without options get the size of the recorded network interface.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "target", Usage: "replay on `TARGET`", Value: defaultTarget},
			&cli.IntFlag{Name: "session", Usage: "replay only session `N`, from 1 (default: all, each on a newly opened target)"},
			&cli.BoolFlag{Name: "partial", Usage: "accept a truncated file"},
			&cli.StringFlag{Name: "wave", Usage: "write a wave of the last clocks, up to the first difference, to `FILE` (FST); for rtl:", TakesFile: true},
			&cli.StringFlag{Name: "shrink", Usage: "search for a shorter session that differs too, and write it to `FILE`", TakesFile: true},
			&cli.StringFlag{Name: "against", Usage: "use `TARGET` as the reference for --shrink", Value: defaultTarget},
			jsonFlag,
		},
		Action: runReplay,
	})
}

func runReplay(ctx *cli.Context) error {
	if ctx.NArg() != 1 {
		return usagef("replay takes one file; see lmmc replay --help")
	}
	file := ctx.Args().First()
	sessions, err := record.ReadFile(file)
	if errors.Is(err, record.ErrTruncated) && ctx.Bool("partial") {
		err = nil
	} else if errors.Is(err, record.ErrTruncated) {
		err = fmt.Errorf("%w: --partial replays the complete part", err)
	}
	try.OK(err)
	first, last := 1, len(sessions)
	if n := ctx.Int("session"); ctx.IsSet("session") {
		if n < 1 || n > len(sessions) {
			return usagef("--session %d: %s has %d sessions", n, file, len(sessions))
		}
		first, last = n, n
	}
	if first > last {
		return fmt.Errorf("%s: no session in this file", file)
	}
	reports, differs := []replayReport{}, 0
	err = try.Run(func() {
		for n := first; n <= last && differs == 0; n++ {
			r := replayReport{File: file, Session: n, Header: sessions[n-1].Header}
			r.run(ctx, sessions[n-1])
			reports = append(reports, r)
			if r.Divergence != nil {
				differs = n
			}
		}
	})
	err = errors.Join(err, show(ctx, reports, func(b *strings.Builder, reports []replayReport) {
		for _, r := range reports {
			r.write(b)
		}
	}))
	if err == nil && differs > 0 {
		err = fmt.Errorf("session %d of %s differs", differs, file)
	}
	return err
}

// run replays a session, and shrinks it if that is wanted.
func (r *replayReport) run(ctx *cli.Context, s *record.Session) {
	wave := ctx.String("wave")
	r.Target = likeRecorded(ctx.String("target"), s, wave != "")
	progress := startTicker(ctx.App.ErrWriter, "replaying on "+r.Target)
	defer progress.stop()
	target := try.Get(hostdrv.Dial(ctx.Context, r.Target))
	dumper, ok := target.(interface{ DumpWave(path string) error })
	if wave != "" && !ok {
		try.OK(usagef("--wave: %s makes no waves, only rtl: does", r.Target), target.Close())
	}
	var err error
	r.Result, err = replay.Run(ctx.Context, s, target)
	if err == nil && wave != "" {
		r.Wave = wave
		err = dumper.DumpWave(wave)
	}
	try.OK(err, target.Close())
	out := ctx.String("shrink")
	if out == "" || r.Divergence == nil {
		return
	}
	reference := likeRecorded(ctx.String("against"), s, false)
	opener := func(target string) replay.Opener {
		return func(ctx context.Context) (hostdrv.Transport, error) { return hostdrv.Dial(ctx, target) }
	}
	shrinker := replay.Shrinker{Target: opener(r.Target), Reference: opener(reference), Name: reference, Progress: func(packets, attempts int) {
		progress.set("shrinking: %d packets after %d attempts", packets, attempts)
	}}
	shrunk, _, err := shrinker.Shrink(ctx.Context, s)
	if errors.Is(err, replay.ErrAgree) {
		try.Failf("cannot shrink: %s and %s agree, only the recording differs: give the recorded target as --target", r.Target, reference)
	}
	try.OK(err)
	r.Shrunk = out
	try.OK(results.WriteFile(out, shrunk))
}

// likeRecorded gives a simulated target without options the sizes of the recorded network interface.
func likeRecorded(target string, s *record.Session, wave bool) string {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "model" && u.Scheme != "rtl" {
		return target // Dial says what is wrong
	}
	query := u.Query()
	if len(query) == 0 {
		sizes := replay.Sizes(s)
		from, _ := url.Parse(s.Target) // a shrunk session may ask for no size
		for name, r := range map[string]linkproto.Reg{"links": linkproto.RegLinks, "frames": linkproto.RegFrames, "page": linkproto.RegPageBytes,
			"replay": linkproto.RegReplayBytes, "rx": linkproto.RegRxBytes} {
			if v := sizes[r]; v > 0 {
				query.Set(name, fmt.Sprint(v))
			} else if from != nil && from.Query().Has(name) {
				query.Set(name, from.Query().Get(name))
			}
		}
		if linkproto.FeatureRoutes.Of(sizes[linkproto.RegFeatures]) != 0 {
			query.Set("routes", "1")
		}
	}
	if wave && u.Scheme == "rtl" {
		query.Set("record", fmt.Sprint(waveClocks))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

func (r *replayReport) write(b *strings.Builder) {
	fmt.Fprintf(b, "session %d of %s: recorded on %s at %s, replayed on %s\n", r.Session, r.File, r.Header.Target, r.Header.Time.Local().Format(time.DateTime), r.Target)
	fmt.Fprintf(b, "%s host packets; %s answers and traps compared, %s of them reads of bytes that a write was changing\n",
		thousands(uint64(r.Packets)), thousands(uint64(r.Compared)), thousands(uint64(r.Unsure)))
	if d := r.Divergence; d != nil {
		fmt.Fprintf(b, "first difference after %s host packets, at tick %s of the recording: %s\n", thousands(uint64(d.Step)), thousands(d.Tick), d.What)
		for _, side := range []struct {
			name   string
			packet replay.Bytes
		}{{"asked", d.Request}, {"recorded", d.Recorded}, {"target", d.Target}} {
			if side.packet != nil {
				fmt.Fprintf(b, "  %-9s %s\n", side.name, wire.Describe(side.packet))
			}
		}
	} else {
		b.WriteString("no difference\n")
	}
	if r.Wave != "" {
		fmt.Fprintf(b, "  wave      %s\n", r.Wave)
	}
	if r.Shrunk != "" {
		fmt.Fprintf(b, "  shrunk    %s; again: lmmc replay %s --target '%s'\n", r.Shrunk, r.Shrunk, r.Target)
	}
}
