package axi

import (
	"errors"
	"fmt"
)

// Burst is AxBURST: how addresses of a transaction go on (section A3.4.1).
type Burst uint8

// The kinds of bursts. The zero value of a Transaction is Incr, so the constants are not those of the wires.
const (
	Incr Burst = iota
	Fixed
	Wrap
	// ReservedBurst is none.
	ReservedBurst
)

var burstWires = [4]uint64{Incr: 1, Fixed: 0, Wrap: 2, ReservedBurst: 3}
var wireBursts = [4]Burst{1: Incr, 0: Fixed, 2: Wrap, 3: ReservedBurst}

func (b Burst) String() string { return [...]string{"INCR", "FIXED", "WRAP", "reserved"}[b&3] }

// Resp is a response (section A3.4.4).
type Resp uint8

// Responses.
const (
	Okay Resp = iota
	ExOkay
	SlvErr
	DecErr
)

func (r Resp) String() string { return [...]string{"OKAY", "EXOKAY", "SLVERR", "DECERR"}[r&3] }

// Errors of transactions.
var (
	ErrSlave       = errors.New("the slave has answered SLVERR")
	ErrDecode      = errors.New("there is no slave at the address: DECERR")
	ErrTransaction = errors.New("transaction breaks the rules")
	ErrWidth       = errors.New("value does not fit the bus")
)

// Transaction is a burst of reads or writes.
type Transaction struct {
	Write bool
	ID    uint64
	Addr  uint64
	// Len is how many transfers there are, 1 to 256; 0 means 1.
	Len int
	// Size is the logarithm of the bytes of a transfer.
	Size  int
	Burst Burst
	// Lock makes it exclusive (section A7.2).
	Lock                     bool
	Cache, Prot, QoS, Region uint64
	User                     uint64 // AxUSER
	// DataUser is WUSER or RUSER of each transfer; nil means zeros, or that the bus has none.
	DataUser []uint64
	// RespUser is BUSER.
	RespUser uint64
	// Data has 1<<Size bytes for each transfer. Bytes of an unaligned first transfer that lie below Addr count for nothing.
	Data []byte
	// Strobe has a bit for each byte of Data, the lowest first; nil means that all from Addr on are written.
	Strobe []byte
	// Resp is the response, the worst of a read's.
	Resp Resp
	// Begin is the edge, counted from 1, at which the address was taken, and End that at which the last response was.
	Begin, End uint64
}

// at returns the address of the i-th transfer (section A3.4.1).
func (t *Transaction) at(i int) uint64 {
	bytes := uint64(1) << t.Size
	aligned := t.Addr &^ (bytes - 1)
	switch {
	case i == 0 || t.Burst == Fixed:
		return t.Addr
	case t.Burst == Wrap:
		total := uint64(t.Len) * bytes
		base := t.Addr / total * total
		return base + (aligned-base+uint64(i)*bytes)%total
	}
	return aligned + uint64(i)*bytes
}

// container returns the address of the aligned bytes of the i-th transfer.
func (t *Transaction) container(i int) uint64 { return t.at(i) &^ (1<<t.Size - 1) }

// below is how many bytes of the i-th transfer lie below its address.
func (t *Transaction) below(i int) int { return int(t.at(i) & (1<<t.Size - 1)) }

// enable returns the strobes of the i-th transfer, in the words of mask: a bit for each of its bytes.
func (t *Transaction) enabled(i, k int) bool {
	if k < t.below(i) {
		return false
	}
	at := i<<t.Size + k
	return t.Strobe == nil || t.Strobe[at/8]>>(at%8)&1 != 0
}

func (t *Transaction) String() string {
	kind := "read"
	if t.Write {
		kind = "write"
	}
	return fmt.Sprintf("%s at %#x (id %d, %d x %d bytes, %s)", kind, t.Addr, t.ID, t.Len, 1<<t.Size, t.Burst)
}

// Err returns what the response means; nil for Okay and ExOkay.
func (t *Transaction) Err() error {
	switch t.Resp {
	case SlvErr:
		return fmt.Errorf("axi: %s: %w", t, ErrSlave)
	case DecErr:
		return fmt.Errorf("axi: %s: %w", t, ErrDecode)
	}
	return nil
}

// Rules of addresses, by sections of IHI 0022E, as Violation.Rule and Config.Waive name them.
const (
	RuleBoundary  = "AXI A3.4.1 4 KB"
	RuleBurst     = "AXI A3.4.1 burst type"
	RuleSize      = "AXI A3.4.1 burst size"
	RuleWrapLen   = "AXI A3.4.1 wrapping length"
	RuleWrapAlign = "AXI A3.4.1 wrapping alignment"
	RuleFixedLen  = "AXI A3.4.1 fixed length"
	RuleCache     = "AXI A4.4"
	RuleExclusive = "AXI A7.2.4"
)

// breaks returns the rule of addresses that a transaction on a bus of so many bytes breaks, and how; "" for none.
func (t *Transaction) breaks(busSize int) (rule, how string) {
	bytes, total := uint64(1)<<t.Size, uint64(t.Len)<<t.Size
	aligned := t.Addr &^ (bytes - 1)
	switch {
	case t.Burst > Wrap:
		return RuleBurst, "AxBURST is 3"
	case t.Size > busSize:
		return RuleSize, fmt.Sprintf("transfers of %d bytes on a bus of %d", bytes, 1<<busSize)
	case t.Burst == Incr && aligned>>12 != (aligned+total-1)>>12:
		return RuleBoundary, fmt.Sprintf("%d bytes from %#x cross a boundary of 4 KB", total, t.Addr)
	case t.Burst == Wrap && t.Len != 2 && t.Len != 4 && t.Len != 8 && t.Len != 16:
		return RuleWrapLen, fmt.Sprintf("a wrapping burst of %d transfers", t.Len)
	case t.Burst == Wrap && t.Addr != aligned:
		return RuleWrapAlign, fmt.Sprintf("a wrapping burst of %d bytes a transfer begins at %#x", bytes, t.Addr)
	case t.Burst == Fixed && t.Len > 16:
		return RuleFixedLen, fmt.Sprintf("a fixed burst of %d transfers", t.Len)
	case t.Cache&2 == 0 && t.Cache&12 != 0:
		return RuleCache, fmt.Sprintf("AxCACHE is %#x", t.Cache)
	case t.Lock && (total > 128 || total&(total-1) != 0 || t.Len > 16):
		return RuleExclusive, fmt.Sprintf("an exclusive access to %d bytes in %d transfers", total, t.Len)
	case t.Lock && t.Addr%total != 0:
		return RuleExclusive, fmt.Sprintf("an exclusive access to %d bytes at %#x", total, t.Addr)
	}
	return "", ""
}
