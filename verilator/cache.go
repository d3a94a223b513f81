package verilator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/stafflink/lmmc/internal/try"
)

// cache is the folder that holds what was compiled. Everything in it is made under another name and renamed, so what
// has its name is complete; all of it may be deleted at any time.
type cache string

// openCache returns $LMMC_CACHE, or lmmc in the user's cache folder.
func openCache() cache {
	dir := os.Getenv("LMMC_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		try.Wrap(err, "verilator: no cache folder (set LMMC_CACHE)")
		dir = filepath.Join(user, "lmmc")
	}
	dir = try.Get(filepath.Abs(dir))
	try.Wrap(os.MkdirAll(filepath.Join(dir, "lock"), 0o777), "verilator: cache folder (set LMMC_CACHE to move it)")
	return cache(dir)
}

// CacheDir returns a folder of the cache, which it makes, for what others compile or derive from designs. What is in it for
// long may be deleted at any time.
func CacheDir(name string) (dir string, err error) {
	err = try.Run(func() {
		dir = openCache().path(name)
		try.OK(os.MkdirAll(dir, 0o777))
	})
	return dir, err
}

func (c cache) path(name string) string { return filepath.Join(string(c), name) }

// lock keeps other processes and goroutines from making the same thing, and returns the function that lets them.
func (c cache) lock(ctx context.Context, name string) (unlock func()) {
	for {
		if unlock = c.tryLock(name); unlock != nil {
			return unlock
		}
		select {
		case <-ctx.Done():
			try.OK(ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// tryLock is lock, but returns nil when others hold it.
func (c cache) tryLock(name string) (unlock func()) {
	f, err := os.OpenFile(filepath.Join(string(c), "lock", filepath.Base(name)), os.O_CREATE|os.O_RDWR, 0o666)
	try.Wrap(err, "verilator: cache lock")
	if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return func() { f.Close() }
	}
	f.Close()
	if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
		try.Wrap(err, "verilator: cache lock")
	}
	return nil
}

// once returns the path of the named file or folder; create makes it, at the path it is given, when there is none.
func (c cache) once(ctx context.Context, name string, create func(path string)) string {
	path := c.path(name)
	if exists(path) {
		return path
	}
	defer c.lock(ctx, name)()
	if !exists(path) {
		c.replace(path, create)
	}
	return path
}

// replace makes a file or folder under another name and renames it.
func (c cache) replace(path string, create func(path string)) {
	try.OK(os.MkdirAll(filepath.Dir(path), 0o777))
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	defer os.RemoveAll(temp)
	create(temp)
	try.OK(os.Rename(temp, path))
}

const keepUnused = 30 * 24 * time.Hour

// used says that something in the cache was of use today.
func (c cache) used(name string) {
	now := time.Now()
	os.Chtimes(c.path(name), now, now) // of no consequence when it fails
}

// prune deletes what nobody has used for long, and what killed processes left of models that nobody is compiling now.
func (c cache) prune() {
	for _, pattern := range []string{"object/*", "runtime-*", "manifest/*", "rewrite/*", "mutants/*", "boards/*", "results/*"} {
		found, _ := filepath.Glob(c.path(pattern))
		for _, path := range found {
			if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > keepUnused {
				os.RemoveAll(path)
			}
		}
	}
	left, _ := filepath.Glob(c.path("build/*"))
	for _, dir := range left {
		if unlock := c.tryLock(filepath.Base(dir)); unlock != nil {
			os.RemoveAll(dir)
			unlock()
		}
	}
}
