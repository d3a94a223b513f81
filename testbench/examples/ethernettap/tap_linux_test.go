package ethernettap

import (
	"bytes"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/testbench/bus/ethernet"
)

// TestTAP: what a program sends on an interface of the kernel goes through the design, and comes back.
func TestTAP(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an interface takes root")
	}
	runtime.LockOSThread() // for good: the thread ends with the test, and with it the namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	tap, err := ethernet.OpenTAP("mirror0")
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	socket := up(t, "mirror0")
	b, source, sink := open(t)
	tap.Connect(b, source, sink)
	frame := append([]byte("\x02\x00\x00\x00\x00\x02\x02\x00\x00\x00\x00\x01\x88\xB5"), bytes.Repeat([]byte("mirror"), 20)...)
	got := make([]byte, 2000)
	for i := range 50_000 {
		if i%1000 == 0 { // again, as the kernel drops what is sent before the interface is ready
			if _, err := unix.Write(socket, frame); err != nil {
				t.Fatal(err)
			}
		}
		b.Step(100)
		if n, err := unix.Read(socket, got); err == nil && bytes.Equal(got[:n], reflected(frame)) {
			return
		} else if err != nil && err != unix.EAGAIN {
			t.Fatal(err)
		}
	}
	t.Errorf("the frame has not come back; %d frames have gone to the design, %d came from it", source.Sent(), sink.Count())
}

// up brings an interface up, and returns a socket for frames of experimental type 0x88B5 on it.
func up(t *testing.T, name string) int {
	t.Helper()
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0xB588)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(socket) })
	request, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		t.Fatal(err)
	}
	link, err := net.InterfaceByName(name)
	if err == nil {
		err = unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: 0xB588, Ifindex: link.Index})
	}
	if err != nil {
		t.Fatal(err)
	}
	return socket
}
