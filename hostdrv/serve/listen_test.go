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
	"github.com/stafflink/lmmc/testbench/drivertest"
)

func TestListen(t *testing.T) {
	path := drivertest.Socket(t)
	dir := filepath.Dir(path)
	l := check.Must(serve.Listen(path, ""))(t)
	check.Fails(t, "a second server", check.Err(serve.Listen(path, "")), serve.ErrServed)
	check.Error(t, l.Close())
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// A server that was killed leaves its socket and its lock.
	dead := check.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))(t)
	dead.SetUnlinkOnClose(false)
	check.Fatal(t, errors.Join(dead.Close(), os.WriteFile(path+".lock", nil, 0o600)))
	l = check.Must(serve.Listen(path, ""))(t)
	check.Error(t, l.Close())
	// What is no socket stays.
	check.Fatal(t, os.WriteFile(path, []byte("mine"), 0o600))
	check.Fails(t, "over a file", check.Err(serve.Listen(path, "")), nil, "no socket")
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	check.Fatal(t, os.Remove(path))
	check.Fails(t, "no group", check.Err(serve.Listen(path, "no-such-group")), nil, "no-such-group")
	check.Fails(t, "a long path", check.Err(serve.Listen(path+strings.Repeat("x", 100), "")), nil, "choose a shorter one")
	check.Fails(t, "no folder", check.Err(serve.Listen(filepath.Join(dir, "no", "folder"), "")), os.ErrNotExist)
}
