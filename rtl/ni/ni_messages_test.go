package ni_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// These are tests of ni_messages with net_vl_context in ni_virtual, and so of ni_msg_table and ni_msg_place; its other parts have tests of their own.

// TestMessages: contexts send each other messages of every length by lossy virtual links, and each comes whole, in order, to where its receive says; nothing
// else in the memory changes, and each descriptor is completed once.
func TestMessages(t *testing.T) {
	m := openMessages(t)
	m.loss, m.reads = 0.05, true
	check.Equal(t, "CONTEXTS", m.ask(linkproto.RegContexts, false, 0), 8)
	const receiveAt = msgSendAt + 128
	ends := []int{1, 2, 3, 4} // a context each, of the same number
	peer := func(end int) int { return (end - 1) ^ 1 + 1 }
	for _, end := range ends {
		m.open(end, peer(end), end)
		m.enable(end)
	}
	for n := range 10 {
		sent, data := map[int]linkproto.Posted{}, map[int][]byte{}
		for _, end := range ends {
			length := testbench.Pick(m.r, 0, 1, 3, 4, 60, 61, 62, msgMost, m.r.IntN(msgMost))
			data[end] = m.r.Bytes(length)
			copy(m.memory[startOf(end)+msgSendAt:], data[end])
			sent[end] = linkproto.Posted{Addr: uint32(startOf(end) + msgSendAt), Length: uint32(length), Tag: m.r.Uint32(), VL: uint16(end), Cookie: uint16(n)}
			m.put(end, 0, n, sent[end])
			m.put(end, linkproto.RingReceives, n, linkproto.Posted{Addr: uint32(startOf(end) + receiveAt), Length: msgMost, Cookie: uint16(n + 1000)})
		}
		before := bytes.Clone(m.memory)
		for _, end := range ends {
			first, second := linkproto.ContextRegSendTail, linkproto.ContextRegReceiveTail
			if m.r.Bool() {
				first, second = second, first
			}
			m.ask(first.Reg(end), true, uint32(n+1))
			m.idle(m.r.IntN(800))
			m.ask(second.Reg(end), true, uint32(n+1))
		}
		for _, end := range ends {
			m.until(end, 2*n+2)
		}
		for _, end := range ends {
			kinds := 0
			for i := 2 * n; i < 2*n+2; i++ {
				have, from := m.completion(end, i), sent[end]
				cookie := n
				if kinds++; have.Receive {
					kinds, from, cookie = kinds+1, sent[peer(end)], n+1000
				}
				check.Equal(t, fmt.Sprintf("completion %d of context %d", i, end), have,
					linkproto.Completion{Length: from.Length, Tag: from.Tag, VL: uint16(end), Cookie: uint16(cookie), Receive: have.Receive})
				at := startOf(end) + linkproto.RingEntry*(linkproto.RingCompletions*msgEntries+i%(2*msgEntries))
				copy(before[at:], have.Append(nil))
			}
			check.Equal(t, "completions of sends and twice those of receives", kinds, 3)
			copy(before[startOf(end)+receiveAt:], data[peer(end)])
		}
		check.Equal(t, fmt.Sprintf("memory behind round %d", n), m.memory, before)
	}
}

