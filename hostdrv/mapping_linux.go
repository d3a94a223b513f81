package hostdrv

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// mapping is memory that is mapped twice: to be written by the driver, and to be read by programs and by nobody written.
type mapping struct{ written, read []byte }

func newMapping(size int) (*mapping, error) {
	file, err := unix.MemfdCreate("lmmc-page", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("hostdrv: no memory to map a page: %w", err)
	}
	defer unix.Close(file)
	m := &mapping{}
	if err = unix.Ftruncate(file, int64(size)); err == nil {
		m.written, err = unix.Mmap(file, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err == nil {
		m.read, err = unix.Mmap(file, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hostdrv: cannot map a page: %w", err), m.close())
	}
	return m, nil
}

func (m *mapping) close() error {
	var errs []error
	for _, part := range [][]byte{m.written, m.read} {
		if part != nil {
			errs = append(errs, unix.Munmap(part))
		}
	}
	return errors.Join(errs...)
}
