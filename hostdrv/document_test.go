package hostdrv_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestDocument runs the program of doc/driver.md as it is written there.
func TestDocument(t *testing.T) {
	document := check.Must(os.ReadFile("../doc/driver.md"))(t)
	_, from, ok := bytes.Cut(document, []byte("```go\npackage main\n"))
	program, _, closed := bytes.Cut(from, []byte("```\n"))
	if !ok || !closed {
		t.Fatal("there is no program in doc/driver.md")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	check.Fatal(t, os.WriteFile(file, append([]byte("package main\n"), program...), 0o666))
	check.Equal(t, "output", string(check.Must(exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput())(t)), "hello\n")
}
