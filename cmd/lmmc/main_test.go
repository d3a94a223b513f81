package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/stafflink/lmmc/boards/flash/flashtest"
	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/usb"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/guest"
	"github.com/stafflink/lmmc/testbench/report"
	"github.com/stafflink/lmmc/testbench/suite"
	"github.com/stafflink/lmmc/verilator"
)

func TestMain(m *testing.M) {
	guest.Init()
	flashtest.Main()
	testscript.Main(m, map[string]func(){
		// lmmc with scenarios and figures made for the scripts.
		"lmmc": func() { os.Exit(run(os.Args, os.Stdout, os.Stderr, fakes())) },
		// lmmc in which all is well.
		"goodlmmc": func() {
			c := fakes()
			c.scenarios, c.figures = c.scenarios[:1], c.figures[:2]
			os.Exit(run(os.Args, os.Stdout, os.Stderr, c))
		},
		// lmmc as it is.
		"reallmmc": main,
		// Network interfaces in a ring, each behind a TCP port.
		"boards": serveBoards,
		// Such, behind the uplink of a host in a network of interfaces that carry out virtual links.
		"mixed": serveMixed,
		// twolinks A B C D serves four virtual boards in a ring.
		"twolinks": serveTwoLinks,
		// A program that has a port to itself at a target, and writes texts to it.
		"talker": talker,
		"ringer": ringer,
		// lmmc in a build without scenarios and figures.
		"emptylmmc": func() { os.Exit(run(os.Args, os.Stdout, os.Stderr, contents{})) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			kernel, err := verilator.CacheDir("kernel")
			e.Setenv("LMMC_CACHE", filepath.Dir(kernel))
			e.Setenv(guest.KernelVariable, os.Getenv(guest.KernelVariable))
			if err != nil {
				return err
			}
			free, err := net.Listen("tcp", "127.0.0.1:0") // so that two programs of a script find each other
			if err != nil {
				return err
			}
			_, port, _ := net.SplitHostPort(free.Addr().String())
			e.Setenv("FREEPORT", port)
			if err := free.Close(); err != nil {
				return err
			}
			sources, err := filepath.Abs("../..")
			if err != nil {
				return err
			}
			e.Setenv("SOURCES", sources)
			e.Setenv("GOFLAGS", "-ldflags=-w") // as make test links: in half the time
			for _, cache := range []string{"GOCACHE", "GOMODCACHE"} {
				dir, err := exec.Command("go", "env", cache).Output()
				if err != nil {
					return err
				}
				e.Setenv(cache, strings.TrimSpace(string(dir)))
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bench":      theBench,
			"executable": executable,
			"exits":      exits,
			"spoil":      spoil,
			"waitfor":    waitFor,
			"withonly":   withOnly,
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "tap": // interfaces can be made, and are in a namespace of their own
				_, err := os.Stat("/dev/net/tun")
				return err == nil && os.Geteuid() == 0 && exec.Command("unshare", "-n", "ping", "-V").Run() == nil, nil
			case "usb":
			default:
				return false, fmt.Errorf("no condition %q", name)
			}
			_, err := hostdrv.Dial(t.Context(), "usb:?serial=none")
			return !errors.Is(err, usb.ErrNotBuilt), nil
		},
	})
}

// executable FILE... makes files executable.
func executable(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		ts.Check(os.Chmod(ts.MkAbs(name), 0o755))
	}
}

// exits CODE COMMAND... checks an exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// spoil DIR cuts the last byte off all files in a folder.
func spoil(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*"))
	ts.Check(err)
	for _, file := range files {
		info, err := os.Stat(file)
		ts.Check(err)
		ts.Check(os.Truncate(file, info.Size()-1))
	}
}

// waitfor FILE waits until a background command has made a file, which takes long on a busy machine.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 30_000 {
		if _, err := os.Stat(ts.MkAbs(args[0])); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("%s does not come", args[0])
}

// withonly DIR leaves only lmmc, the shell and the programs in DIR to be found.
func withOnly(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	for _, name := range []string{"lmmc", "sh"} {
		for _, from := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(from, name)); err == nil {
				ts.Check(os.Symlink(filepath.Join(from, name), filepath.Join(dir, name)))
				break
			}
		}
	}
	ts.Setenv("PATH", dir)
}

