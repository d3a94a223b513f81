package preload_test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stafflink/lmmc/hostdrv/preload"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// anywhere listens at any address, connects there by the loopback, and shows what comes.
const anywhere = `import socket
l = socket.create_server(("", 0))
c = socket.create_connection(("127.0.0.1", l.getsockname()[1]))
c.sendall(b"by the stack")
print(l.accept()[0].recv(100).decode())`

// TestOtherVersion has a library meet a daemon of another version: connections go by the system's stack, with a warning.
func TestOtherVersion(t *testing.T) {
	n := begin(t, cluster.Model)
	path := n.file("other")
	l := check.Must(net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"}))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 4096))
			_, _ = c.Write(append([]byte("\x00lmmc9e"), make([]byte, 49)...))
			c.Close()
		}
	}()
	p := check.Must(preload.Join(n.paths[0], "python3", ""))(t)
	defer p.Close()
	run := func(quiet bool) string {
		c := exec.Command(find(t, python), "-c", anywhere)
		for _, e := range p.Environment(n.library, quiet) {
			if strings.HasPrefix(e, "LMMC_SOCKET_DAEMON=") {
				e = "LMMC_SOCKET_DAEMON=" + path
			}
			c.Env = append(c.Env, e)
		}
		return string(check.Must(c.CombinedOutput())(t))
	}
	check.Equal(t, "loud", run(false), "lmmc: "+path+": the daemon is of another version than liblmmc-socket.so: use both of one build; connections go by the system's stack\nby the stack\n")
	check.Equal(t, "quiet", run(true), "by the stack\n")
	check.Fails(t, "List", check.Err(preload.List(path)), syscall.EPROTO, "of another version")
	check.Fails(t, "Join", check.Err(preload.Join(path, "", "")), syscall.EPROTO, "of another version")
}

// TestOtherUser: a program of another user reaches neither the daemon nor the connections of its programs.
func TestOtherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("to be another user takes root")
	}
	n := begin(t, cluster.Model)
	check.Fatal(t, os.Chmod(n.dir, 0o755))
	// The kernel, asked past the library, says what the sockets are called.
	log := n.file("log")
	n.serve(t, 0, 7000, python, "-uc", `import ctypes, socket, sys, threading
sys.stdout = open(sys.argv[1], "w", buffering=1)
l = socket.create_server(("10.0.0.1", 7000))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("10.0.0.1", 7000))
for s in l, u:
    name, size = ctypes.create_string_buffer(110), ctypes.c_int(110)
    ctypes.CDLL(None).syscall(51, s.fileno(), name, ctypes.byref(size))
    print(name.raw[2:size.value].hex())
threading.Thread(target=lambda: print(u.recvfrom(100))).start()
while True: print("accepted from", l.accept()[1][0])`, log)
	p := check.Must(preload.Join(n.paths[0], "python3", ""))(t)
	defer p.Close()
	other := func(script string) string {
		var out bytes.Buffer
		c := exec.Command(python, "-c", script)
		c.Env, c.Stdout, c.Stderr = p.Environment(n.library, false), &out, &out
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		if err := c.Run(); err != nil {
			t.Error(err)
		}
		return out.String()
	}
	check.Equal(t, "daemon", other(anywhere), "lmmc: "+n.paths[0]+": the daemon is another user's; connections go by the system's stack\nby the stack\n")
	check.Equal(t, "listener", other(`import socket
s = socket.socket(socket.AF_UNIX)
s.connect(bytes.fromhex("`+await(t, log, 1)[0]+`"))
try: # to be taken for the daemon
    socket.send_fds(s, [b"\0lmmc3o" + bytes(49)], [0])
    s.recv(100)
except OSError: pass
print("over")`), "over\n")
	check.Equal(t, "datagrams", other(`import socket
name = bytearray.fromhex("`+await(t, log, 2)[1]+`")
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(bytes(name[:6]) + b"P" + bytes(name[7:38]) + bytes([3, 200]) + bytes(name[22:38])) # to be taken for an end of the daemon's
s.sendto(b"from another user", bytes(name))
print("over")`), "over\n")
	n.run(t, 1, python, "-c", `import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"from the cluster", ("10.0.0.1", 7000))
socket.create_connection(("10.0.0.1", 7000)).recv(1)`)
	check.Contains(t, "next ones", strings.Join(await(t, log, 4)[2:], "\n"), "accepted from 10.0.0.2", "(b'from the cluster', ('10.0.0.2', ")
}

// TestDaemonGone: a program whose daemon has ended hears what is wrong as the system's stack says it.
func TestDaemonGone(t *testing.T) {
	n := begin(t, cluster.Model)
	near := n.start(t, 0, python, "-c", `import os, socket, sys, time
def problem():
    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("255.255.255.255", 7))
    except OSError as e: return e.strerror
before = problem()
open(sys.argv[1], "w").write("\n")
while not os.path.exists(sys.argv[2]): time.sleep(0.01)
print(before == problem())`, n.file("asked"), n.file("go"))
	await(t, n.file("asked"), 1)
	check.Fatal(t, n.stop[0]())
	check.Fatal(t, os.WriteFile(n.file("go"), nil, 0o600))
	check.Fatal(t, near.Wait())
	check.Equal(t, "what it hears", near.out.String(), "lmmc: "+n.paths[0]+": no daemon (lmmc run has ended); connections go by the system's stack\nTrue\n")
}

// TestNoDaemon: what programs hear of a node that is there without a daemon, and of one that is not there.
func TestNoDaemon(t *testing.T) {
	n := begin(t, cluster.Model)
	check.Fatal(t, n.stop[1]())
	check.Equal(t, "refused", n.run(t, 0, python, "-c", `import socket as s
u = s.socket(s.AF_INET, s.SOCK_DGRAM)
u.connect(("10.0.0.2", 7000))
u.settimeout(0.01)
for host in "10.0.0.2", "10.0.0.9":
    try: s.create_connection((host, 7000))
    except OSError as e: print(e.strerror)
while True:
    try:
        u.send(b"x") # one that is underway when the daemon ends is lost
        u.recv(1)
    except TimeoutError: continue
    except OSError as e:
        print(e.strerror)
        break`), "Connection refused\nNo route to host\nConnection refused\n")
}
