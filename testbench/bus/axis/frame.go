package axis

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// ByteType says what a byte of a frame is (IHI 0051A, section 2.4).
type ByteType uint8

const (
	// DataByte is a byte with content.
	DataByte ByteType = iota
	// PositionByte holds a place: TSTRB is 0.
	PositionByte
	// NullByte is none and may be taken out: TKEEP is 0. A Sink leaves it out.
	NullByte
)

// Frame is what TLAST ends: bytes, and what goes with them. Where there is no TLAST, each transfer is a frame.
type Frame struct {
	Data []byte
	// Types has a ByteType for each byte of Data; nil means that all are DataByte.
	Types []ByteType
	// ID and Dest are TID and TDEST of all transfers.
	ID, Dest uint64
	// User has TUSER of each transfer, in a word for every 64 bits begun, the least significant first. A Source takes nil for 0, and that of one transfer for
	// all of them.
	User []uint64
}

// Equal tells whether two frames are the same.
func (f Frame) Equal(g Frame) bool {
	return f.ID == g.ID && f.Dest == g.Dest && string(f.Data) == string(g.Data) && slices.Equal(f.Types, g.Types) && slices.Equal(f.User, g.User)
}

// String describes the frame with the beginning of its bytes.
func (f Frame) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d bytes", len(f.Data))
	if f.ID != 0 || f.Dest != 0 {
		fmt.Fprintf(&s, " (id %#x, dest %#x)", f.ID, f.Dest)
	}
	if len(f.User) > 0 {
		fmt.Fprintf(&s, " user %x", f.User[:min(8, len(f.User))])
	}
	const shown = 32
	fmt.Fprintf(&s, " % x", f.Data[:min(shown, len(f.Data))])
	if len(f.Data) > shown {
		s.WriteString(" …")
	}
	return s.String()
}

// transfers returns how many transfers a frame takes, or why the stream cannot carry it.
func (l *layout) transfers(f Frame) (int, error) {
	refuse := func(format string, args ...any) (int, error) {
		return 0, fmt.Errorf("%s: %w: %s", l.Port, ErrFrame, fmt.Sprintf(format, args...))
	}
	n := 1
	if l.lanes > 0 {
		n = max((len(f.Data)+l.lanes-1)/l.lanes, 1)
	} else if len(f.Data) > 0 {
		return refuse("%d bytes without TDATA", len(f.Data))
	}
	if l.lanes > 0 && len(f.Data) != n*l.lanes && l.keep.width == 0 {
		return refuse("%d bytes in transfers of %d without TKEEP", len(f.Data), l.lanes)
	}
	if f.Types != nil && len(f.Types) != len(f.Data) {
		return refuse("Types has %d entries for %d bytes", len(f.Types), len(f.Data))
	}
	for i, t := range f.Types {
		switch {
		case t == PositionByte && l.strb.width == 0:
			return refuse("byte %d is a position byte, which takes TSTRB", i)
		case t == NullByte && l.keep.width == 0:
			return refuse("byte %d is a null byte, which takes TKEEP", i)
		case t > NullByte:
			return refuse("byte %d is of type %d: want DataByte, PositionByte or NullByte", i, t)
		}
	}
	for _, s := range []struct {
		name  string
		value uint64
		span
	}{{"TID", f.ID, l.id}, {"TDEST", f.Dest, l.dest}} {
		if s.width < 64 && s.value>>s.width != 0 {
			return refuse("%#x does not fit %s of %d bits", s.value, s.name, s.width)
		}
	}
	words := l.user.words()
	if len(f.User) != 0 && len(f.User) != words && len(f.User) != n*words {
		return refuse("User has %d words, want none, %d for all transfers alike, or %d for each of %d", len(f.User), words, words, n)
	}
	for i := range f.User {
		if top := l.user.width - 64*(words-1); (i+1)%words == 0 && top < 64 && f.User[i]>>top != 0 {
			return refuse("word %#x of User does not fit TUSER of %d bits", f.User[i], l.user.width)
		}
	}
	if spare := 8*l.lanes - l.data.width; spare > 0 {
		for i := l.lanes - 1; i < len(f.Data); i += l.lanes {
			if f.Data[i]>>(8-spare) != 0 {
				return refuse("byte %d is %#x, and the highest of a transfer has %d bits", i, f.Data[i], 8-spare)
			}
		}
	}
	return n, nil
}

// fill makes the row the i-th transfer of a frame.
func (l *layout) fill(f *Frame, i int) {
	from := i * l.lanes
	own := f.Data[min(from, len(f.Data)):min(from+l.lanes, len(f.Data))]
	row := l.row
	at := l.data.at
	for p := own; len(p) > 0; at++ {
		if len(p) >= 8 {
			row[at], p = binary.LittleEndian.Uint64(p), p[8:]
			continue
		}
		var word [8]byte
		copy(word[:], p)
		row[at], p = binary.LittleEndian.Uint64(word[:]), nil
	}
	clear(row[at : l.data.at+l.data.words()])
	if l.keep.width|l.strb.width != 0 {
		l.qualify(f, from, len(own))
	}
	if l.id.width != 0 {
		row[l.id.at] = f.ID
	}
	if l.dest.width != 0 {
		row[l.dest.at] = f.Dest
	}
	if words := l.user.words(); words != 0 {
		user := row[l.user.at : l.user.at+words]
		switch len(f.User) {
		case 0:
			clear(user)
		case words:
			copy(user, f.User)
		default:
			copy(user, f.User[i*words:])
		}
	}
}

// qualify sets TKEEP and TSTRB of a transfer with n bytes of a frame.
func (l *layout) qualify(f *Frame, from, n int) {
	for _, s := range []span{l.keep, l.strb} {
		if s.width == 0 {
			continue
		}
		words := l.row[s.at : s.at+s.words()]
		for k := range words {
			words[k] = ^uint64(0) >> (64 - min(max(n-64*k, 0), 64))
		}
	}
	if f.Types == nil {
		return
	}
	for k, t := range f.Types[from : from+n] {
		if t == NullByte {
			l.row[l.keep.at+k/64] &^= 1 << (k % 64)
		}
		if t != DataByte && l.strb.width != 0 {
			l.row[l.strb.at+k/64] &^= 1 << (k % 64)
		}
	}
}

// extract adds the transfer in the row to a frame.
func (l *layout) extract(f *Frame) {
	if l.user.width != 0 {
		f.User = append(f.User, l.row[l.user.at:l.user.at+l.user.words()]...)
	}
	if l.full(l.keep) && l.full(l.strb) {
		if f.Types != nil {
			f.Types = append(f.Types, make([]ByteType, l.lanes)...)
		}
		var bytes [8]byte
		for k := 0; k < l.lanes; k += 8 {
			binary.LittleEndian.PutUint64(bytes[:], l.row[l.data.at+k/8])
			f.Data = append(f.Data, bytes[:min(8, l.lanes-k)]...)
		}
		return
	}
	for k := range l.lanes {
		if !l.bit(l.keep, k) {
			continue
		}
		if !l.bit(l.strb, k) && f.Types == nil {
			f.Types = make([]ByteType, len(f.Data), len(f.Data)+l.lanes)
		}
		if f.Types != nil {
			t := DataByte
			if !l.bit(l.strb, k) {
				t = PositionByte
			}
			f.Types = append(f.Types, t)
		}
		f.Data = append(f.Data, byte(l.row[l.data.at+k/8]>>(k%8*8)))
	}
}
