package serve

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rightsOf is what passes a file.
func rightsOf(file *os.File) []byte { return unix.UnixRights(int(file.Fd())) }

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
