package verilator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

// Build returns the design as a loaded library, compiling it unless the cache holds it already. Any number of
// processes may build at once; one compiles, the others wait for it.
//
// Errors: ErrTool when Verilator or the compiler is missing, *CompileError when they reject the design.
func Build(ctx context.Context, d Design) (l *Library, err error) {
	err = try.Run(func() { l = buildLibrary(ctx, d) })
	return l, err
}

func buildLibrary(ctx context.Context, d Design) *Library {
	try.OK(d.check())
	s := openSupport(ctx)
	original := d
	d = s.rewrite(ctx, d)
	var enginePath, object, key string
	parallel(2, func(i int) {
		if i == 0 {
			enginePath = s.engine(ctx)
			return
		}
		key = s.key(&d)
		ok := false
		if object, ok = s.find(&d, key); !ok {
			object = s.build(ctx, &d, key)
		}
	})
	l := load(enginePath, s.cache.path(object), original)
	l.files = append(slices.Clone(s.tools.files), enginePath, s.cache.path(object), s.cache.path(manifestFile(key)))
	return l
}

// built is kept beside a compiled design.
type built struct {
	Ports     []Port // those of the top module, signals inside, and the parts of forceable ones, which have no names
	Tops      int
	Root      string // the path of the design among Verilator's scopes: Top, or with a wrapper around it the instance
	Scopes    []Scope
	Warnings  []Diagnostic
	Precision int // of Design.Timing
}

func (s *support) build(ctx context.Context, d *Design, key string) (object string) {
	unlock := s.cache.tryLock(key)
	if unlock == nil {
		campaign.Aside(ctx, func() { unlock = s.cache.lock(ctx, key) })
	}
	defer unlock()
	if object, ok := s.find(d, key); ok {
		return object
	}
	folder := s.cache.path("build/" + key)
	try.Wrap(errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o777)), "verilator: cache") // a killed process may have left one
	defer os.RemoveAll(folder)
	dir, err := os.MkdirTemp(folder, "") // a Verilator that outlives such a process goes on writing to the one of that
	try.Wrap(err, "verilator: cache")

	root := ""
	if d.FS != nil {
		root = filepath.Join(dir, "root")
		try.Wrap(d.extract(root), "verilator: design %s: copying its files", d.Top)
	}
	args := append([]string{"--Mdir", dir}, d.buildArguments()...)
	inside := s.configure(ctx, d, dir, root)
	if inside != nil {
		args = append(args, filepath.Join(dir, publicFile))
	}
	out, err := command(ctx, root, s.tools.verilator, args...)
	try.OK(d.toolError(ctx, out, err))
	bare := d
	if w := d.wrapped(dir, folder); w != nil {
		args = append([]string{"--Mdir", dir}, w.buildArguments()...)
		if inside != nil {
			args = append(args, filepath.Join(dir, publicFile))
		}
		d = w
		out, err = command(ctx, root, s.tools.verilator, args...)
		try.OK(d.toolError(ctx, out, err))
	}
	files := s.filesRead(d, dir)
	warnings := parseDiagnostics(out)
	object = s.objectName(d, dir, warnings)
	if !exists(s.cache.path(object)) {
		s.compileModel(ctx, bare, d, dir, root, inside, warnings)
		try.OK(s.publish(dir, object))
		s.cache.prune()
	}
	s.remember(key, manifestEntry{files, object})
	return object
}

// toolError is what Build and Lint return for an error of a run of Verilator; nil for none.
func (d *Design) toolError(ctx context.Context, out string, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	if strings.TrimSpace(out) == "" {
		out = err.Error()
	}
	failed := &CompileError{Top: d.Top, Tool: "verilator", Diagnostics: parseDiagnostics(out), Output: out}
	for i := range failed.Diagnostics {
		failed.Diagnostics[i].Message += d.nearestTo(failed.Diagnostics[i].Message)
	}
	return failed
}

var moduleName = regexp.MustCompile(`(?m)^\s*module\s+(\w+)`)

// nearestTo suggests a module or a file for one that Verilator has not found.
func (d *Design) nearestTo(message string) string {
	var names []string
	if _, file, is := strings.Cut(message, "Cannot find file containing module: "); is && slices.Contains(d.Sources, file) {
		for _, name := range d.verilogNames(filepath.Dir(file)) {
			names = append(names, filepath.Join(filepath.Dir(file), filepath.Base(name)))
		}
		return nearest.Hint(file, names)
	}
	if !strings.HasSuffix(message, "was not found in design.") {
		return ""
	}
	for _, source := range d.Sources {
		text, _ := d.read(source) // Verilator says what is wrong with files
		for _, m := range moduleName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return nearest.Hint(d.Top, names)
}

// objectName names what is compiled by what Verilator generated in dir: many changes of a module, of comments say, leave that as it is, and so do
// parameters that a design is given as it has them.
func (s *support) objectName(d *Design, dir string, warnings []Diagnostic) string {
	h := sha256.New()
	fmt.Fprintln(h, s.dir, d.Trace, d.Checkpoint, d.Coverage, d.Timing, d.Public, "/", d.Forceable, warnings)
	for _, pattern := range []string{"*.h", "*.cpp"} {
		for _, file := range try.Get(filepath.Glob(filepath.Join(dir, pattern))) {
			fmt.Fprintf(h, "%s\n%s", filepath.Base(file), try.Get(os.ReadFile(file)))
		}
	}
	return fmt.Sprintf("object/%s-%x", d.Top, h.Sum(nil)[:12])
}

// publish moves what a model needs at run time to its place.
func (s *support) publish(dir, object string) error {
	path := s.cache.path(object)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(dir, "out"), path)
	if _, exists := os.Stat(path); exists == nil {
		return nil // another Design with the same contents was quicker
	}
	return err
}

