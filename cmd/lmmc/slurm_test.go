package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/slurmtest"
	"github.com/stafflink/lmmc/testbench/suite"
)

// startSlurm starts a real cluster of one node, in a folder, and builds lmmc there.
func startSlurm(t *testing.T) (cluster *slurmtest.Cluster, dir, lmmc string) {
	if testing.Short() {
		t.Skip("takes a minute: run without -short")
	}
	dir = t.TempDir()
	for d := dir; d != os.TempDir(); d = filepath.Dir(d) { // munged looks at them
		check.Fatal(t, os.Chmod(d, 0o755))
	}
	cluster, err := slurmtest.Start(t.Context(), dir, 50)
	if errors.Is(err, slurmtest.ErrMachine) {
		t.Skip(err)
	}
	check.Fatal(t, err)
	t.Cleanup(func() { check.Error(t, cluster.Stop()) })
	lmmc = filepath.Join(dir, "lmmc")
	if out, err := exec.Command("go", "build", "-o", lmmc, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return cluster, dir, lmmc
}

// A real cluster of one node: it dies in the middle of 200 simulations and comes back, the array that continues is cancelled, and a third one
// does the rest.
func TestSlurm(t *testing.T) {
	cluster, dir, lmmc := startSlurm(t)
	store := filepath.Join(dir, "store")
	kept := func() int {
		files := check.Must(filepath.Glob(filepath.Join(store, strings.Repeat("[0-9a-f]", 32))))(t)
		return len(files)
	}
	await := func(what string, is func() bool) {
		t.Helper()
		for range 6000 {
			if is() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%s does not come", what)
	}
	var document suite.SimDocument
	// sim runs the simulations, with something that happens meanwhile. It returns what they said and the exit code.
	sim := func(meanwhile func(*os.Process), args ...string) (string, int) {
		t.Helper()
		cmd := exec.Command(lmmc, append([]string{"sim", "--run", "pair-small", "--seeds", "200", "--json", "--store", store}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "SLURM_CONF="+cluster.Conf)
		var out, said strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &said
		check.Fatal(t, cmd.Start())
		meanwhile(cmd.Process)
		cmd.Wait() // the exit code tells
		document = suite.SimDocument{}
		if err := json.Unmarshal([]byte(out.String()), &document); err != nil {
			t.Errorf("%v:\n%s\n%s", err, out.String(), said.String())
		}
		t.Logf("%d passed, %d cached, %d failed in %.1f s: %s", document.Passed, document.Cached, document.Failed, document.Seconds, said.String())
		return said.String(), cmd.ProcessState.ExitCode()
	}

	said, code := sim(func(*os.Process) {
		await("a tenth of the results", func() bool { return kept() >= 20 })
		check.Fatal(t, cluster.KillNode())
		check.Fatal(t, cluster.StartNode(t.Context()))
	}, "--launcher", "slurm")
	if code != exitFailed || !strings.Contains(said, "its node failed") || !strings.Contains(said, "continue with: go run ./cmd/lmmc sim --run=pair-small --seeds=200") {
		t.Errorf("exit code %d, %s", code, said)
	}
	first := kept()
	if document.Passed != first || first < 20 || first >= 200 {
		t.Errorf("%d passed, %d kept", document.Passed, first)
	}

	said, code = sim(func(p *os.Process) {
		await("a result more", func() bool { return kept() > first })
		check.Fatal(t, p.Signal(os.Interrupt))
	}, "--launcher", "slurm", "--tasks", "50")
	if code != exitInterrupted || document.Cached != first || !strings.Contains(said, "is cancelled; this continues: go run ./cmd/lmmc sim") || !strings.Contains(said, "of 200 jobs are done and kept") {
		t.Errorf("exit code %d, %d cached, %s", code, document.Cached, said)
	}
	await("an empty queue", func() bool {
		cmd := exec.Command("squeue", "--noheader")
		cmd.Env = append(os.Environ(), "SLURM_CONF="+cluster.Conf)
		out, err := cmd.CombinedOutput()
		return err == nil && len(out) == 0
	})

	second := kept()
	said, code = sim(func(*os.Process) {}, "--launcher", "slurm")
	if code != exitOK || said != "" || document.Passed != 200 || document.Cached != second || kept() != 200 {
		t.Errorf("exit code %d, %d passed, %d cached of %d, %s", code, document.Passed, document.Cached, second, said)
	}
	// What a cluster ran counts on this machine too.
	if _, code = sim(func(*os.Process) {}); code != exitOK || document.Cached != 200 {
		t.Errorf("exit code %d, %d cached", code, document.Cached)
	}
	if left, _ := filepath.Glob(filepath.Join(store, "slurm-*", "program")); len(left) != 2 { // of the two that were cut short
		t.Errorf("left %v", left)
	}
}

// Parts of a network, started by srun, do what one process does.
func TestSlurmParts(t *testing.T) {
	cluster, dir, lmmc := startSlurm(t)
	topology := filepath.Join(dir, "star.toml")
	check.Fatal(t, os.WriteFile(topology, []byte("topology = \"star\"\nsize = [4]\nlatency = 20\n"), 0o644))
	network := func(args ...string) (string, error) {
		cmd := exec.Command(lmmc, append([]string{"net", "run", topology, "--rung", "model", "--packets", "20"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "SLURM_CONF="+cluster.Conf)
		var said strings.Builder
		cmd.Stderr = &said
		out, err := cmd.Output()
		result, _, _ := strings.Cut(string(out), "speed ")
		return result + said.String(), err
	}
	whole, err := network()
	check.Fatal(t, err)
	split, err := network("--parts", "2", "--launcher", "slurm")
	check.Fatal(t, err)
	check.Equal(t, "what a network of two parts does", split, whole)
	cluster.Conf += ".not"
	said, err := network("--parts", "2", "--launcher", "slurm")
	if err == nil {
		t.Error("parts run on no cluster")
	}
	check.Contains(t, "what is said", said, "srun --ntasks=2 has ended", "runs on this machine")
}
