package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

func TestSlurm(t *testing.T) {
	dir := fake(t, nil)
	o := cluster(t, 200)
	found, cached, said, err := onCluster(t, t.Context(), o, 200)
	if err != nil || cached != 0 || len(said) > 0 {
		t.Fatalf("%v, %d kept, said %q", err, cached, said)
	}
	checkSquares(t, found)
	args, err := os.ReadFile(filepath.Join(dir, submitted))
	if err != nil || !strings.Contains(string(args), "--array=0-19\n") { // four for each of 5 CPUs
		t.Errorf("sbatch was called with %s, %v", args, err)
	}
	if left, _ := filepath.Glob(filepath.Join(o.Slurm.Share, "slurm-*")); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	found, cached, _, err = onCluster(t, t.Context(), o, 200)
	if err != nil || cached != 199 {
		t.Errorf("the second time: %v, %d kept", err, cached)
	}
	checkSquares(t, found)
}

func TestSlurmHeedsLimits(t *testing.T) {
	for _, test := range []struct {
		config string
		tasks  int // asked for
		last   string
	}{
		{strings.Replace(config, "1001", "7", 1), 0, "--array=0-6\n"},
		{strings.Replace(config, "10000", "5", 1), 0, "--array=0-4\n"},
		{config, 3, "--array=0-2\n"},
		{config, 1000, "--array=0-29\n"},
	} {
		dir := fake(t, map[string]string{oddConfig: test.config})
		o := cluster(t, 30)
		o.Slurm.Tasks = test.tasks
		found, _, _, err := onCluster(t, t.Context(), o, 30)
		check.Fatal(t, err)
		checkSquares(t, found)
		if args, _ := os.ReadFile(filepath.Join(dir, submitted)); !strings.Contains(string(args), test.last) {
			t.Errorf("%s: sbatch was called with %s, want %s", test.config, args, test.last)
		}
	}
}

func TestSlurmRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"the queue":  {map[string]string{refuse: "sbatch: error: Batch job submission failed: Invalid partition name specified"}, []string{"sbatch refuses", "Invalid partition name", "SBATCH_PARTITION", "sinfo"}},
		"no arrays":  {map[string]string{oddConfig: "MaxArraySize = 0\n"}, []string{"allows no arrays"}},
		"no answers": {map[string]string{unreached: "slurm_load_jobs error: Unable to contact slurm controller", fate: "0 "}, []string{"squeue has not answered", "Unable to contact", "scancel 42", "lmmc sim --launcher slurm"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, test.files)
			_, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30)
			check.Fails(t, name, err, ErrCluster, test.want...)
		})
	}
	t.Run("not installed", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30)
		check.Fails(t, "a campaign", err, ErrLauncher, "install slurm-client")
	})
}

// What a cluster loses is reported with what became of it, and the same campaign goes on from there.
func TestSlurmLosesTasks(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		kept  int // results that are there in spite of it
		want  []string
	}{
		"node":         {map[string]string{fate: "2 NODE_FAIL|None|n2"}, 25, []string{"5 of 30 jobs have no result", "task 42_2, 5 jobs: NODE_FAIL, its node failed; node n2"}},
		"time limit":   {map[string]string{fate: "2 TIMEOUT|TimeLimit|n2"}, 25, []string{"TIMEOUT, killed by its time limit", "SBATCH_TIMELIMIT"}},
		"cancelled":    {map[string]string{fate: "2 CANCELLED|None|"}, 25, []string{"42_2, 5 jobs: CANCELLED"}},
		"half written": {map[string]string{truncate: "yes"}, -1, []string{"COMPLETED, ended, but its results are not to be seen", "damaged or half written"}},
		"forgotten":    {map[string]string{fate: "2 gone"}, 25, []string{"42_2, 5 jobs: gone, not known to the queue any more"}},
		"other tools":  {map[string]string{differs: "yes"}, 0, []string{"30 of 30 jobs have no result", "FAILED", "its programs, tools or environment differ"}},
	} {
		t.Run(name, func(t *testing.T) {
			fake(t, test.files)
			o := cluster(t, 30)
			o.Slurm.Tasks = 5
			_, _, _, err := onCluster(t, t.Context(), o, 30)
			check.Fails(t, name, err, ErrCluster, append(test.want, "continue with: lmmc sim --launcher slurm")...)
			fake(t, nil)
			found, cached, _, err := onCluster(t, t.Context(), o, 30)
			if err != nil || test.kept >= 0 && cached != test.kept {
				t.Errorf("continued: %v, %d kept before, want %d", err, cached, test.kept)
			}
			checkSquares(t, found)
		})
	}
}

