package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestCopyProgram copies the program for the nodes several times at once, as when networks begin together.
func TestCopyProgram(t *testing.T) {
	to := filepath.Join(t.TempDir(), "parts", "lmmc")
	want := check.Must(os.ReadFile(self))(t)
	var ended []<-chan error
	for range 8 {
		ended = append(ended, check.Go(func() error { return copyProgram(to) }))
	}
	for _, err := range ended {
		check.Error(t, <-err)
	}
	have := check.Must(os.ReadFile(to))(t)
	check.Equal(t, "it is whole", bytes.Equal(have, want), true)
	check.Equal(t, "mode", check.Must(os.Stat(to))(t).Mode()&0o700, os.FileMode(0o700))
}
