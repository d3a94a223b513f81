package serve

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// peerGroups returns the supplementary groups of the process at the other end of a socket (SO_PEERGROUPS of unix(7), Linux 4.13).
func peerGroups(fd int) ([]int, error) {
	for room := uint32(64); ; {
		list := make([]uint32, room)
		size := uint32(4 * len(list))
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_PEERGROUPS,
			uintptr(unsafe.Pointer(unsafe.SliceData(list))), uintptr(unsafe.Pointer(&size)), 0)
		switch {
		case errors.Is(errno, unix.ERANGE) && size/4 > room:
			room = size / 4
		case errno != 0:
			return nil, errno
		default:
			groups := make([]int, size/4)
			for i := range groups {
				groups[i] = int(list[i])
			}
			return groups, nil
		}
	}
}
