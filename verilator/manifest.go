package verilator

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/internal/try"
)

// A manifest says which build belongs to which contents of the files that Verilator read. Which files these are only
// Verilator knows, so it is asked once for each Design and the answer is kept.
type manifest []manifestEntry

type manifestEntry struct {
	Files  map[string]string // name as Verilator spelled it -> SHA-256
	Object string            // folder under the cache
}

const manifestLength = 16 // builds remembered for each Design

// key identifies everything about a design but the contents of its files.
func (s *support) key(d *Design) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%q\n%q\n%v\n", s.dir, d.buildArguments(), append(slices.Concat(d.Public, []string{"/"}), d.Forceable...), d.FS != nil)
	for _, dir := range d.IncludeDirs {
		fmt.Fprintf(h, "%q\n", d.verilogNames(dir)) // a new file may hide an old one
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

func manifestFile(key string) string { return "manifest/" + key }

func (s *support) manifest(key string) manifest {
	data, err := os.ReadFile(s.cache.path(manifestFile(key)))
	if err != nil {
		return nil
	}
	var m manifest
	if json.Unmarshal(data, &m) != nil {
		return nil
	}
	return m
}

// find returns the folder of the build whose files are as they are now.
func (s *support) find(d *Design, key string) (string, bool) {
	sums := map[string]string{}
	sum := func(name string) string {
		if _, known := sums[name]; !known {
			sums[name] = ""
			if data, err := d.read(name); err == nil {
				sums[name] = checksum(data)
			}
		}
		return sums[name]
	}
	for _, e := range s.manifest(key) {
		changed := slices.ContainsFunc(slices.Collect(maps.Keys(e.Files)), func(name string) bool { return sum(name) != e.Files[name] })
		if !changed && exists(s.cache.path(e.Object+"/model.so")) {
			s.cache.used(e.Object)
			return e.Object, true
		}
	}
	return "", false
}

func (s *support) remember(key string, e manifestEntry) {
	m := append(manifest{e}, s.manifest(key)...)
	data := try.Get(json.Marshal(m[:min(len(m), manifestLength)]))
	s.cache.replace(s.cache.path(manifestFile(key)), func(path string) { try.OK(os.WriteFile(path, data, 0o666)) })
}

func checksum(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

var sourceLine = regexp.MustCompile(`(?m)^S .*"([^"]+)"$`)

// filesRead lists what Verilator read for the design, from the listing that it left in dir.
func (s *support) filesRead(d *Design, dir string) map[string]string {
	listing, err := os.ReadFile(filepath.Join(dir, "Vmodel__verFiles.dat"))
	try.Wrap(err, "verilator: no list of files read")
	files := map[string]string{}
	for _, m := range sourceLine.FindAllStringSubmatch(string(listing), -1) {
		name := m[1]
		if strings.HasPrefix(name, s.tools.verilator) {
			continue // the program itself, which the key covers
		}
		if filepath.Dir(name) == dir || filepath.Dir(name) == filepath.Dir(dir) {
			continue // what we have written
		}
		data, err := d.read(name)
		try.Wrap(err, "verilator: file vanished while %s was built", d.Top)
		files[name] = checksum(data)
	}
	return files
}
