package usbip_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/boards/virtual/usbip"
	"github.com/stafflink/lmmc/internal/check"
)

func dial(t testing.TB, a net.Addr) net.Conn {
	t.Helper()
	conn := check.Must(net.Dial("tcp", a.String()))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// client imports a device and configures it.
func client(t *testing.T, a net.Addr, id string) *usbip.Client {
	t.Helper()
	conn := dial(t, a)
	info := check.Must(usbip.Import(t.Context(), conn, id))(t)
	c := usbip.NewClient(conn, info)
	t.Cleanup(c.Close)
	configure := &usbdev.Transfer{Setup: usbdev.Setup{Request: 9, Value: 1}}
	if err := usbdev.Carry(t.Context(), c, configure); err != nil || configure.Status != usbdev.OK {
		t.Fatalf("%v %v", err, configure.Status)
	}
	return c
}

func carry(t *testing.T, b usbdev.Bus, transfer *usbdev.Transfer) *usbdev.Transfer {
	t.Helper()
	check.Fatal(t, usbdev.Carry(t.Context(), b, transfer))
	return transfer
}

func TestTransfers(t *testing.T) {
	e := newEcho()
	c := client(t, serve(t, usbip.Export{BusID: "1-1", Device: e.device}), "1-1")
	data := bytes.Repeat([]byte("0123456789"), 123)
	if x := carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: data, Zero: true}); x.Status != usbdev.OK || x.Actual != len(data) {
		t.Errorf("%v %d", x.Status, x.Actual)
	}
	if x := carry(t, c, &usbdev.Transfer{Endpoint: 0x81, Room: 4096}); x.Status != usbdev.OK || !bytes.Equal(x.Data, data) {
		t.Errorf("%v %q", x.Status, x.Data)
	}
	check.Equal(t, "bytes sent", carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: make([]byte, 512), Zero: true}).Actual, 512)
	check.Equal(t, "bytes received", carry(t, c, &usbdev.Transfer{Endpoint: 0x81, Room: 4096}).Actual, 512) // ended by the empty packet
	setup := usbdev.Setup{Type: 0x40, Request: 7, Value: 0x1234, Index: 0x5678, Length: 3}
	if x := carry(t, c, &usbdev.Transfer{Setup: setup, Data: []byte("abc")}); x.Status != usbdev.OK || x.Actual != 3 {
		t.Errorf("%v %d", x.Status, x.Actual)
	}
	setup.Type |= usbdev.In
	check.Equal(t, "answer to a request", string(carry(t, c, &usbdev.Transfer{Endpoint: usbdev.In, Setup: setup, Room: 3}).Data), "\xC0\x07\x34")
	for endpoint, want := range map[byte]usbdev.Status{0: usbdev.Stalled, 9: usbdev.Absent} {
		check.Equal(t, fmt.Sprint("status at endpoint ", endpoint), carry(t, c, &usbdev.Transfer{Endpoint: endpoint, Setup: usbdev.Setup{Type: 0x40, Request: 1}}).Status, want)
	}
	carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: []byte("longer")})
	if x := carry(t, c, &usbdev.Transfer{Endpoint: 0x81, Room: 4}); x.Status != usbdev.Overflow || string(x.Data) != "long" {
		t.Errorf("%v %q", x.Status, x.Data)
	}
}

// TestNoDescriptors: a server that has none left for a connection goes on.
func TestNoDescriptors(t *testing.T) {
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	check.Background(t, func(ctx context.Context) error {
		return usbip.Serve(ctx, check.Short(l, 2), []usbip.Export{{BusID: "1-1", Device: newEcho().device}}, nil)
	})
	client(t, l.Addr(), "1-1")
}

