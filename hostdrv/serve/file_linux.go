package serve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rightsOf is what passes a file, which stays as it is: Fd would make a pipe one that blocks.
func rightsOf(file *os.File) (rights []byte) {
	if raw, err := file.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { rights = unix.UnixRights(int(fd)) })
	}
	return rights
}

// fileOf makes a file without a name.
func fileOf(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("lmmc-report", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "lmmc-report")
	if _, err := file.Write(text); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
