package main

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/internal/try"
)

// Flags of programs in network namespaces.
var (
	netnsFlag = &cli.BoolFlag{Name: "netns", Usage: "run each program in a network namespace of its own, where the node is a network interface of the kernel (lmmc ip up)"}
	addrFlag  = &cli.StringFlag{Name: "addr", Usage: "with --netns: give nodes addresses in `PREFIX`", Value: "10.0.0.0/16"}
)

// inNamespaces are what runs a program in a network namespace, as arguments of lmmc behind the target's, and the addresses of nodes with these numbers.
func inNamespaces(ctx *cli.Context, numbers []uint16, command []string) (arguments []string, addresses string) {
	prefix, err := netip.ParsePrefix(ctx.String("addr"))
	if err != nil {
		try.OK(usagef("--addr %s: want a prefix, as 10.0.0.0/16", ctx.String("addr")))
	}
	var all []string
	for _, number := range numbers {
		all = append(all, try.Get(ip.Address(number, prefix)).Addr().String())
	}
	arguments = []string{"--lo", "--addr", prefix.String(), "--peers", fmt.Sprintf("1-%d", slices.Max(numbers)), "--"}
	return append(arguments, command...), strings.Join(all, " ")
}

// ownNamespace lets a program start in a network namespace of its own. A user other than root has one in a user namespace, where all else stays as it is.
func ownNamespace(a *syscall.SysProcAttr) {
	a.Cloneflags |= syscall.CLONE_NEWNET
	if uid, gid := os.Geteuid(), os.Getegid(); uid != 0 {
		a.Cloneflags |= syscall.CLONE_NEWUSER
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
		a.AmbientCaps = []uintptr{unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_NET_BIND_SERVICE}
	}
}

// netPrograms runs a program for each network interface of a network, until all have ended.
func netPrograms(ctx *cli.Context, file string, command []string) {
	program, err := exec.LookPath(command[0])
	if err != nil {
		try.OK(usagef("%s: %v", command[0], err))
	}
	dir := try.Get(os.MkdirTemp("", "lmmc-net-"))
	defer try.Finally(func() error { return os.RemoveAll(dir) })
	n := openLive(ctx, file, dir, nil)
	defer try.Finally(n.Close)
	during, cancel := context.WithCancelCause(ctx.Context)
	var serving sync.WaitGroup
	defer serving.Wait()
	defer cancel(nil)
	serving.Go(func() {
		if err := n.Run(during); during.Err() == nil {
			cancel(err)
		}
	})
	names, targets := n.Targets()
	width := 0
	var numbers []uint16
	for i, name := range names {
		width = max(width, len(name))
		numbers = append(numbers, n.Number(i))
	}
	variables := append(os.Environ(), "LMMC_NODES="+strings.Join(names, " "))
	isolated := ctx.Bool("netns")
	if isolated {
		arguments, addresses := inNamespaces(ctx, numbers, command)
		program, command, variables = try.Get(os.Executable()), arguments, append(variables, "LMMC_ADDRESSES="+addresses)
	}
	var output sync.Mutex
	var work sync.WaitGroup
	ends := make([]error, len(names))
	for i, name := range names {
		out := &prefixed{to: ctx.App.Writer, mu: &output, prefix: fmt.Sprintf("%-*s | ", width, name)}
		also := &prefixed{to: ctx.App.ErrWriter, mu: &output, prefix: out.prefix}
		args := command[1:]
		if isolated {
			args = append([]string{"ip", "up", targets[i]}, command...)
		}
		run := exec.CommandContext(during, program, args...)
		run.Env = append(slices.Clone(variables), "LMMC_NODE="+name, "LMMC_TARGET="+targets[i], "LMMC_NUMBER="+strconv.Itoa(int(numbers[i])))
		run.Stdout, run.Stderr = out, also
		run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it starts ends too
		if isolated {
			ownNamespace(run.SysProcAttr)
		}
		run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGTERM) }
		run.WaitDelay = 5 * time.Second
		work.Go(func() {
			ends[i] = run.Run()
			out.flush()
			also.flush()
		})
	}
	work.Wait()
	if ctx.Context.Err() != nil {
		try.OK(ctx.Context.Err())
	}
	try.OK(context.Cause(during))
	var failed []string
	for i, err := range ends {
		if err != nil {
			failed = append(failed, names[i]+": "+err.Error())
		}
	}
	if len(failed) > 0 {
		try.Failf("%d of %d programs failed: %s", len(failed), len(names), someOf(failed[:min(len(failed), 4)], len(failed)))
	}
}

// prefixed writes whole lines, each behind a prefix.
type prefixed struct {
	to     io.Writer
	mu     *sync.Mutex // of to, which others write to as well
	prefix string
	rest   []byte // a line that has begun
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	for {
		line, rest, whole := strings.Cut(string(p.rest), "\n")
		if !whole {
			return len(b), nil
		}
		p.rest = []byte(rest)
		if err := p.line(line); err != nil {
			return 0, err
		}
	}
}

func (p *prefixed) line(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := io.WriteString(p.to, p.prefix+text+"\n")
	return err
}

// flush writes a line that the program has not ended.
func (p *prefixed) flush() {
	if len(p.rest) > 0 {
		_ = p.line(string(p.rest)) // the program has ended, and nobody is to be told
		p.rest = nil
	}
}
