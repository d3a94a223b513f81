package foreign

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestFiles(t *testing.T) {
	root := t.TempDir()
	t.Setenv(Variable, root)
	check.Fatal(t, os.MkdirAll(filepath.Join(root, "core", "rtl"), 0o777))
	for _, name := range []string{"a.v", "b.v"} {
		check.Fatal(t, os.WriteFile(filepath.Join(root, "core", "rtl", name), nil, 0o666))
	}
	check.Equal(t, "files", Files(t, "core", "rtl/*.v"), []string{filepath.Join(root, "core", "rtl", "a.v"), filepath.Join(root, "core", "rtl", "b.v")})
	for _, folder := range []string{"", root} {
		t.Run("without "+folder, func(t *testing.T) {
			t.Setenv(Variable, folder)
			skipped := false
			t.Run("other", func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				Dir(t, "other")
			})
			check.Equal(t, "skipped", skipped, true)
		})
	}
}
