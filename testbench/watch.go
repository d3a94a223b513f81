package testbench

import "github.com/stafflink/lmmc/verilator"

// watch is a verilator.Watch with its reader.
type watch struct {
	*verilator.Watch
	name string
	read func(*verilator.Watch)
	lost uint64
}

// watchCycles is the greatest number of cycles of the main clock from one reading of watches to the next.
const watchCycles = 256

// Watch watches a channel, as verilator.Model.Watch does, and costs no call of Go at each cycle as Monitor does. Read is called, as observers are by no coroutine,
// when events wait to be read: at least every 256 cycles, and at the edge after a breach of the handshake. It must read all of them.
func (i *Instance) Watch(ch verilator.Channel, maxStall uint64, read func(*verilator.Watch)) (*verilator.Watch, error) {
	b := i.bench
	b.mark.Helper()
	if i.main != nil {
		period := i.main.period
		for _, k := range b.clocks {
			if k.Clock == ch.Clock {
				period = k.period
			}
		}
		ch.Depth = max(ch.Depth, int(2*watchCycles*b.clocks[0].period/period), 2*watchCycles)
	}
	w, err := i.model.Watch(ch, maxStall)
	if err != nil {
		return nil, b.check(err)
	}
	b.watches = append(b.watches, watch{Watch: w, name: ch.Valid, read: read})
	return w, nil
}

// AfterWatches calls a function each time after all watches were read, for what compares one with another.
func (b *Bench) AfterWatches(f func()) { b.afterWatches = append(b.afterWatches, f) }

func (b *Bench) readWatches() {
	for i := range b.watches {
		w := &b.watches[i]
		if w.Len() > 0 {
			w.read(w.Watch)
		}
		if lost := w.Lost(); lost != w.lost {
			b.Errorf("watch of %s: %d events were lost", w.name, lost-w.lost)
			w.lost = lost
		}
	}
	for _, f := range b.afterWatches {
		f()
	}
}
