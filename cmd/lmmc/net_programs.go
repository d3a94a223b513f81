package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/try"
)

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
	for _, name := range names {
		width = max(width, len(name))
	}
	var output sync.Mutex
	var work sync.WaitGroup
	ends := make([]error, len(names))
	for i, name := range names {
		out := &prefixed{to: ctx.App.Writer, mu: &output, prefix: fmt.Sprintf("%-*s | ", width, name)}
		also := &prefixed{to: ctx.App.ErrWriter, mu: &output, prefix: out.prefix}
		run := exec.CommandContext(during, program, command[1:]...)
		run.Env = append(os.Environ(), "LMMC_NODE="+name, "LMMC_NODES="+strings.Join(names, " "), "LMMC_TARGET="+targets[i],
			"LMMC_NUMBER="+strconv.Itoa(int(n.Number(i))))
		run.Stdout, run.Stderr = out, also
		run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // so that what it starts ends too
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
