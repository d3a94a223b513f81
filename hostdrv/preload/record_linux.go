package preload

import (
	"encoding/binary"
	"net/netip"

	"golang.org/x/sys/unix"
)

// version is that of records, which the library must share.
const version = '3'

// Kinds of records; lib/record.h says what they are.
const (
	nameSocket    = 'S'
	nameConnected = 'C'
	nameFailed    = 'F'
	nameListener  = 'L'
	nameDatagrams = 'D'
	namePeer      = 'P'
	askConnect    = 'c'
	askListen     = 'l'
	askLinger     = 'g'
	askNote       = 'n'
	askReap       = 'r'
	askAdopt      = 'u'
	askReach      = 'p'
	askReturn     = 'b'
	askSet        = 's'
	askGet        = 't'
	askJoin       = 'j' // of lmmc run: program and reason follow, and the connection stays
	askList       = 'q' // of lmmc sockets
	answerDone    = 'o'
	answerError   = 'e'
)

// record is what names a connection's ends, and what is asked and answered: lib/record.h has the same.
type record struct {
	kind, domain byte
	id           uint64
	value        int32
	local, peer  netip.AddrPort
}

const (
	recordSize = 56
	magic      = "\x00lmmc"
)

func (r record) bytes() []byte {
	b := append(make([]byte, 0, recordSize), magic...)
	b = append(b, version, r.kind, r.domain)
	b = binary.NativeEndian.AppendUint64(b, r.id)
	b = binary.NativeEndian.AppendUint32(b, uint32(r.value))
	for _, end := range []netip.AddrPort{r.local, r.peer} {
		b = binary.BigEndian.AppendUint16(b, end.Port())
		ip := end.Addr().As16()
		b = append(b, ip[:]...)
	}
	return b
}

// parse reads a record. Of one of another version only that it is one is known.
func parse(b []byte) (r record, same, ok bool) {
	if len(b) < recordSize || string(b[:len(magic)]) != magic {
		return r, false, false
	}
	r = record{kind: b[6], domain: b[7], id: binary.NativeEndian.Uint64(b[8:]), value: int32(binary.NativeEndian.Uint32(b[16:]))}
	end := func(b []byte) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[2:18])).Unmap(), binary.BigEndian.Uint16(b))
	}
	r.local, r.peer = end(b[20:]), end(b[38:])
	return r, b[5] == version, true
}

// name is the record as an abstract address.
func (r record) name() *unix.SockaddrUnix {
	return &unix.SockaddrUnix{Name: "@" + string(r.bytes()[1:])}
}
