// Package pagemem is the memory of pages that programs read or write as plain memory.
package pagemem

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Mapping is memory for a page that is mapped twice: to be written by the driver, and to be read by programs.
type Mapping struct {
	Written, Read []byte
	State         *sharing.State
}

// New makes memory for a page. Its file can be mapped for reading only, and not be made shorter; unless shared it is closed.
func New(pageBytes int, shared bool) (*Mapping, *os.File, error) {
	fd, err := unix.MemfdCreate("lmmc-page", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("no memory to map a page: %w", err)
	}
	file := os.NewFile(uintptr(fd), "lmmc-page")
	_, size := sharing.Sizes(pageBytes)
	m := &Mapping{}
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		m.Written, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_FUTURE_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		m.Read, err = mapForReading(fd, size)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot map a page: %w", err), m.Close(), file.Close())
	}
	m.State = sharing.StateOf(m.Written, pageBytes)
	if !shared {
		return m, nil, file.Close()
	}
	return m, file, nil
}

func mapForReading(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// Open maps a page of another process.
func Open(file *os.File, pageBytes int) ([]byte, error) {
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

// Unmap ends what Open returned.
func Unmap(memory []byte) error {
	if memory == nil {
		return nil
	}
	return unix.Munmap(memory)
}

// Close frees the memory.
func (m *Mapping) Close() error { return errors.Join(Unmap(m.Written), Unmap(m.Read)) }
