package verilator

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/stafflink/lmmc/internal/try"
)

// RewriteVar names the environment variable by which a program puts other modules in the place of a design's own, for example mutants,
// without the tests of the design knowing: a JSON list of the program and its arguments. Build then runs the program once for each
// Design and its files, with a Rewritable on standard input, in a folder of the cache that is empty but for what the design's FS
// holds (in FS/). A file that the program leaves in the folder takes the place of the source of that name, and is found before
// those in IncludeDirs. When it fails, so does Build. The variable is part of what the cache is addressed by.
const RewriteVar = "LMMC_REWRITE"

// Rewritable is what the program of RewriteVar is told of a design. Paths are absolute.
type Rewritable struct {
	Top                  string
	Sources, IncludeDirs []string
	Params, Defines      map[string]string
}

// rewriter returns the command in RewriteVar, nil if there is none.
func rewriter() (command []string) {
	text := os.Getenv(RewriteVar)
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &command); err != nil || len(command) == 0 {
		try.Failf("verilator: %s=%q: want a JSON list of a program and its arguments", RewriteVar, text)
	}
	return command
}

func (r Rewritable) rewrite(ctx context.Context, dir string, command []string) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(try.Get(json.Marshal(r)))
	if out, err := cmd.CombinedOutput(); err != nil {
		try.Failf("verilator: design %s: %s: %w\n%s", r.Top, command[0], err, out)
	}
}

// rewrite returns the design as the program of RewriteVar leaves it; d itself when there is none.
func (s *support) rewrite(ctx context.Context, d Design) Design {
	command := rewriter()
	if command == nil {
		return d
	}
	key := d.rewriteKey(command)
	dir := s.cache.once(ctx, "rewrite/"+key, func(dir string) {
		try.OK(os.MkdirAll(dir, 0o777))
		if d.FS != nil {
			try.OK(d.extract(filepath.Join(dir, "FS")))
		}
		d.under(dir).rewrite(ctx, dir, command)
	})
	s.cache.used("rewrite/" + key)
	told := d.under(dir)
	for i, source := range told.Sources {
		if own := filepath.Join(dir, filepath.Base(source)); exists(own) {
			told.Sources[i] = own
		}
	}
	d.FS, d.Sources, d.IncludeDirs = nil, told.Sources, append([]string{dir}, told.IncludeDirs...)
	return d
}

// under is the design with FS extracted below dir.
func (d *Design) under(dir string) Rewritable {
	told := Rewritable{Top: d.Top, Params: d.Params, Defines: d.Defines}
	for to, names := range map[*[]string][]string{&told.Sources: d.Sources, &told.IncludeDirs: d.IncludeDirs} {
		for _, name := range names {
			if d.FS != nil && !filepath.IsAbs(name) {
				name = filepath.Join(dir, "FS", filepath.FromSlash(name))
			}
			*to = append(*to, try.Get(filepath.Abs(name)))
		}
	}
	return told
}

// rewriteKey identifies a design with the contents of all files that it may consist of, and the program that rewrites it.
func (d *Design) rewriteKey(command []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n%q\n", command, d.arguments())
	if path, err := exec.LookPath(command[0]); err == nil {
		if info, err := os.Stat(path); err == nil {
			fmt.Fprintf(h, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		}
	}
	names := slices.Clone(d.Sources)
	for _, dir := range d.IncludeDirs {
		for _, name := range d.verilogNames(dir) {
			names = append(names, filepath.Join(dir, name))
		}
	}
	for _, name := range names {
		data, err := d.read(name)
		if !errors.Is(err, fs.ErrNotExist) { // Verilator says better what is missing
			try.OK(err)
		}
		fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(data))
	}
	if d.FS == nil { // the same names elsewhere are other files
		fmt.Fprintf(h, "%q\n", try.Get(os.Getwd()))
	}
	return fmt.Sprintf("%s-%x", d.Top, h.Sum(nil)[:12])
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
