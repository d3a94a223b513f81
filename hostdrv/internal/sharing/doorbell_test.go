package sharing_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/hostdrv/internal/sharing"
)

// doorbell is a program and a server that share rings, each step by step between two accesses to them: the program sends some messages and waits for a completion of each,
// the server completes what is posted, in a time that passes only while the program waits. The order of their steps is drawn. Mistakes can be planted.
type doorbell struct {
	rings        *sharing.Rings
	bell, told   int  // messages to the server, and to the program, that were not read yet
	wantLate     bool // planted: the program looks whether the server does before it says that it waits, and not behind it
	sleepLate    bool // planted: the server looks for posts before it says that it does not look, and not behind it
	done, pulled uint64
}

const doorbellSends = 3

var (
	doorbellInfo  = sharing.ContextInfo{Sends: 4, Receives: 1}
	doorbellWords = make([]uint64, doorbellInfo.Bytes()/8) // aligned, as pages of memory are
)

// program ends when it has all completions. It yields false where it can do nothing.
func (d *doorbell) program(yield func(bool) bool) {
	ring := func() {
		if d.rings.Wake() {
			d.bell++
		}
	}
	for n := range uint64(doorbellSends) {
		d.rings.Sends.Post(n, sharing.Post{Index: uint16(n)})
		yield(true)
		ring()
		for yield(true); d.rings.Done.Count() == d.done; {
			yield(true)
			if d.wantLate {
				ring()
				yield(true)
			}
			d.rings.Want(d.done)
			yield(true)
			if d.rings.Done.Count() != d.done {
				break
			}
			if yield(true); !d.wantLate {
				ring()
			}
			for d.told == 0 {
				if !yield(false) {
					return
				}
			}
			d.told--
			yield(true)
		}
		d.rings.Unwant()
		d.done++
	}
}

// server looks when the bell rings, and tells of completions.
func (d *doorbell) server(yield func(bool) bool) {
	tell := func() {
		if seen, waits := d.rings.Wanted(); waits && d.pulled > seen {
			if yield(true); d.rings.Tell(seen) {
				d.told++
			}
		}
	}
	for {
		for d.bell == 0 {
			if !yield(false) {
				return
			}
		}
		d.bell--
		for looks := true; looks; {
			asked := d.rings.Asked()
			yield(true)
			_, waits := d.rings.Wanted()
			for yield(true); waits && d.pulled < d.rings.Sends.Count(); yield(true) { // time passes
				d.rings.Done.Complete(d.pulled, sharing.Done{Index: d.rings.Sends.Posted(d.pulled).Index})
				d.pulled++
			}
			tell()
			yield(true)
			if d.sleepLate && d.rings.Asked() != asked {
				continue
			}
			yield(true)
			d.rings.Sleep()
			yield(true)
			looks = !d.sleepLate && d.rings.Asked() != asked && d.rings.Wake()
		}
	}
}

// run runs both in an order that next draws, and says who hangs.
func (d *doorbell) run(next func() bool) error {
	info, words := doorbellInfo, doorbellWords
	clear(words[:(info.Bytes()-sharing.AreaBytes)/8])
	d.rings, _ = info.Rings(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), info.Bytes()))
	d.rings.Sleep()
	program, end := iter.Pull(d.program)
	defer end()
	server, stop := iter.Pull(d.server)
	defer stop()
	for stuck := 0; stuck < 2; {
		goes, own := next(), program
		if !goes {
			own = server
		}
		moved, alive := own()
		switch {
		case !alive:
			return nil
		case moved:
			stuck = 0
			continue
		}
		if own = program; goes {
			own = server
		}
		if moved, alive = own(); !alive {
			return nil
		} else if moved {
			stuck = 0
		} else {
			stuck++
		}
	}
	return fmt.Errorf("after %d completions of %d posts the program sleeps, and nobody wakes it: %d pulled", d.done, d.rings.Sends.Count(), d.pulled)
}

// TestDoorbell draws orders of what a program and a server do with their rings: neither sleeps while the other wants something.
func TestDoorbell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		goes := rapid.Bool()
		if err := new(doorbell).run(func() bool { return goes.Draw(t, "program") }); err != nil {
			t.Fatal(err)
		}
	})
}

// TestDoorbellMistakes plants mistakes in either side: some order shows each.
func TestDoorbellMistakes(t *testing.T) {
	for name, planted := range map[string]doorbell{"program looks too early": {wantLate: true}, "server looks too early": {sleepLate: true}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(1 << 12) {
				d, rng := planted, rand.New(rand.NewPCG(seed, 1))
				if d.run(func() bool { return rng.IntN(2) == 0 }) != nil {
					return
				}
			}
			t.Error("no order hangs")
		})
	}
}
