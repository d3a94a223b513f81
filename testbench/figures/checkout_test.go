package figures

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// The module that test_again_cpu_minutes changes is another file then, of the same lines but for a comment before the last.
func TestChangedModule(t *testing.T) {
	const last = "`resetall\n"
	before := check.Must(os.ReadFile(filepath.Join("../..", changed)))(t)
	path := filepath.Join(t.TempDir(), "changed.v")
	check.Fatal(t, os.WriteFile(path, before, 0o666))
	check.Fatal(t, changeModule(path))
	after := check.Must(os.ReadFile(path))(t)
	check.Equal(t, "changed module", string(after), string(before[:len(before)-len(last)])+"// Changed.\n"+last)
}
