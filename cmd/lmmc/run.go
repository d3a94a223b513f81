package main

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/preload"
	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/try"
)

// libraryName is the preload library's, which make puts beside lmmc.
const libraryName = "liblmmc-socket.so"

func runCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:      "run",
		Usage:     "run an unchanged program on a node of a network: its connections to other nodes go past the system's stack",
		ArgsUsage: "TARGET [-- PROGRAM ARGUMENT...]",
		Description: "TARGET is unix:PATH of lmmc net up or lmmc serve. The first lmmc run of a node is the daemon of its connections, until all who use it have ended;\n" +
			"without PROGRAM it is until interrupted. The exit code is the program's. doc/sockets.md says what programs see, and what goes by the system's stack.",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "addr", Usage: "nodes have addresses in `PREFIX`; all of a network must say the same", Value: cli.NewStringSlice("10.0.0.0/24")},
			&cli.StringFlag{Name: "peers", Usage: "multicast groups are the cluster's, whose other nodes are `LIST`, as 1-16 or 2,5 (default: they are the system's)"},
			&cli.StringFlag{Name: "library", Usage: "load `FILE` (default: " + libraryName + " beside lmmc)", EnvVars: []string{"LMMC_SOCKET_LIBRARY"}, TakesFile: true},
			&cli.BoolFlag{Name: "quiet", Usage: "do not warn of what goes by the system's stack"},
		},
		Action: runProgram,
	}, sharedTarget)
}

// socketsPath is where the daemon of a node's connections is.
func socketsPath(ctx *cli.Context, target string) string {
	path, shared := strings.CutPrefix(target, sharedTarget)
	if !shared || strings.Contains(path, "?") {
		try.OK(usagef("%s takes unix:PATH of lmmc net up or lmmc serve, not %q; see lmmc %[1]s --help", ctx.Command.Name, target))
	}
	return try.Get(filepath.Abs(path)) + ".sockets"
}

func runProgram(ctx *cli.Context) error {
	args := ctx.Args().Slice()
	if len(args) == 0 {
		return usagef("run takes a target; see lmmc run --help")
	}
	path := socketsPath(ctx, args[0])
	for {
		over, err := runOnce(ctx, path, args)
		if over || ctx.Context.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond) // until the daemon that ends lets another one begin
	}
}

// runOnce is lmmc run, unless there is a daemon of the node that is just ending: then it is not over.
func runOnce(ctx *cli.Context, path string, args []string) (over bool, err error) {
	during, cancel := context.WithCancel(ctx.Context)
	defer cancel()
	daemon, ended := startDaemon(during, ctx, args[0], path)
	if len(args) == 1 {
		if daemon == nil {
			try.Failf("%s: its connections have a daemon already", args[0])
		}
		try.Get(fmt.Fprintf(ctx.App.Writer, "node %d: connections of programs, as %s; up until interrupted\n", daemon.Node(), daemon.Nets()))
		return true, daemonEnd(ctx, <-ended)
	}
	err = underDaemon(ctx, path, args[1:])
	if daemon == nil {
		return !errors.Is(err, preload.ErrEnding), err
	}
	for tick := time.NewTicker(10 * time.Millisecond); !daemon.Unused(); {
		select {
		case problem := <-ended:
			return true, errors.Join(err, daemonEnd(ctx, problem))
		case <-tick.C:
		}
	}
	cancel()
	return true, errors.Join(err, <-ended) // when all that was written has been sent
}

// daemonEnd is why the daemon has ended, unless that was wanted.
func daemonEnd(ctx *cli.Context, err error) error {
	if ctx.Context.Err() != nil {
		return nil
	}
	return err
}

// startDaemon starts the daemon of a node, unless there is one.
func startDaemon(during context.Context, ctx *cli.Context, target, path string) (*preload.Daemon, <-chan error) {
	var prefixes []netip.Prefix
	for _, text := range ctx.StringSlice("addr") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			try.OK(usagef("--addr %s: want a prefix, as 10.0.0.0/24", text))
		}
		prefixes = append(prefixes, p)
	}
	l, err := serve.Listen(path, "")
	if errors.Is(err, serve.ErrServed) {
		return nil, nil
	}
	try.OK(err)
	node, err := hostdrv.OpenNode(ctx.Context, target, hostdrv.Options{}, hostdrv.NodeOptions{NoPorts: true})
	if err != nil {
		try.OK(err, l.Close())
	}
	d, err := preload.Open(ctx.Context, node, l, socket.Options{Prefixes: prefixes, Peers: nodesOf(ctx.String("peers"))})
	if err != nil {
		try.OK(err, node.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(d.Run(during), node.Close()) }()
	return d, ended
}

