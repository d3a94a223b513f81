package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestUnloadable: a program that changes its user loads no library; one that is setuid for the same user does.
func TestUnloadable(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	check.Fatal(t, os.WriteFile(program, check.Must(os.ReadFile("/bin/true"))(t), 0o755))
	const other = 65534
	for _, c := range []struct {
		mode     os.FileMode
		uid, gid int
		want     string
	}{
		{0o755, -1, -1, ""}, {0o755 | os.ModeSetuid | os.ModeSetgid, -1, -1, ""},
		{0o755, other, other, ""}, {0o755 | os.ModeSetuid, other, -1, "setuid or setgid"}, {0o755 | os.ModeSetgid, 0, other, "setuid or setgid"},
	} {
		if c.uid >= 0 && os.Geteuid() != 0 {
			t.Skip("to give a file to another user takes root")
		}
		check.Fatal(t, os.Chown(program, c.uid, c.gid))
		check.Fatal(t, os.Chmod(program, c.mode))
		check.Equal(t, c.mode.String(), unloadable(program), c.want)
	}
}
