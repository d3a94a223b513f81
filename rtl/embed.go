// Package rtl holds the Verilog of the network interface, so that programs can compile it wherever they run.
package rtl

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// FS holds the modules (common/, phy/, link/, ni/) and the generated header linkproto.vh.
//
//go:embed linkproto.vh */*.v
var FS embed.FS

// Sources lists the files of all modules in FS, without proofs, in a fixed order. They include files from IncludeDirs.
var Sources = sync.OnceValue(func() []string {
	sources, err := SourcesIn(FS)
	if err != nil {
		panic(err) // FS is part of the program
	}
	return sources
})

// IncludeDirs is where the modules find linkproto.vh.
var IncludeDirs = []string{"."}

// Hash identifies the modules in FS. It is what the HASH registers of a network interface built from them show.
var Hash = sync.OnceValue(func() uint64 {
	hash, err := HashOf(FS)
	if err != nil {
		panic(err) // FS is part of the program
	}
	return hash
})

// SourcesIn is Sources for another tree of the same shape, for example os.DirFS of an edited copy.
func SourcesIn(tree fs.FS) ([]string, error) {
	files, err := fs.Glob(tree, "*/*.v")
	if err != nil {
		return nil, err
	}
	var sources []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".formal.v") {
			sources = append(sources, f)
		}
	}
	if len(sources) == 0 {
		return nil, errors.New("rtl: no modules: want a folder like rtl/, with linkproto.vh and modules in folders below it")
	}
	return sources, nil
}

// Folder is the modules in a folder that is laid out like this one; nil for "".
func Folder(dir string) (fs.FS, error) {
	if dir == "" {
		return nil, nil
	}
	tree := os.DirFS(dir)
	if _, err := HashOf(tree); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return tree, nil
}

// HashOf is Hash for another tree: the first 8 bytes of the SHA-256 over the names and contents of linkproto.vh and all modules.
func HashOf(tree fs.FS) (uint64, error) {
	sources, err := SourcesIn(tree)
	if err != nil {
		return 0, err
	}
	h := sha256.New()
	for _, name := range append([]string{"linkproto.vh"}, sources...) {
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return 0, fmt.Errorf("rtl: %w", err)
		}
		fmt.Fprintf(h, "%s\x00%d\x00%s", name, len(data), data)
	}
	return binary.LittleEndian.Uint64(h.Sum(nil)), nil
}
