package stream

// Sizes of buffers: of those that hold a whole segment, and of those for a few bytes.
const (
	SegmentBytes = 16 << 10
	smallBytes   = 2 << 10
)

// MaxData is how many bytes a segment carries at most, and so a datagram.
const MaxData = SegmentBytes - HeaderBytes

// chunk is a part of what waits to be sent or read. Before its bytes is room for a header.
type chunk struct {
	buf []byte
	off int // of its first byte
}

func (c *chunk) bytes() []byte { return c.buf[c.off:] }

// pool keeps buffers that are free.
type pool struct{ small, large [][]byte }

// mostFree is how many buffers of a size are kept.
const mostFree = 512

// get returns an empty buffer for a segment with n bytes of data.
func (p *pool) get(n int) []byte {
	list, size := &p.large, SegmentBytes
	if n+HeaderBytes <= smallBytes {
		list, size = &p.small, smallBytes
	}
	last := len(*list) - 1
	if last < 0 {
		return make([]byte, 0, size)
	}
	b := (*list)[last]
	*list = (*list)[:last]
	return b[:0]
}

// put gives a buffer back. One of which the beginning is gone is left to the garbage collector.
func (p *pool) put(b []byte) {
	switch {
	case cap(b) == SegmentBytes && len(p.large) < mostFree:
		p.large = append(p.large, b)
	case cap(b) == smallBytes && len(p.small) < mostFree:
		p.small = append(p.small, b)
	}
}

// queue is bytes in order.
type queue struct {
	chunks []chunk
	size   int // bytes
}

// append adds bytes: to the last buffer, if they fit, or to more.
func (q *queue) append(p *pool, b []byte) {
	q.size += len(b)
	if n := len(q.chunks); n > 0 {
		last := &q.chunks[n-1]
		free := min(cap(last.buf)-len(last.buf), len(b))
		last.buf = append(last.buf, b[:free]...)
		b = b[free:]
	}
	for len(b) > 0 {
		n := min(len(b), MaxData)
		buf := p.get(n)[:HeaderBytes]
		q.chunks = append(q.chunks, chunk{append(buf, b[:n]...), HeaderBytes})
		b = b[n:]
	}
}

// keep adds a buffer, whose bytes begin at off.
func (q *queue) keep(buf []byte, off int) {
	q.size += len(buf) - off
	q.chunks = append(q.chunks, chunk{buf, off})
}

// pop takes the first chunk.
func (q *queue) pop() chunk {
	c := q.chunks[0]
	q.chunks[0] = chunk{}
	if q.chunks = q.chunks[1:]; len(q.chunks) == 0 {
		q.chunks = nil
	}
	q.size -= len(c.bytes())
	return c
}

// read moves bytes into b.
func (q *queue) read(p *pool, b []byte) (n int) {
	for n < len(b) && q.size > 0 {
		c := &q.chunks[0]
		k := copy(b[n:], c.bytes())
		n += k
		c.off += k
		q.size -= k
		if c.off == len(c.buf) {
			p.put(q.pop().buf)
		}
	}
	return n
}

// clear drops all.
func (q *queue) clear(p *pool) {
	for len(q.chunks) > 0 {
		p.put(q.pop().buf)
	}
}
