package proofs_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/proofs"
	"github.com/stafflink/lmmc/testbench/prove"
)

func TestProofs(t *testing.T) {
	for _, p := range proofs.All("../../rtl") {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			prove.Run(t, p)
		})
	}
}

func TestExtractIsWhatIsProven(t *testing.T) {
	all := check.Must(proofs.Extract(t.TempDir()))(t)
	for _, p := range all {
		for _, f := range slices.Concat(p.Files, p.Parts) {
			if _, err := os.Stat(filepath.Join(p.Dir, f)); err != nil {
				t.Errorf("%s: %v", p.Name, err)
			}
		}
	}
}

func TestChoose(t *testing.T) {
	all := proofs.All("../../rtl")
	for names, want := range map[string]string{
		"": fmt.Sprint(len(all)), "arbiter_rr": "arbiter_rr-2 arbiter_rr-3 arbiter_rr-4", "ni_trap arbiter_rr-3": "arbiter_rr-3 ni_trap", "arbiter": "",
	} {
		chosen, err := proofs.Choose(all, strings.Fields(names)...)
		var have []string
		for _, p := range chosen {
			have = append(have, p.Name)
		}
		if names == "" {
			have = []string{fmt.Sprint(len(chosen))}
		}
		if got := strings.Join(have, " "); got != want || (err != nil) != (want == "") {
			t.Errorf("%q chooses %q, %v; want %q", names, got, err, want)
		}
	}
}

// TestListed holds names, files and the table of doc/verification.md against the list, and that no properties lie about unproven.
func TestListed(t *testing.T) {
	raw := check.Must(os.ReadFile("../../doc/verification.md"))(t)
	_, table, _ := strings.Cut(string(raw), "\n| proof |")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := strings.Split(table, "\n")[2:]
	var names, files []string
	for i, p := range proofs.All("../../rtl") {
		if slices.Contains(names, p.Name) {
			t.Errorf("two proofs are called %s", p.Name)
		}
		names = append(names, p.Name)
		files = slices.Concat(files, p.Files, p.Parts)
		method, depth := p.Method, fmt.Sprint(p.Depth)
		if method == "" {
			method = prove.Induction
		}
		if p.Depth == 0 {
			depth = "-"
		}
		want := fmt.Sprintf("| `%s` | %s | %s | %s | ", p.Name, p.Properties, method, depth)
		if i >= len(rows) || !strings.HasPrefix(rows[i], want) {
			t.Errorf("doc/verification.md: the row of %s must begin\n%s", p.Name, want)
		}
	}
	if len(rows) > len(names) {
		t.Errorf("doc/verification.md lists %d proofs more than there are", len(rows)-len(names))
	}

	formal, err := filepath.Glob("../../rtl/*/*.formal.v")
	if err != nil || len(formal) == 0 {
		t.Fatalf("no properties found: %v", err)
	}
	var text []byte // of all of them, for what they include
	for _, name := range formal {
		text = append(text, check.Must(os.ReadFile(name))(t)...)
	}
	for _, name := range formal {
		name = check.Must(filepath.Rel("../../rtl", name))(t)
		if module := strings.TrimSuffix(name, ".formal.v") + ".v"; !slices.Contains(files, filepath.ToSlash(name)) && !slices.Contains(files, filepath.ToSlash(module)) &&
			!bytes.Contains(text, fmt.Appendf(nil, "`include %q", filepath.Base(name))) {
			t.Errorf("rtl/%s is in no proof", name)
		}
	}
}

// mutant is a change of a module, and a proof that must refute it.
type mutant struct{ proof, file, old, new string }

// mutants reads testdata/mutants.txt: lines PROOF FILE, each with its changes "OLD" => "NEW" below it.
func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	var m mutant
	for i, line := range strings.Split(string(check.Must(os.ReadFile("testdata/mutants.txt"))(t)), "\n") {
		if n, _ := fmt.Sscanf(line, "  %q => %q", &m.old, &m.new); n == 2 {
			all = append(all, m)
		} else if n, _ := fmt.Sscanf(line, "%s %s", &m.proof, &m.file); n != 2 && line != "" {
			t.Fatalf("testdata/mutants.txt:%d: %q, want PROOF FILE or \"OLD\" => \"NEW\"", i+1, line)
		}
	}
	return all
}

// A change of the RTL must not leave a mutant behind that no longer applies, also one that the seed does not try.
func TestMutantsApply(t *testing.T) {
	for _, m := range mutants(t) {
		if text := check.Must(fs.ReadFile(rtl.FS, m.file))(t); !bytes.Contains(text, []byte(m.old)) || m.old == m.new {
			t.Errorf("rtl/%s does not hold %q, or is not changed by %q", m.file, m.old, m.new)
		}
	}
}

var everyMutant = flag.Bool("all", false, "try all mutants of the modules, not one in eight")

// Each change of a module must be refuted by a proof that it is part of. One in eight is tried, others with each change of the RTL, unless -seed says
// which; all of them take an hour and more.
func TestProofsKillMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes: run without -short")
	}
	const sample = 8
	seed := testbench.SampleSeed(t, rtl.Hash()) % sample
	t.Logf("the same again: go test ./testbench/proofs -run '^TestProofsKillMutants$' -seed %d", seed)
	for i, m := range mutants(t) {
		if !*everyMutant && uint64(i)%sample != seed {
			continue
		}
		t.Run(m.proof+","+m.old, func(t *testing.T) {
			t.Parallel()
			tree := t.TempDir()
			check.Fatal(t, os.CopyFS(tree, rtl.FS))
			file := filepath.Join(tree, m.file)
			text := check.Must(os.ReadFile(file))(t)
			check.Fatal(t, os.WriteFile(file, bytes.Replace(text, []byte(m.old), []byte(m.new), 1), 0o644))
			chosen := check.Must(proofs.Choose(proofs.All(tree), m.proof))(t)
			t.Logf("%q instead of %q", m.new, m.old)
			prove.Refute(t, chosen[0])
		})
	}
}
