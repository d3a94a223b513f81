package barriers

import (
	"context"
	"math"

	"github.com/stafflink/lmmc/hostdrv/message"
	"github.com/stafflink/lmmc/internal/try"
)

// Size is what messages of a length take between the first and the last node, in clocks.
type Size struct {
	Bytes int     `json:"bytes"`
	Trip  float64 `json:"half_round_trip"`
	Gap   float64 `json:"gap"` // at which they arrive, sent as fast as can be
}

// Fit is a line through what was measured by size, that with the least squares of relative errors.
type Fit struct {
	Base    float64 `json:"base"`     // clocks without bytes
	PerByte float64 `json:"per_byte"` // clocks
	Error   float64 `json:"error"`    // the largest one, as a share of what was measured
}

// Bytes are the lengths that are measured.
var Bytes = []int{0, 64, 256, 1024, 2000, 4096}

// NewFit fits a line.
func NewFit(sizes []Size, of func(Size) float64) (f Fit) {
	var w, x, y, xx, xy float64 // sums
	for _, s := range sizes {
		at, v := float64(s.Bytes), of(s)
		weight := 1 / (v * v)
		w, x, y, xx, xy = w+weight, x+weight*at, y+weight*v, xx+weight*at*at, xy+weight*at*v
	}
	f.PerByte = (w*xy - x*y) / (w*xx - x*x)
	f.Base = (y - f.PerByte*x) / w
	for _, s := range sizes {
		f.Error = max(f.Error, math.Abs(f.At(s.Bytes)-of(s))/of(s))
	}
	return f
}

// At is the line's value.
func (f Fit) At(bytes int) float64 { return f.Base + f.PerByte*float64(bytes) }

const (
	trips = 4
	burst = 32 // messages, fewer if they are long
	sends = 4 * burst
)

// LogP measures the parameters of the first n nodes: half a round trip of messages without bytes, the mean over the first node's peers, is o_s, L and o_r; the gap is that at which
// messages arrive which the first node sends to each of the others as fast as it can. The gap of a cable between switches is that of messages which the first half of the nodes sends to the other half. A multicast of the first node has a latency of its own, where there is one. The overheads are what posting a message takes, and taking one that is there.
func (w *Network) LogP(ctx context.Context, n int) (p LogP, err error) {
	came, flood, casts := make([][2]float64, n), make([][2]float64, n), make([]float64, n)
	err = w.probe(ctx, n, func(m *prober, i int) {
		for peer := 1; peer < n; peer++ {
			if trip := m.trips(0, peer, 0); i == 0 {
				p.Latency += trip / float64(n-1)
			}
		}
		switch send, gap, receive := m.burst(0, 1, 0); i {
		case 0:
			p.Send = send
		case 1:
			p.Gap, p.Receive = gap, receive
		}
		came[i] = m.fan(n)
		flood[i] = m.flood(n)
		if w.multicast != 0 {
			casts[i] = m.casts(n)
		}
	})
	if n > 2 {
		p.Gap = 0
		for _, c := range came[1:] {
			p.Gap += (c[1] - c[0]) / float64((fans(n)-1)*(n-1)) / float64(n-1)
		}
	}
	p.Cable = w.cableGap(flood)
	p.Latency -= p.Send + p.Receive
	for _, at := range casts[1:] {
		p.Cast += (at - casts[0]) / float64(n-1)
	}
	return p, err
}

// BySize measures messages of some lengths between the first and the last of n nodes.
func (w *Network) BySize(ctx context.Context, n int) (sizes []Size, err error) {
	sizes = make([]Size, len(Bytes))
	err = w.probe(ctx, n, func(m *prober, i int) {
		for k, bytes := range Bytes {
			if trip := m.trips(0, n-1, bytes); i == 0 {
				sizes[k].Bytes, sizes[k].Trip = bytes, trip
			}
			if _, gap, _ := m.burst(0, n-1, bytes); i == n-1 {
				sizes[k].Gap = gap
			}
		}
	})
	return sizes, err
}

// prober sends and receives messages for a member.
type prober struct {
	*Network
	ctx     context.Context
	me      int
	context *message.Context
	rooms   [][]byte // for what comes, by cookie
}

func (m *prober) post(room int) {
	try.OK(m.context.PostReceive(message.Receive{Data: m.rooms[room], Cookie: uint64(room)}))
}

// probe has the first n nodes exchange messages. Their contexts stay open, so that the last ones arrive.
func (w *Network) probe(ctx context.Context, n int, do func(m *prober, i int)) error {
	w.context++
	return w.each(ctx, n, func(ctx context.Context, i int) {
		c := try.Get(message.Open(ctx, w.members[i].node, w.context, message.Options{Sends: sends, Receives: 2 * burst, Seed: uint64(i + 1)}))
		m := &prober{Network: w, ctx: ctx, me: i, context: c}
		for k := range 2 * burst {
			m.rooms = append(m.rooms, make([]byte, Bytes[len(Bytes)-1]))
			m.post(k)
		}
		do(m, i)
	})
}

