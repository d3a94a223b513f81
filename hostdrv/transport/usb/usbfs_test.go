//go:build usb && cgo && linux

package usb

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/internal/check"
)

// Requests of Linux's usbfs (linux/usbdevice_fs.h).
const (
	usbfsCapabilities    = 0x8004551A
	usbfsDisconnectClaim = 0x8108551B
	usbfsRelease         = 0x80045510
	usbfsDriver          = 0xC0105512 // a request to an interface's driver, of which usbfsConnect is one
	usbfsConnect         = 0x5517
	usbfsSubmit          = 0x8038550A
	usbfsDiscard         = 0x550B
	usbfsReap            = 0x4008550D

	// Packets of length zero, transfers of any length, and disconnecting with claiming.
	usbfsCapable = 0x01 | 0x04 | 0x20
)

// usbfs is a kernel that has fakeDevices plugged in, for a process which umockdev's library lets ask a socket where it would ask the kernel.
type usbfs struct {
	t     *testing.T
	chip  *fakeDevice
	taken syscall.Errno // of claiming

	mu                 sync.Mutex
	claimed, connected []uint32 // interfaces, in order
	full               *os.File
	isReady            bool
}

// plugIn makes the kernel answer for a device file until the test ends.
func (k *usbfs) plugIn(dir string) {
	path := filepath.Join(dir, "ioctl/dev/bus/usb", fmt.Sprintf("001/%03d", k.chip.address))
	check.Fatal(k.t, os.MkdirAll(filepath.Dir(path), 0o777))
	l, err := net.Listen("unix", path)
	check.Fatal(k.t, err)
	var files sync.WaitGroup
	files.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			files.Go(func() { k.serve(c) })
		}
	})
	// The device file can be written, which poll asks, when there is something to reap: a pipe with room for one byte, and none in it.
	node := filepath.Join(dir, "dev/bus/usb", fmt.Sprintf("001/%03d", k.chip.address))
	check.Fatal(k.t, os.Remove(node))
	check.Fatal(k.t, syscall.Mkfifo(node, 0o600))
	if k.full, err = os.OpenFile(node, os.O_RDWR, 0); err != nil {
		k.t.Fatal(err)
	}
	check.Must(unix.FcntlInt(k.full.Fd(), unix.F_SETPIPE_SZ, os.Getpagesize()))(k.t)
	k.isReady = true
	k.ready(false)
	k.t.Cleanup(func() {
		l.Close()
		files.Wait()
		k.full.Close()
	})
}

// ready says whether there is something to reap.
func (k *usbfs) ready(now bool) {
	if now == k.isReady {
		return
	}
	var err error
	if k.isReady = now; now {
		_, err = k.full.Read(make([]byte, 1))
	} else {
		_, err = k.full.Write(make([]byte, 1))
	}
	check.Error(k.t, err)
}

// urb is a transfer underway.
type urb struct {
	at, buffer uint64 // in the process
	endpoint   byte
	control    bool
	data       []byte // to the device, or from it
	size       int
	status     syscall.Errno
	ctx        context.Context // of one to the device
	cancel     context.CancelFunc
}

// usbFile is a device file that is open.
type usbFile struct {
	*usbfs
	conn net.Conn
	work sync.WaitGroup

	ins, outs, done  []*urb // waiting for the chip, by direction; to be reaped
	held             []byte // from the chip, with nobody to take it
	reading, writing bool
	gone             bool
}

// serve answers a file's requests: three words {1, request, argument}. Before the answer {3, result, errno} it may read the process's
// memory, {5, address, length}, and write it, {6, address, length} and the bytes.
func (k *usbfs) serve(c net.Conn) {
	f := &usbFile{usbfs: k, conn: c}
	defer c.Close()
	defer f.work.Wait()
	for {
		var m [3]uint64
		if err := binary.Read(c, binary.NativeEndian, &m); err != nil {
			return // closed
		}
		result, errno := uint64(0), f.handle(m[1], m[2])
		if errno != 0 {
			result = ^uint64(0)
		}
		f.tell(3, result, uint64(errno))
	}
}

