package figures

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/internal/slurmtest"
)

var slurmFigures = []Figure{
	{Name: "slurm_overhead", Doc: "wall-clock time of 200 short simulations through a Slurm array on this machine, compared with the local runner",
		Must: new(1.5), Aim: new(1.1), Better: Lower, Timed: true, Long: true, Measure: slurmOverhead},
}

func slurmOverhead(ctx context.Context) (_ Measurement, err error) {
	lmmc, err := os.Executable()
	if err != nil {
		return Measurement{}, err
	}
	dir, err := os.MkdirTemp("", "slurm-")
	if err != nil {
		return Measurement{}, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // munged looks at it
		return Measurement{}, err
	}
	cluster, err := slurmtest.Start(ctx, dir, 1001)
	if err != nil {
		return Measurement{}, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	simulate := func(seeds int, launcher string) (time.Duration, error) {
		cmd := exec.CommandContext(ctx, lmmc, "sim", "--run", "pair-small", "--seeds", fmt.Sprint(seeds), "--launcher", launcher, "--again", "--store", filepath.Join(dir, "store"))
		cmd.Env = append(os.Environ(), "SLURM_CONF="+cluster.Conf)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("lmmc sim --launcher %s: %w\n%s", launcher, err, out)
		}
		return time.Since(start), err
	}
	if _, err := simulate(1, "local"); err != nil { // compiles it
		return Measurement{}, err
	}
	const seeds = 200
	local, err := simulate(seeds, "local")
	if err != nil {
		return Measurement{}, err
	}
	slurm, err := simulate(seeds, "slurm")
	return Measurement{Value: slurm.Seconds() / local.Seconds(), Note: fmt.Sprintf("%.1f s through Slurm, %.1f s without", slurm.Seconds(), local.Seconds())}, err
}
