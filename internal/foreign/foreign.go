// Package foreign finds checkouts of designs that are not ours, for tests that drive them.
package foreign

import (
	"os"
	"path/filepath"
	"testing"
)

// Variable is the environment variable with the folder that has the checkouts, each under the name of its repository.
const Variable = "LMMC_FOREIGN"

// Dir is the folder of a checkout. Without one the test is skipped, which says what is missing.
func Dir(t testing.TB, repository string) string {
	t.Helper()
	root := os.Getenv(Variable)
	if root == "" {
		t.Skipf("not run: %s names no folder of checkouts: set it to one that holds %s", Variable, repository)
	}
	dir, err := filepath.Abs(filepath.Join(root, repository))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("not run: %s has no checkout of %s: git clone it there", root, repository)
	}
	return dir
}

// Files are files of a checkout.
func Files(t testing.TB, repository string, names ...string) []string {
	t.Helper()
	dir := Dir(t, repository)
	var files []string
	for _, name := range names {
		found, err := filepath.Glob(filepath.Join(dir, name))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has no %s: the checkout is of another version than the test was written for", dir, name)
		}
		files = append(files, found...)
	}
	return files
}
