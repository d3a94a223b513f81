package project

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// A folder is made whatever way it is named: with a slash at the end, or as the empty one that one is in.
func TestWaysToNameAFolder(t *testing.T) {
	checkout := check.Must(filepath.Abs("../../.."))(t)
	for name, named := range map[string]string{"slash at the end": "kit" + string(filepath.Separator), "folder that is there": "kit", "the current folder": "."} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			made := filepath.Join(dir, "kit")
			t.Chdir(dir)
			if name != "slash at the end" {
				check.Fatal(t, os.Mkdir(made, 0o777))
			}
			if named == "." {
				t.Chdir(made)
			}
			got, err := Write(Options{Dir: named, LMMC: checkout})
			check.Fatal(t, err)
			check.Equal(t, "name", got, "kit")
			check.Fatal(t, check.Err(os.Stat(filepath.Join(made, "go.mod"))))
			check.Equal(t, "folders beside it", len(check.Must(os.ReadDir(dir))(t)), 1)
			_, err = os.Stat("go.mod") // of where one is now
			check.Equal(t, "found from here", err == nil, named == ".")
		})
	}
}