// TestMessagesRefused: a descriptor that is not the context's own, or by a link that is not, is completed as such; a context that breaks the rules ends; nothing
// of it harms the context beside, whose messages go on.
func TestMessagesRefused(t *testing.T) {
	m := openMessages(t)
	tail := func(context int, receive bool, n int) {
		reg := linkproto.ContextRegSendTail
		if receive {
			reg = linkproto.ContextRegReceiveTail
		}
		m.ask(reg.Reg(context), true, uint32(n))
	}
	for _, end := range []int{1, 2, 3, 4} {
		m.open(end, (end-1)^1+1, end)
		m.enable(end)
	}
	end := startOf(2)
	data := uint32(startOf(1) + msgSendAt)
	for n, c := range []struct {
		what    string
		receive bool
		d       linkproto.Posted
		status  linkproto.CompletionStatus
	}{
		{"a send of the rings", false, linkproto.Posted{Addr: data - 4, Length: 8, VL: 1}, linkproto.CompletionBadDescriptor},
		{"a send beyond the region", false, linkproto.Posted{Addr: data, Length: uint32(end) - data + 1, VL: 1}, linkproto.CompletionBadDescriptor},
		{"a send of another's region", false, linkproto.Posted{Addr: uint32(end), Length: 1, VL: 1}, linkproto.CompletionBadDescriptor},
		{"a send whose end wraps around", false, linkproto.Posted{Addr: data, Length: 0xFFFFFFFF, VL: 1}, linkproto.CompletionBadDescriptor},
		{"a send at an odd address", false, linkproto.Posted{Addr: data + 2, Length: 4, VL: 1}, linkproto.CompletionBadDescriptor},
		{"a send by another's link", false, linkproto.Posted{Addr: data, Length: 4, VL: 3}, linkproto.CompletionBadLink},
		{"a send by a link that is not open", false, linkproto.Posted{Addr: data, Length: 4, VL: 5}, linkproto.CompletionBadLink},
		{"a send by a link that there is not", false, linkproto.Posted{Addr: data, Length: 4, VL: 9}, linkproto.CompletionBadLink},
		{"a receive of another's region", true, linkproto.Posted{Addr: uint32(end), Length: 1}, linkproto.CompletionBadDescriptor},
		{"a receive of the rings", true, linkproto.Posted{Addr: uint32(startOf(1)), Length: 1}, linkproto.CompletionBadDescriptor},
		{"a receive beyond the region", true, linkproto.Posted{Addr: uint32(end) - 4, Length: 5}, linkproto.CompletionBadDescriptor},
	} {
		ring, posted := 0, n
		if c.receive {
			ring, posted = linkproto.RingReceives, n-8
		}
		c.d.Cookie = uint16(n)
		before := bytes.Clone(m.memory[end:])
		m.put(1, ring, posted, c.d)
		tail(1, c.receive, posted+1)
		m.until(1, n+1)
		want := linkproto.Completion{Length: c.d.Length, VL: c.d.VL, Cookie: uint16(n), Receive: c.receive, Status: c.status}
		check.Equal(t, c.what, m.completion(1, n), want)
		check.Equal(t, c.what+": the memory of others", m.memory[end:], before)
	}

	// A message without a receive is refused, and its link says STOP; another context's goes on; it comes when a receive is posted.
	post := func(context int, d linkproto.Posted, n int) {
		d.Addr += uint32(startOf(context) + msgSendAt)
		ring := 0
		if d.VL == 0 {
			ring = linkproto.RingReceives
		}
		m.put(context, ring, n, d)
		tail(context, d.VL == 0, n+1)
	}
	const done = 11 // of context 1, and 8 of its sends
	post(1, linkproto.Posted{Length: 4, VL: 1, Tag: 5, Cookie: 30}, 8)
	m.idle(2000)
	check.Equal(t, "completions of a message without a receive", m.told[1], done)
	check.Equal(t, "OWN_STOP", linkproto.StatusOwnStop.Of(m.ask(linkproto.VLRegStatus.Reg(2), false, 0)), 1)
	post(4, linkproto.Posted{Length: 100, VL: 0, Cookie: 31}, 0)
	post(3, linkproto.Posted{Length: 77, VL: 3, Tag: 6, Cookie: 32}, 0)
	m.until(4, 1)
	check.Equal(t, "another's message", m.completion(4, 0), linkproto.Completion{Length: 77, Tag: 6, VL: 4, Cookie: 31, Receive: true})
	post(2, linkproto.Posted{Length: 3, Cookie: 33}, 0)
	m.until(2, 1)
	check.Equal(t, "a message that is too long", m.completion(2, 0), linkproto.Completion{Length: 4, Tag: 5, VL: 2, Cookie: 33, Receive: true, Status: linkproto.CompletionTooLong})
	m.until(1, done+1)

	// A link that closes: a message underway is broken, and what was not acknowledged is closed.
	post(2, linkproto.Posted{Length: 120, Cookie: 34}, 1)
	post(1, linkproto.Posted{Length: 119, VL: 1, Cookie: 35}, 9)
	for k := 0; m.ask(linkproto.VLRegExpect.Reg(2), false, 0) < 2; k++ { // the first of two MESSAGEs has come
		if k == 1000 {
			t.Fatal("no MESSAGE comes")
		}
	}
	m.loss, m.losing = 1, true
	m.ask(linkproto.VLRegStatus.Reg(2), true, 0)
	m.ask(linkproto.VLRegStatus.Reg(1), true, 0)
	m.loss = 0
	m.idle(2000)
	if status := m.completion(1, done+1).Status; m.told[1] != done+2 || status != linkproto.CompletionClosed && status != linkproto.CompletionOK {
		t.Errorf("told of %d completions of a link that has closed, the last one %v", m.told[1], status)
	}
	m.until(2, 2)

	// Contexts that break the rules end, with their reason, and begin anew with nothing left.
	tail(1, true, 9)
	check.Equal(t, "a tail too far", m.ask(linkproto.ContextRegStatus.Reg(1), false, 0), linkproto.ContextFault.In(linkproto.FaultTail))
	m.ask(linkproto.ContextRegRegion.Reg(1), true, linkproto.ContextLast.In(7)|linkproto.ContextSize.In(4))
	m.ask(linkproto.ContextRegStatus.Reg(1), true, 1)
	check.Equal(t, "rings that do not fit", m.ask(linkproto.ContextRegStatus.Reg(1), false, 0), linkproto.ContextFault.In(linkproto.FaultRegion))
	post(2, linkproto.Posted{Length: 120, Cookie: 36}, 2) // it waits for a message
	m.ask(linkproto.ContextRegStatus.Reg(2), true, 0)
	for _, end := range []int{1, 2} {
		m.open(end, 3-end, end)
		m.enable(end)
	}
	post(1, linkproto.Posted{Length: 4, VL: 1, Tag: 9, Cookie: 37}, 0)
	m.idle(2000)
	check.Equal(t, "completions of contexts that have begun anew", m.told[1]+m.told[2], 0)
	post(2, linkproto.Posted{Length: 120, Cookie: 38}, 0)
	m.until(2, 1)
	check.Equal(t, "a message of contexts that have begun anew", m.completion(2, 0), linkproto.Completion{Length: 4, Tag: 9, VL: 2, Cookie: 38, Receive: true})

	// A tail that moves back ends the context, be what it takes back underway or not.
	for _, receive := range []bool{false, true} {
		for i := range 3 {
			m.put(1, 0, 1+i, linkproto.Posted{Addr: uint32(startOf(1) + msgSendAt), Length: 4, VL: 1})
			m.put(1, linkproto.RingReceives, i, linkproto.Posted{Addr: uint32(startOf(1) + msgSendAt), Length: 4})
		}
		tail(1, receive, 3)
		tail(1, receive, 3)
		check.Equal(t, "a tail that stays", m.ask(linkproto.ContextRegStatus.Reg(1), false, 0), 1)
		tail(1, receive, 2)
		check.Equal(t, "a tail moved back", m.ask(linkproto.ContextRegStatus.Reg(1), false, 0), linkproto.ContextFault.In(linkproto.FaultTail))
		m.enable(1)
	}
}

