package ip_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/ip"
	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

var copied = flag.Int("scp", 200_000, "copy a file of `BYTES` by scp, of a tenth over RTL")

// TestTools runs the programs that people use, over models and RTL, with bit errors, remote writes and messages beside: ping, iperf3 and scp. What is copied arrives as it
// was, and so do the writes and messages.
func TestTools(t *testing.T) {
	need(t, "ip", "ping", "iperf3", "ssh", "scp", "sshd")
	for _, c := range []struct {
		rung        string
		errorRate   float64
		bytes, file int
	}{{cluster.Model, 1e-6, 300_000, *copied}, {cluster.RTL, 1e-6, 20_000, *copied / 10}} {
		t.Run(c.rung, func(t *testing.T) {
			n := begin(t, c.rung, c.errorRate, live.Options{})
			writes, messages := n.write(t), n.exchange(t)
			n.spaces[0].start(t, "ping", "-c", "3", "-i", "0.2", "-W", "30", n.address(1)).wait(t)
			for _, how := range [][]string{{"-n", strconv.Itoa(c.bytes)}, {"-u", "-b", "200K", "-l", "500", "-n", strconv.Itoa(c.bytes / 10)}} {
				n.iperf(t, nil, how...)
			}
			n.copy(t, c.file)
			for n.interfaces[0].Counts().Cut == 0 { // on a busy machine TCP sends no more than a segment at a time, for a while
				n.iperf(t, nil, "-n", strconv.Itoa(c.bytes))
			}
			if done := writes(); done < 10 {
				t.Errorf("only %d remote writes beside", done)
			}
			if done := messages(); done < 10 {
				t.Errorf("only %d messages beside", done)
			}
			n.tell(t)
			if counts := n.interfaces[0].Counts(); counts.TooLong+counts.Malformed > 0 {
				t.Errorf("something was wrong: %+v", counts)
			}
		})
	}
}

// iperf measures from the first node to the second, while beside runs.
func (n *network) iperf(t *testing.T, beside func(running func() bool), how ...string) {
	t.Helper()
	server := n.spaces[1].start(t, "iperf3", "-s", "-1", "--forceflush") // for one client
	var out string
	for served := false; !served; { // until it listens the client is refused
		client := n.spaces[0].start(t, "iperf3", append([]string{"-c", n.address(1), "--connect-timeout", "30000"}, how...)...)
		over := make(chan error, 1)
		go func() { over <- client.Wait() }()
		if beside != nil {
			beside(func() bool { return len(over) == 0 })
		}
		err := <-over
		out, served = client.out.String(), err == nil
		if !served && !strings.Contains(out, "refused") {
			t.Fatalf("iperf3 %v: %v\n%s", how, err, out)
		}
	}
	server.wait(t)
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "sender") || strings.Contains(line, "receiver") {
			t.Log(line)
		}
	}
}

// copy copies a file by scp to the second node, and compares it.
func (n *network) copy(t *testing.T, size int) {
	t.Helper()
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"host", "user"} {
		n.spaces[0].start(t, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file(name)).wait(t)
	}
	check.Fatal(t, os.MkdirAll("/run/sshd", 0o755)) // what sshd wants
	config := fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\nPidFile none\nStrictModes no\nUsePAM no\nSubsystem sftp internal-sftp\n", file("host"), file("user.pub"))
	check.Fatal(t, os.WriteFile(file("config"), []byte(config), 0o600))
	sshd := check.Must(lookPath("sshd"))(t)
	server := n.spaces[1].start(t, sshd, "-D", "-e", "-f", file("config"))
	defer func() {
		server.Process.Kill()
		server.Wait()
	}()
	want := make([]byte, size)
	rand.Read(want)
	check.Fatal(t, os.WriteFile(file("from"), want, 0o600))
	options := []string{"-q", "-i", file("user"), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "ConnectionAttempts=30", "-o", "IdentityAgent=none"}
	n.spaces[0].start(t, "scp", append(options, file("from"), "root@"+n.address(1)+":"+file("to"))...).wait(t)
	if have := check.Must(os.ReadFile(file("to")))(t); !bytes.Equal(have, want) {
		t.Errorf("the copy of %d bytes has %d, and others", len(want), len(have))
	}
}

// write has the first node write to the second until the returned function is called, which compares what is there then, and returns how often it was written.
func (n *network) write(t *testing.T) (stop func() int) {
	t.Helper()
	from, to := n.open(t, n.targets[0]), n.open(t, n.targets[1])
	const size = 256
	page := func(serial int) []byte { return bytes.Repeat([]byte{byte(serial), byte(serial >> 8)}, size/2) }
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan int, 1)
	background(t, func(context.Context) error {
		serial := 0
		defer func() { over <- serial }()
		for ctx.Err() == nil {
			if err := from.SendRouted(t.Context(), 1, n.Number(1), linkproto.Packet{Type: linkproto.TypeWrite, Addr: 512, Data: page(serial + 1)}); err != nil {
				return err
			}
			serial++
		}
		return nil
	})
	return func() int {
		cancel()
		serial := <-over
		for have := make([]byte, size); !bytes.Equal(have, page(serial)) && t.Context().Err() == nil; {
			check.Fatal(t, to.ReadBuffer(t.Context(), have, 512))
		}
		return serial
	}
}

