package testbench_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

var programs string // folder, removed at the end

// planted is the compiled program of the tests that fail on purpose.
var planted = sync.OnceValues(func() (string, error) {
	var err error
	if programs, err = os.MkdirTemp("", "planted"); err != nil {
		return "", err
	}
	program := filepath.Join(programs, "planted.test")
	out, err := exec.Command("go", "test", "-c", "-o", program, "./testdata/planted").CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programs != "" {
		os.RemoveAll(programs)
	}
	os.Exit(code)
}

// runPlanted runs tests of testdata/planted, with waves in a new folder, and returns what they print and the folder.
func runPlanted(t *testing.T, pattern string, more ...string) (output, waves string) {
	t.Helper()
	program, err := planted()
	if err != nil {
		t.Fatalf("%v\n%s", err, program)
	}
	waves = t.TempDir()
	cmd := exec.Command(program, append([]string{"-test.run", pattern, "-test.v"}, more...)...)
	cmd.Dir = "testdata/planted"
	cmd.Env = append(os.Environ(), "LMMC_WAVES="+waves, "LMMC_SEED=")
	out, err := cmd.CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return string(out), waves
}

func find(t *testing.T, output, pattern string) string {
	t.Helper()
	m := regexp.MustCompile(pattern).FindStringSubmatch(output)
	if m == nil {
		t.Fatalf("no match for %s in:\n%s", pattern, output)
	}
	return m[len(m)-1]
}

// stretch reads the first and the last time from the header of an FST file.
func stretch(t *testing.T, path string) (from, to uint64) {
	t.Helper()
	data := check.Must(os.ReadFile(path))(t)
	if len(data) < 25 || data[0] != 0 {
		t.Fatalf("%s is no FST file", path)
	}
	return binary.BigEndian.Uint64(data[9:]), binary.BigEndian.Uint64(data[17:])
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	return check.Must(filepath.Glob(filepath.Join(dir, "*")))(t)
}

func TestAPlantedBugLeavesSeedCommandAndWave(t *testing.T) {
	output, waves := runPlanted(t, "TestPlantedBug")
	failure := find(t, output, `cycle \d+: coroutine receive: items: item \d+: got 0x\w+, want 0x\w+`)
	seed := find(t, output, `random_traffic_\(16_bit\), seed (\d+)`)
	command := find(t, output, `repeat: (.*)`)
	if want := `go test ./testbench/testdata/planted -run '^TestPlantedBug$/^random_traffic_\(16_bit\)$' -seed ` +
		seed + ` -wave`; command != want {
		t.Errorf("command %s\nwant    %s", command, want)
	}
	wave := find(t, output, `wave: +(.*)`)
	if all := files(t, waves); len(all) != 1 || all[0] != wave {
		t.Errorf("files %v, want %s alone: the test that passed leaves none", all, wave)
	}
	from, to := stretch(t, wave)
	cycle := find(t, failure, `cycle (\d+)`)
	if last := check.Must(strconv.ParseUint(cycle, 10, 64))(t) * 10; to != last || from == 0 || to-from < 10*1000 || to-from > 10*3000 {
		t.Errorf("the wave shows %d to %d, the failure is at %d", from, to, last)
	}

	t.Run("the command repeats it", func(t *testing.T) {
		if testing.Short() {
			t.Skip("runs the go command")
		}
		again := exec.Command("sh", "-c", command)
		again.Dir = ".."
		again.Env = append(os.Environ(), "LMMC_WAVES="+t.TempDir())
		out, err := again.CombinedOutput()
		if err == nil || !strings.Contains(string(out), failure) {
			t.Errorf("%v: want %q in:\n%s", err, failure, out)
		}
		if a, b := stretch(t, find(t, string(out), `wave: +(.*)`)); a != from || b != to {
			t.Errorf("the wave shows %d to %d, at first it was %d to %d", a, b, from, to)
		}
	})
}

func TestEveryWayToFailLeavesAWave(t *testing.T) {
	for name, want := range map[string][]string{
		"TestFatalInACoroutine": {"enough", "coroutine impatient ended the test"},
		"TestPanicInACoroutine": {"coroutine careless: panic: assignment to entry in nil map", `planted_test\.go:\d+ planted`},
		"TestPanicInTheTest":    {"panic: oh no"},
		"TestTimeout":           {`patient waits for the end of a frame of m_data at planted_test\.go:\d+`},
	} {
		t.Run(name, func(t *testing.T) {
			output, waves := runPlanted(t, "^"+name+"$")
			if strings.Contains(output, "the test went on") {
				t.Errorf("the test went on after the failure:\n%s", output)
			}
			for _, w := range append(want, `seed \d+`, `repeat: go test \./testbench/testdata/planted -run '\^`+name) {
				find(t, output, w)
			}
			wave := find(t, output, `wave: +(.*)`)
			check.Equal(t, "folder of the wave", filepath.Dir(wave), waves)
			if from, to := stretch(t, wave); from > 10 || to < 300 {
				t.Errorf("the wave shows %d to %d", from, to)
			}
		})
	}
}

func TestTheWatchdogSaysWhatHangs(t *testing.T) {
	for name, want := range map[string][]string{
		"TestBlockedOnAChannel": {`no clock edge for 500ms, after cycle 30 .* coroutine blocked does not return control`,
			`\[chan receive\]`, `planted\.waitForever`, `planted_test\.go:\d+`},
		"TestEvaluationWithoutEnd": {`evaluation of model endless does not return`, `--no-timing`, `planted_test\.go:\d+`},
		"TestComputesWithoutEnd":   {`coroutine endless does not return control: it computes without a wait`, `planted_test\.go:\d+`},
		"TestBlockedAtClose":       {`not closed after 500ms: what coroutine stubborn has deferred does not return`, `planted\.waitForever`},
		"TestBlockedObserver":      {`after cycle 0 .* an observer does not return`, `planted\.waitForever`},
	} {
		output, _ := runPlanted(t, "^"+name+"$", "-test.timeout=2m")
		if strings.Contains(output, "the test went on") || strings.Contains(output, "test timed out") || strings.Contains(output, "patient") {
			t.Errorf("%s: not the failure that was wanted:\n%s", name, output)
		}
		for _, w := range append(want, "panic: testbench: bench "+name, `repeat: go test \./testbench/testdata/planted -run '\^`+name) {
			find(t, output, w)
		}
	}
}

func TestFlags(t *testing.T) {
	const passing = "TestPlantedBug/without"
	output, waves := runPlanted(t, passing, "-wave", "-seed", "0x10")
	find(t, output, "seed 16")
	if len(files(t, waves)) != 1 {
		t.Errorf("-wave left %v", files(t, waves))
	}
	if output, waves = runPlanted(t, passing); len(files(t, waves)) != 0 || strings.Contains(output, "repeat") {
		t.Errorf("a test that passed left %v and printed\n%s", files(t, waves), output)
	}
	first, _ := runPlanted(t, passing, "-wave", "-seed", "random")
	second, _ := runPlanted(t, passing, "-wave", "-seed", "random")
	if a, b := find(t, first, `seed (\d+)`), find(t, second, `seed (\d+)`); a == b {
		t.Errorf("-seed random gave %s twice", a)
	}
	if output, _ = runPlanted(t, passing, "-seed", "x"); !strings.Contains(output, `want a number or "random"`) {
		t.Errorf("-seed x: %s", output)
	}
}
