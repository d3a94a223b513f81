package sharing

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// Rings are a context's descriptors and completions, in memory that a program and the server of the network interface share. Each word has one side that writes it. The
// program may write anything at any time, so the server keeps what it relies on elsewhere.
type Rings struct {
	Sends    Ring   // posted by the program
	Receives Ring   // the same
	Done     Ring   // completed by the server: it has room for all that can be posted
	Area     []byte // for the bytes of messages

	state *ringState
}

// ContextInfo answers OpContext: what the file that comes with it holds, and what the program may post.
type ContextInfo struct {
	Node        uint16 `json:"node"` // the own one
	Sends       int    `json:"sends"`
	Receives    int    `json:"receives"`
	Longest     int    `json:"longest"`
	LongestCast int    `json:"longest_cast"` // to a multicast group; less than 0: there are none
}

// AreaBytes is how long Rings.Area is. It takes memory when it is used.
const AreaBytes = 16 << 20

const ringPage = 4096

// ringState is at the beginning of the memory, each word in a cache line of its own. Counts are of all since the beginning.
type ringState struct {
	counts [3]struct {
		atomic.Uint64
		_ [56]byte
	}
	asleep atomic.Uint32 // the server does not look at what is asked for: an OpMessagePosted has it look
	_      [60]byte
	wanted atomic.Uint64 // one more than the completions that a program has seen which waits for another one, until the server says OpMessageCame; 0: none waits
}

// Ring is a ring of descriptors or completions.
type Ring struct {
	slots []slot
	count *atomic.Uint64
}

type slot [4]atomic.Uint32

// Post is a descriptor that is posted: Index is what the program calls it, and its bytes are those of Rings.Area from Offset on.
type Post struct {
	Index, Node         uint16
	Tag, Offset, Length uint32
	Quiet               bool
}

const postQuiet = 1 << 31 // in the word of Length

// Done is a completion.
type Done struct {
	Index    uint16
	Received bool
	Failed   uint8 // 0: it did not; else for a send why, or FailedSilent, for a receive that the message is too long
	Node     uint16
	Tag      uint32
	Length   uint32 // of a message that was received; of a send that failed, the node that has not acknowledged it
}

// FailedSilent is Done.Failed of a send that the network interface did not take since it does not answer.
const FailedSilent = 255

// ringBytes is how much memory the slots of a Ring take.
func ringBytes(slots int) int {
	return (slots*int(unsafe.Sizeof(slot{})) + ringPage - 1) &^ (ringPage - 1)
}

// Bytes is how long the memory of Rings is.
func (i ContextInfo) Bytes() int {
	return ringPage + ringBytes(i.Sends) + ringBytes(i.Receives) + ringBytes(i.Sends+i.Receives) + AreaBytes
}

// Rings returns what is in memory of so many Bytes.
func (i ContextInfo) Rings(memory []byte) (*Rings, error) {
	const most = 1 << 16
	if i.Sends < 1 || i.Receives < 1 || i.Sends > most || i.Receives > most || len(memory) < i.Bytes() {
		return nil, fmt.Errorf("rings of %d and %d descriptors in %d bytes", i.Sends, i.Receives, len(memory))
	}
	r := &Rings{state: (*ringState)(unsafe.Pointer(unsafe.SliceData(memory)))}
	memory = memory[ringPage:]
	for n, slots := range []int{i.Sends, i.Receives, i.Sends + i.Receives} {
		ring := []*Ring{&r.Sends, &r.Receives, &r.Done}[n]
		ring.slots = unsafe.Slice((*slot)(unsafe.Pointer(unsafe.SliceData(memory))), slots)
		ring.count = &r.state.counts[n].Uint64
		memory = memory[ringBytes(slots):]
	}
	r.Area = memory[:AreaBytes:AreaBytes]
	return r, nil
}

// Asked is what a program has asked for: it changes when something is posted, or waited for.
func (r *Rings) Asked() [2]uint64 {
	return [2]uint64{r.Sends.Count() + r.Receives.Count(), r.state.wanted.Load()}
}

// Want says that the program waits for more completions than those that it has seen. Then it looks at Done once more, and at Wake.
func (r *Rings) Want(seen uint64) { r.state.wanted.Store(seen + 1) }

// Unwant says that it waits no longer.
func (r *Rings) Unwant() { r.state.wanted.Store(0) }

// Wanted is what Want has said; false: the program does not wait.
func (r *Rings) Wanted() (seen uint64, waits bool) {
	wanted := r.state.wanted.Load()
	return wanted - 1, wanted != 0
}

// Tell reports whether the program is to be told that what it wanted is there, which it has not been yet.
func (r *Rings) Tell(seen uint64) bool { return r.state.wanted.CompareAndSwap(seen+1, 0) }

// Sleep says that the server does not look at what is asked for.
func (r *Rings) Sleep() { r.state.asleep.Store(1) }

// Wake reports whether the server did not look, and whoever asked is to have it look.
func (r *Rings) Wake() bool { return r.state.asleep.Load() != 0 && r.state.asleep.CompareAndSwap(1, 0) }

// Len is how many a Ring holds, and Count how many were put into it since the beginning.
func (r *Ring) Len() uint64   { return uint64(len(r.slots)) }
func (r *Ring) Count() uint64 { return r.count.Load() }

// put puts a slot into place n, and counts it.
func (r *Ring) put(n uint64, words [4]uint32) {
	s := &r.slots[n%r.Len()]
	for i, w := range words {
		s[i].Store(w)
	}
	r.count.Store(n + 1)
}

// get reads each word of a slot once.
func (r *Ring) get(n uint64) (words [4]uint32) {
	s := &r.slots[n%r.Len()]
	for i := range words {
		words[i] = s[i].Load()
	}
	return words
}

// Post puts a Post into place n, the next one.
func (r *Ring) Post(n uint64, p Post) {
	length := p.Length
	if p.Quiet {
		length |= postQuiet
	}
	r.put(n, [4]uint32{uint32(p.Index) | uint32(p.Node)<<16, p.Tag, p.Offset, length})
}

// Posted is the Post in place n.
func (r *Ring) Posted(n uint64) Post {
	w := r.get(n)
	return Post{uint16(w[0]), uint16(w[0] >> 16), w[1], w[2], w[3] &^ postQuiet, w[3]&postQuiet != 0}
}

const doneReceived = 1 << 31 // in word 0; Failed is in its bits 23:16

// Complete puts a Done into place n, the next one.
func (r *Ring) Complete(n uint64, d Done) {
	first := uint32(d.Index) | uint32(d.Failed)<<16
	if d.Received {
		first |= doneReceived
	}
	r.put(n, [4]uint32{first, uint32(d.Node), d.Tag, d.Length})
}

// Completed is the Done in place n.
func (r *Ring) Completed(n uint64) Done {
	w := r.get(n)
	return Done{Index: uint16(w[0]), Received: w[0]&doneReceived != 0, Failed: uint8(w[0] >> 16), Node: uint16(w[1]), Tag: w[2], Length: w[3]}
}
