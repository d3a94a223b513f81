package campaign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// header is the first line of a file with an entry. Another version of the format has another one.
const header = "lmmc result 1\n"

var (
	errVersion = errors.New("written by another version")
	errDamaged = errors.New("damaged or half written")
)

// entry is what a file keeps of a job that was run.
type entry struct {
	Name    string          `json:"name"`
	Elapsed time.Duration   `json:"elapsed"`
	Value   json.RawMessage `json:"value"`
	// Failed says that the job failed, with Error. Fatal is the place of that error in Options.Fatal, from 1; 0 for none.
	Failed bool   `json:"failed,omitempty"`
	Error  string `json:"error,omitempty"`
	Fatal  int    `json:"fatal,omitempty"`
}

func keptFile(dir, key string) string { return filepath.Join(dir, key) }

// readEntry reads what writeEntry wrote. It returns errVersion or errDamaged if something else did, or did not come to its end.
func readEntry(file string) (e entry, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return e, err
	}
	rest, ours := bytes.CutPrefix(data, []byte(header))
	if !ours && len(data) > len(header) && bytes.HasPrefix(data, []byte("lmmc result ")) {
		return e, errVersion
	}
	sum, body, found := bytes.Cut(rest, []byte("\n"))
	if !ours || !found || string(sum) != digest(body) || json.Unmarshal(body, &e) != nil {
		return entry{}, errDamaged
	}
	now := time.Now()
	os.Chtimes(file, now, now) // what is of use is not old; of no consequence when it fails
	return e, nil
}

// writeEntry writes a file in one step.
func writeEntry(file string, e entry) error {
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return WriteFile(file, fmt.Appendf(nil, "%s%s\n%s", header, digest(body), body), 0o666)
}

// WriteFile writes a file, and the folders above it, in one step: its name stands for the old content until the new one is complete.
func WriteFile(file string, data []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode&^0o022), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Key hashes parts of what a result follows from. Each part counts for itself: ("ab", "c") and ("a", "bc") differ.
func Key(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s\n", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Program hashes the program that is running: its code and what is embedded in it.
var Program = sync.OnceValues(func() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(self)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})

// HashFS hashes the names and contents of all files of a tree.
func HashFS(tree fs.FS) (string, error) {
	h := sha256.New()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(tree, name)
		fmt.Fprintf(h, "%q %d\n%s\n", name, len(data), data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// Environment returns the variables whose names begin with prefix, but for those named, as a part of a Key.
func Environment(prefix string, without ...string) string {
	var list []string
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, prefix) && !slices.Contains(without, name) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\x00")
}
