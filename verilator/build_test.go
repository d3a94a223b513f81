package verilator_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/verilator"
)

// A module whose output says which include file and parameter it was built with.
const includer = `module inc #(parameter P = 1) (input clk, output [31:0] v, output [31:0] p);
` + "`include \"value.vh\"" + `
assign v = VALUE; assign p = P;
endmodule
`

func value(v string) string { return "localparam VALUE = " + v + ";\n" }

func write(t *testing.T, path, text string) {
	t.Helper()
	check.Fatal(t, os.WriteFile(path, []byte(text), 0o666))
}

func objects(t *testing.T) []string {
	t.Helper()
	return check.Must(filepath.Glob(filepath.Join(os.Getenv("LMMC_CACHE"), "object", "inc-*")))(t)
}

// shareRuntime gives the test its own cache for designs, with the runtime of the real one, which takes seconds to
// compile.
func shareRuntime(t *testing.T) {
	t.Helper()
	build(t, echo) // makes the runtime
	real := os.Getenv("LMMC_CACHE")
	if real == "" {
		user := check.Must(os.UserCacheDir())(t)
		real = filepath.Join(user, "lmmc")
	}
	own := t.TempDir()
	shared, err := filepath.Glob(filepath.Join(real, "runtime-*"))
	if err != nil || len(shared) == 0 {
		t.Fatal("no runtime in ", real)
	}
	for _, dir := range shared {
		check.Fatal(t, os.Symlink(dir, filepath.Join(own, filepath.Base(dir))))
	}
	t.Setenv("LMMC_CACHE", own)
}

func TestCacheFollowsFilesAndParameters(t *testing.T) {
	shareRuntime(t)
	dir := t.TempDir()
	source, include := filepath.Join(dir, "inc.v"), filepath.Join(dir, "value.vh")
	write(t, source, includer)
	write(t, include, value("1"))
	d := verilator.Design{Top: "inc", Sources: []string{source}, IncludeDirs: []string{dir}}
	check := func(v, p uint64, builds int) {
		t.Helper()
		m := start(t, build(t, d), verilator.Config{})
		check.Fatal(t, m.Eval())
		if must(m.Peek("v")) != v || must(m.Peek("p")) != p {
			t.Errorf("v %d, p %d, want %d, %d", must(m.Peek("v")), must(m.Peek("p")), v, p)
		}
		check.Equal(t, "builds", len(objects(t)), builds)
	}
	check(1, 1, 1)
	check(1, 1, 1)
	write(t, include, value("2"))
	check(2, 1, 2)
	d.Params = map[string]string{"P": "7"}
	check(2, 7, 3)
	write(t, include, value("1"))
	d.Params = nil
	check(1, 1, 3) // still known
	write(t, filepath.Join(dir, "unrelated.txt"), "x")
	check(1, 1, 3)
	write(t, source, includer+"// The same again.\n")
	check(1, 1, 3)
}

func TestCacheForgetsWhatIsNotUsed(t *testing.T) {
	shareRuntime(t)
	old := filepath.Join(os.Getenv("LMMC_CACHE"), "object", "inc-old")
	check.Fatal(t, os.MkdirAll(old, 0o777))
	long := time.Now().Add(-1000 * time.Hour)
	check.Fatal(t, os.Chtimes(old, long, long))
	files := fstest.MapFS{"inc.v": {Data: []byte(includer)}, "value.vh": {Data: []byte(value("6"))}}
	build(t, verilator.Design{Top: "inc", Sources: []string{"inc.v"}, FS: files})
	if found := objects(t); len(found) != 1 || found[0] == old {
		t.Error(found)
	}
}