// TestMessagesMoved: a link that was refused by a context, and is opened anew for another one, waits for that one's receives.
func TestMessagesMoved(t *testing.T) {
	m := openMessages(t)
	for _, context := range []int{1, 2, 3} {
		m.enable(context)
	}
	for n, context := range []int{3, 2} {
		m.open(1, 2, 1)
		m.open(2, 1, context)
		m.put(1, 0, n, linkproto.Posted{Addr: uint32(startOf(1) + msgSendAt), Length: 4, Tag: uint32(5 + n), VL: 1})
		m.ask(linkproto.ContextRegSendTail.Reg(1), true, uint32(n+1))
		m.idle(2000)
		check.Equal(t, fmt.Sprintf("OWN_STOP of a link of context %d", context), linkproto.StatusOwnStop.Of(m.ask(linkproto.VLRegStatus.Reg(2), false, 0)), 1)
		if n == 0 {
			m.ask(linkproto.VLRegStatus.Reg(2), true, 0)
			m.ask(linkproto.VLRegStatus.Reg(1), true, 0)
			m.until(1, 1)
		}
	}
	check.Equal(t, "completions before the receive", m.told[2], 0)
	m.put(2, linkproto.RingReceives, 0, linkproto.Posted{Addr: uint32(startOf(2) + msgSendAt), Length: 4, Cookie: 33})
	m.ask(linkproto.ContextRegReceiveTail.Reg(2), true, 1)
	m.until(2, 1)
	check.Equal(t, "what the receive got", m.completion(2, 0), linkproto.Completion{Length: 4, Tag: 6, VL: 2, Cookie: 33, Receive: true})
	m.until(1, 2)
}

