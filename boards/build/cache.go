package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/verilator"
)

// hash identifies inputs. kind keeps different results of the same inputs apart.
func hash(kind string, inputs ...any) string {
	text, err := json.Marshal(inputs) // sorts maps by key
	if err != nil {
		panic(err) // inputs are strings, numbers and maps of them
	}
	sum := sha256.Sum256(text)
	return kind + "-" + hex.EncodeToString(sum[:12])
}

// once returns the folder of the cache that is kept under key; make fills it when there is none. Two processes may both do so: the
// results are the same.
func once(ctx context.Context, key string, make func(dir string) error) (string, error) {
	parent, err := verilator.CacheDir("boards")
	if err != nil {
		return "", err
	}
	dir := filepath.Join(parent, key)
	if _, err := os.Stat(dir); err == nil {
		now := time.Now()
		os.Chtimes(dir, now, now) // of no consequence when it fails
		return dir, nil
	}
	temp, err := os.MkdirTemp(parent, key+".tmp")
	if err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := make(temp); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, exists := os.Stat(dir); exists != nil {
			return "", fmt.Errorf("build: %w", err)
		}
	}
	return dir, nil
}