// TestDeaf: a client that sends commands and reads no answers has to wait, before the server has no memory left.
func TestDeaf(t *testing.T) {
	e := newEcho()
	host := check.Must(e.device.Attach())(t)
	ours, theirs := net.Pipe()
	ended := check.Go(func() error { return usbip.Carry(t.Context(), theirs, host) })
	command := make([]byte, 48) // GET_DESCRIPTOR of the configuration
	binary.BigEndian.PutUint32(command, 1)
	binary.BigEndian.PutUint32(command[12:], 1)
	binary.BigEndian.PutUint32(command[24:], 255)
	copy(command[40:], []byte{0x80, 6, 0, 2, 0, 0, 255, 0})
	var err error
	sent := 0
	for ; err == nil && sent < 1<<17; sent++ {
		binary.BigEndian.PutUint32(command[4:], uint32(sent))
		check.Fatal(t, ours.SetWriteDeadline(time.Now().Add(2*time.Second)))
		_, err = ours.Write(command)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d commands were taken without an answer being read: %v", sent, err)
	}
	ours.Close()
	if err := <-ended; err != nil && !errors.Is(err, usbip.ErrProtocol) {
		t.Error(err)
	}
}

// TestHostileServer: a server says that a transfer to the device has carried another number of bytes than there are.
func TestHostileServer(t *testing.T) {
	for _, actual := range []uint32{4, 0xFFFFFFFF} {
		ours, theirs := net.Pipe()
		c := usbip.NewClient(ours, usbip.Info{})
		go func() {
			b := make([]byte, 48+3)
			if _, err := io.ReadFull(theirs, b); err == nil {
				binary.BigEndian.PutUint32(b, 3) // RET_SUBMIT
				binary.BigEndian.PutUint32(b[20:], 0)
				binary.BigEndian.PutUint32(b[24:], actual)
				theirs.Write(b[:48])
			}
		}()
		x := carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: []byte("abc")})
		if x.Status != usbdev.Gone || x.Actual != 0 {
			t.Errorf("%d bytes: %v, %d carried", int32(actual), x.Status, x.Actual)
		}
		c.Close()
		theirs.Close()
	}
}

// TestIdleEndpoint leaves many transfers pending at one endpoint while requests work, and cancels them.
func TestIdleEndpoint(t *testing.T) {
	e := newEcho()
	c := client(t, serve(t, usbip.Export{BusID: "1-1", Device: e.device}), "1-1")
	waits := make([]usbdev.Transfer, 40)
	ended := make(chan *usbdev.Transfer, len(waits))
	for i := range waits {
		waits[i] = usbdev.Transfer{Endpoint: 0x81, Room: 512, Done: func(t *usbdev.Transfer) { ended <- t }}
		c.Submit(&waits[i])
	}
	for range 10 {
		carry(t, c, &usbdev.Transfer{Endpoint: usbdev.In, Setup: usbdev.Setup{Type: 0x80, Request: 6, Value: 0x0100, Length: 18}, Room: 18})
	}
	for i := range waits {
		if i != 3 && !c.Unlink(&waits[i]) {
			t.Fatalf("%d was not there to be unlinked", i)
		}
	}
	carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: []byte("x")})
	if x := <-ended; x != &waits[3] || string(x.Data) != "x" {
		t.Errorf("%q", x.Data)
	}
	if c.Unlink(&waits[3]) {
		t.Error("a transfer that has ended was unlinked")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	check.Fails(t, "a transfer that waits", usbdev.Carry(ctx, c, &usbdev.Transfer{Endpoint: 0x81, Room: 512}), context.DeadlineExceeded)
}

