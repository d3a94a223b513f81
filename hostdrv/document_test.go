package hostdrv_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestDocument runs the program of doc/driver.md as it is written there.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../doc/driver.md")
	if err != nil {
		t.Fatal(err)
	}
	_, from, ok := bytes.Cut(document, []byte("```go\npackage main\n"))
	program, _, closed := bytes.Cut(from, []byte("```\n"))
	if !ok || !closed {
		t.Fatal("there is no program in doc/driver.md")
	}
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, append([]byte("package main\n"), program...), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput(); err != nil || string(out) != "hello\n" {
		t.Errorf("it ends with %v and prints %q, want \"hello\"", err, out)
	}
}
