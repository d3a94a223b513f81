package verilator

import (
	"context"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/internal/try"
)

// The engine, the design's side of the interface, and the hooks into Verilator's runtime.
//
//go:embed runtime
var runtimeSources embed.FS

var runtimeHash = sync.OnceValue(func() string {
	h := sha256.New()
	fs.WalkDir(runtimeSources, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := runtimeSources.ReadFile(path)
		fmt.Fprintf(h, "%s %d\n", path, len(data))
		h.Write(data)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil)[:12])
})

// support is what all designs share: our sources, Verilator's runtime compiled once, precompiled headers,
// and the engine.
type support struct {
	cache cache
	tools *toolchain
	dir   string // relative to the cache
}

var commonFlags = []string{"-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-fcf-protection=none",
	"-faligned-new", "-fno-access-control", "-ftls-model=local-dynamic", "-w",
	// Looking for stores that change what is loaded takes half of g++'s time for a netlist. With a tenth of the usual effort the code is as fast.
	"--param=sccvn-max-alias-queries-per-access=100",
	// Looking for values that are known already, again and again between other passes, takes a fifth of it, and a model is no slower without.
	"-fno-tree-fre"}

// optimization of the C++ compiler, for every model: what -O2 and -O3 add makes a model whose code exceeds the first-level cache slower, by 8 to
// 11 % where it was measured, and takes longer.
const optimization = "-O1"

func openSupport(ctx context.Context) *support {
	c := openCache()
	tools := findTools(ctx, c)
	id := sha256.Sum256([]byte(tools.identity + runtimeHash() + fmt.Sprint(commonFlags, optimization)))
	s := &support{c, tools, fmt.Sprintf("runtime-%x", id[:12])}
	c.used(s.dir)
	c.once(ctx, filepath.Join(s.dir, "src"), func(dir string) {
		try.OK(os.MkdirAll(dir, 0o777))
		try.OK(os.CopyFS(dir, runtimeSources))
	})
	return s
}

// part makes one file of the support folder.
func (s *support) part(ctx context.Context, name string, args ...string) string {
	return s.cache.once(ctx, filepath.Join(s.dir, name), func(path string) {
		err := s.tools.compile(ctx, s.cache.path(s.dir), append(args, "-o", path)...)
		try.Wrap(err, "verilator: compiling the runtime (%s; it needs %s)", name, howToInstall)
	})
}

func (s *support) flags() []string {
	include := s.tools.include
	return append([]string{"-Isrc/runtime", "-I" + include, "-I" + include + "/vltstd", "-I" + include + "/gtkwave"}, commonFlags...)
}

// object compiles a source of Verilator's runtime or of ours.
func (s *support) object(ctx context.Context, name, source string, more ...string) string {
	return s.part(ctx, name+".o", append(append(s.flags(), more...), optimization, "-c", source)...)
}

// objects returns everything that a design links with.
func (s *support) objects(ctx context.Context, d *Design) []string {
	sources := map[string]string{
		"hooks":      "src/runtime/hooks.cpp",
		"hooks_impl": "src/runtime/hooks_impl.cpp",
		"threads":    filepath.Join(s.tools.include, "verilated_threads.cpp"),
	}
	if d.Checkpoint {
		sources["save"] = filepath.Join(s.tools.include, "verilated_save.cpp")
	}
	if d.Trace {
		sources["fst"] = filepath.Join(s.tools.include, "verilated_fst_c.cpp")
	}
	if d.Coverage {
		sources["cov"] = filepath.Join(s.tools.include, "verilated_cov.cpp")
	}
	names := slices.Collect(maps.Keys(sources))
	paths := make([]string, len(names))
	parallel(len(names), func(i int) { paths[i] = s.object(ctx, names[i], sources[names[i]]) })
	if d.Timing {
		paths = append(paths, s.object(ctx, "timing", "src/runtime/timing_impl.cpp", d.standard()...))
	}
	return paths
}

// header precompiles Verilator's headers, which otherwise are most of the work of compiling a small design.
func (s *support) header(ctx context.Context, d *Design) string {
	source := "runtime/common.h"
	if d.Trace {
		source = "runtime/traced.h"
	}
	name := filepath.Join(strings.Join(append([]string{"header"}, d.standard()...), ""), filepath.Base(source))
	header := s.cache.once(ctx, filepath.Join(s.dir, name), func(path string) {
		try.OK(os.WriteFile(path, try.Get(runtimeSources.ReadFile(source)), 0o666))
	})
	s.part(ctx, name+".gch", append(append(s.flags(), d.standard()...), optimization, "-x", "c++-header", "src/"+source)...)
	return header
}

// standard is the C++ that coroutines need, which compile more slowly.
func (d *Design) standard() []string {
	if d.Timing {
		return []string{"-std=gnu++20"}
	}
	return nil
}

// engine compiles the library that runs models, as one unit: the headers of C++ are most of the work.
func (s *support) engine(ctx context.Context) string {
	args := []string{"-std=gnu++20", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-fcf-protection=none",
		"-ftls-model=initial-exec", "-shared", "-Isrc/runtime", "src/runtime/library.cpp", "-pthread"}
	return s.part(ctx, "engine.so", args...)
}
