package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// Listen makes the socket at path. Programs of the same user may use it, and with a group, by name or number, those of its members too. A
// socket that a server has left behind is taken over; one whose server is alive is ErrServed.
func Listen(path, group string) (*Listener, error) {
	gid := -1
	if group != "" {
		var err error
		if gid, err = groupID(group); err != nil {
			return nil, err
		}
	}
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	l := &Listener{path: path, lock: lock, gid: gid}
	if err := l.listen(); err != nil {
		return nil, errors.Join(fmt.Errorf("serve: cannot listen at %s: %w", path, err), l.unlock())
	}
	return l, nil
}

func groupID(group string) (int, error) {
	g, err := user.LookupGroup(group)
	if err != nil {
		if _, number := strconv.ParseUint(group, 10, 31); number == nil {
			return strconv.Atoi(group)
		}
		return 0, fmt.Errorf("serve: %w", err)
	}
	return strconv.Atoi(g.Gid)
}

func (l *Listener) listen() error {
	switch info, err := os.Lstat(l.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("there is a file that is no socket; choose another path")
	default: // left behind: the lock is ours
		if err := os.Remove(l.path); err != nil {
			return err
		}
	}
	// Nobody may connect before it belongs to the right ones, so it is made under a name that nobody knows.
	dir, err := os.MkdirTemp(filepath.Dir(l.path), ".lmmc-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fresh := filepath.Join(dir, "s")
	if most := len(unix.RawSockaddrUnix{}.Path) - 1; max(len(fresh), len(l.path)) > most {
		return fmt.Errorf("the path of a socket may have %d bytes, and some are needed to make it; choose a shorter one", most)
	}
	if l.socket, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: fresh, Net: "unixpacket"}); err != nil {
		return err
	}
	l.socket.SetUnlinkOnClose(false)
	mode := fs.FileMode(0o600)
	if l.gid >= 0 {
		mode = 0o660
		err = os.Chown(fresh, -1, l.gid)
	}
	if err == nil {
		err = os.Chmod(fresh, mode)
	}
	if err == nil {
		err = os.Rename(fresh, l.path)
	}
	if err != nil {
		return errors.Join(err, l.socket.Close())
	}
	return nil
}

// Close removes the socket.
func (l *Listener) Close() error {
	if l.socket == nil {
		return net.ErrClosed
	}
	err := l.socket.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	return errors.Join(err, os.Remove(l.path), l.unlock())
}

// Path is where the socket is.
func (l *Listener) Path() string { return l.path }

// lockFile makes a file that a server holds locked while it lives.
func lockFile(path string) (*os.File, error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("serve: %w", err)
		}
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = fmt.Errorf("%w: the server that locks %s is alive", ErrServed, path)
		}
		if err == nil {
			var same bool
			if same, err = isAt(file, path); same {
				return file, nil
			}
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
}

// isAt reports whether a file is still the one at path: another server may have removed it before the lock was ours.
func isAt(file *os.File, path string) (bool, error) {
	own, err := file.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(own, there), err
}

func (l *Listener) unlock() error { return errors.Join(os.Remove(l.lock.Name()), l.lock.Close()) }

// peer says who is at the other end of a connection, whether it is of the server's user, and whether it may use the NI.
func (l *Listener) peer(conn *net.UnixConn) (pid int, own bool, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *unix.Ucred
	var groups []int
	failed := raw.Control(func(fd uintptr) {
		if cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil && l.gid >= 0 {
			groups, err = peerGroups(int(fd))
		}
	})
	if err := errors.Join(failed, err); err != nil {
		return 0, false, err
	}
	own = int(cred.Uid) == os.Geteuid() || cred.Uid == 0 // who may do anything anyhow
	allowed := own || l.gid >= 0 && int(cred.Gid) == l.gid
	for _, g := range groups {
		allowed = allowed || g == l.gid
	}
	if !allowed {
		return int(cred.Pid), own, fmt.Errorf("%w: process %d is of user %d, the server of user %d; lmmc serve --group lets a group's members in", fs.ErrPermission, cred.Pid, cred.Uid, os.Geteuid())
	}
	return int(cred.Pid), own, nil
}

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

// socketPair makes a socket for messages, and the other end of it.
func socketPair() (*sharing.Conn, *os.File, error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "lmmc-datagrams"), os.NewFile(uintptr(ends[1]), "lmmc-datagrams")
	conn, err := sharing.FileConn(ours)
	if err != nil {
		theirs.Close()
	}
	return conn, theirs, err
}
