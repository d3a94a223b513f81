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
)

const (
	root   = "../.."
	module = "github.com/stafflink/lmmc"
)

// protocol and simulation are what most packages of the test kit stand on.
var (
	protocol   = []string{"linkproto", "flowctl"}
	simulation = []string{"linkproto", "flowctl", "rtl", "verilator", "testbench", "testbench/ni"}
)

// anything stands for all folders.
const anything = "*"

// mayImport lists, for each folder of the module, the folders that its packages may import besides their own. A folder
// includes those below it that have no line of their own; doc/architecture.md draws the picture. Package testbench
// and verilator know nothing of this network interface: what does has a line of its own.
var mayImport = map[string][]string{
	"linkproto":  {},
	"flowctl":    {"linkproto"},
	"rtl":        {},
	"rtl/proofs": {"rtl", "testbench/prove"},

	"verilator":             {},
	"testbench":             {"verilator"},
	"testbench/prove":       {"testbench/results"},
	"testbench/synth":       {"verilator"},
	"testbench/bench":       simulation,
	"testbench/ni":          simulation,
	"testbench/model":       protocol,
	"testbench/golden":      append(simulation, "testbench/model"),
	"testbench/results":     {},
	"testbench/mutate":      {"verilator", "testbench", "testbench/results"},
	"testbench/soak":        append(simulation, "testbench/results"),
	"testbench/conformance": {"linkproto", "hostdrv", "testbench/junit", "testbench/results"},
	"testbench/guest":       {"verilator", "testbench/results"},
	"testbench/junit":       {},
	"testbench/suite": append(simulation,
		"testbench/bench",
		"testbench/conformance",
		"testbench/golden",
		"testbench/guest",
		"testbench/junit",
		"testbench/model",
		"testbench/mutate",
		"testbench/results",
		"testbench/soak",
		"testbench/synth",
		"testbench/timing",
		"testbench/wire",
		"boards",
		"boards/build",
		"boards/virtual/usbbench",
		"hostdrv",
		"hostdrv/modelsim",
		"hostdrv/rtlsim",
		"hostdrv/serve",
	),
	"testbench/timing": {},
	"testbench/wire":   {"linkproto", "testbench/timing"},
	"testbench/report": {
		"verilator",
		"testbench",
		"testbench/conformance",
		"testbench/mutate",
		"testbench/prove",
		"testbench/results",
		"testbench/soak",
		"testbench/suite",
		"testbench/timing",
	},

	"hostdrv":          protocol,
	"hostdrv/rtlsim":   append(simulation, "hostdrv"),
	"hostdrv/modelsim": append(protocol, "hostdrv", "testbench/model"),

	"hostdrv/serial/serialtest": append(simulation, "hostdrv"),

	"boards":           append(simulation, "boards/bitstream"),
	"boards/build":     {"verilator", "boards", "boards/bitstream", "testbench/results", "testbench/synth"},
	"boards/sim":       {"verilator", "boards", "boards/bitstream", "boards/build", "hostdrv", "hostdrv/rtlsim", "testbench/synth"},
	"boards/bitstream": {"linkproto"},
	"boards/plugged":   {"hostdrv"},
	"boards/flash":     {"boards/bitstream", "boards/plugged"},
	"boards/virtual":   {"rtl", "hostdrv", "boards/bitstream"},
	"internal":         {},
	"cmd":              {anything},

	"boards/virtual/kernel":   {"boards/virtual", "boards/bitstream", "rtl", "hostdrv", "hostdrv/modelsim", "hostdrv/rtlsim", "testbench/conformance", "testbench/guest", "verilator"},
	"boards/virtual/usbbench": {"linkproto", "boards/virtual", "hostdrv", "hostdrv/modelsim", "testbench/guest"},
}

// testsMayImport is what tests of a folder may import besides.
var testsMayImport = map[string][]string{
	"linkproto":             {"rtl"},
	"flowctl":               {"rtl", "verilator", "testbench"},
	"rtl":                   {"linkproto", "flowctl", "verilator", "testbench", "testbench/ni"},
	"rtl/proofs":            {"testbench"},
	"boards/virtual":        {"boards", "hostdrv/modelsim", "hostdrv/rtlsim", "testbench/conformance", "testbench/ni"},
	"testbench/report":      {"hostdrv"},
	"testbench/conformance": {"flowctl", "rtl", "verilator", "testbench", "testbench/ni", "testbench/model", "hostdrv/rtlsim", "hostdrv/modelsim", "hostdrv/serial/serialtest"},

	"boards/build": {"boards/bitstream"},
	"boards/sim":   {"linkproto", "rtl", "testbench/conformance"},

	"hostdrv": {"rtl", "verilator", "testbench", "testbench/ni", "testbench/model", "hostdrv/rtlsim", "hostdrv/modelsim", "hostdrv/serial/serialtest"},
}

// folder returns the longest entry of mayImport that holds a package, or "".
func folder(pkg string) string {
	for dir := pkg; dir != "."; dir = path.Dir(dir) {
		if _, ok := mayImport[dir]; ok {
			return dir
		}
	}
	return ""
}

func TestImportDirection(t *testing.T) {
	for name, file := range goFiles(t) {
		dir := folder(path.Dir(name))
		if dir == "" {
			t.Errorf("%s: the folder is not in mayImport: say what it may import", name)
			continue
		}
		allowed := mayImport[dir]
		if strings.HasSuffix(name, "_test.go") {
			allowed = slices.Concat(allowed, testsMayImport[dir])
		}
		for _, spec := range file.Imports {
			target, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if target == module {
				t.Errorf("%s imports the root of the module", name)
			}
			target, ours := strings.CutPrefix(target, module+"/")
			if !ours {
				continue
			}
			if to := folder(target); to != dir && !slices.Contains(allowed, to) && !slices.Contains(allowed, anything) {
				t.Errorf("%s imports %s; %s may import %v", name, target, dir, allowed)
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
		own, err := filepath.Glob(filepath.Join(root, strings.TrimSuffix(name, ".v")+"_test.go"))
		if err != nil {
			t.Fatal(err)
		}
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
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
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
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}
