package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

const (
	root   = "../.."
	module = "github.com/stafflink/lmmc"
)

// A layer is a part of the house: its folders in their order, and the layers that it stands on.
type layer struct {
	name    string
	on      []string
	folders []string // with what is below them, unless that is listed itself
}

// layers go from the ground up; doc/architecture.md draws the picture. A package may import its own folder, those listed before it in its layer,
// and all of the layers that its layer stands on.
var layers = []layer{
	{name: "helpers", folders: []string{"internal/nearest", "internal/try"}},
	{name: "protocol", folders: []string{"linkproto", "flowctl"}},
	{name: "hardware", on: []string{"protocol"}, folders: []string{"rtl"}},
	{name: "driver", on: []string{"protocol", "helpers"}, folders: []string{"hostdrv"}},
	// Knows nothing of this network interface and serves any Verilog.
	{name: "kit", on: []string{"helpers"}, folders: []string{
		"internal", "verilator", "testbench", "testbench/junit", "testbench/results", "testbench/timing", "testbench/report/chart", "testbench/bench",
		"testbench/icarus", "testbench/synth", "testbench/prove", "testbench/mutate", "testbench/fuzz", "testbench/guest",
	}},
	{name: "bench", on: []string{"protocol", "hardware", "helpers", "kit"}, folders: []string{
		"testbench/stimulus", "testbench/linkcheck", "testbench/ni", "testbench/model", "testbench/wire", "testbench/golden", "testbench/proofs",
	}},
	{name: "targets", on: []string{"protocol", "hardware", "driver", "helpers", "kit", "bench"}, folders: []string{
		"testbench/modelsim", "testbench/rtlsim", "testbench/cluster", "testbench/serialtest", "testbench/drivertest",
	}},
	{name: "verification", on: []string{"protocol", "hardware", "driver", "helpers", "kit", "bench", "targets"}, folders: []string{
		"testbench/soak", "testbench/conformance", "testbench/suite", "testbench/scenarios", "testbench/figures", "testbench/recordings", "testbench/report",
	}},
	{name: "boards", on: []string{"protocol", "hardware", "driver", "kit", "bench", "targets", "verification", "helpers"}, folders: []string{"boards"}},
	{name: "commands", on: []string{"protocol", "hardware", "driver", "kit", "bench", "targets", "verification", "boards", "helpers"}, folders: []string{"cmd"}},
}

// testsStandOn is what a test may import besides, whatever it tests: a module or a driver is tried on the bench and on simulated targets.
var testsStandOn = []string{"protocol", "hardware", "kit", "bench", "driver", "targets"}

// place finds a package in layers: the longest folder that holds it.
func place(pkg string) (l layer, folder string) {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		for _, l := range layers {
			if slices.Contains(l.folders, dir) {
				return l, dir
			}
		}
	}
	return layer{}, ""
}

func TestImportDirection(t *testing.T) {
	for name, file := range goFiles(t) {
		from, folder := place(path.Dir(name))
		if folder == "" {
			t.Errorf("%s: the folder is in no layer: put it where it belongs", name)
			continue
		}
		for _, spec := range file.Imports {
			target := check.Must(strconv.Unquote(spec.Path.Value))(t)
			if target == module {
				t.Errorf("%s imports the root of the module", name)
			}
			target, ours := strings.CutPrefix(target, module+"/")
			if !ours {
				continue
			}
			to, toFolder := place(target)
			down := slices.Contains(from.on, to.name) ||
				from.name == to.name && slices.Index(from.folders, toFolder) <= slices.Index(from.folders, folder) ||
				strings.HasSuffix(name, "_test.go") && slices.Contains(testsStandOn, to.name)
			if !down {
				t.Errorf("%s imports %s: %s (%s) does not stand on %s (%s)", name, target, folder, from.name, toFolder, to.name)
			}
		}
	}
}

