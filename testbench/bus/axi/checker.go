package axi

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench"
)

// Checker checks an interconnect, adapter, bridge or register of buses by what enters and what leaves it, byte by byte, so that it may change widths, bursts
// and IDs: a byte that a master writes must be written to a slave between the begin and the end of that transaction, and a byte that it reads
// must be read from a slave meanwhile. Reads in advance and writes that are put together are taken if they keep to that.
type Checker struct {
	bench   *testbench.Bench
	ended   []func()            // checks of what masters have done since watches were read
	reads   map[uint64][]access // by address, of slaves
	writes  map[uint64][]access
	checked uint64
	calls   int
}

// access is of one byte.
type access struct {
	value      byte
	begin, end uint64
}

// NewChecker makes a checker of a bench, which it tells what is wrong.
func NewChecker(b *testbench.Bench) *Checker {
	k := &Checker{bench: b, reads: map[uint64][]access{}, writes: map[uint64][]access{}}
	b.AfterWatches(func() {
		for _, check := range k.ended {
			check()
		}
		k.ended = k.ended[:0]
	})
	return k
}

// Slave returns what Config.Ended of a Monitor at a port for a slave is to be. The address that a master sees is the slave's plus base.
func (k *Checker) Slave(base uint64) func(*Transaction) {
	return func(t *Transaction) {
		if !t.done() {
			return
		}
		log := k.reads
		if t.Write {
			log = k.writes
		}
		t.each(func(address uint64, value byte) {
			log[base+address] = append(log[base+address], access{value, t.Begin, t.End})
		})
		if k.calls++; k.calls%4096 == 0 {
			k.forget(t.End)
		}
	}
}

// done tells whether a transaction has done what it says: neither failed nor, as an exclusive write, been passed over.
func (t *Transaction) done() bool { return t.Resp == ExOkay || t.Resp == Okay && !(t.Write && t.Lock) }

// Master returns what Config.Ended of a Monitor at a port for a master is to be.
func (k *Checker) Master(name string) func(*Transaction) {
	return func(t *Transaction) {
		if t.done() {
			k.ended = append(k.ended, func() { k.check(name, t) })
		}
	}
}

func (k *Checker) check(name string, t *Transaction) {
	log, verb := k.reads, "read from"
	if t.Write {
		log, verb = k.writes, "written to"
	}
	wrong := false
	t.each(func(address uint64, value byte) {
		if wrong {
			return
		}
		k.checked++
		for _, a := range log[address] {
			if a.value == value && a.end > t.Begin && a.begin < t.End {
				return
			}
		}
		wrong = true
		k.bench.Errorf("%s: edges %d to %d: %s: byte %#02x at %#x was not %s any slave meanwhile%s", name, t.Begin, t.End, t, value, address, verb,
			others(log[address], t))
	})
}

// others says which other values of a byte were seen.
func others(seen []access, t *Transaction) string {
	for _, a := range seen {
		if a.end > t.Begin && a.begin < t.End {
			return fmt.Sprintf(": there it was %#02x", a.value)
		}
	}
	return ""
}

// Checked is how many bytes of masters were found at slaves.
func (k *Checker) Checked() uint64 { return k.checked }

// oldest is for how many edges accesses of slaves are remembered.
const oldest = 1 << 16

func (k *Checker) forget(now uint64) {
	for _, log := range []map[uint64][]access{k.reads, k.writes} {
		for address, seen := range log {
			kept := seen[:0]
			for _, a := range seen {
				if a.end+oldest > now {
					kept = append(kept, a)
				}
			}
			if log[address] = kept; len(kept) == 0 {
				delete(log, address)
			}
		}
	}
}

// each calls a function with every byte that counts.
func (t *Transaction) each(f func(address uint64, value byte)) {
	for i := range min(t.Len, len(t.Data)>>t.Size) {
		from := t.container(i)
		for k := range 1 << t.Size {
			if t.enabled(i, k) {
				f(from+uint64(k), t.Data[i<<t.Size+k])
			}
		}
	}
}
