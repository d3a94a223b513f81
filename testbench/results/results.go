// Package results keeps what the commands of lmmc found as JSON documents in a folder, one a command, for the report to read.
//
// Each document is a struct of the package that produces it, with a Stamp under the key "stamp" that says what it is about.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Dir is the folder of the documents, below the one that a command is started in.
const Dir = "build/results"

// Stamp says when a document was made, and from what.
type Stamp struct {
	Time   time.Time `json:"time"`
	RTL    string    `json:"rtl"`    // hash of the Verilog sources, as the HASH registers show it; 16 hexadecimal digits
	Commit string    `json:"commit"` // of the program's sources, "" when the build does not know it
	// Modified says that the sources differed from the commit.
	Modified bool   `json:"modified"`
	Tools    []Tool `json:"tools"`
}

// Tool is a program that took part.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ErrMissing means that a document does not exist: its command has not run in this folder.
var ErrMissing = errors.New("results: no document")

// Write stores a document as dir/name.json. A reader sees the old document or the new one, never a part.
func Write(dir, name string, document any) error {
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return fmt.Errorf("results: %s: %w", name, err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return WriteFile(path(dir, name), append(text, '\n'))
}

// WriteFile writes a file whole: its name stands for the old content until the new one is complete.
func WriteFile(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("results: %w", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// Read fills document, a pointer, from dir/name.json. Members that the file has and document has not are ignored.
func Read(dir, name string, document any) error {
	text, err := os.ReadFile(path(dir, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrMissing, path(dir, name))
	case err != nil:
		return fmt.Errorf("results: %w", err)
	}
	if err := json.Unmarshal(text, document); err != nil {
		return fmt.Errorf("results: %s is damaged, run its command again: %w", path(dir, name), err)
	}
	return nil
}

func path(dir, name string) string { return filepath.Join(dir, name+".json") }
