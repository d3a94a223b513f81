// Package probe holds modules for measurements in clocks: the design under test wired up, with counters that look inside it. They are for
// simulation only.
package probe

import (
	"embed"
	"io/fs"
	"strconv"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

//go:embed *.v
var files embed.FS

// Design is one of the modules here (link_end, link_pair, ni_pair, ni_watched) with parameters set.
func Design(top string, params map[string]int) verilator.Design {
	d, err := DesignFrom(rtl.FS, top, params)
	if err != nil {
		panic(err) // rtl.FS is part of the program
	}
	return d
}

// DesignFrom is Design on another tree of modules, laid out like rtl.FS.
func DesignFrom(tree fs.FS, top string, params map[string]int) (verilator.Design, error) {
	sources, err := rtl.SourcesIn(tree)
	if err != nil {
		return verilator.Design{}, err
	}
	d := verilator.Design{
		Top: top, Sources: append([]string{top + ".v"}, sources...), FS: both{tree}, IncludeDirs: rtl.IncludeDirs,
		Params: map[string]string{},
	}
	for name, value := range params {
		d.Params[name] = strconv.Itoa(value)
	}
	return d, nil
}

// both is the RTL with the files of this folder on top.
type both struct{ tree fs.FS }

func (b both) Open(name string) (fs.File, error) {
	if f, err := files.Open(name); err == nil && name != "." {
		return f, nil
	}
	return b.tree.Open(name)
}

func (b both) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(b.tree, name)
	if name == "." && err == nil {
		var own []fs.DirEntry
		own, err = files.ReadDir(name)
		entries = append(entries, own...)
	}
	return entries, err
}
