package preload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Ways that connections go.
const (
	Cluster = "cluster"
	Stack   = "stack" // the system's
	Both    = "both"  // of what listens at any address
)

// States of connections.
const (
	Connecting  = "connecting"
	Established = "established"
	Listening   = "listening"
	Unconnected = "unconnected" // of datagrams
	Running     = "running"     // of a program that the library cannot serve
)

// Entry is a connection of a program, a port where it listens, or, without addresses, a program that goes by the system's stack altogether.
type Entry struct {
	Net     string         `json:"net,omitempty"` // "tcp" or "udp"
	Way     string         `json:"way"`
	State   string         `json:"state"`
	Local   netip.AddrPort `json:"local,omitzero"`
	Peer    netip.AddrPort `json:"peer,omitzero"`
	PID     int            `json:"pid"`
	Program string         `json:"program"`
	Why     string         `json:"why,omitempty"` // it goes by the system's stack
}

// note is of a socket that goes by the system's stack.
type note struct {
	entry  Entry
	socket uint64 // its number
}

// mostNotes is how many sockets of the system's stack are known.
const mostNotes = 10000

func (d *Daemon) note(r record, pid int, why string) {
	n := note{Entry{Net: "tcp", Way: Stack, State: Established, Local: r.local, Peer: r.peer, PID: pid, Program: programName(pid), Why: why}, r.id}
	if r.peer.Port() == 0 {
		n.entry.State, n.entry.Peer = Listening, netip.AddrPort{}
	}
	if r.domain == unix.SOCK_DGRAM {
		n.entry.Net = "udp"
		if n.entry.State == Listening {
			n.entry.State = Unconnected
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.notes) == mostNotes {
		holders := socketHolders()
		d.notes = slices.DeleteFunc(d.notes, func(n note) bool { return holders[n.socket] == 0 })
	}
	if len(d.notes) < mostNotes {
		d.notes = append(d.notes, n)
	}
}

// socketHolders are the processes other than this one that have sockets, by the sockets' numbers.
func socketHolders() map[uint64]int {
	holders := map[uint64]int{}
	descriptors, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is right
	for _, at := range descriptors {
		var pid int
		var socket uint64
		link, _ := os.Readlink(at) // it may be closed
		if n, _ := fmt.Sscanf(at+" "+link, "/proc/%d/fd/%d socket:[%d]", &pid, new(int), &socket); n == 3 && pid != os.Getpid() {
			holders[socket] = pid
		}
	}
	return holders
}

// entries are all, in an order that stays.
func (d *Daemon) entries() (all []Entry) {
	d.reap()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, l := range d.listeners {
		all = append(all, l.entry)
	}
	for _, c := range d.connections {
		all = append(all, c.entry)
	}
	for _, s := range d.datagrams {
		all = append(all, s.entry)
	}
	if len(d.notes) > 0 {
		holders := socketHolders()
		for _, n := range d.notes {
			if pid := holders[n.socket]; pid != 0 {
				n.entry.PID, n.entry.Program = pid, programName(pid)
				all = append(all, n.entry)
			}
		}
	}
	for _, e := range d.programs {
		if e.Why != "" {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// list tells each entry in a message.
func (d *Daemon) list(conn *net.UnixConn) {
	for _, e := range d.entries() {
		if text, err := json.Marshal(e); err != nil || check(conn.Write(text)) != nil {
			return
		}
	}
}

func check(_ int, err error) error { return err }

// ask sends a request with a text to the daemon at a socket.
func ask(path string, kind byte, text string) (*net.UnixConn, error) {
	conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	if _, err = conn.Write(append(record{kind: kind}.bytes(), text...)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// List returns what the daemon at a socket knows.
func List(path string) (all []Entry, err error) {
	conn, err := ask(path, askList, "")
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for b := make([]byte, 4096); ; {
		n, err := conn.Read(b)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if err := otherVersion(b[:n]); err != nil {
			return nil, err
		}
		var e Entry
		if err := json.Unmarshal(b[:n], &e); err != nil {
			return nil, err
		}
		all = append(all, e)
	}
}

// otherVersion says that an answer is that to a request of another version.
func otherVersion(b []byte) error {
	if r, same, ok := parse(b); ok && (!same || r.kind == answerError) {
		return fmt.Errorf("sockets: the daemon is of another version than this program (%w)", unix.EPROTO)
	}
	return nil
}
