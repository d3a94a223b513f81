package flashtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/stafflink/lmmc/boards/plugged"
	"github.com/stafflink/lmmc/boards/plugged/pluggedtest"
)

const (
	page    = 256
	sector  = 64 << 10
	trouble = 3 * page // where faults of writing and reading happen
)

// board is what a stand-in has opened.
type board struct {
	bench    *Bench
	device   plugged.Device
	contents []byte
}

// open opens the board at a bus and address.
func (b *board) open(bus, address int) bool {
	all, err := b.bench.Machine().Devices()
	check(err)
	at := slices.IndexFunc(all, func(d plugged.Device) bool { return d.Bus == bus && d.Address == address })
	if at < 0 || b.broken(Refuses) {
		return false
	}
	b.device = all[at]
	b.contents, err = b.bench.Holds(b.device)
	if os.IsNotExist(err) {
		b.contents, err = bytes.Repeat([]byte{0xff}, flashSize), nil
	}
	check(err)
	return true
}

// broken says whether a fault is the next one to happen. It happens once.
func (b *board) broken(f Fault) bool {
	for i := range 9 {
		name := filepath.Join(b.bench.Dir, "fault"+strconv.Itoa(i))
		next, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue
		}
		check(err)
		if Fault(next) == f {
			check(os.Remove(name))
			return true
		}
		return false
	}
	return false
}

// writable is the address below which writes change something.
func (b *board) writable() int {
	text, err := os.ReadFile(filepath.Join(b.bench.Dir, "protected"))
	if os.IsNotExist(err) {
		return len(b.contents)
	}
	check(err)
	n, err := strconv.Atoi(string(text))
	check(err)
	return n
}

func (b *board) unprotect() { check(os.RemoveAll(filepath.Join(b.bench.Dir, "protected"))) }

func (b *board) erase(at int) {
	if at < b.writable() {
		copy(b.contents[at:], bytes.Repeat([]byte{0xff}, sector))
		b.store(at, sector)
	}
}

// program writes a page: it can only clear bits.
func (b *board) program(at int, data []byte) {
	if at >= b.writable() {
		return
	}
	for i, v := range data {
		b.contents[at+i] &= v
	}
	if at == trouble && b.broken(Damages) {
		b.contents[at] ^= 1
	}
	b.store(at, len(data))
}

func (b *board) store(at, n int) {
	f, err := os.OpenFile(b.bench.flash(b.device), os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	_, err = f.WriteAt(b.contents[at:at+n], int64(at))
	check(err)
	check(f.Close())
}

func (b *board) unplug() { check(pluggedtest.Unplug(b.bench.Machine(), b.device)) }

func (b *board) load(data []byte) {
	check(os.WriteFile(b.bench.flash(b.device)+".sram", data, 0o600))
}

// hang is what programs do that wait for a chip. A file says so.
func (b *board) hang() {
	check(os.WriteFile(filepath.Join(b.bench.Dir, Hanging), nil, 0o600))
	time.Sleep(time.Hour)
}