// What a killed process left is deleted, what another one is compiling is not.
func TestCacheForgetsWhatWasKilled(t *testing.T) {
	shareRuntime(t)
	cache := os.Getenv("LMMC_CACHE")
	for _, key := range []string{"killed", "compiling"} {
		check.Fatal(t, os.MkdirAll(filepath.Join(cache, "build", key), 0o777))
	}
	check.Fatal(t, os.Mkdir(filepath.Join(cache, "lock"), 0o777))
	lock := check.Must(os.Create(filepath.Join(cache, "lock", "compiling")))(t)
	defer lock.Close()
	check.Fatal(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	files := fstest.MapFS{"inc.v": {Data: []byte(includer)}, "value.vh": {Data: []byte(value("8"))}}
	build(t, verilator.Design{Top: "inc", Sources: []string{"inc.v"}, FS: files})
	left := check.Must(filepath.Glob(filepath.Join(cache, "build", "*")))(t)
	check.Equal(t, "left", left, []string{filepath.Join(cache, "build", "compiling")})
}

// A job that waits for a design which another process compiles lets others run meanwhile.
func TestBuildWaitsAside(t *testing.T) {
	shareRuntime(t)
	files := fstest.MapFS{"inc.v": {Data: []byte(includer)}, "value.vh": {Data: []byte(value("9"))}}
	d := verilator.Design{Top: "inc", Sources: []string{"inc.v"}, FS: files}
	build(t, d)
	cache := os.Getenv("LMMC_CACHE")
	built := check.Must(filepath.Glob(filepath.Join(cache, "manifest", "*")))(t)
	check.Equal(t, "manifests", len(built), 1)
	check.Fatal(t, os.Remove(built[0]))
	lock := check.Must(os.Create(filepath.Join(cache, "lock", filepath.Base(built[0]))))(t)
	check.Fatal(t, syscall.Flock(int(lock.Fd()), syscall.LOCK_EX))
	jobs := []campaign.Job[int]{
		{Name: "waits", Run: func(ctx context.Context) (int, error) { return 0, check.Err(verilator.Build(ctx, d)) }},
		{Name: "goes on", Run: func(context.Context) (int, error) { return 0, lock.Close() }},
	}
	for _, r := range check.Must(campaign.Run(t.Context(), jobs, campaign.Options{Jobs: 1, Timeout: time.Minute}, nil))(t) {
		check.Fatal(t, r.Err)
	}
}

func TestBuildFromFS(t *testing.T) {
	shareRuntime(t)
	files := fstest.MapFS{"rtl/inc.v": {Data: []byte(includer)}, "rtl/lib/value.vh": {Data: []byte(value("42"))}}
	d := verilator.Design{Top: "inc", Sources: []string{"rtl/inc.v"}, IncludeDirs: []string{"rtl/lib"}, FS: files}
	m := start(t, build(t, d), verilator.Config{})
	m.Eval()
	check.Equal(t, "v", must(m.Peek("v")), 42)
	build(t, d)
	check.Equal(t, "builds", len(objects(t)), 1)
	files["rtl/inc.v"] = &fstest.MapFile{Data: []byte("module inc;\nwire x = nothing;\nendmodule\n")}
	_, err := verilator.Build(context.Background(), d)
	var rejected *verilator.CompileError
	if !errors.As(err, &rejected) || rejected.Diagnostics[0].File != "rtl/inc.v" || rejected.Diagnostics[0].Line != 2 {
		t.Errorf("%+v", err)
	}
	check.Contains(t, "error", err.Error(), "rtl/inc.v:2:")
}

// A module or file that Verilator does not find has the nearest name beside it.
func TestNotFound(t *testing.T) {
	for want, d := range map[string]verilator.Design{
		"'ehco' was not found in design. (did you mean echo?)":         {Top: "ehco", Sources: []string{"testdata/echo.v"}},
		"testdata/ehco.v (did you mean testdata/echo.v?)":              {Top: "echo", Sources: []string{"testdata/ehco.v"}},
		`Design.Public "u_first.*" matches nothing; the design has no`: {Top: "echo", Sources: []string{"testdata/echo.v"}, Public: []string{"u_first.*"}},
	} {
		check.Fails(t, want, check.Err(verilator.Build(t.Context(), d)), nil, want)
	}
}

func TestConcurrentBuildsCompileOnce(t *testing.T) {
	shareRuntime(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "inc.v")
	write(t, source, includer)
	write(t, filepath.Join(dir, "value.vh"), value("3"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			lib, err := verilator.Build(context.Background(), verilator.Design{Top: "inc", Sources: []string{source}, IncludeDirs: []string{dir}})
			if err == nil {
				var m *verilator.Model
				if m, err = lib.New(verilator.Config{}); err == nil {
					err = m.Close()
				}
			}
			check.Error(t, err)
		})
	}
	group.Wait()
	check.Equal(t, "builds", len(objects(t)), 1)
	left, _ := filepath.Glob(filepath.Join(os.Getenv("LMMC_CACHE"), "build", "*"))
	check.Equal(t, "left behind", left, nil)
}