// underDaemon runs a program whose connections the daemon has.
func underDaemon(ctx *cli.Context, path string, command []string) error {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return usagef("%s: %v", command[0], err)
	}
	library := ctx.String("library")
	if library == "" {
		library = filepath.Join(filepath.Dir(try.Get(os.Executable())), libraryName)
	}
	library = try.Get(filepath.Abs(library))
	if _, err := os.Stat(library); err != nil {
		try.Failf("%w: make lmmc builds it, or --library says where it is", err)
	}
	why := unloadable(program)
	p, err := preload.Join(path, filepath.Base(program), why)
	if err != nil {
		return err
	}
	defer try.Finally(p.Close)
	if why != "" && !ctx.Bool("quiet") {
		fmt.Fprintf(ctx.App.ErrWriter, "lmmc: %s is %s: its connections go by the system's stack\n", program, why)
	}
	run := exec.Command(program, command[1:]...)
	run.Env = append(os.Environ(), p.Environment(library, ctx.Bool("quiet"))...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, ctx.App.Writer, ctx.App.ErrWriter
	return untilEnd(ctx.Context, run)
}

// untilEnd runs a program, which an interrupt of ours asks to end.
func untilEnd(ctx context.Context, run *exec.Cmd) error {
	if err := run.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = run.Process.Signal(syscall.SIGTERM) }) // and how it ends is the program's
	defer stop()
	err := run.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		code := exit.ExitCode()
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			code = 128 + int(status.Signal())
		}
		return &programError{filepath.Base(run.Path), code}
	}
	return err
}

// programError says that a program has not ended well. Its exit code is lmmc's.
type programError struct {
	program string
	code    int
}

func (e *programError) Error() string {
	return fmt.Sprintf("%s ended with exit code %d", e.program, e.code)
}

// unloadable says why a program does not load the library, or does not use it.
func unloadable(program string) string {
	if info, err := os.Stat(program); err == nil {
		owner := info.Sys().(*syscall.Stat_t)
		if info.Mode()&fs.ModeSetuid != 0 && int(owner.Uid) != os.Geteuid() || info.Mode()&fs.ModeSetgid != 0 && int(owner.Gid) != os.Getegid() {
			return "setuid or setgid"
		}
	}
	file, err := elf.Open(program)
	if err != nil {
		return "" // a script; its interpreter may
	}
	defer file.Close()
	if file.Section(".go.buildinfo") != nil {
		return "a Go program, which makes system calls itself"
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			return ""
		}
	}
	return "statically linked"
}

func socketsCommand() *cli.Command {
	return targetCommand(&cli.Command{
		Name:        "sockets",
		Usage:       "show the connections of a node's programs under lmmc run: their way, by cluster or system's stack, and why",
		ArgsUsage:   "TARGET",
		Description: "TARGET is that of lmmc run.",
		Flags:       []cli.Flag{jsonFlag},
		Action: func(ctx *cli.Context) error {
			if ctx.NArg() != 1 {
				return usagef("sockets takes a target; see lmmc sockets --help")
			}
			all, err := preload.List(socketsPath(ctx, ctx.Args().First()))
			try.Wrap(err, "no daemon of connections is there (lmmc run is one)")
			return list(ctx, all, []string{"net", "way", "state", "local", "peer", "program", "why"}, func(e preload.Entry) (preload.Entry, []string) {
				end := func(a netip.AddrPort) string {
					if !a.IsValid() || !a.Addr().IsValid() {
						return "-"
					}
					return a.String()
				}
				return e, []string{cmp.Or(e.Net, "-"), e.Way, e.State, end(e.Local), end(e.Peer), fmt.Sprintf("%s (%d)", e.Program, e.PID), e.Why}
			})
		},
	}, sharedTarget)
}