func fakes() contents {
	value := func(v float64) func(context.Context) (figures.Measurement, error) {
		return func(context.Context) (figures.Measurement, error) { return figures.Measurement{Value: v}, nil }
	}
	p := func(v float64) *float64 { return &v }
	known, err := knownBoards()
	if err != nil {
		panic(err) // what is embedded in the test is wrong
	}
	machine := plugged.System{}
	if dir := os.Getenv(flashtest.Variable); dir != "" {
		machine = (&flashtest.Bench{Dir: dir}).Machine()
	}
	return contents{
		boards: known, machine: machine,
		record: func(in *report.Input, _ context.Context) error {
			if os.Getenv("BROKEN") == "" {
				return nil
			}
			in.Unrecorded = "no frame on the link"
			return errors.New(in.Unrecorded)
		},
		scenarios: []suite.Scenario{
			{Name: "writes", Doc: "writes arrive", Seeds: 3, Run: func(_ context.Context, r *suite.Run) error {
				r.Stats = suite.Stats{Cycles: 1000 * r.Seed, Packets: r.Seed, Bytes: 64 * r.Seed, Wave: r.Wave}
				return nil
			}},
			{Name: "errors", Doc: "bit errors are corrected", Seeds: 6, Run: func(_ context.Context, r *suite.Run) error {
				r.Stats = suite.Stats{Cycles: 77777, Packets: 5}
				if r.Seed == 1 {
					return nil
				}
				r.Log("seed %d flips a bit", r.Seed)
				r.Stats.Wave, _ = r.FailureWave()
				return fmt.Errorf("packet 4: byte %d differs\nhave 1, want 2", r.Seed)
			}},
			{Name: "no-tool", Doc: "cannot be built", Run: func(context.Context, *suite.Run) error {
				return fmt.Errorf("%w: verilator is not in PATH", verilator.ErrTool)
			}},
			{Name: "endless", Doc: "ends when told", Run: func(ctx context.Context, _ *suite.Run) error {
				if err := os.WriteFile("running", nil, 0o666); err != nil {
					return err
				}
				<-ctx.Done()
				return ctx.Err()
			}},
		},
		figures: []figures.Figure{
			{Name: "share", Doc: "payload share", Must: p(0.975), Aim: p(0.985), Measure: value(0.98)},
			{Name: "latency", Doc: "write latency", Unit: "cycles", Must: p(64), Aim: p(40), Better: figures.Lower, Measure: func(ctx context.Context) (figures.Measurement, error) {
				if figures.Quick(ctx) {
					return figures.Measurement{Value: 41}, nil
				}
				return figures.Measurement{Value: 39, Note: "worst of 200"}, nil
			}},
			{Name: "rate", Doc: "cycles a second", Unit: "1/s", Must: p(2e6), Baseline: p(19e6), Timed: true, Measure: value(1234567)},
			{Name: "broken", Doc: "fails", Measure: func(context.Context) (figures.Measurement, error) {
				return figures.Measurement{}, errors.New("link is down")
			}},
			{Name: "slow", Doc: "takes minutes", Long: true, Measure: value(7)},
		},
	}
}

func TestFlagsFirst(t *testing.T) {
	app := newApp(nil, nil, fakes())
	for in, want := range map[string]string{
		"lmmc":                                  "lmmc",
		"lmmc bench":                            "lmmc bench",
		"lmmc bench a b --json":                 "lmmc bench --json -- a b",
		"lmmc bench a --json b":                 "lmmc bench --json -- a b",
		"lmmc bench -- a --json":                "lmmc bench -- a --json",
		"lmmc sim --run x --seed 3":             "lmmc sim --run x --seed 3",
		"lmmc sim x --run=y --seed":             "lmmc sim --run=y --seed -- x",
		"lmmc sim --seed -1 --wave":             "lmmc sim --seed -1 --wave",
		"lmmc vboard serve --help --json":       "lmmc vboard --help",
		"lmmc net topo star 4 --links 2":        "lmmc net topo --links 2 -- star 4",
		"lmmc net check a --help":               "lmmc net check --help",
		"lmmc net chek a --json":                "lmmc net chek a --json",
		"lmmc bench -- --help":                  "lmmc bench -- --help",
		"lmmc what a --json":                    "lmmc what a --json",
		"lmmc --help sim":                       "lmmc --help sim",
		"lmmc bench a --json --nonsense":        "lmmc bench --json --nonsense -- a",
		"lmmc sim - --generate-bash-completion": "lmmc sim - --generate-bash-completion",
	} {
		check.Equal(t, in, strings.Join(flagsFirst(app, strings.Fields(in)), " "), want)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.98765: "0.9877", 39: "39", 999.9: "999.9", 1234567.4: "1,234,567", -2000: "-2,000", 1e18: "1e+18",
	} {
		check.Equal(t, fmt.Sprint(v), number(v), want)
	}
}

func TestExitCode(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("3 of 9 runs failed"), 1},
		{usagef("no"), 2},
		{fmt.Errorf("sim: %w", suite.ErrOptions), 2},
		{fmt.Errorf("sim: %w", verilator.ErrTool), 3},
		{fmt.Errorf("sim: %w", context.Canceled), 130},
	} {
		check.Equal(t, fmt.Sprintf("%v: exit code", test.err), exitCode(test.err), test.want)
	}
}

// TestDoctorAgrees holds the table of tools to go.mod and to scripts/deps.
func TestDoctorAgrees(t *testing.T) {
	read := func(name string) string {
		text := check.Must(os.ReadFile(name))(t)
		return string(text)
	}
	if m := regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(read("../../go.mod")); m == nil || m[1] != minGo {
		t.Errorf("go.mod says %v, doctor asks for %s", m, minGo)
	}
	installed := map[string][]string{}
	for _, m := range regexp.MustCompile(`(?m)^need (\w+) (\S+) (\S+)$`).FindAllStringSubmatch(read("../../scripts/deps"), -1) {
		installed[m[1]] = append(installed[m[1]], m[3])
	}
	for _, tool := range tools() {
		set := tool.need
		if set == needNot {
			set = needSim
		}
		if tool.pkg != "" && !slices.Contains(installed[set], tool.pkg) {
			t.Errorf("scripts/deps %s does not install %s, which doctor names for %s", set, tool.pkg, tool.name)
		}
	}
}

func TestTickerIsQuietOffATerminal(t *testing.T) {
	var b strings.Builder
	ticker := startTicker(&b, "building")
	ticker.set("1 of 2")
	time.Sleep(time.Millisecond)
	ticker.stop()
	if b.Len() > 0 {
		t.Errorf("wrote %q", b.String())
	}
}
