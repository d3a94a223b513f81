// Package rtl holds the Verilog of the network interface, so that programs can compile it wherever they run.
package rtl

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"io/fs"
	"strings"
	"sync"
)

// FS holds the modules (common/, phy/, link/, ni/) and the generated header linkproto.vh.
//
//go:embed linkproto.vh */*.v
var FS embed.FS

// Sources lists the files of all modules, without proofs, in a fixed order. Every folder of FS and FS itself must be
// searched for includes: see IncludeDirs.
var Sources = sync.OnceValue(func() []string {
	files, err := fs.Glob(FS, "*/*.v")
	if err != nil {
		panic(err) // the pattern is constant
	}
	var sources []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".formal.v") {
			sources = append(sources, f)
		}
	}
	return sources
})

// IncludeDirs is where the modules find linkproto.vh.
var IncludeDirs = []string{"."}

// Hash identifies the sources: the first 8 bytes of the SHA-256 over all names and contents. It is what the HASH registers
// of a network interface built from them show.
var Hash = sync.OnceValue(func() uint64 {
	h := sha256.New()
	for _, name := range append([]string{"linkproto.vh"}, Sources()...) {
		data, err := FS.ReadFile(name)
		if err != nil {
			panic(err) // the files are part of the program
		}
		h.Write([]byte(name))
		h.Write([]byte{0})
		h.Write(data)
		h.Write([]byte{0})
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
})
