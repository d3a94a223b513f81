package results_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/results"
)

type document struct {
	Stamp results.Stamp `json:"stamp"`
	Count int           `json:"count"`
}

func TestWriteAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "build", "results")
	var read document
	if err := results.Read(dir, "sim", &read); !errors.Is(err, results.ErrMissing) {
		t.Errorf("without a document: %v, want ErrMissing", err)
	}
	want := document{Count: 3, Stamp: results.Stamp{
		Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), RTL: "0123456789abcdef", Tools: []results.Tool{{Name: "verilator", Version: "5.006"}},
	}}
	for want.Count = range 3 { // a second document replaces the first
		check.Fatal(t, results.Write(dir, "sim", want))
		check.Fatal(t, results.Read(dir, "sim", &read))
		check.Equal(t, "results read back", read, want)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("%d files in the folder, want 1: %v", len(files), err)
	}
}

func TestReadDamaged(t *testing.T) {
	dir := t.TempDir()
	check.Fatal(t, os.WriteFile(filepath.Join(dir, "sim.json"), []byte(`{"count": 3`), 0o666))
	var read document
	if err := results.Read(dir, "sim", &read); err == nil || errors.Is(err, results.ErrMissing) {
		t.Errorf("half a document: %v, want an error that is not ErrMissing", err)
	}
}

func TestWriteWhereItCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	check.Fatal(t, os.WriteFile(file, nil, 0o666))
	if err := results.Write(file, "sim", document{}); err == nil {
		t.Error("wrote into a file as if it were a folder")
	}
	if err := results.Write(t.TempDir(), "sim", func() {}); err == nil {
		t.Error("wrote a function as JSON")
	}
}
