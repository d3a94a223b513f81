package preload_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
)

const hangup = syscall.SIGHUP

const python = "/usr/bin/python3"

// reader connects to the second node, sends a line, and tells how the connection ends.
const reader = `import socket
c = socket.create_connection(("10.0.0.2", 7000))
c.sendall(b"here\n")
try:
    while c.recv(1000): pass
    print("end")
except OSError as e: print(e.strerror)
try:
    while True: c.sendall(b"x")
except OSError as e: print(e.strerror)`

// server takes connections in a process each, which leaves its number in a file when it has read a line. Then it says nothing more.
const server = `import os, socket, sys, time
l = socket.create_server(("10.0.0.2", 7000))
while True:
    c, _ = l.accept()
    if os.fork() == 0:
        c.makefile().readline()
        open(sys.argv[1], "w").write("%d\n" % os.getpid())
        time.sleep(1000)
    c.close()`

// TestDeaths: what a program sees when the other one, a daemon or the node dies.
func TestDeaths(t *testing.T) {
	for _, c := range []struct {
		name string
		kill func(n *network, pid int) error
		want string
	}{
		{"program", func(_ *network, pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }, "end\nBroken pipe\n"},
		{"own daemon", func(n *network, _ int) error { return n.stop[0]() }, "Connection reset by peer\nBroken pipe\n"},
		{"the peer's daemon", func(n *network, _ int) error { return n.stop[1]() }, "Connection reset by peer\nBroken pipe\n"},
		{"own node", func(n *network, _ int) error { return n.nodes[0].Close() }, "Connection reset by peer\nBroken pipe\n"},
		{"the peer's cable", func(n *network, _ int) error { return n.Cut(1, true) }, "Connection reset by peer\nBroken pipe\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := begin(t, cluster.Model)
			n.serve(t, 1, 7000, python, "-c", server, n.file("child"))
			near := n.start(t, 0, python, "-c", reader)
			pid := check.Must(strconv.Atoi(await(t, n.file("child"), 1)[0]))(t)
			defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
			check.Fatal(t, c.kill(n, pid))
			check.Fatal(t, near.Wait())
			check.Equal(t, "how it ends", near.out.String(), c.want)
		})
	}
}

// TestFullBacklog: a daemon ends though a program does not accept the connections that have come, by the cluster and by the system's stack.
func TestFullBacklog(t *testing.T) {
	n := begin(t, cluster.Model)
	n.serve(t, 0, 7000, python, "-uc", `import socket, time
l = socket.socket()
l.bind(("", 7000))
l.listen(0)
time.sleep(1000)`)
	const several = `import socket, sys
all = [socket.create_connection((sys.argv[1], 7000)) for i in range(2)]
for c in all: c.sendall(b"x")`
	n.run(t, 1, python, "-c", several, first)
	n.run(t, 0, python, "-c", several, "127.0.0.1")
	check.Fatal(t, n.stop[0]())
}

// disturb cuts the two cables of a line until the test ends: one at a time, so that routes change, and now and then both for less of the network's time than Patience.
func (n *network) disturb(t *testing.T) {
	check.Background(t, func(ctx context.Context) error {
		await := func(cable int, up bool) {
			for ; ctx.Err() == nil; time.Sleep(2 * time.Millisecond) {
				if ways := n.Look().Cables[cable].Ways; (ways[0].Up && ways[1].Up) == up {
					return
				}
			}
		}
		changes := 0
		for ; ctx.Err() == nil; changes++ {
			cable := changes % 2
			err := n.Cut(cable, true)
			await(cable, false)
			if changes%4 == 0 {
				err = errors.Join(err, n.Cut(1-cable, true))
				time.Sleep(2 * time.Millisecond)
				err = errors.Join(err, n.Cut(1-cable, false))
			}
			if err = errors.Join(err, n.Cut(cable, false)); err != nil {
				return err
			}
			await(cable, true)
			time.Sleep(50 * time.Millisecond) // programs go on faster meanwhile
		}
		if changes < 2 {
			return fmt.Errorf("routes changed %d times", changes)
		}
		return nil
	})
}