// TestFiles takes the files of a library to another cache, in which Build then has nothing to make.
func TestFiles(t *testing.T) {
	here := check.Must(verilator.CacheDir(""))(t)
	files, there := build(t, echo).Files(), t.TempDir()
	for _, file := range files {
		name := check.Must(filepath.Rel(here, file))(t)
		if !filepath.IsLocal(name) {
			continue // a tool
		}
		if info, err := os.Stat(file); err != nil {
			t.Fatal(err)
		} else if info.IsDir() {
			check.Fatal(t, os.CopyFS(filepath.Join(there, name), os.DirFS(file)))
			continue
		}
		text := check.Must(os.ReadFile(file))(t)
		check.Fatal(t, os.MkdirAll(filepath.Join(there, filepath.Dir(name)), 0o777))
		write(t, filepath.Join(there, name), string(text))
	}
	t.Setenv("LMMC_CACHE", there)
	build(t, echo)
	made := check.Must(filepath.Glob(filepath.Join(there, "lock", "*")))(t)
	for _, lock := range made {
		if name := filepath.Base(lock); name != "src" { // which is copied out of the program
			t.Errorf("%s was made", name)
		}
	}
}

func TestBuildCanBeCancelled(t *testing.T) {
	shareRuntime(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "inc.v")
	write(t, source, includer)
	write(t, filepath.Join(dir, "value.vh"), value("4"))
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	d := verilator.Design{Top: "inc", Sources: []string{source}, IncludeDirs: []string{dir}}
	check.Fails(t, "Build", check.Err(verilator.Build(ctx, d)), context.DeadlineExceeded)
	build(t, d)
}

func TestRefusedDesigns(t *testing.T) {
	for name, d := range map[string]verilator.Design{
		"no top":     {Sources: []string{"a.v"}},
		"odd top":    {Top: "a b", Sources: []string{"a.v"}},
		"no sources": {Top: "a"},
		"both":       {Top: "echo", Sources: echo.Sources, Coverage: true, Checkpoint: true},
		"timing":     {Top: "echo", Sources: echo.Sources, Flags: []string{"--timing"}},
		"odd param":  {Top: "echo", Sources: echo.Sources, Params: map[string]string{"A=1 -GB": "2"}},
		"option":     {Top: "echo", Sources: []string{"--exe"}},
		"no file":    {Top: "echo", Sources: []string{"testdata/missing.v"}},
		"no such fs": {Top: "echo", Sources: []string{"missing.v"}, FS: fstest.MapFS{}},
		"no param":   {Top: "echo", Sources: echo.Sources, Params: map[string]string{"NONE": "2"}},
	} {
		if lib, err := verilator.Build(context.Background(), d); err == nil || lib != nil {
			t.Errorf("%s: built", name)
		}
	}
}

func TestMissingTools(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LMMC_CACHE", filepath.Join(dir, "cache"))
	t.Setenv("PATH", dir)
	check.Fails(t, "without verilator", check.Err(verilator.Build(context.Background(), echo)), verilator.ErrTool, "apt-get install verilator")
	script := func(name, text string) {
		check.Fatal(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o777))
	}
	script("verilator", `echo "Verilator 4.038 2020-07-11 rev v4.036"`)
	check.Fails(t, "without g++", check.Err(verilator.Build(context.Background(), echo)), verilator.ErrTool, "g++")
	script("g++", "true")
	check.Fails(t, "an old verilator", check.Err(verilator.Build(context.Background(), echo)), verilator.ErrTool, "4.038")
}

func TestLint(t *testing.T) {
	if found, err := verilator.Lint(context.Background(), echo); err != nil || len(found) == 0 || !slices.ContainsFunc(found, func(d verilator.Diagnostic) bool {
		return d.Severity == "Warning" && d.Code == "UNUSEDSIGNAL" && d.File == "testdata/echo.v" && d.Line == 19
	}) {
		t.Errorf("%v, %v", found, err)
	}
	clean := fstest.MapFS{"a.v": {Data: []byte("module a (input wire b, output wire c);\n  assign c = ~b;\nendmodule\n")}}
	if found, err := verilator.Lint(context.Background(), verilator.Design{Top: "a", Sources: []string{"a.v"}, FS: clean}); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
	var fsys fs.FS = fstest.MapFS{"a.v": {Data: []byte("module a (\n")}}
	var rejected *verilator.CompileError
	if _, err := verilator.Lint(context.Background(), verilator.Design{Top: "a", Sources: []string{"a.v"}, FS: fsys}); !errors.As(err, &rejected) {
		t.Error(err)
	}
}