// TestMessagesReopened: a link is closed and opened anew, for the same context or another, in whatever clock of a message: of one that has begun no byte goes by
// it then, and it is completed as closed; one that has not goes whole, or is refused; the next one comes.
func TestMessagesReopened(t *testing.T) {
	m := openMessages(t)
	for _, context := range []int{1, 2, 3} {
		m.enable(context)
	}
	receives, up := [2]int{2, linkproto.RingReceives}, linkproto.VLOpen.In(1)|linkproto.VLUp.In(1)
	posted, seen := map[[2]int]int{}, map[linkproto.CompletionStatus]int{}
	post := func(context, ring, length int) {
		at := [2]int{context, ring}
		n := posted[at]
		posted[at]++
		m.put(context, ring, n, linkproto.Posted{Addr: uint32(startOf(context) + msgSendAt), Length: uint32(length), Tag: uint32(n), VL: uint16(1 - ring)})
		tail := linkproto.ContextRegSendTail
		if ring == linkproto.RingReceives {
			tail = linkproto.ContextRegReceiveTail
		}
		m.ask(tail.Reg(context), true, uint32(n+1))
	}
	came := func(length int) {
		t.Helper()
		m.until(2, posted[receives])
		check.Equal(t, "bytes that came", m.completion(2, int(m.told[2])-1).Length, uint32(length))
		check.Equal(t, "a message", m.memory[startOf(2)+msgSendAt:][:length], m.memory[startOf(1)+msgSendAt:][:length])
	}
	for round := range 80 {
		context := 1 + 2*(round%2) // to which the link is given
		m.open(1, 2, 1)
		m.life++
		m.open(2, 1, 2) // the peer has another life already
		copy(m.memory[startOf(1)+msgSendAt:], m.r.Bytes(msgMost))
		copy(m.memory[startOf(3)+msgSendAt:], m.memory[startOf(1)+msgSendAt:][:msgMost])
		post(2, linkproto.RingReceives, msgMost)
		post(1, 0, msgMost)
		m.idle(3 * round)
		m.ask(linkproto.VLRegStatus.Reg(1), true, 0)
		m.ask(linkproto.VLRegKey.Reg(1), true, m.key(1, 2))
		m.ask(linkproto.VLRegContext.Reg(1), true, uint32(context))
		m.ask(linkproto.VLRegStatus.Reg(1), true, up)
		m.until(1, posted[[2]int{1}])
		status := m.completion(1, posted[[2]int{1}]-1).Status
		seen[status]++
		if status == linkproto.CompletionOK && context == 1 {
			came(msgMost)
			post(2, linkproto.RingReceives, msgMost)
		} else {
			m.idle(1500)
			check.Equal(t, "completions of receives for "+linkproto.CompletionStatuses[status].Name, int(m.told[2]), posted[receives]-1)
		}
		post(context, 0, msgMost-1)
		m.until(context, posted[[2]int{context}])
		came(msgMost - 1)
		for _, end := range []int{1, 2} {
			m.ask(linkproto.VLRegStatus.Reg(end), true, 0)
		}
	}
	if t.Logf("%v", seen); seen[linkproto.CompletionOK] < 5 || seen[linkproto.CompletionBadLink] < 5 || seen[linkproto.CompletionClosed] < 20 {
		t.Errorf("%v: too few", seen)
	}
}
