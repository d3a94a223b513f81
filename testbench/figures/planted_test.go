package figures

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/mutate"
	"github.com/stafflink/lmmc/testbench/proofs"
	"github.com/stafflink/lmmc/testbench/scenarios"
)

// plantedSet reads the planted bugs with the files of their modules.
func plantedSet(t *testing.T) (of map[string][]mutate.Planted, files map[string]string) {
	t.Helper()
	o := Planted("")
	bugs := check.Must(mutate.ReadPlanted(filepath.Join("../..", o.Dir)))(t)
	of, files = map[string][]mutate.Planted{}, map[string]string{}
	for _, p := range bugs {
		of[p.Module] = append(of[p.Module], p)
	}
	found := check.Must(filepath.Glob(filepath.Join("../..", o.Root, "*", "*.v")))(t)
	for _, file := range found {
		files[strings.TrimSuffix(filepath.Base(file), ".v")] = file
	}
	return of, files
}

// TestExplained: a change of a module cannot leave an explanation of its mutants behind.
func TestExplained(t *testing.T) {
	o, root := Mutants(""), "../.."
	check.Fatal(t, mutate.CheckExplanations(filepath.Join(root, o.Root), filepath.Join(root, o.Explanations)))
}

// TestPlantedApply: a change of a module cannot make a planted bug vanish unseen. Each is there once, and is Verilog with all others of its module.
func TestPlantedApply(t *testing.T) {
	of, files := plantedSet(t)
	dir := t.TempDir()
	lint := []string{"--lint-only", "-Wno-fatal", "-Wno-MULTITOP", "-I../../rtl"}
	for _, folder := range []string{"common", "phy", "link", "ni", "net"} {
		lint = append(lint, "-I../../rtl/"+folder)
	}
	for module, bugs := range of {
		source, err := os.ReadFile(files[module])
		check.Fatal(t, err)
		for _, p := range bugs {
			if _, err := p.Apply(string(source)); err != nil {
				t.Error(err)
			}
		}
		text, err := mutate.Select(string(source), module, bugs)
		if err != nil {
			t.Error(err)
			continue
		}
		file := filepath.Join(dir, module+".v")
		check.Fatal(t, os.WriteFile(file, []byte(text), 0o666))
		lint = append(lint, file)
	}
	if out, err := exec.Command("verilator", lint...).CombinedOutput(); err != nil {
		t.Errorf("the modules with their bugs: %v\n%s", err, out)
	}
}

// TestPlantedFinders: each bug names checks that there are, and each module has one.
func TestPlantedFinders(t *testing.T) {
	of, files := plantedSet(t)
	known := map[string]bool{}
	for _, p := range proofs.All("") {
		known["proof "+p.Name] = true
	}
	for _, s := range scenarios.All() {
		known["sim "+s.Name] = true
	}
	tests := append(check.Must(filepath.Glob("../../rtl/*/*_test.go"))(t), check.Must(filepath.Glob("../cluster/*_test.go"))(t)...)
	for _, file := range tests {
		text := check.Must(os.ReadFile(file))(t)
		for _, part := range strings.Split(string(text), "\nfunc Test")[1:] {
			name, _, _ := strings.Cut(part, "(")
			folder := path.Join("testbench/figures", filepath.ToSlash(filepath.Dir(file)))
			known["test "+folder+" Test"+name] = true
		}
	}
	kinds := []string{"coincidence", "off by one", "missing reset", "stale", "priority", "wrong stage", "wrong bit", "wrong value", "rare value", "swapped", "forgotten condition"}
	for _, bugs := range of {
		for _, p := range bugs {
			if !slices.Contains(kinds, p.Kind) {
				t.Errorf("%s: kind %q is none of %q", p.FullName(), p.Kind, kinds)
			}
			for _, f := range p.Finders {
				what := f.What
				if f.Kind == "sim" {
					what, _, _ = strings.Cut(what, " ") // without its number of seeds
				}
				if !known[f.Kind+" "+what] {
					t.Errorf("%s: there is no %s", p.FullName(), f)
				}
			}
		}
	}
	for module, file := range files {
		if len(of[module]) == 0 && !slices.Contains(noPlanted, module) && !strings.HasSuffix(file, ".formal.v") {
			t.Errorf("%s: no bug is planted in it", module)
		}
	}
}

// noPlanted are modules that only connect others.
var noPlanted = []string{"link_lanes", "net_direct", "ni_core", "ni_direct", "ni_lines"}
