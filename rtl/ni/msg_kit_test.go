package ni_test

import (
	"testing"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// What the tests of the parts of ni_messages have in common, besides msgEntry and msgWhat.

// msgReads is a unit's port to ni_msg_reads.
type msgReads struct {
	Valid, Done *bool   `port:"*"`
	Addr        *uint16 `port:"*"`
	Data        *uint32 `port:"*"`
}

// msgAsks is a unit's port to ni_msg_table.
type msgAsks struct {
	Valid, Op, Done *bool `port:"*"`
}

// bounds are the bytes of a context's region behind its rings.
func (e msgEntry) bounds() (begin, end uint32) {
	return uint32(int(e.first)*msgPage + linkproto.RingsOf(1<<e.size)), (uint32(e.last) + 1) * msgPage
}

// owns says whether bytes that a descriptor names are the context's.
func (e msgEntry) owns(addr, length uint32) bool {
	begin, end := e.bounds()
	return addr%4 == 0 && addr >= begin && uint64(addr)+uint64(length) <= uint64(end)
}

// drawBytes draws such bytes, often at a limit and sometimes beyond it.
func (e msgEntry) drawBytes(r *testbench.Rand) (addr, length uint32) {
	begin, end := e.bounds()
	switch r.IntN(14) {
	case 0:
		return begin, end - begin
	case 1:
		return begin, end - begin + 1
	case 2:
		return begin - 4, 8
	case 3:
		return end, uint32(r.IntN(2))
	case 4:
		return begin, -begin + uint32(r.IntN(3)) // up to the end of all addresses, or around it
	case 5:
		return begin + uint32(r.Between(1, 3)), 0
	case 6:
		return begin + 1<<r.IntN(32), 0
	case 7:
		return begin, 1 << r.IntN(32)
	}
	addr = begin + 4*uint32(r.IntN(int(end-begin)/4+1))
	return addr, uint32(r.Size(int(end-addr), msgPage))
}

// enough fails a test that has not seen each of `all` often enough.
func enough(t *testing.T, seen map[string]int, least int, all ...string) {
	t.Helper()
	t.Logf("seen: %v", seen)
	for _, what := range all {
		if seen[what] < least {
			t.Errorf("%s: %d times, want %d at least", what, seen[what], least)
		}
	}
}
