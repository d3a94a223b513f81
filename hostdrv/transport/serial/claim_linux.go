package serial

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"go.bug.st/serial"
	"golang.org/x/sys/unix"
)

// claimed is a port locked against other programs that lock it too, as most do. The library's own lock does not stop root.
type claimed struct{ file *os.File }

func claim(path string) (*claimed, error) {
	file, err := os.OpenFile(path, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.EBUSY) {
		return nil, ErrBusy
	}
	if err != nil {
		return nil, err
	}
	c := &claimed{file}
	err = c.control(func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = ErrBusy
	}
	if _, known := c.baud(); err == nil && !known {
		err = fs.ErrNotExist // a file, and no port
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return c, nil
}

// control calls do with the file's number, and does not make the file a blocking one as Fd does.
func (c *claimed) control(do func(fd int) error) error {
	raw, err := c.file.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = do(int(fd)) }); err != nil {
		return err
	}
	return failed
}

// baud is the rate that the port does in fact.
func (c *claimed) baud() (rate int, known bool) {
	err := c.control(func(fd int) error {
		t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
		if err == nil {
			rate = int(t.Ospeed)
		}
		return err
	})
	return rate, err == nil
}

// write is for Write of a port: by this file, which unlike the library's can be interrupted.
func (c *claimed) write(_ serial.Port, b []byte) (int, error) { return c.file.Write(b) }

// interrupt ends a write that waits, and makes every later one fail.
func (c *claimed) interrupt(serial.Port) { _ = c.file.SetWriteDeadline(time.Unix(1, 0)) }

func (c *claimed) release() error { return c.file.Close() }