// TestOneClient refuses a second client until the first disconnects, orderly or not; it refuses an unplugged device.
func TestOneClient(t *testing.T) {
	e := newEcho()
	a := serve(t, usbip.Export{BusID: "1-1", Device: e.device})
	refused := func(id, why string) {
		t.Helper()
		_, err := usbip.Import(t.Context(), dial(t, a), id)
		check.Fails(t, id, err, usbip.ErrRefused, why)
	}
	first := client(t, a, "1-1")
	refused("1-1", "in use by another client")
	refused("1-2", "no such device")
	refused("1-", "no such device")
	wait := make(chan *usbdev.Transfer, 1)
	first.Submit(&usbdev.Transfer{Endpoint: 0x81, Room: 1, Done: func(t *usbdev.Transfer) { wait <- t }})
	first.Close()
	check.Equal(t, "status", (<-wait).Status, usbdev.Gone)
	for e.device.Attached() { // until the server notices
		time.Sleep(time.Millisecond)
	}
	second := client(t, a, "1-1")
	second.Submit(&usbdev.Transfer{Endpoint: 0x81, Room: 1, Done: func(t *usbdev.Transfer) { wait <- t }})
	e.device.Unplug()
	<-second.Gone()
	check.Equal(t, "status", (<-wait).Status, usbdev.Gone)
	refused("1-1", "no such device")
	check.Equal(t, "devices listed while unplugged", len(check.Must(usbip.List(t.Context(), dial(t, a)))(t)), 0)
	e.device.Plug()
	all, err := usbip.List(t.Context(), dial(t, a))
	if err != nil || len(all) != 1 || all[0].BusID != "1-1" || all[0].Vendor != 0x1209 || all[0].Release != 0x123 || !slices.Equal(all[0].Interfaces, [][3]byte{{255, 255, 255}}) {
		t.Errorf("%+v %v", all, err)
	}
	client(t, a, "1-1")
}

// words are big-endian.
func words(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// pad makes a command of the length that it has.
func pad(b []byte) []byte { return append(b, make([]byte, 48-len(b))...) }

// TestHostileClients checks the server's answer to protocol violations, and that it keeps serving.
func TestHostileClients(t *testing.T) {
	e := newEcho()
	a := serve(t, usbip.Export{BusID: "1-1", Device: e.device})
	importing := append(words(0x0111_8003, 0), append([]byte("1-1"), make([]byte, 29)...)...)
	configure := append(words(1, 1, 0, 0, 0, 0, 0, 0, 0, 0), 0, 9, 1, 0, 0, 0, 0, 0)
	for name, c := range map[string]struct {
		send []byte
		want []byte // the beginning of the answer
	}{
		"nothing":                   {nil, nil},
		"half a request":            {[]byte{1, 0x11, 0x80}, nil},
		"another version":           {words(0x0106_8005, 0), words(0x0111_0005, 5)},
		"another operation":         {words(0x0111_8006, 0), words(0x0111_0006, 5)},
		"an answer":                 {words(0x0111_0003, 0), words(0x0111_0003, 5)},
		"another protocol":          {[]byte("GET / HTTP/1.1\r\n\r\n"), words(0x0111_5420, 5)},
		"half a name":               {importing[:20], nil},
		"a name without end":        {append(words(0x0111_8003, 0), bytes.Repeat([]byte("x"), 32)...), words(0x0111_0003, 4)},
		"another command":           {slices.Concat(importing, pad(words(7, 1))), words(0x0111_0003, 0)},
		"half a command":            {slices.Concat(importing, pad(words(1, 1))[:47]), words(0x0111_0003, 0)},
		"an absurd length":          {slices.Concat(importing, pad(words(1, 1, 0, 0, 2, 0, 0x7FFFFFFF))), words(0x0111_0003, 0)},
		"a negative length":         {slices.Concat(importing, pad(words(1, 1, 0, 1, 1, 0, 0xFFFFFFFF))), words(0x0111_0003, 0)},
		"half the data":             {slices.Concat(importing, append(pad(words(1, 1, 0, 0, 2, 0, 10)), "half"...)), words(0x0111_0003, 0)},
		"an absurd endpoint":        {slices.Concat(importing, pad(words(1, 1, 0, 0, 0x81))), words(0x0111_0003, 0)},
		"an isochronous transfer":   {slices.Concat(importing, pad(words(1, 1, 0, 1, 1, 0, 8, 0, 9))), words(0x0111_0003, 0)},
		"the same number twice":     {slices.Concat(importing, configure, pad(words(1, 9, 0, 1, 1, 0, 8)), pad(words(1, 9, 0, 1, 1, 0, 8))), words(0x0111_0003, 0)},
		"a client that only begins": {importing, words(0x0111_0003, 0)},
	} {
		for e.device.Attached() {
			time.Sleep(time.Millisecond)
		}
		conn := dial(t, a).(*net.TCPConn)
		check.Must(conn.Write(c.send))(t)
		if name == "a client that only begins" || strings.HasPrefix(name, "half") || name == "nothing" {
			check.Fatal(t, conn.CloseWrite())
		}
		have, err := io.ReadAll(conn) // until it hangs up
		if err != nil && !strings.Contains(err.Error(), "reset") || !bytes.HasPrefix(have, c.want) || c.want == nil && len(have) > 0 {
			t.Errorf("%s: % x %v", name, have[:min(len(have), 16)], err)
		}
	}
	for e.device.Attached() {
		time.Sleep(time.Millisecond)
	}
	client(t, a, "1-1")
}

// TestTooMuch exceeds the limit on pending transfers: the excess fails, the rest works.
func TestTooMuch(t *testing.T) {
	e := newEcho()
	c := client(t, serve(t, usbip.Export{BusID: "1-1", Device: e.device}), "1-1")
	ended := make(chan *usbdev.Transfer, 9)
	for range 5 { // the limit is 64 MiB
		c.Submit(&usbdev.Transfer{Endpoint: 0x81, Room: 16<<20 - 512, Done: func(t *usbdev.Transfer) { ended <- t }})
	}
	if x := <-ended; x.Status == usbdev.OK || x.Actual != 0 {
		t.Errorf("%v", x.Status)
	}
	carry(t, c, &usbdev.Transfer{Endpoint: 2, Data: []byte("x")})
	check.Equal(t, "data", string((<-ended).Data), "x")
}

// FuzzServer sends any bytes after an import.
func FuzzServer(f *testing.F) {
	f.Add(pad(words(1, 1, 0, 1, 1, 0, 8)))
	f.Add(slices.Concat(pad(words(1, 1, 0, 0, 2, 0, 2)), []byte("ab"), pad(words(1, 2, 0, 1, 1, 0, 512)), pad(words(2, 3, 0, 0, 0, 2))))
	f.Add(append(words(1, 1, 0, 0, 0, 0, 0, 0, 0, 0), 0, 9, 1, 0, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := newEcho()
		host := check.Must(e.device.Attach())(t)
		near, far := net.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- usbip.Carry(context.Background(), far, host) }()
		answers := make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, near)
			close(answers)
		}()
		_, _ = near.Write(b) // the server may hang up
		near.Close()
		<-answers
		if err := <-ended; err != nil && !errors.Is(err, usbip.ErrProtocol) {
			t.Error(err)
		}
		if e.device.Attached() {
			t.Error("the device was not given back")
		}
	})
}

