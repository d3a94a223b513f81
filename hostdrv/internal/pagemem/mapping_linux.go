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
	_, size := sharing.Sizes(pageBytes)
	memory, file, err := sealed("lmmc-page", size, unix.F_SEAL_FUTURE_WRITE)
	if err != nil {
		return nil, nil, err
	}
	m := &Mapping{Written: memory}
	if m.Read, err = mapForReading(int(file.Fd()), size); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot map a page: %w", err), m.Close(), file.Close())
	}
	m.State = sharing.StateOf(m.Written, pageBytes)
	if !shared {
		return m, nil, file.Close()
	}
	return m, file, nil
}

// NewShared makes memory that another process may map by the file, and write too. Nobody can change its size.
func NewShared(size int) ([]byte, *os.File, error) { return sealed("lmmc-messages", size, 0) }

// sealed makes a file without a name, whose size stays, and maps it; seals are further ones.
func sealed(name string, size, seals int) (memory []byte, file *os.File, err error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, fmt.Errorf("no memory to share: %w", err)
	}
	file = os.NewFile(uintptr(fd), name)
	if err = unix.Ftruncate(fd, int64(size)); err == nil {
		memory, err = mapForWriting(fd, size)
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot share memory: %w", err), Unmap(memory), file.Close())
	}
	return memory, file, nil
}

// OpenShared maps memory that NewShared has made in another process.
func OpenShared(file *os.File, size int) ([]byte, error) {
	if err := holds(file, size); err != nil {
		return nil, err
	}
	return mapForWriting(int(file.Fd()), size)
}

// holds says what is wrong with a file of which so many bytes are to be mapped.
func holds(file *os.File, size int) error {
	info, err := file.Stat()
	if err == nil && info.Size() < int64(size) {
		err = fmt.Errorf("its file has %d bytes, want %d", info.Size(), size)
	}
	return err
}

func mapForWriting(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func mapForReading(fd, size int) ([]byte, error) {
	return unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
}

// Open maps a page of another process.
func Open(file *os.File, pageBytes int) ([]byte, error) {
	_, size := sharing.Sizes(pageBytes)
	if err := holds(file, size); err != nil {
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
