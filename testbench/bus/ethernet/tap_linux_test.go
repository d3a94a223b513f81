package ethernet_test

import (
	"bytes"
	"errors"
	"net"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/bus/ethernet"
)

// What a program sends on an interface goes through a design, and comes back to it from the interface.
func TestTAP(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("an interface takes root")
	}
	runtime.LockOSThread() // for good: the thread ends with the test, and with it the namespace
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Skipf("no network namespaces here: %v", err)
	}
	tap := check.Must(ethernet.OpenTAP("bench0"))(t)
	defer tap.Close()
	check.Fails(t, "the same again", check.Err(ethernet.OpenTAP("bench0")), unix.EBUSY, `ethernet: TAP "bench0": `, "a name that no interface has")
	check.Fails(t, "no name", check.Err(ethernet.OpenTAP("")), nil, "want a name of 1 to 15 characters")
	socket := up(t, "bench0")

	b := testbench.New(t, through, testbench.Config{})
	source := check.Must(ethernet.NewGMIISource(b, "g", ethernet.Config{}))(t)
	sink := check.Must(ethernet.NewGMIISink(b, "g", ethernet.Config{}))(t)
	check.Fatal(t, b.Reset("rst", 4))
	tap.Connect(b, source, sink)
	frame := append([]byte("\xFF\xFF\xFF\xFF\xFF\xFF\x02\x00\x00\x00\x00\x01\x88\xB5"), bytes.Repeat([]byte("bench"), 20)...)
	got := make([]byte, 2000)
	for i := range 50_000 {
		if i%1000 == 0 { // again, as the kernel drops what is sent before the interface is ready
			check.Must(unix.Write(socket, frame))(t)
		}
		check.Fatal(t, b.Step(100))
		n, err := unix.Read(socket, got)
		if err == nil && bytes.Equal(got[:n], frame) {
			return
		}
		if err != nil && !errors.Is(err, unix.EAGAIN) {
			t.Fatal(err)
		}
	}
	t.Errorf("the frame has not come back; %d frames have gone to the design, %d came from it", source.Sent(), sink.Count())
}

// up brings an interface up, and returns a socket that sends and receives frames of experimental type 0x88B5 on it.
func up(t *testing.T, name string) int {
	t.Helper()
	socket := check.Must(unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0xB588))(t)
	t.Cleanup(func() { unix.Close(socket) })
	request := check.Must(unix.NewIfreq(name))(t)
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	check.Fatal(t, unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request))
	link := check.Must(net.InterfaceByName(name))(t)
	check.Fatal(t, unix.Bind(socket, &unix.SockaddrLinklayer{Protocol: 0xB588, Ifindex: link.Index}))
	return socket
}
