package verilator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The go command takes a test's result from its cache unless a file has changed that the test has opened, but looks only at files whose
// path begins with the folder of the test's module. So files elsewhere are opened by paths that begin there, and climb out.

// climb is such a path's beginning, up to the root of the file system; "" when no test runs, or one that the go command did not start.
var climb = func() string {
	dir, err := os.Getwd()
	if err != nil || !testing.Testing() {
		return ""
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return dir + strings.Repeat("/..", strings.Count(real, "/"))
}()

// noted returns a path to the same file by which the go command notes that it was opened.
func noted(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil || climb == "" {
		return path
	}
	return climb + abs
}

// note opens a file for the go command to note it.
func note(path string) {
	if f, err := os.Open(noted(path)); err == nil {
		f.Close()
	}
}
