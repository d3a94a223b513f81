package verilator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// cache is the folder that holds what was compiled. Everything in it is made under another name and renamed, so what
// has its name is complete; all of it may be deleted at any time.
type cache string

// openCache returns $LMMC_CACHE, or lmmc in the user's cache folder.
func openCache() (cache, error) {
	dir := os.Getenv("LMMC_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("verilator: no cache folder (set LMMC_CACHE): %w", err)
		}
		dir = filepath.Join(user, "lmmc")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(dir, "lock"), 0o777); err != nil {
		return "", fmt.Errorf("verilator: cache folder (set LMMC_CACHE to move it): %w", err)
	}
	return cache(dir), nil
}

// CacheDir returns a folder of the cache, which it makes, for what others compile or derive from designs. What is in it for
// long may be deleted at any time.
func CacheDir(name string) (string, error) {
	c, err := openCache()
	if err != nil {
		return "", err
	}
	return c.path(name), os.MkdirAll(c.path(name), 0o777)
}

func (c cache) path(name string) string { return filepath.Join(string(c), name) }

// lock keeps other processes and goroutines from making the same thing, and returns the function that lets them.
func (c cache) lock(ctx context.Context, name string) (func(), error) {
	f, err := os.OpenFile(filepath.Join(string(c), "lock", filepath.Base(name)), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("verilator: cache lock: %w", err)
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("verilator: cache lock: %w", err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// once returns the path of the named file or folder; create makes it, at the path it is given, when there is none.
func (c cache) once(ctx context.Context, name string, create func(path string) error) (string, error) {
	path := c.path(name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	unlock, err := c.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return "", err
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	defer os.RemoveAll(temp)
	if err := create(temp); err != nil {
		return "", err
	}
	return path, os.Rename(temp, path)
}

// put writes a file in one step.
func (c cache) put(name string, data []byte) error {
	path := c.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(temp, data, 0o666); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

const (
	keepUnused = 30 * 24 * time.Hour // what was compiled
	keepBroken = 24 * time.Hour      // what a killed process left
)

// used says that something in the cache was of use today.
func (c cache) used(name string) {
	now := time.Now()
	os.Chtimes(c.path(name), now, now) // of no consequence when it fails
}

// prune deletes what nobody has used for long.
func (c cache) prune() {
	for pattern, keep := range map[string]time.Duration{"object/*": keepUnused, "runtime-*": keepUnused, "manifest/*": keepUnused,
		"rewrite/*": keepUnused, "mutants/*": keepUnused, "boards/*": keepUnused, "results/*": keepUnused, "build-*.tmp": keepBroken} {
		found, _ := filepath.Glob(c.path(pattern))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keep {
				os.RemoveAll(path)
			}
		}
	}
}
