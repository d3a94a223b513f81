package cache_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cache"
)

func TestFolder(t *testing.T) {
	t.Setenv("LMMC_CACHE", t.TempDir())
	filled := 0
	fill := func(dir string) error {
		filled++
		return os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o666)
	}
	key := cache.Key("text", map[string]string{"a": "1", "b": "2"}, 3)
	for range 2 {
		dir := check.Must(cache.Folder(t.Context(), "area", key, fill))(t)
		check.Equal(t, "content", string(check.Must(os.ReadFile(filepath.Join(dir, "file")))(t)), "content")
	}
	check.Equal(t, "times filled", filled, 1)
	check.Must(cache.Folder(t.Context(), "area", cache.Key("text", 4), fill))(t)
	check.Equal(t, "times filled with another key", filled, 2)

	broken := errors.New("broken")
	err := check.Err(cache.Folder(t.Context(), "area", cache.Key("text", 5), func(string) error { return broken }))
	check.Fails(t, "a folder that cannot be filled", err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Fails(t, "cancelled", check.Err(cache.Folder(ctx, "area", cache.Key("text", 6), fill)), context.Canceled)
	kept := check.Must(filepath.Glob(filepath.Join(os.Getenv("LMMC_CACHE"), "area", "*")))(t)
	check.Equal(t, "folders kept", len(kept), 2)
}