func (f *usbFile) tell(m ...uint64) { _ = binary.Write(f.conn, binary.NativeEndian, m) }

func (f *usbFile) load(at uint64, n int) []byte {
	b := make([]byte, n)
	f.tell(5, at, uint64(n))
	_, _ = io.ReadFull(f.conn, b)
	return b
}

func (f *usbFile) store(at uint64, b []byte) {
	f.tell(6, at, uint64(len(b)))
	_, _ = f.conn.Write(b)
}

func (f *usbFile) word(at uint64) uint32 { return binary.NativeEndian.Uint32(f.load(at, 4)) }

func (f *usbFile) handle(request, arg uint64) syscall.Errno {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch uint32(request) {
	case usbfsCapabilities:
		f.store(arg, binary.NativeEndian.AppendUint32(nil, usbfsCapable))
	case usbfsDisconnectClaim:
		if f.taken == 0 {
			f.claimed = append(f.claimed, f.word(arg))
		}
		return f.taken
	case usbfsRelease:
	case usbfsDriver:
		if code := f.word(arg + 4); code != usbfsConnect {
			return syscall.ENOTTY
		}
		f.connected = append(f.connected, f.word(arg))
	case usbfsSubmit:
		return f.submit(arg)
	case usbfsDiscard:
		f.discard(arg)
	case usbfsReap:
		return f.reap(arg)
	default:
		return syscall.ENOTTY
	}
	return 0
}

func (f *usbFile) submit(at uint64) syscall.Errno {
	if f.gone {
		return syscall.ENODEV
	}
	b := f.load(at, 56)
	u := &urb{
		at: at, control: b[0] == 2, endpoint: b[1], buffer: binary.NativeEndian.Uint64(b[16:]), size: int(binary.NativeEndian.Uint32(b[24:])),
	}
	switch {
	case u.control:
		f.control(u, f.load(u.buffer, u.size))
		f.complete(u)
	case u.endpoint == 0x83:
		f.ins = append(f.ins, u)
		f.read()
	case u.endpoint == 0x04:
		u.data = f.load(u.buffer, u.size)
		u.ctx, u.cancel = context.WithCancel(context.Background())
		f.outs = append(f.outs, u)
		f.write()
	default:
		return syscall.ENOENT
	}
	return 0
}

// control answers requests for the serial number, and hands those of the vendor to the chip.
func (f *usbFile) control(u *urb, b []byte) {
	value, index := binary.LittleEndian.Uint16(b[2:]), binary.LittleEndian.Uint16(b[4:])
	switch {
	case b[0] == 0x80 && b[1] == 6 && value == 0x300:
		u.data = []byte{4, 3, 9, 4} // the one language is English
	case b[0] == 0x80 && b[1] == 6 && value>>8 == 3:
		for _, c := range utf16.Encode([]rune(f.chip.number)) {
			u.data = binary.LittleEndian.AppendUint16(u.data, c)
		}
		u.data = append([]byte{byte(2 + len(u.data)), 3}, u.data...)
	case b[0] == 0x40 && f.chip.control(b[1], value, index) == nil:
	default:
		u.status = syscall.EPIPE
	}
	u.buffer += 8 // the setup packet
}

// read reads for the transfers that wait, one after the other.
func (f *usbFile) read() {
	if f.reading || len(f.ins) == 0 {
		return
	}
	f.reading = true
	f.work.Go(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		defer func() { f.reading = false }()
		for len(f.ins) > 0 {
			if f.held == nil {
				f.mu.Unlock()
				b := make([]byte, readPackets*f.chip.size)
				n, err := (*fakeEnds)(f.chip).read(context.Background(), b)
				f.mu.Lock()
				if f.held = b[:n]; err != nil {
					f.unplugged()
					return
				}
			}
			if len(f.ins) > 0 {
				u := f.ins[0]
				u.data, f.held, f.ins = f.held, nil, f.ins[1:]
				f.complete(u)
			}
		}
	})
}

