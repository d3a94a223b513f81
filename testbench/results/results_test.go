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
	check.Fails(t, "without a document", results.Read(dir, "sim", &read), results.ErrMissing)
	want := document{Count: 3, Stamp: results.Stamp{
		Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), RTL: "0123456789abcdef", Tools: []results.Tool{{Name: "verilator", Version: "5.006"}},
	}}
	for want.Count = range 3 { // a second document replaces the first
		check.Fatal(t, results.Write(dir, "sim", want))
		check.Fatal(t, results.Read(dir, "sim", &read))
		check.Equal(t, "results read back", read, want)
	}
	check.Equal(t, "files in the folder", len(check.Must(os.ReadDir(dir))(t)), 1)
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
	check.Fails(t, "a file in place of a folder", results.Write(file, "sim", document{}), nil)
	check.Fails(t, "a function as JSON", results.Write(t.TempDir(), "sim", func() {}), nil)
}
