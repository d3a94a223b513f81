package hostdrv_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// plantedLies are bugs of flowctl: each has an end of a virtual link believe what TestLyingPeer says.
var plantedLies = []struct {
	name, file, old, new string
	finds                string // what TestLyingPeer says then
}{
	{"source-ignored", "virtual_receive.go", "r.Src != f.cfg.Peer", "false", "another source: "},
	{"key-unchecked", "virtual_receive.go", "linkproto.CheckRoute(raw, f.key.Back().At(seq, next)) != nil", "false", "a wrong key: "},
	{"state-unchecked", "virtual_receive.go", "!ok", "false", "a state that there is not: "},
	{"early-taken", "virtual_receive.go", "ahead > 0", "false", "a packet too early: "},
	{"late-taken", "virtual_receive.go", "ahead < 0", "false", "a packet once more: "},
	{"unsent-counts", "virtual_receive.go", "packets > f.tx.top", "false", "of what was not sent: "},
}

// TestLyingPeerFindsPlanted: TestLyingPeer fails with each of them, at the lie that it is for.
func TestLyingPeerFindsPlanted(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles flowctl and the tests once more: run without -short")
	}
	const variable = "LMMC_PLANTED_LIE"
	dir := t.TempDir()
	here := check.Must(filepath.Abs("../flowctl"))(t)
	replace := map[string]string{} // files by those in whose place they are compiled
	put := func(name, text string) {
		replace[filepath.Join(here, name)] = filepath.Join(dir, name)
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	put("planted_lies.go", fmt.Sprintf("package flowctl\n\nimport \"os\"\n\nvar plantedLie = os.Getenv(%q)\n", variable))
	texts := map[string]string{}
	for _, bug := range plantedLies {
		if texts[bug.file] == "" {
			texts[bug.file] = string(check.Must(os.ReadFile(filepath.Join(here, bug.file)))(t))
		}
		if n := strings.Count(texts[bug.file], bug.old); n == 0 {
			t.Fatalf("%s: %s does not hold %q", bug.name, bug.file, bug.old)
		}
		chosen := fmt.Sprintf("(plantedLie == %q && %s || plantedLie != %q && (%s))", bug.name, bug.new, bug.name, bug.old)
		texts[bug.file] = strings.Replace(texts[bug.file], bug.old, chosen, 1)
	}
	for name, text := range texts {
		put(name, text)
	}
	overlay := filepath.Join(dir, "overlay.json")
	check.Fatal(t, os.WriteFile(overlay, check.Must(json.Marshal(map[string]any{"Replace": replace}))(t), 0o644))
	program := filepath.Join(dir, "lies.test")
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run := func(bug string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^TestLyingPeer$", "-test.timeout", "1m")
		cmd.Env = append(os.Environ(), variable+"="+bug)
		return cmd.CombinedOutput()
	}
	if out, err := run(""); err != nil {
		t.Fatalf("without a bug: %v\n%s", err, out)
	}
	for _, bug := range plantedLies {
		out, err := run(bug.name)
		if found := regexp.MustCompile(`(?m)^.*` + regexp.QuoteMeta(bug.finds)).Find(out); err == nil || found == nil {
			t.Errorf("%s: %v, want it found by %q\n%s", bug.name, err, bug.finds, out)
		}
	}
}
