package guest_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

const insideVariable = "LMMC_TEST_INSIDE"

// TestInside is what the tests of this package run in guests.
func TestInside(t *testing.T) {
	if os.Getenv(insideVariable) == "" {
		t.Skip("runs in guests that other tests boot")
	}
	t.Run("pass", lookAround)
	t.Run("fail", func(t *testing.T) { t.Error("as it should be") })
	t.Run("panic", func(*testing.T) { panic("on purpose") })
	t.Run("killed", func(*testing.T) { syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	t.Run("hang", func(*testing.T) { hangForever() })
}

func hangForever() { select {} }

// lookAround checks what the package promises of a guest.
func lookAround(t *testing.T) {
	os.Stderr.WriteString("this is stderr\n")
	check.Equal(t, "testdata", string(check.Must(os.ReadFile("testdata/hello.txt"))(t)), "hello\n")
	modules := check.Must(os.ReadFile("/proc/modules"))(t)
	check.Contains(t, "modules", "\n"+string(modules), "\nusbcore ", "\nvhci_hcd ", "\nusbserial ", "\nftdi_sio ")
	check.Must(os.Stat("/sys/bus/usb-serial/drivers/ftdi_sio"))(t)
	if devices, err := filepath.Glob("/dev/bus/usb/*/*"); err != nil || len(devices) == 0 {
		t.Errorf("devices of USB: %v, %v", devices, err)
	}
	check.Fails(t, "a program that the guest was not given", exec.Command("iceprog", "--help").Run(), nil)
	tcp(t)
	dir := os.Getenv("LMMC_RESULTS")
	for name, content := range map[string]string{"made": "by the guest\x00\xff", "folder/other": ""} {
		check.Error(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666))
	}
	for _, dir := range []string{"/tmp", "/run", "/dev/shm", "/root"} {
		check.Error(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o666))
	}
}

func tcp(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err == nil {
			io.WriteString(c, "hello")
			c.Close()
		}
	}()
	c := check.Must(net.Dial("tcp", l.Addr().String()))(t)
	defer c.Close()
	check.Equal(t, "received over the loopback device", string(check.Must(io.ReadAll(c))(t)), "hello")
}
