package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const root = "../../.."

// TestGenerated fails when a generated file is not what the tables make now.
func TestGenerated(t *testing.T) {
	for path, content := range outputs {
		have, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(have, content()) {
			t.Errorf("%s is stale: run go generate ./linkproto", path)
		}
	}
}
