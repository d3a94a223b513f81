package verilator

// #include "runtime/call.h"
import "C"

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"unsafe"

	"github.com/stafflink/lmmc/internal/try"
)

// Library is a compiled design. It stays loaded until the process ends.
type Library struct {
	design    Design
	ports     []Port
	byName    map[string]int
	tops      int // how many of ports are those of the top module
	scopes    []Scope
	root      string // among Verilator's scopes
	warnings  []Diagnostic
	precision int
	files     []string
	table     *C.lm_design
	engine    *C.lm_engine
}

// Design returns what the library was built from.
func (l *Library) Design() Design { return l.design }

// Ports returns the ports of the top module.
func (l *Library) Ports() []Port { return slices.Clone(l.ports[:l.tops]) }

// Warnings returns what Verilator found doubtful; see Lint for the strict check.
func (l *Library) Warnings() []Diagnostic { return slices.Clone(l.warnings) }

// Files returns what a machine without a compiler needs for Build to load the library, under the same paths and as old in whole seconds, and the same
// LMMC_CACHE: files and folders of the cache, and the tools, which are looked at and not run. A design that $LMMC_REWRITE rewrites needs more.
func (l *Library) Files() []string { return slices.Clone(l.files) }

// SilentClock returns the clock port whose falling edges need no evaluation, so that a run takes half as many; "" when there is none.
func (l *Library) SilentClock() string {
	for _, p := range l.ports {
		if p.index == int(l.table.silent_clock) {
			return p.Name
		}
	}
	return ""
}

var loading sync.Mutex // dlerror is one a thread, and Go may change threads between two calls

func open(path, symbol string) unsafe.Pointer {
	loading.Lock()
	defer loading.Unlock()
	name, table := C.CString(path), C.CString(symbol)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(table))
	library := C.lm_open(name)
	if library == nil {
		try.Failf("verilator: cannot load %s: %s (if it is damaged: delete folder %s, and it is built again)", path, C.GoString(C.lm_open_error()), filepath.Dir(path))
	}
	found := C.lm_find(library, table)
	if found == nil {
		try.Failf("verilator: %s has no %s; delete folder %s, and it is built again", path, symbol, filepath.Dir(path))
	}
	return found
}

// duplicate copies a file to a new name beside it.
func duplicate(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "fresh-*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

func load(enginePath, dir string, d Design) *Library {
	engine := open(enginePath, "lm_engine_table")
	model := filepath.Join(dir, "model.so")
	if d.Fresh {
		var err error
		model, err = duplicate(model)
		try.Wrap(err, "verilator: copying a library (is there space in the cache, %s?)", dir)
		defer os.Remove(model) // once loaded, it needs no name
	}
	table := open(model, "lm_design_table")
	data, err := os.ReadFile(filepath.Join(dir, "built.json"))
	var b built
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	try.Wrap(err, "verilator: damaged cache: delete folder %s, and it is built again", dir)
	l := &Library{design: d, ports: b.Ports, byName: map[string]int{}, tops: b.Tops, scopes: b.Scopes, root: cmp.Or(b.Root, d.Top), warnings: b.Warnings, precision: b.Precision,
		table: (*C.lm_design)(table), engine: (*C.lm_engine)(engine)}
	hidden := l.tops + len(l.Signals()) // parts of forceable signals stand at the end
	for i := range l.ports {
		p := &l.ports[i]
		p.index = i
		if p.Name != "" {
			l.byName[p.Name] = i
		}
		if p.Forceable {
			p.force = hidden
			hidden += len(forceParts)
		}
	}
	if l.table.abi != C.LM_ABI || l.engine.abi != C.LM_ABI || int(l.table.n_ports) != len(l.ports) {
		try.Failf("verilator: %s was built by another version; delete this folder, and it is built again", dir)
	}
	return l
}
