package serve_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/serve"
	"github.com/stafflink/lmmc/internal/check"
)

func TestListen(t *testing.T) {
	path := socket(t)
	dir := filepath.Dir(path)
	l, err := serve.Listen(path, "")
	check.Fatal(t, err)
	if _, err := serve.Listen(path, ""); !errors.Is(err, serve.ErrServed) {
		t.Errorf("a second server: %v", err)
	}
	check.Error(t, l.Close())
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// A server that was killed leaves its socket and its lock.
	dead := check.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))(t)
	dead.SetUnlinkOnClose(false)
	check.Fatal(t, errors.Join(dead.Close(), os.WriteFile(path+".lock", nil, 0o600)))
	if l, err = serve.Listen(path, ""); err != nil {
		t.Fatal(err)
	}
	check.Error(t, l.Close())
	// What is no socket stays.
	check.Fatal(t, os.WriteFile(path, []byte("mine"), 0o600))
	if _, err := serve.Listen(path, ""); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("over a file: %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	check.Fatal(t, os.Remove(path))
	for group, want := range map[string]string{"no-such-group": "no-such-group"} {
		if _, err := serve.Listen(path, group); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("group %s: %v", group, err)
		}
	}
	if _, err := serve.Listen(path+strings.Repeat("x", 100), ""); err == nil || !strings.Contains(err.Error(), "choose a shorter one") {
		t.Errorf("a long path: %v", err)
	}
	if _, err := serve.Listen(filepath.Join(dir, "no", "folder"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
