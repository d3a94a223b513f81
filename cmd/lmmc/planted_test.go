package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
)

// TestPlantedBugs plants bugs in a copy of the RTL: lmmc must catch each, leave a wave, and name a command that shows the same failure
// again.
func TestPlantedBugs(t *testing.T) {
	const lmmc = "reallmmc"
	for _, bug := range []struct {
		name, file, good, bad, command, says string
	}{
		{"a write may cross the page end by one byte", "ni/ni_bounds.v",
			"ends[PW+1:PW] == 2'b00 ||", "ends[PW+1:PW] == 2'b00 || ends == PAGE_BYTES[PW+1:0] ||", "sim --run ^pair$ --seeds 1", "of the receive buffer are wrong"},
		{"damaged frames are taken for good ones", "link/link_rx.v",
			"end_crc_ok    <= crc_ok;", "end_crc_ok    <= crc_ok || length[0];", "sim --run ^pair-faults$ --seeds 1", "wrong"},
		{"a peer that starts again is not noticed while the link is up", "link/link_state.v",
			"up && (another || give_up", "up && (give_up", "soak --links direct --faults restart", "wedged"},
		{"a link state word that is lost is never said again", "link/link_mux.v",
			"latest || (old && (!up || said_kind != `LP_KIND_ACK));", "1'b0;", "soak --links direct --faults flip --rate 1e-3", "wedged"},
		{"a NOTIFY covers a byte too many", "ni/ni_link_in.v",
			"of_last  <= last;", "of_last  <= last + 1'b1;", "sim --run ^golden$ --seeds 1 --wave", "NOTIFY"},
		{"RESUME without a trap is granted", "ni/ni_reply.v",
			"traps ? meant", "traps && !resumes ? meant", "sim --run ^golden$ --seeds 1 --wave", "lane"},
		{"PAGE of the first frame that does not exist traps", "ni/ni_trap.v",
			" data[FW-1:0]} < FRAMES[FW:0]", " data[FW-1:0]} <= FRAMES[FW:0]", "sim --run ^golden$ --seeds 1 --wave", "lane"},
	} {
		t.Run(bug.name, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			modules := filepath.Join(work, "my rtl")
			check.Fatal(t, os.CopyFS(modules, rtl.FS))
			file := filepath.Join(modules, bug.file)
			text := check.Must(os.ReadFile(file))(t)
			if strings.Count(string(text), bug.good) != 1 {
				t.Fatalf("%s no longer holds %q once: choose another place for the bug", bug.file, bug.good)
			}
			check.Fatal(t, os.WriteFile(file, []byte(strings.Replace(string(text), bug.good, bug.bad, 1)), 0o666))

			args := append(strings.Fields(bug.command), "--rtl", modules, "--wave-dir", filepath.Join(work, "waves"))
			cmd := exec.Command(lmmc, args...)
			cmd.Dir = work
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 1 {
				t.Fatalf("exit code %d (%v), want 1\n%s", cmd.ProcessState.ExitCode(), err, out)
			}
			found := regexp.MustCompile(`(?s)FAIL [^\n]+, seed \d+[^\n]*\n  ([^\n]+)\n.*?wave:  ([^\n]+)\n  again: go run ./cmd/lmmc ([^\n]+)\n`).FindSubmatch(out)
			if found == nil {
				t.Fatalf("no failure with wave and command in\n%s", out)
			}
			message, wave, again := string(found[1]), string(found[2]), string(found[3])
			check.Contains(t, "the failure", message, bug.says)
			if info, err := os.Stat(wave); err != nil || info.Size() < 1000 {
				t.Errorf("wave %s: %v, %v", wave, info, err)
			}

			repeat := exec.Command("sh", "-c", lmmc+" "+again)
			repeat.Dir = work
			out, err = repeat.CombinedOutput()
			if err == nil || !strings.Contains(string(out), message) {
				t.Errorf("%s\ndoes not fail with %q: %v\n%s", again, message, err, out)
			}
		})
	}
}
