package socket_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/stafflink/lmmc/hostdrv/socket"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// TestHTTP has a client of one node post to a server of another: plain, and by HTTP/2 over TLS, where requests at once share a connection.
func TestHTTP(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	for _, c := range []struct {
		proto string
		start func(s *httptest.Server)
	}{{"HTTP/1.1", (*httptest.Server).Start}, {"HTTP/2.0", (*httptest.Server).StartTLS}} {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // what is missing the client misses
			_, _ = w.Write(body)
		}))
		check.Fatal(t, server.Listener.Close())
		l, at := listen(t, n.stacks[1])
		server.Listener, server.EnableHTTP2 = l, true
		c.start(server)
		transport := server.Client().Transport.(*http.Transport)
		if transport.TLSClientConfig != nil {
			transport.TLSClientConfig.ServerName = "example.com"
		}
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return n.stacks[0].DialContext(ctx, "tcp", at)
		}
		var failures []<-chan error
		for i := range 10 {
			failures = append(failures, check.Go(func() error { return post(server, c.proto, testbench.NewRand(uint64(i)).Bytes(30_000*i)) }))
		}
		for _, f := range failures {
			check.Error(t, <-f)
		}
		server.Close()
	}
}

// post wants to have back what it posts.
func post(s *httptest.Server, proto string, body []byte) error {
	r, err := s.Client().Post(s.URL, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	back, err := io.ReadAll(r.Body)
	if err == nil && (!bytes.Equal(back, body) || r.Proto != proto) {
		err = fmt.Errorf("%d bytes came back by %s, want %d by %s", len(back), r.Proto, len(body), proto)
	}
	return err
}

// TestSSH has a client of one node open channels to a server of another.
func TestSSH(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	near, far := pipe(t, n.stacks[0], n.stacks[1])
	key := check.Must(ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))))(t)
	server := &ssh.ServerConfig{NoClientAuth: true}
	server.AddHostKey(key)
	served := check.Go(func() error {
		_, channels, requests, err := ssh.NewServerConn(far, server)
		if err != nil {
			return err
		}
		go ssh.DiscardRequests(requests)
		for c := range channels {
			ch, more, err := c.Accept()
			if err != nil {
				return err
			}
			go ssh.DiscardRequests(more)
			go func() { _, _ = io.Copy(ch, ch); ch.Close() }()
		}
		return nil
	})
	c, channels, requests, err := ssh.NewClientConn(near, "", &ssh.ClientConfig{HostKeyCallback: ssh.FixedHostKey(key.PublicKey())})
	check.Fatal(t, err)
	client := ssh.NewClient(c, channels, requests)
	var failures []<-chan error
	for i := range 5 {
		failures = append(failures, check.Go(func() error {
			ch, _, err := client.OpenChannel("echo", nil)
			if err != nil {
				return err
			}
			data := testbench.NewRand(uint64(i)).Bytes(20_000)
			wrote := check.Go(func() error { _, err := ch.Write(data); return errors.Join(err, ch.CloseWrite()) })
			back, err := io.ReadAll(ch)
			if !bytes.Equal(back, data) {
				err = errors.Join(err, fmt.Errorf("channel %d: %d bytes came back", i, len(back)))
			}
			return errors.Join(err, <-wrote)
		}))
	}
	for _, f := range failures {
		check.Error(t, <-f)
	}
	check.Fatal(t, client.Close())
	check.Fatal(t, <-served)
}

// TestThousands has ten thousand connections of one pair of nodes at once, of which the first has a reader that does not read: the others go on.
func TestThousands(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	l, at := listen(t, n.stacks[1])
	const count = 10_000
	var stuck net.Conn
	for i := range count {
		c := check.Must(n.stacks[0].Dial("tcp", at))(t)
		defer c.Close()
		far := check.Must(l.Accept())(t)
		if i == 0 {
			stuck = c
			defer far.Close()
			continue
		}
		go func() { _, _ = io.Copy(far, far); far.Close() }()
		defer func() {
			check.Fatal(t, c.(*socket.Conn).CloseWrite())
			if back := check.Must(io.ReadAll(within(t, c)))(t); !bytes.Equal(back, testbench.NewRand(uint64(i)).Bytes(300)) {
				t.Errorf("connection %d: %d bytes came back", i, len(back))
			}
		}()
		check.Must(c.Write(testbench.NewRand(uint64(i)).Bytes(300)))(t)
		if i == 1 { // all that can be is underway to the one that does not read
			full := make([]byte, 1<<20)
			go func() { _, _ = stuck.Write(full) }()
		}
	}
	check.Equal(t, "counts", n.stacks[0].Counts(), socket.Counts{Opened: count})
}

// TestDatagrams: datagrams go to ports, and those that nobody waits for, or that there is no room for, are dropped.
func TestDatagrams(t *testing.T) {
	n := open(t, star(t, 2, cluster.Model), socket.Options{})
	server := check.Must(n.stacks[1].ListenPacket("udp", ":53"))(t)
	client := check.Must(n.stacks[0].Dial("udp", "2:53"))(t)
	other := check.Must(n.stacks[0].ListenPacket("udp", ":0"))(t)
	b := make([]byte, socket.MaxPacket)
	for _, size := range []int{0, 1, 5000, socket.MaxPacket} {
		data := testbench.NewRand(uint64(size)).Bytes(size)
		check.Must(other.WriteTo(data, server.LocalAddr()))(t)
		check.Must(client.Write(data))(t)
		for _, from := range []net.Addr{other.LocalAddr(), client.LocalAddr()} {
			k, addr, err := server.ReadFrom(b)
			if err != nil || addr != from || !bytes.Equal(b[:k], data) {
				t.Errorf("%d bytes from %v: %d from %v, %v", size, from, k, addr, err)
			}
		}
		check.Must(server.WriteTo(data, client.LocalAddr()))(t)
		check.Equal(t, "bytes that came back", check.Must(client.Read(b))(t), size)
	}
	check.Must(client.Write([]byte("longer than its room")))(t)
	k, _, err := server.ReadFrom(b[:6])
	check.Fatal(t, err)
	check.Equal(t, "cut", string(b[:k]), "longer")
	if _, err := client.Write(make([]byte, socket.MaxPacket+1)); err == nil {
		t.Error("a datagram that is too long went")
	}
	check.Must(other.WriteTo([]byte("nobody"), socket.Addr{Node: 2, Port: 54}))(t)
	alone := check.Must(n.stacks[0].Dial("udp", "2:54"))(t)
	check.Must(alone.Write([]byte("nobody")))(t)
	fails(t, "nobody has the port", check.Err(alone.Read(b)), syscall.ECONNREFUSED)
	for range 40 {
		check.Must(client.Write(b))(t)
	}
	check.Must(client.Write(nil))(t)
	check.Fatal(t, client.Close())
	came := 0
	for k = 1; k > 0; came++ { // up to the last one, which has no bytes
		k, _, err = server.ReadFrom(b)
		check.Fatal(t, err)
	}
	check.Equal(t, "came or dropped", came+int(n.stacks[1].Counts().Dropped), 2+41)
	check.Fails(t, "closed", check.Err(client.Read(b)), net.ErrClosed)
}
