package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/parts"
	"github.com/stafflink/lmmc/verilator"
)

// partCommand is what starts a part of a network; partToken names the variable that says to whom it belongs.
const (
	partCommand = "net-part"
	partToken   = "LMMC_PART_TOKEN"
	self        = "/proc/self/exe"
)

func partsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "parts", Usage: "split the network over `N` processes, which changes no result", Value: 1},
		&cli.StringFlag{Name: "launcher", Usage: "start the parts on `WHAT`: local (this machine) or slurm (by srun)", Value: "local"},
	}
}

// netPartCommand runs a part of a network.
func netPartCommand() *cli.Command {
	return &cli.Command{
		Name: partCommand, Hidden: true, ArgsUsage: "ADDRESS",
		Usage: "for lmmc net run --parts: simulate a part of a network",
		Action: func(ctx *cli.Context) error {
			return parts.Work(ctx.Context, ctx.Args().First(), os.Getenv(partToken), try.Get(programVersion()), func(part, parts int, setup []byte) (parts.Site, error) {
				return cluster.OpenPart(ctx.Context, part, parts, setup)
			})
		},
	}
}

// programVersion tells programs apart that might simulate otherwise.
func programVersion() (string, error) {
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), err
}

// partsOptions reads the flags of partsFlags. The function it returns waits until all processes have ended.
func partsOptions(ctx *cli.Context) (p *cluster.Parts, wait func()) {
	if ctx.Int("parts") == 1 {
		if ctx.IsSet("launcher") {
			try.OK(usagef("--launcher needs --parts, how many there are"))
		}
		return nil, func() {}
	}
	l := &launched{ctx: ctx, n: ctx.Int("parts")}
	p = &cluster.Parts{Count: l.n, Version: try.Get(programVersion()), Listen: "127.0.0.1:0", Launch: l.local}
	switch launcher := ctx.String("launcher"); launcher {
	case "local":
	case "slurm":
		p.Listen, p.Launch = ":0", l.slurm
	default:
		try.OK(usagef("--launcher %s: want local or slurm", launcher))
	}
	return p, l.running.Wait
}

// launched are processes of parts.
type launched struct {
	ctx     *cli.Context
	n       int
	running sync.WaitGroup
}

func (l *launched) local(_ context.Context, address, token string, failed func(error)) error {
	for range l.n {
		if err := l.start(failed, token, self, partCommand, address); err != nil {
			return err
		}
	}
	return nil
}

// slurm has srun start all parts, which reach this machine by its name. srun uses the allocation in which this program runs, or makes one.
func (l *launched) slurm(ctx context.Context, address, token string, failed func(error)) error {
	if _, err := exec.LookPath("srun"); err != nil {
		return fmt.Errorf("%w: srun of Slurm is not in PATH: install slurm-client, or leave out --launcher slurm to run the parts on this machine", campaign.ErrLauncher)
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	if _, err := net.DefaultResolver.LookupHost(ctx, name); err != nil {
		return fmt.Errorf("the parts must reach this machine by its name: %w", err)
	}
	// A program that go run has built is gone when this one ends, and is not where other nodes see it.
	store := try.Get(verilator.CacheDir("parts"))
	program := filepath.Join(store, "lmmc-"+try.Get(programVersion()))
	if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
		if err := copyProgram(program); err != nil {
			return fmt.Errorf("copying the program for the nodes: %w", err)
		}
	}
	return l.start(failed, token, "srun", "--ntasks="+strconv.Itoa(l.n), "--kill-on-bad-exit=1", "--job-name=lmmc", program, partCommand, net.JoinHostPort(name, port))
}

func copyProgram(to string) error {
	data, err := os.ReadFile(self)
	if err != nil {
		return err
	}
	return campaign.WriteFile(to, data, 0o777)
}

// start starts a process. One that ends with an error says so to failed.
func (l *launched) start(failed func(error), token, name string, args ...string) error {
	cmd := exec.CommandContext(l.ctx.Context, name, args...)
	if name == self {
		cmd.Args[0] = "lmmc"
	}
	cmd.Env = append(os.Environ(), partToken+"="+token)
	cmd.Stdout, cmd.Stderr = l.ctx.App.ErrWriter, l.ctx.App.ErrWriter
	if err := cmd.Start(); err != nil {
		return err
	}
	l.running.Go(func() {
		if err := cmd.Wait(); err != nil {
			failed(fmt.Errorf("%s has ended: %w; sinfo shows what Slurm has, and lmmc net run without --launcher or --parts runs on this machine", strings.Join(cmd.Args[:2], " "), err))
		}
	})
	return nil
}
