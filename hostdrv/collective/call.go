package collective

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/stafflink/lmmc/hostdrv/message"
)

// kind is of calls, and of messages that belong to none.
type kind uint8

const (
	kindProbe kind = iota // is the peer there?
	kindEnd               // a member does not take part any more: its number, and why
	kindLate              // asks for the release of a barrier
	kindAsk               // is the peer's program in a call?
	kindHere              // it is
	kindBarrier
	kindBroadcast
	kindReduce
	kindAllReduce
	kindGather
	kindAllGather
	kindAllToAll
	kindLeave
)

var kindNames = [16]string{"probe", "end", "late", "ask", "here", "barrier", "broadcast", "reduce", "allreduce", "gather", "allgather", "alltoall", "leave"}

func (k kind) String() string { return kindNames[k] }

// Tags are the serial number of the call, its kind, and a hash of all else that members must agree about.
const (
	serialShift = 16
	kindShift   = 12
	hashMask    = 1<<kindShift - 1
)

// mix continues a hash, FNV-1a by words.
func mix(hash uint32, v int) uint32 {
	const prime = 16777619
	hash = (hash ^ uint32(v)) * prime
	return hash ^ hash>>15
}

// Members may be ahead of others by calls that do not wait for all: by mostLoose bytes at most, a call counting as looseCall more, so that what comes early fits in memory.
const (
	mostLoose = 1 << 20
	looseCall = mostLoose / 64
)

// do makes a call: agreed are what its members must agree about.
func (g *Group) do(ctx context.Context, k kind, work func() error, agreed ...int) error {
	if g.transport == nil {
		return fmt.Errorf("%w: it is a zero value; make it with Open", ErrOption)
	}
	if !g.mu.TryLock() {
		return fmt.Errorf("%w: a %v cannot begin", ErrBusy, k)
	}
	defer g.mu.Unlock()
	if g.failure != nil || len(g.members) == 1 {
		return g.failure
	}
	if g.loose > mostLoose {
		if err := g.run(ctx, kindBarrier, g.wait); err != nil {
			return err
		}
	}
	switch k {
	case kindBroadcast, kindReduce, kindGather:
		g.loose += looseCall + agreed[0]
	}
	return g.run(ctx, k, work, agreed...)
}

// run makes a call, after which the group has ended if it failed.
func (g *Group) run(ctx context.Context, k kind, work func() error, agreed ...int) error {
	g.serial++
	hash := g.identity
	for _, v := range agreed {
		hash = mix(hash, v)
	}
	g.kind, g.tag = k, uint32(g.serial)<<serialShift|uint32(k)<<kindShift|hash&hashMask
	g.ctx, g.passed, g.overtaken, g.refused, g.doubted = ctx, 0, false, false, nobody
	err := work()
	if k == kindBarrier {
		g.loose = 0
	}
	g.calm()
	g.ctx = nil
	if err != nil {
		g.end(err)
		return fmt.Errorf("%v %d of %d members: %w", k, g.serial, len(g.members), err)
	}
	return nil
}

// end makes the group end, at the other members too.
func (g *Group) end(err error) {
	member, is := errors.AsType[*MemberError](err)
	if !is {
		member = &MemberError{g.members[g.rank], "it gave up: " + err.Error()}
	}
	g.failure = member
	for rank, node := range g.members {
		if rank != g.rank && node != member.Node {
			g.tellEnd(rank, member)
		}
	}
}

// tellEnd tells a member that one does not take part any more.
func (g *Group) tellEnd(rank int, member *MemberError) {
	told := binary.LittleEndian.AppendUint16(nil, member.Node)
	told = append(told, member.Why...)
	g.tell(rank, kindEnd, told[:min(len(told), segment)])
}

// tell sends what belongs to no call, and reports whether there was a descriptor left for it.
func (g *Group) tell(rank int, k kind, data []byte) bool { return g.tellOf(g.serial, rank, k, data) }

