package record

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// magic is what a file begins with, and version what follows.
const (
	magic   = "LMMCREC"
	version = 2 // 1 was with version 2 of the link protocol
)

// The kinds of records.
const (
	kindSession = 1 + iota
	kindExchange
	kindEnd
	kindClosed
)

// Header says what a session was.
type Header struct {
	Target         string        `json:"target"`
	Time           time.Time     `json:"time"`
	Seed           uint64        `json:"seed,omitempty"`     // of hostdrv.Options
	LinkTimeout    time.Duration `json:"patience,omitempty"` // of hostdrv.Options, in ns
	TicksPerSecond float64       `json:"ticks_per_second"`   // of the target's time
}

// Recorder writes sessions to a file. It may be used for several targets at once.
type Recorder struct {
	mu       sync.Mutex
	w        *bufio.Writer
	close    func() error
	sessions uint64
	body     []byte // of the record that is being written
	err      error  // the first one of writing
	closed   bool
}

// Create makes a Recorder of a file, which must not exist yet.
func Create(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("record: a recording takes a new file, and there is one: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	r := New(f)
	r.close = f.Close
	return r, nil
}

// New makes a Recorder that writes to w.
func New(w io.Writer) *Recorder {
	r := &Recorder{w: bufio.NewWriterSize(w, 1<<16), close: func() error { return nil }}
	_, r.err = r.w.WriteString(magic + string(rune(version)))
	return r
}

// Options returns o with the sessions of whatever it opens recorded.
func (r *Recorder) Options(o hostdrv.Options) hostdrv.Options {
	inner := o.Wrap
	o.Wrap = func(target string, t hostdrv.Transport) hostdrv.Transport {
		if inner != nil {
			t = inner(target, t)
		}
		return r.Wrap(t, Header{Target: target, Seed: o.Seed, LinkTimeout: o.LinkTimeout})
	}
	return o
}

// Wrap returns a transport that records what goes over t, in a session of its own; Time, if zero, and TicksPerSecond of its header are
// filled in.
func (r *Recorder) Wrap(t hostdrv.Transport, h Header) hostdrv.Transport {
	h.TicksPerSecond = t.Timing().TicksPerSecond
	if h.Time.IsZero() {
		h.Time = time.Now().UTC()
	}
	text, err := json.Marshal(h)
	r.lock()
	defer r.mu.Unlock()
	tap := &tap{Transport: t, recorder: r, session: r.sessions}
	r.sessions++
	if r.err == nil {
		r.err = err
	}
	r.body = append(r.body[:0], text...)
	r.write(kindSession)
	r.flush()
	return tap
}

// lock locks the Recorder; a zero one fails.
func (r *Recorder) lock() {
	r.mu.Lock()
	if r.w == nil && r.err == nil {
		r.err, r.close = errors.New("a zero Recorder; make it with Create or New"), func() error { return nil }
	}
}

// Close completes the file. It returns the first error there was in writing it; sessions that have not ended are left as they are.
func (r *Recorder) Close() error {
	r.lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.body = r.body[:0]
		r.write(kindClosed)
		r.flush()
		r.closed = true
		if err := r.close(); r.err == nil {
			r.err = err
		}
	}
	if r.err != nil {
		return fmt.Errorf("record: %w", r.err)
	}
	return nil
}

// write writes a record with the present body.
func (r *Recorder) write(kind byte) {
	if r.err != nil || r.closed {
		return
	}
	head := binary.AppendUvarint([]byte{kind}, uint64(len(r.body)))
	if _, r.err = r.w.Write(head); r.err == nil {
		_, r.err = r.w.Write(r.body)
	}
}

func (r *Recorder) flush() {
	if r.err == nil && !r.closed {
		r.err = r.w.Flush()
	}
}

// tap is a transport that is recorded.
type tap struct {
	hostdrv.Transport
	recorder *Recorder
	session  uint64

	// under the recorder's lock
	ticks  uint64 // without symbols
	out    []byte
	in     []byte
	ended  bool
	closed bool // by Close, before Exchange failed
}

// Exchange records what t exchanges. That the file cannot be written does not disturb the session: Recorder.Close tells.
func (t *tap) Exchange(x *hostdrv.Exchange) error {
	var sent []byte
	if len(x.Out) > 0 { // its memory may be another's once it is taken
		t.out = linkproto.AppendStuffed(t.out[:0], x.Out)
		sent = t.out
	}
	err := t.Transport.Exchange(x)
	if !x.Taken {
		sent = nil
	}
	t.in = linkproto.AppendStuffed(t.in[:0], x.In)
	r := t.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	t.ticks += uint64(x.Ticks)
	if len(sent)+len(t.in) > 0 {
		r.body = binary.AppendUvarint(r.body[:0], t.session)
		r.body = binary.AppendUvarint(r.body, t.ticks)
		r.body = binary.AppendUvarint(r.body, uint64(len(sent)))
		r.body = append(append(r.body, sent...), t.in...)
		r.write(kindExchange)
		t.ticks = 0
	} else { // a pause: what there is will survive the end of the program
		r.flush()
	}
	if err != nil {
		t.end(err)
	}
	return err
}

// end writes why the session ended.
func (t *tap) end(err error) {
	if t.ended {
		return
	}
	t.ended = true
	why := ""
	if err != nil && !t.closed {
		why = err.Error()
	}
	r := t.recorder
	r.body = append(binary.AppendUvarint(r.body[:0], t.session), why...)
	r.write(kindEnd)
	r.flush()
}

// Close closes the target.
func (t *tap) Close() error {
	t.recorder.mu.Lock()
	t.closed = true
	t.recorder.mu.Unlock()
	err := t.Transport.Close()
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	t.end(nil)
	return err
}