// TestUSBStaysApart holds that only packages for a transport need libraries of C that not every machine has.
func TestUSBStaysApart(t *testing.T) {
	for name, file := range goFiles(t) {
		for _, spec := range file.Imports {
			if strings.Contains(spec.Path.Value, "google/gousb") && !strings.Contains(path.Dir(name), "usb") {
				t.Errorf("%s imports gousb; that belongs into a package of its own for USB", name)
			}
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for name, file := range goFiles(t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		dir := path.Dir(name)
		documented[dir] = documented[dir] || file.Doc != nil && startsRight(file)
	}
	for _, dir := range slices.Sorted(maps.Keys(documented)) {
		if !documented[dir] {
			t.Errorf("%s: no file has a doc comment that begins with \"Package %s\" or \"Command %[2]s\"", dir, path.Base(dir))
		}
	}
}

func startsRight(file *ast.File) bool {
	text := file.Doc.Text()
	return strings.HasPrefix(text, "Package "+file.Name.Name+" ") || file.Name.Name == "main" && strings.HasPrefix(text, "Command ")
}

var moduleName = regexp.MustCompile(`(?m)^module\s+(\w+)`)

// TestModulesAreTested holds the habits for Verilog: one module a file, named after it, and beside it a test that
// names the module.
func TestModulesAreTested(t *testing.T) {
	tests := map[string][]byte{} // by folder
	var sources []string
	walk(t, func(name string) {
		switch {
		case !strings.HasPrefix(name, "rtl/") || strings.Contains(name, "/testdata/"):
		case strings.HasSuffix(name, "_test.go"):
			tests[path.Dir(name)] = append(tests[path.Dir(name)], read(t, name)...)
		case strings.HasSuffix(name, ".v") && !strings.HasSuffix(name, ".formal.v"):
			sources = append(sources, name)
		}
	})
	if len(sources) == 0 {
		t.Fatal("no Verilog found")
	}
	for _, name := range sources {
		text := read(t, name)
		found := moduleName.FindAllSubmatch(text, -1)
		want := strings.TrimSuffix(path.Base(name), ".v")
		if len(found) != 1 || string(found[0][1]) != want {
			t.Errorf("%s: must hold one module, called %s", name, want)
			continue
		}
		if !bytes.Contains(text, []byte("`default_nettype none")) || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("`resetall")) {
			t.Errorf("%s: `default_nettype none at the start or `resetall at the end is missing", name)
		}
		own := check.Must(filepath.Glob(filepath.Join(root, strings.TrimSuffix(name, ".v")+"_test.go")))(t)
		if len(own) == 0 && !regexp.MustCompile(`\b`+want+`\b`).Match(tests[path.Dir(name)]) {
			t.Errorf("%s: no test in %s names %s", name, path.Dir(name), want)
		}
	}
}

var docName = regexp.MustCompile(`\bdoc/\w+\.md\b`)

// TestDocsExist holds that a document which some file refers to is there.
func TestDocsExist(t *testing.T) {
	walk(t, func(name string) {
		switch path.Ext(name) {
		case ".go", ".v", ".vh", ".md", ".cpp", ".h", ".tmpl":
		default:
			return
		}
		for _, doc := range docName.FindAll(read(t, name), -1) {
			if _, err := os.Stat(filepath.Join(root, string(doc))); err != nil {
				t.Errorf("%s refers to %s, which does not exist", name, doc)
			}
		}
	})
}

// goFiles parses the Go files of the module, imports and package comment only, by their path from its root.
func goFiles(t *testing.T) map[string]*ast.File {
	files := map[string]*ast.File{}
	walk(t, func(name string) {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "/testdata/") {
			return
		}
		files[name] = check.Must(parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ImportsOnly|parser.ParseComments))(t)
	})
	return files
}

func walk(t *testing.T, visit func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && name != "." && (strings.HasPrefix(e.Name(), ".") || name == "build") {
			return fs.SkipDir
		}
		if e.Type().IsRegular() {
			visit(name)
		}
		return nil
	})
	check.Fatal(t, err)
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	return check.Must(os.ReadFile(filepath.Join(root, filepath.FromSlash(name))))(t)
}