// tellOf is tell about another call.
func (g *Group) tellOf(serial uint16, rank int, k kind, data []byte) bool {
	err := g.transport.PostSend(message.Send{Node: g.members[rank], Tag: uint32(serial)<<serialShift | uint32(k)<<kindShift, Data: data, Cookie: uint64(k)})
	if err == nil {
		g.posted++
	}
	return err == nil
}

// send sends data to a member. It is the caller's again at once.
func (g *Group) send(rank int, data []byte) error { return g.sendTo(g.members[rank], data) }

// sendTo is send to a node, or to the multicast group.
func (g *Group) sendTo(node uint16, data []byte) error {
	for first := true; first || len(data) > 0; first = false {
		part := data[:min(len(data), segment)]
		for g.posted >= sends(len(g.members))/2 {
			if err := g.step(); err != nil {
				return err
			}
		}
		var copied []byte
		if len(part) > 0 {
			copied = append(g.buffer()[:0], part...)
		}
		err := g.transport.PostSend(message.Send{Node: node, Tag: g.tag, Data: copied, Cookie: uint64(g.kind)})
		if err != nil {
			return err
		}
		g.posted++
		data = data[len(part):]
	}
	return nil
}

// buffer takes a buffer of a segment's bytes.
func (g *Group) buffer() []byte {
	last := len(g.spare) - 1
	if last < 0 {
		return make([]byte, segment)
	}
	b := g.spare[last]
	g.spare = g.spare[:last]
	return b
}

// free gives a buffer back.
func (g *Group) free(b []byte) {
	if cap(b) >= segment {
		g.spare = append(g.spare, b[:segment])
	}
}

// receive takes the next data of a member, and gives it to use, segment by segment.
func (g *Group) receive(rank, bytes int, use func(at int, part []byte)) error {
	g.awaited = rank
	defer func() { g.awaited = nobody }()
	for at := 0; ; {
		for len(g.came[rank]) == 0 || g.early(rank, g.came[rank][0]) {
			if err := g.step(); err != nil {
				return g.awaits(rank, err)
			}
		}
		p := g.came[rank][0]
		g.came[rank] = g.came[rank][1:]
		if g.stale(rank, p) {
			g.free(p.data)
			continue
		}
		if p.tag != g.tag || len(p.data) != min(bytes-at, segment) {
			return g.disagree(rank, p)
		}
		if len(p.data) > 0 {
			use(at, p.data)
		}
		g.free(p.data)
		if at += len(p.data); at == bytes {
			return nil
		}
	}
}

// awaits says in an error that is not a member's for whom this one waits.
func (g *Group) awaits(rank int, err error) error {
	if errors.Is(err, ErrMember) {
		return err
	}
	return fmt.Errorf("waiting for node %d: %w", g.members[rank], err)
}

// disagree ends the call since a member's packet belongs to another one. That member is told too: those for whom it waits may send it nothing.
func (g *Group) disagree(rank int, p packet) error {
	member := &MemberError{g.members[rank], g.disagrees(p)}
	g.tellEnd(rank, member)
	return member
}

// disagrees says what is wrong with a packet.
func (g *Group) disagrees(p packet) string {
	serial, k := uint16(p.tag>>serialShift), kind(p.tag>>kindShift&0xF)
	if serial == g.serial && k == g.kind {
		return fmt.Sprintf("its call %d, %v, has other members, lengths, root or algorithm than that of node %d", serial, k, g.members[g.rank])
	}
	return fmt.Sprintf("its call %d is %v, that of node %d is call %d, %v", serial, k, g.members[g.rank], g.serial, g.kind)
}

// step waits for a completion. When it has waited for long it looks whether the other members are there.
func (g *Group) step() error {
	if g.limit == nil {
		g.limit, g.cancel = g.transport.WithTimeout(g.ctx, g.patience)
	}
	done, err := g.transport.Wait(g.limit)
	if err != nil {
		if g.ctx.Err() != nil || g.limit.Err() == nil {
			return err
		}
		g.calm()
		g.passed++
		g.probe()
		g.late()
		return g.doubt()
	}
	return g.take(done)
}

