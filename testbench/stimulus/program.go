package stimulus

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
)

// Program is what is done to a network interface. It follows from its seed.
type Program struct {
	Seed   uint64     `json:"seed"`
	Params rtl.Params `json:"params"`
	Rounds []Round    `json:"rounds"`
}

// Round is what is done from one rest to the next.
type Round struct {
	Number  int      `json:"number"` // what is random in it follows from this and the program's seed
	Kind    Kind     `json:"kind"`
	Table   []uint32 `json:"table"`         // entries of the frame table at its beginning
	Control uint32   `json:"control"`       // the CONTROL register during it
	Host    []Packet `json:"host"`          // the host's own packets, in order
	Links   []Link   `json:"links"`         // by number, from 1 at index 0
	Rate    float64  `json:"rate"`          // of bit errors, in a longest packet, and about as much of other faults, in a noisy round
	Port    int      `json:"port"`          // for kinds that happen to one port
	Frame   int      `json:"frame"`         // that is revoked
	Aim     bool     `json:"aim,omitempty"` // what comes over two cables shall come together, or some clocks apart
	// Batches are how many of Out at Port the host sends before the first of them is acknowledged, in a round that fills the queue.
	Batches []int `json:"batches,omitempty"`
	// Violations are what comes over each port's cable at rest, one at a time.
	Violations [][]Violation `json:"violations,omitempty"`
}

// Link is what passes one link in a round.
type Link struct {
	In  []Arrival `json:"in"`  // what the peer sends, in order
	Out []Packet  `json:"out"` // what the host sends by this link, in order
}

// Arrival is a packet of a peer.
type Arrival struct {
	Raw    Packet   `json:"raw"`
	Traps  bool     `json:"traps,omitempty"`  // it is a PAGE or CONNECT that must be reported
	Forged int      `json:"forged,omitempty"` // what the cable adds to the packet's length field, in a frame that is good otherwise
	Serve  []Packet `json:"serve,omitempty"`  // what the host does if the packet traps
	Alone  bool     `json:"alone,omitempty"`  // the peer sends nothing more until it has been served
}

// Kind is what is special about a round.
type Kind uint8

// Kinds of rounds.
const (
	Plain       Kind = iota // everybody works when there is work
	SlowHost                // the host reads seldom
	SlowPeers               // the peers read seldom
	Noisy                   // faults on every cable
	Deaf                    // nobody hears STOP, and the host is slow
	Violate                 // bad words, frames and symbols at rest, each of which must be counted once
	PeerRestart             // a peer starts again in the middle of its traffic
	HostRestart             // the host starts again in the middle of its traffic
	Reset                   // the network interface is reset, at rest
	GiveUp                  // a cable is unplugged until the link is given up
	Flood                   // the host sends more than SPACE allows by a link that acknowledges nothing
	Wild                    // the host says RESUME whenever it likes
	Revoke                  // the host takes a frame away that is being written
	Mute                    // the host turns NOTIFY off and on in the middle
	Restarts                // a link starts again over and over; this and what follows is in programs of DrawAimed alone
	Brim                    // the host fills a link's queue to its limits
	numKinds
)

var kindNames = [numKinds]string{"plain", "slow host", "slow peers", "noisy", "deaf", "violations", "peer restart", "host restart", "reset",
	"give up", "flood", "wild resume", "revoke", "mute", "restarts", "brim"}

// Kinds is how many kinds of rounds Draw takes.
const Kinds = int(Restarts)

// KindNames are the names of all kinds, by number.
func KindNames() []string { return kindNames[:] }

// Sleeps reports whether the host reads nothing at first, and seldom later.
func (k Kind) Sleeps() bool { return k == SlowHost || k == Deaf }