func TestSlurmIsInterrupted(t *testing.T) {
	dir := fake(t, map[string]string{fate: "3 "}) // hangs
	o := cluster(t, 30)
	o.Slurm.Tasks = 5
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		await(filepath.Join(dir, "hung"))
		time.Sleep(2 * scanEvery)
		cancel()
	}()
	_, _, said, err := onCluster(t, ctx, o, 30)
	check.Fails(t, "the campaign", err, context.Canceled, "of 30 jobs are done and kept")
	if text, err := os.ReadFile(filepath.Join(dir, cancelled)); err != nil || string(text) != "42" {
		t.Errorf("scancel was not called: %q, %v", text, err)
	}
	if len(said) != 1 || !strings.Contains(said[0], "array 42 is cancelled; this continues: lmmc sim --launcher slurm") {
		t.Errorf("said %q", said)
	}
	fake(t, nil)
	found, cached, _, err := onCluster(t, t.Context(), o, 30)
	if err != nil || cached != 18 { // tasks 0 to 2 but for job 17, and one job of task 3
		t.Errorf("continued: %v, %d kept before", err, cached)
	}
	checkSquares(t, found)
}

func TestSlurmWaits(t *testing.T) {
	fake(t, map[string]string{waits: "PartitionDown"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := cluster(t, 30)
	o.Warn = func(string) { cancel() }
	_, _, said, err := onCluster(t, ctx, o, 30)
	if !errors.Is(err, context.Canceled) || len(said) != 2 || !strings.Contains(said[0], "array 42 waits: PartitionDown") {
		t.Errorf("%v, said %q", err, said)
	}
}

// TestSlurmHiccup: the folder of results is not to be seen for a moment, as a shared file system's while its server starts anew.
func TestSlurmHiccup(t *testing.T) {
	dir := fake(t, map[string]string{waits: "Resources"})
	o := cluster(t, 30)
	warned := make(chan bool, 2)
	o.Warn = func(string) { warned <- true }
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	moved := check.Go(func() error {
		defer cancel()
		await(filepath.Join(dir, submitted))
		away := filepath.Join(dir, "away")
		err := os.Rename(o.Slurm.Share, away)
		select {
		case <-warned:
		case <-time.After(20 * time.Second):
		}
		return errors.Join(err, os.Rename(away, o.Slurm.Share))
	})
	_, _, said, err := onCluster(t, ctx, o, 30)
	check.Fails(t, "the campaign", err, context.Canceled)
	check.Fatal(t, <-moved)
	check.Contains(t, "said", strings.Join(said, "\n"), "no such file or directory; looking again", "array 42 is cancelled")
	check.Equal(t, "cancelled", string(check.Must(os.ReadFile(filepath.Join(dir, cancelled)))(t)), "42")
}

// TestSlurmLeavesFolder: all jobs are done, and the folder of the array cannot be removed, as with files on NFS that a node has open.
func TestSlurmLeavesFolder(t *testing.T) {
	fake(t, nil)
	o := cluster(t, 30)
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for i := range 4 {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				folders, _ := filepath.Glob(filepath.Join(o.Slurm.Share, "slurm-*"))
				for _, folder := range folders {
					os.WriteFile(filepath.Join(folder, fmt.Sprintf(".nfs%d-%d", i, n%1000)), nil, 0o666)
				}
			}
		})
	}
	found, _, _, err := onCluster(t, t.Context(), o, 30)
	cancel()
	work.Wait()
	check.Fatal(t, err)
	checkSquares(t, found)
}

func TestSlurmMissesATool(t *testing.T) {
	fake(t, nil)
	t.Setenv(toolVariable, "yes")
	_, _, _, err := onCluster(t, t.Context(), cluster(t, 30), 30)
	check.Fails(t, "the campaign", err, errTool, "cannot compile")
}