// exchange has the first node send messages to the second, one behind the other, until the returned function is called, which returns how many have come.
func (n *network) exchange(t *testing.T) (stop func() int) {
	t.Helper()
	var contexts []*message.Context
	for _, target := range n.targets {
		contexts = append(contexts, check.Must(message.Open(t.Context(), n.open(t, target), 1, message.Options{}))(t))
	}
	const size = 3000 // three packets
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan int, 1)
	background(t, func(context.Context) error {
		count := 0
		defer func() { over <- count }()
		for ; ctx.Err() == nil; count++ {
			text := bytes.Repeat([]byte{byte(count), byte(count >> 8)}, size/2)
			if err := errors.Join(contexts[1].PostReceive(message.Receive{Data: make([]byte, size)}),
				contexts[0].PostSend(message.Send{Node: n.Number(1), Tag: uint32(count), Data: text})); err != nil {
				return err
			}
			for _, c := range contexts {
				done, err := c.Wait(t.Context())
				if err = errors.Join(err, done.Err); err != nil {
					return err
				}
				if done.Received && (done.Tag != uint32(count) || !bytes.Equal(done.Data, text)) {
					return fmt.Errorf("message %d of %d bytes came in the place of %d", done.Tag, len(done.Data), count)
				}
			}
		}
		return nil
	})
	return func() int {
		cancel()
		return <-over
	}
}

// TestPulledCable pulls a cable while TCP sends, and plugs it in: TCP sends again what was lost.
func TestPulledCable(t *testing.T) {
	need(t, "ip", "ping", "iperf3")
	n := begin(t, cluster.Model, 0, live.Options{})
	pinged := func() bool { return n.spaces[0].start(t, "ping", "-c", "1", "-W", "1", n.address(1)).Wait() == nil }
	for !pinged() {
	}
	check.Fatal(t, n.Cut(1, true))
	for pinged() { // what is underway arrives
	}
	for range 3 {
		if pinged() {
			t.Error("a cable that is cut carries packets")
		}
	}
	check.Fatal(t, n.Cut(1, false))
	for !pinged() {
	}
	n.iperf(t, func(running func() bool) {
		for begun := n.interfaces[0].Counts().Sent; running() && n.interfaces[0].Counts().Sent < begun+100; time.Sleep(time.Millisecond) {
		}
		served := running() // and not refused since the server did not listen yet
		check.Fatal(t, n.Cut(1, true))
		for pinged() {
		}
		if served && !running() {
			t.Error("the transfer has ended over a cable that is cut")
		}
		check.Fatal(t, n.Cut(1, false))
	}, "-n", "3000000")
	n.tell(t)
}

// TestDown: an interface that is set down, to which packets come, carries them again once it is up.
func TestDown(t *testing.T) {
	need(t, "ip", "ping")
	n := begin(t, cluster.Model, 0, live.Options{})
	n.spaces[1].start(t, "ip", "link", "set", "lm0", "down").wait(t)
	for n.interfaces[1].Counts().Down == 0 {
		n.spaces[0].start(t, "ping", "-c", "1", "-W", "1", n.address(1)).Wait()
		n.spaces[1].start(t, "ip", "link", "show", "lm0").wait(t)
	}
	n.spaces[1].start(t, "ip", "link", "set", "lm0", "up").wait(t)
	n.spaces[0].start(t, "ping", "-c", "3", "-i", "0.2", "-W", "30", n.address(1)).wait(t)
}

// TestTaken: a name that is taken, a node whose datagrams are, and options that cannot be are refused with what to do; an interface is removed by Down, and by nothing of
// another kind.
func TestTaken(t *testing.T) {
	need(t, "ip")
	n := begin(t, cluster.Model, 0, live.Options{})
	space := n.spaces[0]
	attempt := func(node *hostdrv.Node, o ip.Options) error {
		return space.run(func() error { return check.Err(ip.Up(t.Context(), node, o)) })
	}
	node := n.open(t, n.targets[0])
	check.Fails(t, "a node whose datagrams are taken", attempt(node, ip.Options{}), hostdrv.ErrLimit, "lmmc ip up")
	check.Fails(t, "down of lo", space.run(func() error { return ip.Down("lo") }), nil, "not one of lmmc ip up")
	check.Fails(t, "down of nothing", space.run(func() error { return ip.Down("lm9") }), nil, "lm9")
	check.Fatal(t, n.spaces[1].run(func() error { return ip.Down("lm0") }))
	other := n.open(t, n.targets[1])
	retry := func(o ip.Options) error { // until the server has heard that the last attempt released the datagrams
		for {
			if err := attempt(other, o); err == nil || !strings.Contains(err.Error(), hostdrv.ErrLimit.Error()) {
				return err
			}
		}
	}
	check.Fails(t, "a name that is taken", retry(ip.Options{Name: "lm0"}), nil, "lm0", "already")
	for _, c := range []struct {
		o    ip.Options
		want string
	}{
		{ip.Options{Name: "a name of too many letters"}, "no interface can be called"}, {ip.Options{MTU: 67}, "want 68 to 1021"}, {ip.Options{MTU: 1022}, "want 68 to 1021"},
		{ip.Options{Link: 2}, "link"}, {ip.Options{Peers: []uint16{5000}}, "no node 5000"},
	} {
		check.Fails(t, c.want, retry(c.o), nil, c.want)
	}
}
