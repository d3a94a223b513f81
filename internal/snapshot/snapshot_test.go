package snapshot_test

import (
	"encoding/binary"
	"reflect"
	"sync"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/internal/snapshot"
)

// world has one of everything.
type world struct {
	mu     sync.Mutex
	name   string
	small  int8
	share  float64
	on     bool
	table  map[uint8]*leaf
	none   map[string]int
	bytes  []byte
	words  []uint16
	left   []*leaf
	right  [2]*leaf // some of left
	end    shape
	around *world // itself
	done   func() int
	kept   *kept
	clock  *clock
	last   *leaf
}

type leaf struct{ n int }

type shape interface{ size() int }

type square struct{ side *leaf }

func (s square) size() int { return s.side.n }

type circle struct{ radius int }

func (c *circle) size() int { return c.radius }

// kept has a state outside, which it saves itself; clock has one that nobody saves.
type kept struct {
	state   uint32
	pointer chan int
}

type clock struct{ now int }

func (k *kept) MarshalBinary() ([]byte, error) {
	return binary.LittleEndian.AppendUint32(nil, k.state), nil
}
func (k *kept) UnmarshalBinary(b []byte) error { k.state = binary.LittleEndian.Uint32(b); return nil }

func skip(t reflect.Type) bool { return t == reflect.TypeFor[clock]() }

// build builds a world, which then has done something.
func build(n int, done int) *world {
	w := &world{done: func() int { return done }, kept: &kept{state: uint32(n), pointer: make(chan int)}, clock: &clock{n}, end: square{&leaf{n}}}
	w.around = w
	w.name, w.small, w.share, w.on = string(rune('a'+n)), int8(-n), float64(n)/3, n%2 == 1
	w.table = map[uint8]*leaf{}
	for i := range n {
		w.left = append(w.left, &leaf{i})
		w.table[uint8(100-i)] = w.left[i]
		w.bytes, w.words = append(w.bytes, byte(i)), append(w.words, uint16(300*i))
	}
	if n > 2 {
		w.right = [2]*leaf{w.left[1], w.left[2]}
		w.last = w.right[0]
	}
	return w
}

// TestLoad: what is loaded is what was saved, with the same objects in several places, and keeps its functions and what is not saved.
func TestLoad(t *testing.T) {
	for _, sizes := range [][2]int{{5, 3}, {3, 5}, {0, 4}, {4, 0}, {1, 1}} {
		a, b := build(sizes[0], 1), build(sizes[1], 2)
		same, pointer := b.kept, b.kept.pointer
		data := check.Must(snapshot.Save(skip, a))(t)
		check.Fatal(t, snapshot.Load(data, skip, b))
		check.Equal(t, "saved again", check.Must(snapshot.Save(skip, b))(t), data)
		if !b.mu.TryLock() || b.none != nil || b.name != a.name || b.small != a.small || b.share != a.share || b.on != a.on || b.end.size() != a.end.size() || b.around != b {
			t.Fatalf("%+v, want %+v", b, a)
		}
		for i, l := range b.left {
			if b.table[uint8(100-i)] != l || l == a.left[i] || l.n != i {
				t.Fatalf("leaf %d is not the same in two places", i)
			}
		}
		if len(b.left) > 2 && (b.last != b.left[1] || b.right[1] != b.left[2]) {
			t.Error("leaves are not the same in three places")
		}
		if b.done() != 2 || b.kept != same || b.kept.pointer != pointer || b.kept.state != uint32(sizes[0]) || b.clock.now != sizes[1] {
			t.Error("what was to stay has changed")
		}
	}
}

// TestApart: two pointers that led to one object lead to two afterwards, if they did when they were saved.
func TestApart(t *testing.T) {
	a, b := build(4, 1), build(4, 1)
	b.right = [2]*leaf{b.left[0], b.left[0]}
	check.Fatal(t, snapshot.Load(check.Must(snapshot.Save(skip, a))(t), skip, b))
	if b.right[0] == b.right[1] || b.right[0] != b.left[1] || b.right[1] != b.left[2] {
		t.Errorf("right leads to %v and %v", b.right[0], b.right[1])
	}
}

func TestRefused(t *testing.T) {
	a := build(4, 1)
	data := check.Must(snapshot.Save(skip, a))(t)
	for n := range data {
		check.Fails(t, "a part", snapshot.Load(data[:n], skip, build(4, 1)), snapshot.ErrSnapshot)
	}
	check.Fails(t, "a byte more", snapshot.Load(append(data, 0), skip, build(4, 1)), snapshot.ErrSnapshot)
	other := build(4, 1)
	other.end = &circle{1}
	check.Fails(t, "another type", snapshot.Load(data, skip, other), snapshot.ErrSnapshot)
	other = build(4, 1)
	other.done = nil
	check.Fails(t, "a function less", snapshot.Load(data, skip, other), snapshot.ErrSnapshot)
	_, err := snapshot.Save(skip, &struct{ c chan int }{make(chan int)})
	check.Fails(t, "a channel", err, snapshot.ErrSnapshot)
	_, err = snapshot.Save(skip, 5)
	check.Fatal(t, err)
}