// String names the kind.
func (k Kind) String() string {
	if k >= numKinds {
		return fmt.Sprintf("Kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// MarshalText writes the name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText has written.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("stimulus: no kind of round is called %q; there are: %s", text, strings.Join(kindNames[:], ", "))
	}
	*k = Kind(i)
	return nil
}

// Shapes are the parameters that programs are drawn for, in turn by seed: the usual ones, small pages on two and three links, one frame with
// the smallest buffers, and seven links; with every WIDTH. All but the first have short timers, since most
// clocks would pass in waiting for long ones.
var Shapes = []rtl.Params{
	{},
	{Links: 2, Frames: 5, PageBytes: 128, ReplayBytes: 1024, RxBytes: 1024, AckDelay: 128, WordTimer: 1024, Retry: 4096},
	{Links: 3, Frames: 7, PageBytes: 64, ReplayBytes: 256, RxBytes: 512, Width: 4, AckDelay: 128, WordTimer: 1024, Retry: 4096},
	{Frames: 1, PageBytes: 64, ReplayBytes: 256, RxBytes: 512, Width: 8, AckDelay: 128, WordTimer: 1024, Retry: 4096},
	{Links: 7, Frames: 24, PageBytes: 256, ReplayBytes: 1024, RxBytes: 1024, Width: 8, AckDelay: 128, WordTimer: 1024, Retry: 4096},
}

// Draw returns the program of a seed. Every kind of round comes up in Kinds rounds, in random order; packets is about how many pass each
// way on each port in a round, of up to three ports: on each of more it is fewer, and there are half as many rounds.
func Draw(seed uint64, rounds, packets int) Program {
	p := Program{Seed: seed, Params: Shapes[seed%uint64(len(Shapes))].WithDefaults()}
	r := testbench.NewRand(seed).Split("golden program")
	order := r.Perm(Kinds)
	packets = packets * min(p.Params.Links, 3) / p.Params.Links
	if p.Params.Links > 3 {
		rounds /= 2
	}
	for i := range rounds {
		kind := Kind(order[i%len(order)])
		d := drawer{Rand: r.Split(fmt.Sprint("round ", i)), p: p.Params, packets: packets, kind: kind}
		p.Rounds = append(p.Rounds, d.round())
		p.Rounds[i].Number = i
	}
	return p
}

// aimed are the kinds of rounds of DrawAimed.
var aimed = []Kind{Plain, SlowHost, Noisy, Noisy, HostRestart, Wild, Revoke, Mute, Restarts, Brim}

// DrawAimed returns the program of a seed that aims at coincidences and rare values: small pages, and many traps.
func DrawAimed(seed uint64, packets int) Program {
	small := Shapes[1:4]
	p := Program{Seed: seed, Params: small[seed%uint64(len(small))].WithDefaults()}
	r := testbench.NewRand(seed).Split("aimed program")
	for i, kind := range r.Perm(len(aimed)) {
		d := drawer{Rand: r.Split(fmt.Sprint("round ", i)), p: p.Params, packets: packets, kind: aimed[kind], aim: true}
		p.Rounds = append(p.Rounds, d.round())
		p.Rounds[i].Number = i
	}
	return p
}

// drawer draws one round.
type drawer struct {
	*testbench.Rand
	p       rtl.Params
	packets int
	kind    Kind
	aim     bool
	calm    []bool   // of each link: nothing traps
	owner   []int    // of each frame: the link whose lane it belongs to, 0 for the host's
	last    struct { // write drawn
		addr uint32
		n    int
	}
}

func (d *drawer) round() Round {
	// Most words get through, also where packets are short.
	rate := min(testbench.Pick(d.Rand, 0.02, 0.1, 0.4), 0.0015*float64(d.p.MaxPacket()))
	r := Round{Kind: d.kind, Port: d.Between(0, d.p.Links), Rate: rate, Aim: d.aim}
	if d.Chance(0.75) {
		r.Control = linkproto.ControlNotify.In(1)
	}
	for range d.p.Links {
		d.calm = append(d.calm, d.Chance(0.15))
	}
	for range d.p.Frames {
		d.owner = append(d.owner, d.Between(0, d.p.Links))
	}
	if d.kind.Sleeps() {
		r.Control = linkproto.ControlNotify.In(1)
		if d.p.Frames > 1 {
			d.owner[d.IntN(d.p.Frames)] = 0
		}
		r.Host = d.long()
	}
	switch d.kind {
	case PeerRestart, Restarts, Brim, GiveUp, Flood, Wild, Revoke:
		r.Port = d.Between(1, d.p.Links)
	}
	if d.kind == Revoke {
		r.Frame = d.IntN(d.p.Frames)
		d.owner[r.Frame] = r.Port
	}
	for frame := range d.p.Frames {
		r.Table = append(r.Table, d.entry(frame))
	}
	for link := 1; link <= d.p.Links; link++ {
		l := Link{}
		for range d.some() {
			l.In = append(l.In, d.arrival(link))
		}
		for range d.some() {
			l.Out = append(l.Out, d.forwarded(link))
		}
		r.Links = append(r.Links, l)
	}
	for range d.some() {
		r.Host = append(r.Host, d.request(r))
	}
	if d.kind == Violate {
		for port := range d.p.Links + 1 {
			var all []Violation
			rules := Rules
			if port == 0 {
				rules = slices.Concat(Rules, AtHost)
			}
			for _, i := range d.Perm(len(rules))[:18] {
				all = append(all, rules[i].Draw(d.Rand, Site{Params: d.p}))
			}
			r.Violations = append(r.Violations, all)
		}
	}
	d.adapt(&r)
	return r
}

// long is questions whose answers fill the queue to a host that does not read them.
func (d *drawer) long() (questions []Packet) {
	q := linkproto.Packet{Type: linkproto.TypeRegRead}
	if frame := d.mine(0); frame >= 0 {
		q = linkproto.Packet{Type: linkproto.TypeBufRead, Addr: uint32(frame * d.p.PageBytes), Count: uint16(d.p.PageBytes)}
	}
	for bytes := 0; bytes < d.p.ReplayBytes+6*d.p.MaxPacket(); bytes += 10 + int(q.Count) {
		questions = append(questions, Encode(q))
	}
	return questions
}

func (d *drawer) some() int { return d.Between(d.packets/2, d.packets*3/2) }

// adapt takes out of a round what its kind cannot bear.
func (d *drawer) adapt(r *Round) {
	switch d.kind {
	case Revoke:
		d.revoke(r)
	case Brim:
		d.brim(r)
	}
	if d.kind != PeerRestart && d.kind != Restarts && d.kind != HostRestart {
		return
	}
	// How far a link was when it restarted shows in the count of packets, which forged ones are not part of.
	for i := range r.Links {
		for k := range r.Links[i].In {
			r.Links[i].In[k].Forged = 0
		}
	}
}

// entry is a frame table entry: mostly one that lets the frame's lane write.
func (d *drawer) entry(frame int) uint32 {
	owner := d.owner[frame]
	link, valid := uint32(owner), uint32(1)
	switch d.Weighted(6, 1, 1) {
	case 1:
		valid = 0
	case 2: // a link that there is not
		link = testbench.Pick(d.Rand, 0, uint32(linkproto.MaxVia))
		if int(link) <= d.p.Links {
			link = 0
		}
	}
	if owner == 0 && int(link) <= d.p.Links && link != 0 {
		valid = 0
	}
	return linkproto.FrameValid.In(valid) | linkproto.FrameLink.In(link)
}

// mine is a frame of a lane, or -1.
func (d *drawer) mine(lane int) int {
	var frames []int
	for frame, owner := range d.owner {
		if owner == lane {
			frames = append(frames, frame)
		}
	}
	if len(frames) == 0 {
		return -1
	}
	return testbench.Pick(d.Rand, frames...)
}

// revoke lets a peer do nothing but write one of its frames, so that what has been written by a time tells how often.
func (d *drawer) revoke(r *Round) {
	r.Table[r.Frame] = linkproto.FrameValid.In(1) | linkproto.FrameLink.In(uint32(r.Port))
	l := &r.Links[r.Port-1]
	for i := range l.In {
		addr, n := d.span(r.Frame)
		l.In[i] = Arrival{Raw: Encode(linkproto.Packet{Type: linkproto.TypeWrite, Addr: addr, Data: d.Bytes(n)})}
	}
}

// brim has the host send batches that fill the queue, and such as leave room for a byte or a packet.
func (d *drawer) brim(r *Round) {
	l := &r.Links[r.Port-1]
	l.Out = nil
	batch := func(most int, size func(left int) int) {
		n := 0
		for left := most; left > 0; n++ {
			bytes := size(left)
			l.Out = append(l.Out, RawPacket(linkproto.Type(d.Between(1, 3)), r.Port, d.Bytes(bytes-linkproto.HeaderBytes)))
			left -= bytes
		}
		r.Batches = append(r.Batches, n)
	}
	for _, room := range []int{0, 1} {
		batch(d.p.ReplayBytes-room, func(left int) int {
			n := linkproto.HeaderBytes + d.Size(d.longest(), 0)
			switch {
			case n <= left-linkproto.HeaderBytes:
				return n
			case left <= d.p.MaxPacket():
				return left
			}
			return left / 2
		})
		if packets := linkproto.MaxWindow - room; packets*linkproto.HeaderBytes <= d.p.ReplayBytes {
			batch(packets*linkproto.HeaderBytes, func(int) int { return linkproto.HeaderBytes })
		}
	}
}

// PacketsEach is about how many packets pass each way on each port in a round.
func (p Program) PacketsEach() int {
	most := 0
	for _, r := range p.Rounds {
		most = max(most, len(r.Host))
	}
	return most
}