// singleUnit is the amount of C++ up to which compiling it all at once is quicker than in parallel.
const singleUnit = 600_000

// compileModel turns what Verilator generated in dir into dir/out.
func (s *support) compileModel(ctx context.Context, bare, d *Design, dir, root string, inside *chosen, warnings []Diagnostic) {
	b := built{Ports: s.ports(ctx, d, dir, root), Root: d.Top, Warnings: warnings}
	if d != bare {
		b.Ports, b.Root = append(b.Ports, padEnables(bare, dir, b.Ports)...), d.Top+"."+bare.Top
	}
	b.Tops = len(b.Ports)
	if inside != nil {
		b.Scopes = inside.scopes
		b.Ports = append(b.Ports, d.findPublic(dir, b.Root, inside)...)
		b.Ports = append(b.Ports, forceStorage(b.Ports)...)
		d.follow(dir, b.Ports)
		for i := range b.Ports[:b.Tops] {
			b.Ports[i].Settable = b.Ports[i].Direction == Out && inside.outputs[b.Ports[i].Name]
		}
	}
	var objects []string
	var common string
	parallel(2, func(i int) {
		if i == 0 {
			objects = s.objects(ctx, d)
		} else {
			common = s.header(ctx, d)
		}
	})
	units, precision := s.units(d, dir, b.Ports)
	b.Precision = precision
	flags := append([]string{"-include", common, "-I.", "-I" + s.cache.path(s.dir), optimization}, append(s.flags(), d.standard()...)...)
	for i, f := range flags {
		flags[i] = strings.Replace(f, "-Isrc/", "-I"+s.cache.path(s.dir)+"/src/", 1)
	}
	try.OK(os.Mkdir(filepath.Join(dir, "out"), 0o777))
	link := []string{"-shared", "-o", "out/model.so", "-Wl,-Bsymbolic"}
	for _, u := range units {
		link = append(link, u+".o")
	}
	link = append(append(link, objects...), "-pthread", "-latomic")
	if d.Trace {
		link = append(link, "-lz")
	}
	err := try.Run(func() {
		parallel(len(units), func(i int) {
			try.OK(s.tools.compile(ctx, dir, append(slices.Clone(flags), "-c", units[i], "-o", units[i]+".o")...))
		})
		try.OK(s.tools.compile(ctx, dir, link...))
	})
	if failed, is := errors.AsType[*CompileError](err); is {
		failed.Top = d.Top
	}
	try.OK(err)
	data := try.Get(json.Marshal(b))
	try.OK(os.WriteFile(filepath.Join(dir, "out", "built.json"), data, 0o666))
}

// ports reads the ports of what Verilator generated in dir.
func (s *support) ports(ctx context.Context, d *Design, dir, root string) []Port {
	header, err := os.ReadFile(filepath.Join(dir, "Vmodel.h"))
	try.Wrap(err, "verilator: nothing generated for %s", d.Top)
	ports := try.Get(d.parsePorts(string(header)))
	if !slices.ContainsFunc(ports, func(p Port) bool { return p.open }) {
		return ports
	}
	directOpen(ports, topOf(s.elaborate(ctx, d, dir, root), d.Top))
	return ports
}

// units writes the translation units: the generated code and our side of the interface, all in one or, for a large
// design, spread evenly over the processors. Code in files __Slow runs once for a model, so that optimizing it, which took two fifths of the
// time that g++ needs for a large netlist, is not worth it. Precision is that of a design with delays.
func (s *support) units(d *Design, dir string, ports []Port) (names []string, precision int) {
	generated := try.Get(filepath.Glob(filepath.Join(dir, "Vmodel*.cpp")))
	code := map[string]string{}
	total := 0
	for _, f := range generated {
		code[f] = string(try.Get(os.ReadFile(f)))
		if strings.HasPrefix(filepath.Base(f), "Vmodel__Syms") {
			code[f] = scopeMember.ReplaceAllString(code[f], "") // nobody asks Verilator for names, and it refuses some of them when a model is made
			try.OK(os.WriteFile(f, []byte(code[f]), 0o666))
		}
		total += len(code[f])
	}
	n := 1
	if total > singleUnit {
		n = runtime.NumCPU()
	}
	slices.SortStableFunc(generated, func(a, b string) int { return cmp.Compare(len(code[b]), len(code[a])) })
	texts := make([]string, n)
	weights := make([]int, n)
	texts[0] = "#include \"Vmodel.cpp\"\n"
	var all strings.Builder
	for _, f := range generated {
		all.WriteString(code[f])
		base := filepath.Base(f)
		if base == "Vmodel.cpp" {
			continue
		}
		least := slices.Index(weights, slices.Min(weights))
		weights[least] += len(code[f])
		include := fmt.Sprintf("#include %q\n", base)
		if strings.HasSuffix(base, "__Slow.cpp") {
			include = "#pragma GCC push_options\n#pragma GCC optimize (\"O0\")\n" + include + "#pragma GCC pop_options\n"
		}
		texts[least] += include
	}
	texts[0] += shim(d, ports, code[filepath.Join(dir, "Vmodel.cpp")], all.String())
	names = make([]string, n)
	for i, text := range texts {
		names[i] = fmt.Sprintf("unit%d.cpp", i)
		try.OK(os.WriteFile(filepath.Join(dir, names[i]), []byte(text), 0o666))
	}
	return names, findPrecision(all.String())
}
