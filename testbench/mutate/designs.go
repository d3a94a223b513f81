package mutate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/verilator"
)

// built says what a test compiles.
type built struct {
	Top     string
	Params  map[string]string
	Modules []string // all that Top consists of, itself included
}

// appendModules adds what a design consists of to a file, as a line.
func appendModules(d verilator.Rewritable, file string) {
	modules, _ := modulesOf(d)
	line := try.Get(json.Marshal(built{Top: d.Top, Params: d.Params, Modules: modules}))
	f := try.Get(os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666))
	defer try.Finally(f.Close)
	try.Get(f.Write(append(line, '\n')))
}

var (
	lineComment = regexp.MustCompile(`//.*`)
	word        = regexp.MustCompile(`\b[A-Za-z_]\w*\b`)
)

// modulesOf finds the modules below a design's top by their names in its sources, and their files. A name that stands for something
// else there costs a run in vain and no more.
func modulesOf(d verilator.Rewritable) (modules []string, files map[string]string) {
	files = map[string]string{}
	for _, source := range d.Sources {
		files[moduleOf(source)] = source
	}
	for _, dir := range d.IncludeDirs {
		found, _ := filepath.Glob(filepath.Join(dir, "*.v"))
		for _, source := range found {
			if _, ok := files[moduleOf(source)]; !ok {
				files[moduleOf(source)] = source
			}
		}
	}
	modules = []string{d.Top}
	for i := 0; i < len(modules); i++ {
		text, err := os.ReadFile(files[modules[i]])
		if err != nil {
			continue
		}
		for _, name := range word.FindAllString(lineComment.ReplaceAllString(string(text), ""), -1) {
			if _, ok := files[name]; ok && !slices.Contains(modules, name) {
				modules = append(modules, name)
			}
		}
	}
	return modules, files
}

func moduleOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".v") }
