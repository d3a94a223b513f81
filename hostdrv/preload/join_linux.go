package preload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
)

// joined is what a program is told that joins.
type joined struct {
	Node   uint16
	Nets   []netip.Prefix
	Groups bool
}

// join keeps the daemon for a program as long as the connection lasts.
func (d *Daemon) join(conn *net.UnixConn, pid int, text string) {
	program, why, _ := strings.Cut(text, "\x00")
	e := Entry{Way: Stack, State: Running, PID: pid, Program: program, Why: why}
	d.mu.Lock()
	over := d.over
	if !over {
		d.programs[conn] = e
	}
	d.mu.Unlock()
	if over {
		return
	}
	answer, err := json.Marshal(joined{d.stack.Node(), d.nets, d.groups})
	if err == nil {
		_, err = conn.Write(answer)
	}
	if err == nil {
		_, _ = conn.Read(make([]byte, 1)) // until it ends
	}
	d.mu.Lock()
	delete(d.programs, conn)
	d.mu.Unlock()
}

// Program is one that uses the daemon of a node.
type Program struct {
	Node   uint16
	Nets   []netip.Prefix // the node's addresses
	groups bool           // multicast groups are the cluster's
	path   string
	conn   io.Closer
}

// ErrEnding says that the daemon ends, or has ended.
var ErrEnding = errors.New("sockets: the daemon has ended")

// ending makes an error that the end of a daemon explains an ErrEnding.
func ending(err error) error {
	for _, end := range []error{io.EOF, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, syscall.ENOENT} {
		if errors.Is(err, end) {
			return fmt.Errorf("%w: %w", ErrEnding, err)
		}
	}
	return err
}

// Join tells the daemon at a socket of a program, and, if it cannot be served, why. The daemon is not done before the Program is closed. ErrEnding says that it is
// done before, or that there is none.
func Join(path, program, why string) (*Program, error) {
	conn, err := ask(path, askJoin, program+"\x00"+why)
	if err != nil {
		return nil, ending(err)
	}
	b := make([]byte, 4096)
	n, err := conn.Read(b)
	var j joined
	if err == nil {
		err = otherVersion(b[:n])
	}
	if err == nil {
		err = json.Unmarshal(b[:n], &j)
	}
	if err != nil {
		conn.Close()
		return nil, ending(err)
	}
	return &Program{Node: j.Node, Nets: j.Nets, groups: j.Groups, path: path, conn: conn}, nil
}

// Close lets the daemon go.
func (p *Program) Close() error {
	if p.conn == nil {
		return net.ErrClosed
	}
	return p.conn.Close()
}

// Environment is what the program needs besides: its library, and what that asks.
func (p *Program) Environment(library string, quiet bool) []string {
	nets := []string{}
	for _, n := range p.Nets {
		nets = append(nets, n.String())
	}
	if before := os.Getenv("LD_PRELOAD"); before != "" {
		library += " " + before
	}
	e := []string{"LD_PRELOAD=" + library, "LMMC_SOCKET_DAEMON=" + p.path, "LMMC_SOCKET_NETS=" + strings.Join(nets, " ")}
	if p.groups {
		e = append(e, "LMMC_SOCKET_GROUPS=1")
	}
	if quiet {
		e = append(e, "LMMC_SOCKET_QUIET=1")
	}
	return e
}