// FuzzOperations sends any bytes before an import.
func FuzzOperations(f *testing.F) {
	f.Add(words(0x0111_8005, 0))
	f.Add(append(words(0x0111_8003, 0), append([]byte("1-1"), make([]byte, 29)...)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		e := newEcho()
		conn := dial(t, serve(t, usbip.Export{BusID: "1-1", Device: e.device})).(*net.TCPConn)
		check.Must(conn.Write(b))(t)
		if err := conn.CloseWrite(); err == nil {
			_, _ = io.Copy(io.Discard, conn)
		}
	})
}

// TestUsbipLists lists a server's devices by the usbip program.
func TestUsbipLists(t *testing.T) {
	tool, err := exec.LookPath("usbip")
	if err != nil {
		t.Skip("there is no usbip; scripts/deps test installs it")
	}
	l := serve(t, usbip.Export{BusID: "1-1", Device: newEcho().device}, usbip.Export{BusID: "1-2", Device: newEcho().device})
	_, port, err := net.SplitHostPort(l.String())
	check.Fatal(t, err)
	out, err := exec.CommandContext(t.Context(), tool, "--tcp-port", port, "list", "-r", "127.0.0.1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	check.Contains(t, "usbip list", string(out), "1-1: ", "(1209:0001)", "1-2:", "/sys/devices/lmmc/1-2", "0 - Vendor Specific Class")
}
