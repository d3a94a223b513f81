package mutate

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// code is what puts mutants into designs and judges checks.
//
//go:embed equal.go keep.go mutant.go mutate.go netlist.go rewrite.go tests.go
var code embed.FS

// errSurvives is the failure of a mutant's job: it is not kept, so a mutant that survives is tried in each run.
var errSurvives = errors.New("survives")

// verdict is what is kept of a mutant that does not survive a stage. It follows from the modules and, for checks, from their own sources, but not from
// modules that they do not compile, although all are embedded in their programs.
type verdict struct {
	State state
	By    string
}

// base hashes what all verdicts follow from: this package, the tools, the environment.
func base(ctx context.Context) string {
	ours := try.Get(campaign.HashFS(code))
	simulator := try.Get(verilator.Tools(ctx))
	synthesiser, err := exec.CommandContext(ctx, "yosys", "-V").Output()
	try.Wrap(err, "mutate: yosys -V")
	return campaign.Key("mutant", ours, simulator, string(synthesiser), campaign.Environment("LMMC_", "LMMC_CACHE"))
}

// texts returns the sources of modules as parts of a key.
func (l *library) texts(modules []string) (parts []string) {
	for _, name := range slices.Sorted(slices.Values(modules)) {
		file, ours := l.files[name]
		if !ours {
			continue // a test's own: a part of its code
		}
		text := try.Get(os.ReadFile(filepath.Join(l.root, file)))
		parts = append(parts, name, string(text))
	}
	return parts
}

// checkKey hashes what comes out when checks meet a mutant.
func (r *running) checkKey(m Mutant, checks []*check) string {
	parts := []string{r.base, m.Name()}
	modules := []string{m.Module}
	for _, c := range checks {
		parts = append(parts, c.name, c.code, fmt.Sprintf("%q", c.command[1:]))
		for _, b := range c.builds {
			modules = append(modules, b.Modules...)
		}
	}
	slices.Sort(modules)
	return campaign.Key(append(parts, r.texts(slices.Compact(modules))...)...)
}

// proofKey hashes what comes out when a mutant is compared with its module.
func (r *running) proofKey(m Mutant) string {
	d := r.design(m.Module)
	modules, _ := modulesOf(d)
	return campaign.Key(append([]string{r.base, ProofStage, m.Name(), fmt.Sprint(d.Params)}, r.texts(modules)...)...)
}

// codeOf hashes what a package's tests are made of, in this Go module: the folders of all packages that they import, with their testdata and what they
// embed, but for the library's modules.
func (l *library) codeOf(ctx context.Context, pkg string) string {
	root := try.Get(filepath.Abs(l.root))
	out, err := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-json=Dir,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,Module,Standard", pkg).Output()
	try.Wrap(err, "mutate: go list %s", pkg)
	var files []string
	add := func(file string) {
		if !strings.HasPrefix(file, root+string(filepath.Separator)) || filepath.Ext(file) != ".v" {
			files = append(files, file)
		}
	}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct {
			Dir                                         string
			EmbedFiles, TestEmbedFiles, XTestEmbedFiles []string
			Module                                      *struct{}
			Standard                                    bool
		}
		try.Wrap(d.Decode(&p), "mutate: go list %s", pkg)
		if p.Standard || p.Module == nil {
			continue
		}
		for _, name := range slices.Concat(p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles) {
			add(filepath.Join(p.Dir, name))
		}
		found := try.Get(os.ReadDir(p.Dir))
		for _, f := range found {
			if f.Type().IsRegular() {
				add(filepath.Join(p.Dir, f.Name()))
			}
		}
		try.OK(filepath.WalkDir(filepath.Join(p.Dir, "testdata"), func(name string, f fs.DirEntry, err error) error {
			if err == nil && f.Type().IsRegular() {
				add(name)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}))
	}
	version, err := exec.CommandContext(ctx, "go", "version").Output()
	try.Wrap(err, "mutate: go version")
	here := try.Get(os.Getwd())
	slices.Sort(files)
	parts := []string{string(version)}
	for _, file := range slices.Compact(files) {
		text := try.Get(os.ReadFile(file))
		parts = append(parts, strings.TrimPrefix(file, here), string(text))
	}
	return campaign.Key(parts...)
}
