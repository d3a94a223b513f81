package pagemem

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watched is memory of which the kernel reports the pages that were written: by userfaultfd's write protection in its asynchronous form (Linux 6.7),
// in which the kernel itself takes the fault, notes it, and lets the writer go on. So no thread of ours has to run for a writer to.
type watched struct {
	memory []byte // whole pages of the system
}

// The parts of userfaultfd(2) and of ioctl PAGEMAP_SCAN that are used, from the kernel's linux/userfaultfd.h and linux/fs.h.
const (
	uffdUserModeOnly   = 1
	uffdAPI            = 0xAA
	uffdFeatureWPUnpop = 1 << 13
	uffdFeatureWPAsync = 1 << 15
	uffdModeWP         = 1 << 1
	uffdWriteProtectWP = 1 << 0
	uffdioAPI          = 0xC018AA3F
	uffdioRegister     = 0xC020AA00
	uffdioWriteProtect = 0xC018AA06
	pagemapScan        = 0xC0606610
	pmScanWPMatching   = 1 << 0
	pmScanCheckWPAsync = 1 << 1
	pageIsWritten      = 1 << 1
	scanRegions        = 8 // more than an LMMC page has of the system's
)

type uffdioAPIArg struct{ api, features, ioctls uint64 }

type uffdioRegisterArg struct{ start, length, mode, ioctls uint64 }

type uffdioWriteProtectArg struct{ start, length, mode uint64 }

type pageRegion struct {
	start, end uint64
	_          uint64 // categories: written, all of them
}

type pmScanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages   uint64
	categoryInverted, categoryMask, categoryAnyof, returnMask uint64
}

// watcher is the process's userfaultfd, and its page map.
var watcher = sync.OnceValues(func() (w struct{ uffd, pagemap int }, err error) {
	fd, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|unix.O_NONBLOCK|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return w, fmt.Errorf("userfaultfd is not allowed (vm.unprivileged_userfaultfd, or the kernel's configuration): %w", errno)
	}
	w.uffd = int(fd)
	arg := uffdioAPIArg{api: uffdAPI, features: uffdFeatureWPUnpop | uffdFeatureWPAsync}
	if err := ioctl(w.uffd, uffdioAPI, unsafe.Pointer(&arg)); err != nil {
		return w, errors.Join(fmt.Errorf("send pages as memory need userfaultfd with asynchronous write protection, Linux 6.7 or later: %w", err), unix.Close(w.uffd))
	}
	if w.pagemap, err = unix.Open("/proc/self/pagemap", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return w, errors.Join(fmt.Errorf("send pages as memory need /proc: %w", err), unix.Close(w.uffd))
	}
	return w, nil
})

func ioctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// newWatched returns memory that holds content and of which nothing counts as written.
func newWatched(content []byte) (*watched, error) {
	w, err := watcher()
	if err != nil {
		return nil, err
	}
	size := (len(content) + os.Getpagesize() - 1) &^ (os.Getpagesize() - 1)
	m := &watched{}
	if m.memory, err = unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		return nil, fmt.Errorf("no memory to map a page: %w", err)
	}
	copy(m.memory, content)
	start, length := m.at(), uint64(size)
	register := uffdioRegisterArg{start: start, length: length, mode: uffdModeWP}
	protect := uffdioWriteProtectArg{start: start, length: length, mode: uffdWriteProtectWP}
	err = ioctl(w.uffd, uffdioRegister, unsafe.Pointer(&register))
	if err == nil {
		err = ioctl(w.uffd, uffdioWriteProtect, unsafe.Pointer(&protect))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot watch a page: %w", err), m.close())
	}
	return m, nil
}

func (m *watched) at() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.memory)))) }

// written calls do with the offsets of what may have been written since it was asked last; from then on it does not count as written.
func (m *watched) written(do func(first, end int)) error {
	w, err := watcher()
	if err != nil {
		return err
	}
	var regions [scanRegions]pageRegion
	start := m.at()
	arg := pmScanArg{
		flags: pmScanWPMatching | pmScanCheckWPAsync, start: start, end: start + uint64(len(m.memory)),
		vec: uint64(uintptr(unsafe.Pointer(&regions))), vecLen: scanRegions, categoryMask: pageIsWritten, returnMask: pageIsWritten,
	}
	arg.size = uint64(unsafe.Sizeof(arg))
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(w.pagemap), pagemapScan, uintptr(unsafe.Pointer(&arg)))
	if errno != 0 {
		return fmt.Errorf("cannot ask which pages were written: %w", errno)
	}
	for _, r := range regions[:n] {
		do(int(r.start-start), int(r.end-start))
	}
	return nil
}

func (m *watched) close() error { return unix.Munmap(m.memory) }
