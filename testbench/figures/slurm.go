package figures

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/internal/slurmtest"
	"github.com/stafflink/lmmc/internal/try"
)

var slurmFigures = []Figure{
	{Name: "slurm_overhead", Doc: "wall-clock time of 200 short simulations through a Slurm array on this machine, compared with the local runner",
		Must: new(1.5), Aim: new(1.1), Better: Lower, Timed: true, Long: true, Measure: steps(slurmOverhead)},
}

func slurmOverhead(ctx context.Context) Measurement {
	lmmc := try.Get(os.Executable())
	dir := try.Get(os.MkdirTemp("", "slurm-"))
	defer os.RemoveAll(dir)
	try.OK(os.Chmod(dir, 0o755)) // munged looks at it
	cluster := try.Get(slurmtest.Start(ctx, dir, 1001))
	defer try.Finally(cluster.Stop)
	simulate := func(seeds int, launcher string) time.Duration {
		cmd := exec.CommandContext(ctx, lmmc, "sim", "--run", "pair-small", "--seeds", fmt.Sprint(seeds), "--launcher", launcher, "--again", "--store", filepath.Join(dir, "store"))
		cmd.Env = append(os.Environ(), "SLURM_CONF="+cluster.Conf)
		start := time.Now()
		out, err := cmd.CombinedOutput()
		if err != nil {
			try.Failf("lmmc sim --launcher %s: %w\n%s", launcher, err, out)
		}
		return time.Since(start)
	}
	simulate(1, "local") // compiles it
	const seeds = 200
	local, slurm := simulate(seeds, "local"), simulate(seeds, "slurm")
	return Measurement{Value: slurm.Seconds() / local.Seconds(), Note: fmt.Sprintf("%.1f s through Slurm, %.1f s without", slurm.Seconds(), local.Seconds())}
}
