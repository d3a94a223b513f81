package record

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/stafflink/lmmc/internal/try"
)

// Errors of reading a file.
var (
	ErrForeign   = errors.New("record: not a recording of lmmc")
	ErrVersion   = errors.New("record: a recording of another version")
	ErrTruncated = errors.New("record: the recording is cut off: its program was killed, or the disk was full")
	ErrDamaged   = errors.New("record: the recording is damaged")
)

// Session is what went over the cable of one target.
type Session struct {
	Header
	Exchanges []Exchange
	Ended     bool   // the file says that it did
	Reason    string // and why, "" for Close
}

// Exchange is what was sent, and received, in some ticks: escape-stuffed, both parts of them complete.
type Exchange struct {
	Ticks   uint64
	Out, In []byte
}

// maxRecord bounds what the length of a record may be.
const maxRecord = 1 << 24

// ReadFile reads the sessions of a file. A file that is cut off gives ErrTruncated and what it holds.
func ReadFile(path string) ([]*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	defer f.Close()
	sessions, err := Read(f)
	if err != nil {
		err = fmt.Errorf("%w: %s", err, path)
	}
	return sessions, err
}

// Read is ReadFile for any Reader.
func Read(from io.Reader) ([]*Session, error) {
	r := reader{in: bufio.NewReader(from)}
	var head [len(magic) + 1]byte
	switch _, err := io.ReadFull(r.in, head[:]); {
	case err != nil && !isEnd(err):
		return nil, fmt.Errorf("record: %w", err)
	case err != nil, string(head[:len(magic)]) != magic:
		return nil, ErrForeign
	case head[len(magic)] != version:
		return nil, fmt.Errorf("%w: %d, and this program reads %d", ErrVersion, head[len(magic)], version)
	}
	for number := 0; ; number++ {
		done, err := r.record()
		switch {
		case err != nil && isEnd(err):
			return r.sessions, fmt.Errorf("%w (after %d records)", ErrTruncated, number)
		case errors.Is(err, ErrDamaged):
			return r.sessions, fmt.Errorf("%w (record %d)", err, number)
		case err != nil:
			return r.sessions, fmt.Errorf("record: %w", err)
		case done:
			return r.sessions, nil
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

type reader struct {
	in       *bufio.Reader
	sessions []*Session
}

func damagedf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// record reads one; done is the last one.
func (r *reader) record() (done bool, err error) {
	kind, err := r.in.ReadByte()
	if err != nil {
		return false, err
	}
	length, err := binary.ReadUvarint(r.in)
	switch {
	case err != nil && isEnd(err):
		return false, err
	case err != nil || length > maxRecord:
		return false, damagedf("a record of %d bytes", length)
	}
	// Copied as it comes: a length that lies costs no memory.
	body, err := io.ReadAll(io.LimitReader(r.in, int64(length)))
	if err != nil {
		return false, err
	}
	if uint64(len(body)) < length {
		return false, io.ErrUnexpectedEOF
	}
	switch kind {
	case kindSession:
		s := &Session{}
		if err := json.Unmarshal(body, &s.Header); err != nil {
			return false, damagedf("the header of a session: %v", err)
		}
		r.sessions = append(r.sessions, s)
		return false, nil
	case kindExchange:
		return false, try.Run(func() { r.exchange(body) })
	case kindEnd:
		return false, try.Run(func() {
			s, body := r.session(body)
			s.Ended, s.Reason = true, string(body)
		})
	case kindClosed:
		return true, nil
	}
	return false, damagedf("a record of unknown kind %d", kind)
}

// number takes one off the front of body. This and what calls it are steps of try.Run.
func number(body []byte) (v uint64, rest []byte) {
	v, n := binary.Uvarint(body)
	if n <= 0 {
		try.OK(damagedf("a number is missing"))
	}
	return v, body[n:]
}

// session takes the number of a session off the front of body.
func (r *reader) session(body []byte) (*Session, []byte) {
	v, body := number(body)
	if v >= uint64(len(r.sessions)) {
		try.OK(damagedf("there is no session %d yet", v))
	}
	return r.sessions[v], body
}

func (r *reader) exchange(body []byte) {
	s, body := r.session(body)
	ticks, body := number(body)
	sent, body := number(body)
	if ticks > math.MaxInt64 || sent > uint64(len(body)) {
		try.OK(damagedf("an exchange of %d ticks and %d bytes sent, of %d", ticks, sent, len(body)))
	}
	s.Exchanges = append(s.Exchanges, Exchange{Ticks: ticks, Out: body[:sent:sent], In: body[sent:]})
}