// connections is how many a program opens, which takes some five milliseconds of a processor each; 10,000 were tried by hand.
var connections = flag.Int("connections", 300, "connections of one program in TestThousands")

// TestThousands: one program has so many connections to another one at once, and each brings what is written to it.
func TestThousands(t *testing.T) {
	n := begin(t, cluster.Model)
	n.serve(t, 1, 7000, python, "-c", `import resource, selectors, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
l, all = socket.create_server(("10.0.0.2", 7000), backlog=4096), selectors.DefaultSelector()
all.register(l, selectors.EVENT_READ)
while True:
    for key, _ in all.select():
        if key.fileobj is l: all.register(l.accept()[0], selectors.EVENT_READ)
        else:
            text = key.fileobj.recv(100)
            if text: key.fileobj.sendall(text)
            else:
                all.unregister(key.fileobj)
                key.fileobj.close()`)
	check.Equal(t, "connections", n.run(t, 0, python, "-c", `import resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
all = [socket.create_connection(("10.0.0.2", 7000)) for i in range(int(sys.argv[1]))]
for i, c in enumerate(all): c.sendall(b"%d" % i)
print(sum(c.recv(100) == b"%d" % i for i, c in enumerate(all)))`, strconv.Itoa(*connections)), fmt.Sprintln(*connections))
	for n.daemons[0].Users() > 1 { // until they are over
		time.Sleep(time.Millisecond)
	}
}

// connects opens connections until that fails, says how, closes them, and opens one.
const connects = `import socket, errno, resource, sys
if len(sys.argv) > 1: resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), 4096))
all = []
try:
    while len(all) < 300: all.append(socket.create_connection(("10.0.0.2", 7000)))
except OSError as e: print(errno.errorcode[e.errno], flush=True)
print(len(all) > 3, flush=True)
while all: all.pop().close()
while not all: # until what the others had is free
    try: all.append(socket.create_connection(("10.0.0.2", 7000)))
    except OSError as e: assert e.errno == errno.EMFILE
c = all[0]
c.sendall(b"again\n")
print(c.makefile().readline(), end="")`

// accepts has few descriptors, and answers all that have one when there is one for them.
const accepts = `import socket, errno, resource, select
resource.setrlimit(resource.RLIMIT_NOFILE, (12, 4096))
l = socket.create_server(("10.0.0.2", 7000))
all = []
full = False
while True:
    ready = select.select(all if full else [l] + all, [], [])[0]
    try:
        if l in ready: all.append(l.accept()[0])
    except OSError as e: full = e.errno == errno.EMFILE
    for c in set(ready) - {l}:
        line = c.recv(100)
        if line: c.sendall(line)
        c.close()
        all.remove(c)
        full = False`

// TestNoDescriptors: programs and a daemon that may have no more of them say so, or let others wait, and go on when there are some.
func TestNoDescriptors(t *testing.T) {
	n := begin(t, cluster.Model)
	_, end := n.serve(t, 1, 7000, python, "-c", accepts)
	check.Equal(t, "a program that accepts", n.run(t, 0, python, "-c", `import socket
all = [socket.create_connection(("10.0.0.2", 7000)) for i in range(50)]
for c in all: c.sendall(b"to one of many")
print(sum(c.recv(100) == b"to one of many" for c in all))`), "50\n")
	end()
	n.serve(t, 1, 7000, python, "-c", `import socketserver
class Echo(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(self.rfile.readline())
socketserver.ThreadingTCPServer.allow_reuse_address = True
socketserver.ThreadingTCPServer(("10.0.0.2", 7000), Echo).serve_forever()`)
	check.Equal(t, "a program that connects", n.run(t, 0, python, "-c", connects, "20"), "EMFILE\nTrue\nagain\n")

	var limit, low syscall.Rlimit
	check.Fatal(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	low = limit
	low.Cur = uint64(len(check.Must(os.ReadDir("/proc/self/fd"))(t))) + 50
	check.Fatal(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	defer func() { check.Fatal(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	check.Equal(t, "daemons", n.run(t, 0, python, "-c", connects), "EMFILE\nTrue\nagain\n")
}