func (m *prober) send(to, bytes int) {
	try.OK(m.context.PostSend(message.Send{Node: m.members[to].number, Data: make([]byte, bytes)}))
}

// receive waits for a message.
func (m *prober) receive() {
	for {
		done := try.Get(m.context.Wait(m.ctx))
		try.OK(done.Err)
		if done.Received {
			m.post(int(done.Cookie))
			return
		}
	}
}

// trips returns half a round trip, the mean, to the one that asks. The first one brings the virtual link up, and does not count.
func (m *prober) trips(asks, answers, bytes int) float64 {
	var start float64
	for i := range trips + 1 {
		if i == 1 {
			start = m.clock()
		}
		switch m.me {
		case asks:
			m.send(answers, bytes)
			m.receive()
		case answers:
			m.receive()
			m.send(asks, bytes)
		}
	}
	return (m.clock() - start) / (2 * trips)
}

// fan has the first node send messages to each of n-1 others in turn, as fast as it can. To the others it returns when the first and the last of theirs came. At each the time between
// the two is that of as many gaps as there are messages from one to the other, however far it is.
func (m *prober) fan(n int) (came [2]float64) {
	if m.me > 0 {
		return m.take(fans(n), 0)
	}
	for range fans(n) {
		for peer := 1; peer < n; peer++ {
			m.send(peer, 0)
		}
	}
	for range n - 1 {
		m.receive()
	}
	return came
}

// fans is how many messages are sent to each of n-1 others, up to 63: no more than a context has room for.
func fans(n int) int { return max(2, min(4, sends/(n-1))) }

// take receives messages, returns when the first and the last came, and tells who has sent them that all have.
func (m *prober) take(count, from int) (came [2]float64) {
	for i := range count {
		if m.receive(); i == 0 {
			came[0] = m.clock()
		}
	}
	came[1] = m.clock()
	m.send(from, 0)
	return came
}

// casts has the first node send multicasts, one after the other, and returns the mean time at which this node has sent them, or they have come. The first one meets what was sent before, and does not count.
func (m *prober) casts(n int) (at float64) {
	for i := range trips + 1 {
		if m.me > 0 {
			m.receive()
		}
		if i > 0 {
			at += m.clock() / trips
		}
		if m.me > 0 {
			m.send(0, 0)
			continue
		}
		try.OK(m.context.PostSend(message.Send{Node: m.multicast}))
		for range n - 1 {
			m.receive()
		}
	}
	return at
}

// flood has each of the first half of n nodes send messages to one of the other half, as fast as it can, once the first node has told all. To the others it returns when the first
// and the last of theirs came.
func (m *prober) flood(n int) (came [2]float64) {
	if m.me == 0 {
		for peer := 1; peer < n; peer++ {
			m.send(peer, 0)
		}
	} else {
		m.receive()
	}
	switch half := n / 2; {
	case m.me < half:
		for range burst {
			m.send(m.me+half, 0)
		}
		m.receive() // that all have come
	case m.me < 2*half:
		return m.take(burst, m.me-half)
	}
	return came
}

// cableGap is the gap of the slowest of the cables between switches over which most pairs of a flood go; 0 if none is shared.
func (w *Network) cableGap(flood [][2]float64) (gap float64) {
	if w.way == nil {
		return 0
	}
	half, pairs, most := len(flood)/2, map[int][]int{}, 2
	for i := range half {
		for _, cable := range w.way(i, i+half) {
			pairs[cable] = append(pairs[cable], i+half)
			most = max(most, len(pairs[cable]))
		}
	}
	for _, to := range pairs {
		if len(to) < most {
			continue
		}
		first, last := math.Inf(1), 0.0
		for _, i := range to {
			first, last = min(first, flood[i][0]), max(last, flood[i][1])
		}
		gap = max(gap, (last-first)/float64(burst*most-1))
	}
	return gap
}

// burst sends messages as fast as can be, twice: the receiver takes those of the first time as they come, and the others when all are there. It returns what posting one takes, to the one
// that sends; at which interval they come, and what taking one takes that is there, to the other.
func (m *prober) burst(sends, takes, bytes int) (send, gap, receive float64) {
	count := min(burst, max(4, 4*Bytes[len(Bytes)-1]/max(bytes, 1)))
	for late := range 2 {
		switch m.me {
		case sends:
			start := m.clock()
			for range count {
				m.send(takes, bytes)
			}
			send = (m.clock() - start) / float64(count)
			m.receive() // that all have come
		case takes:
			if late > 0 {
				try.OK(m.pause(m.ctx, m.me, 2000+2*float64(count)*gap))
			}
			start := m.clock()
			for i := range count {
				m.receive()
				if i == 0 && late == 0 {
					start = m.clock()
				}
			}
			if took := m.clock() - start; late == 0 {
				gap = took / float64(count-1)
			} else {
				receive = took / float64(count)
			}
			m.send(sends, 0)
		}
	}
	return send, gap, receive
}
