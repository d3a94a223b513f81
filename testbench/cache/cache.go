// Package cache keeps what tools have made, in folders named after a hash of what they made it from. The folders lie in the cache of package
// verilator and may be deleted at any time.
package cache

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

// Key identifies inputs. Kind keeps different results of the same inputs apart.
func Key(kind string, inputs ...any) string {
	text, err := json.Marshal(inputs) // sorts maps by key
	if err != nil {
		panic(err) // inputs are strings, numbers, and structs and maps of them
	}
	sum := sha256.Sum256(text)
	return kind + "-" + hex.EncodeToString(sum[:12])
}

// Folder returns the folder kept under key; fill makes its content when there is none. Two processes may both do so: the
// results are the same.
func Folder(ctx context.Context, area, key string, fill func(dir string) error) (string, error) {
	parent, err := verilator.CacheDir(area)
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
		return "", fmt.Errorf("cache: %w", err)
	}
	defer os.RemoveAll(temp)
	if err := fill(temp); err != nil {
		return "", err
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, exists := os.Stat(dir); exists != nil {
			return "", fmt.Errorf("cache: %w", err)
		}
	}
	return dir, nil
}