// doubt asks the member for which this one has waited for the silence whether it is in a call. One that waits itself answers. One that does not, within a patience, is silent: it has left no call before it sent
// what this member waits for.
func (g *Group) doubt() error {
	waited := time.Duration(g.passed) * g.patience
	switch {
	case g.silence < 0 || waited < g.silence || g.awaited == nobody:
		g.doubted = nobody
	case g.doubted == g.awaited:
		return g.silent(waited, g.members[g.awaited])
	default:
		if g.tell(g.awaited, kindAsk, nil) {
			g.doubted = g.awaited
		}
	}
	return nil
}

// silent ends the call since members make no call. They are told too, and hear of it when they make one.
func (g *Group) silent(waited time.Duration, nodes ...uint16) error {
	others := ""
	if len(nodes) > 1 {
		others = fmt.Sprintf(", nor have nodes %v", nodes[1:])
	}
	member := &MemberError{nodes[0], fmt.Sprintf("it is there and has not entered %v %d%s: node %d has waited %v", g.kind, g.serial, others, g.members[g.rank], waited)}
	for _, node := range nodes {
		g.tellEnd(g.ranks[node], member)
	}
	return member
}

// calm begins a new patience.
func (g *Group) calm() {
	if g.cancel != nil {
		g.cancel()
	}
	g.limit, g.cancel = nil, nil
}

// probe asks all members to which nothing is underway whether they are there: a transport tells what does not arrive.
func (g *Group) probe() {
	for rank := range g.members {
		if rank != g.rank && !g.asked[rank] {
			g.asked[rank] = g.tell(rank, kindProbe, nil)
		}
	}
}

// take takes a completion.
func (g *Group) take(done message.Completion) error {
	rank, member := g.ranks[done.Node]
	if !done.Received {
		return g.sent(rank, done)
	}
	room := g.rooms[done.Cookie]
	data, k := room[:len(done.Data)], kind(done.Tag>>kindShift&0xF)
	ours := member && done.Err == nil && k >= kindBarrier
	var ended *MemberError
	switch {
	case len(data) == 0:
		data = nil // the room stays posted
	case ours:
		g.rooms[done.Cookie] = g.buffer()
	case member && done.Err == nil && k == kindEnd && len(data) >= 2:
		ended = &MemberError{binary.LittleEndian.Uint16(data), string(data[2:])}
	}
	if err := g.transport.PostReceive(message.Receive{Data: g.rooms[done.Cookie], Cookie: done.Cookie}); err != nil {
		return err
	}
	if ended != nil {
		return ended
	}
	if member && done.Err == nil {
		switch k {
		case kindLate:
			return g.again(rank, done.Tag)
		case kindAsk:
			g.tellOf(uint16(done.Tag>>serialShift), rank, kindHere, nil)
		case kindHere:
			if rank == g.doubted {
				g.doubted = nobody
			}
			g.refused = g.refused || rank == 0 && g.overtaken && uint16(done.Tag>>serialShift) == g.serial
		}
	}
	if ours {
		g.keep(rank, packet{done.Tag, data})
	}
	return nil
}

// sent takes the completion of a send.
func (g *Group) sent(rank int, done message.Completion) error {
	g.posted--
	switch k := kind(done.Cookie); {
	case k == kindEnd || k == kindLate || k == kindAsk || k == kindHere:
		g.asking = g.asking && k != kindLate
		return nil
	case k == kindProbe:
		g.asked[rank] = false
		if g.kind == kindLeave { // it may have closed
			return nil
		}
	default:
		g.free(done.Data)
	}
	if done.Err != nil {
		member := &MemberError{done.Node, done.Err.Error()}
		if peer, is := errors.AsType[*message.PeerError](done.Err); is {
			member.Why = peer.Why
			if done.Node == g.multicast {
				member.Node = peer.Node
			}
		}
		return member
	}
	return nil
}