// write writes what the transfers have, one after the other.
func (f *usbFile) write() {
	if f.writing {
		return
	}
	f.writing = true
	f.work.Go(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		defer func() { f.writing = false }()
		for len(f.outs) > 0 {
			u := f.outs[0]
			f.mu.Unlock()
			n, err := 0, error(nil)
			for n < len(u.data) && err == nil { // a chip takes all of a transfer
				var taken int
				taken, err = (*fakeEnds)(f.chip).write(u.ctx, u.data[n:])
				n += taken
			}
			f.mu.Lock()
			f.outs = f.outs[1:]
			u.size = n
			switch {
			case u.ctx.Err() != nil:
				u.status = syscall.ENOENT
			case err != nil:
				u.status = syscall.ESHUTDOWN
				f.unplugged()
			}
			u.cancel()
			f.complete(u)
		}
	})
}

func (f *usbFile) complete(urbs ...*urb) {
	f.done = append(f.done, urbs...)
	f.ready(len(f.done) > 0 || f.gone)
}

func (f *usbFile) unplugged() {
	for _, u := range f.ins {
		u.status = syscall.ESHUTDOWN
	}
	f.gone = true
	f.complete(f.ins...)
	f.ins = nil
}

func (f *usbFile) discard(at uint64) {
	for i, u := range f.ins {
		if u.at == at {
			u.status = syscall.ENOENT
			f.ins = slices.Delete(f.ins, i, i+1)
			f.complete(u)
			return
		}
	}
	for _, u := range f.outs {
		if u.at == at {
			u.cancel()
		}
	}
}

func (f *usbFile) reap(at uint64) syscall.Errno {
	if len(f.done) == 0 {
		if f.gone {
			return syscall.ENODEV
		}
		return syscall.EAGAIN
	}
	u := f.done[0]
	f.done = f.done[1:]
	f.complete()
	n := u.size
	if u.control || u.endpoint&0x80 != 0 {
		n = len(u.data)
		f.store(u.buffer, u.data)
	}
	f.store(u.at+4, binary.NativeEndian.AppendUint32(nil, uint32(-int32(u.status))))
	f.store(u.at+28, binary.NativeEndian.AppendUint32(nil, uint32(n)))
	f.store(at, binary.NativeEndian.AppendUint64(nil, u.at))
	return 0
}

// describeChip is what umockdev has to know of a fakeDevice: an FT2232H by its descriptors, with two interfaces.
func describeChip(d *fakeDevice) string {
	word := func(v uint16) []byte { return binary.LittleEndian.AppendUint16(nil, v) }
	var interfaces []byte
	for i := range byte(2) {
		interfaces = append(interfaces, 9, 4, i, 0, 2, 0xFF, 0xFF, 0xFF, 0)
		interfaces = append(interfaces, 7, 5, 0x81+2*i, 2, 0, 2, 0, 7, 5, 0x02+2*i, 2, 0, 2, 0)
	}
	b := bytes.Join([][]byte{
		{18, 1, 0, 2, 0, 0, 0, 64}, word(d.vendor), word(d.product), word(d.release), {0, 0, 3, 1},
		{9, 2}, word(uint16(9 + len(interfaces))), {2, 1, 0, 0x80, 250}, interfaces,
	}, nil)
	return fmt.Sprintf("P: /devices/usb1/%s\nN: bus/usb/001/%03d=%X\nE: DEVNAME=/dev/bus/usb/001/%03[2]d\nE: DEVTYPE=usb_device\n"+
		"E: SUBSYSTEM=usb\nE: BUSNUM=001\nE: DEVNUM=%03[2]d\nE: MAJOR=189\nE: MINOR=%[4]d\n"+
		"A: bConfigurationValue=1\nA: busnum=1\\n\nA: devnum=%[2]d\\n\nA: speed=480\nH: descriptors=%[3]X\n\n", d.port, d.address, b, d.address-1)
}
