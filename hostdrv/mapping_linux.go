package hostdrv

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// mapping is memory for a page that is mapped twice: to be written by the driver, and to be read by programs and by nobody written.
type mapping struct {
	written, read []byte
	state         *sharing.State
}

// newMapping makes memory for a page. Its file can be mapped for reading only, and not be made shorter; unless shared it is closed.
func newMapping(pageBytes int, shared bool) (*mapping, *os.File, error) {
	fd, err := unix.MemfdCreate("lmmc-page", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("hostdrv: no memory to map a page: %w", err)
	}
	file := os.NewFile(uintptr(fd), "lmmc-page")
	_, size := sharing.Sizes(pageBytes)
	m := &mapping{}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		m.written, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		m.read, err = mapForReading(fd, size)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("hostdrv: cannot map a page: %w", err), m.close(), file.Close())
	}
	m.state = sharing.StateOf(m.written, pageBytes)
	if !shared {
		return m, nil, file.Close()
	}
	return m, file, nil
}

func mapForReading(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// mapShared maps a page of another process.
func mapShared(file *os.File, pageBytes int) ([]byte, error) {
	_, size := sharing.Sizes(pageBytes)
	info, err := file.Stat()
	if err == nil && info.Size() < int64(size) {
		err = fmt.Errorf("its file has %d bytes, want %d", info.Size(), size)
	}
	if err != nil {
		return nil, err
	}
	return mapForReading(int(file.Fd()), size)
}

func unmap(memory []byte) error {
	if memory == nil {
		return nil
	}
	return unix.Munmap(memory)
}

func (m *mapping) close() error { return errors.Join(unmap(m.written), unmap(m.read)) }
