package usbdev_test

import (
	"bytes"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/boards/virtual/usbdev"
	"github.com/stafflink/lmmc/internal/check"
)

// TestNoEndpointWaitsForAnother serves one endpoint while transfers wait at the others.
func TestNoEndpointWaitsForAnother(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	idle := submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 512}, nil)
	full := submit(h, usbdev.Transfer{Endpoint: 0x02, Data: []byte("later")}, nil)
	busy := submit(h, usbdev.Transfer{Endpoint: 0x83, Room: 512}, nil)
	s.give(0x83, []byte("now"))
	if idle.ended.Load() || full.ended.Load() || !busy.ended.Load() || string(busy.Data) != "now" {
		t.Errorf("%v %v %v %q", idle.ended.Load(), full.ended.Load(), busy.ended.Load(), busy.Data)
	}
	s.Do(func() { s.room = 1 })
	s.give(0x81, nil)
	if !idle.ended.Load() || idle.Actual != 0 || !full.ended.Load() || !slices.EqualFunc(s.got, [][]byte{[]byte("later")}, bytes.Equal) {
		t.Errorf("%v %v %q", idle.ended.Load(), full.ended.Load(), s.got)
	}
}

// TestPackets checks when a transfer ends.
func TestPackets(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	for _, c := range []struct {
		name    string
		room    int
		packets [][]byte
		want    int
		status  usbdev.Status
		left    int // packets for the next transfer
	}{
		{"short", 2048, [][]byte{bytesOf(1, 512), bytesOf(2, 511)}, 1023, usbdev.OK, 0},
		{"empty", 2048, [][]byte{bytesOf(1, 512), nil}, 512, usbdev.OK, 0},
		{"full", 1024, [][]byte{bytesOf(1, 512), bytesOf(2, 512), bytesOf(3, 512)}, 1024, usbdev.OK, 1},
		{"no multiple", 700, [][]byte{bytesOf(1, 512), bytesOf(2, 300)}, 700, usbdev.Overflow, 0},
		{"no multiple, but it fits", 700, [][]byte{bytesOf(1, 512), bytesOf(2, 188)}, 700, usbdev.OK, 0},
		{"no room", 0, [][]byte{nil}, 0, usbdev.OK, 0},
	} {
		transfer := submit(h, usbdev.Transfer{Endpoint: 0x81, Room: c.room}, nil)
		s.give(0x81, c.packets...)
		if !transfer.ended.Load() || transfer.Actual != c.want || len(transfer.Data) != c.want || transfer.Status != c.status || len(s.has[0x81]) != c.left {
			t.Errorf("%s: ended %v, %d bytes, %v, %d packets left", c.name, transfer.ended.Load(), transfer.Actual, transfer.Status, len(s.has[0x81]))
		}
		s.has[0x81] = nil
	}
	for _, c := range []struct {
		size int
		zero bool
		want []int
	}{{0, false, []int{0}}, {0, true, []int{0}}, {512, false, []int{512}}, {512, true, []int{512, 0}}, {1025, true, []int{512, 512, 1}}} {
		s.got, s.room = nil, 9
		transfer := submit(h, usbdev.Transfer{Endpoint: 0x04, Data: make([]byte, c.size), Zero: c.zero}, nil)
		var have []int
		for _, p := range s.got {
			have = append(have, len(p))
		}
		if !slices.Equal(have, c.want) || transfer.Actual != c.size {
			t.Errorf("%d bytes, zero %v: packets of %v, want %v", c.size, c.zero, have, c.want)
		}
	}
}

// TestUnlink cancels transfers in the middle and at the front of a queue: the others are served, and no byte is lost.
func TestUnlink(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	var order []*submitted
	var in [4]*submitted
	for i := range in {
		in[i] = submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 2048}, &order)
	}
	s.give(0x81, bytesOf('a', 512)) // the first goes on: the packet is full
	if !h.Unlink(&in[1].Transfer) || !h.Unlink(&in[0].Transfer) || h.Unlink(&in[0].Transfer) {
		t.Error("cannot be unlinked, or twice")
	}
	s.give(0x81, []byte("b"), []byte("c"))
	if !slices.Equal(order, []*submitted{in[2], in[3]}) {
		t.Fatalf("%d have ended, or in another order", len(order))
	}
	if want := string(bytesOf('a', 512)) + "b"; string(in[2].Data) != want || string(in[3].Data) != "c" {
		t.Errorf("%q, %q", in[2].Data, in[3].Data)
	}
	if h.Unlink(&in[3].Transfer) {
		t.Error("one that has ended was unlinked")
	}
	if c := s.Counts(); c.Unlinked != 2 || c.ToHost != 514 {
		t.Errorf("%+v", c)
	}
}

// TestTransfersAreExact submits, cancels and serves transfers in any order: what arrives is what was sent.
func TestTransfersAreExact(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := newScript()
		h := check.Must(s.Attach())(r)
		defer h.Close()
		control(t, h, usbdev.Setup{Request: 9, Value: 1})
		var in, out []*submitted
		var ended, endedOut []*submitted
		var sent, given, next = []byte{}, []byte{}, byte(0)
		fresh := func(n int) (b []byte) {
			for range n {
				next++
				b = append(b, next)
			}
			return b
		}
		unlinked := map[*submitted]bool{}
		r.Repeat(map[string]func(*rapid.T){
			"submit in": func(r *rapid.T) {
				in = append(in, submit(h, usbdev.Transfer{Endpoint: 0x83, Room: 512 * rapid.IntRange(1, 5).Draw(r, "packets")}, &ended))
			},
			"submit out": func(r *rapid.T) {
				out = append(out, submit(h, usbdev.Transfer{Endpoint: 0x04, Data: fresh(rapid.IntRange(0, 1500).Draw(r, "bytes"))}, &endedOut))
			},
			"give": func(r *rapid.T) {
				packet := fresh(rapid.SampledFrom([]int{0, 1, 511, 512, 512}).Draw(r, "bytes"))
				given = append(given, packet...)
				s.give(0x83, packet)
			},
			"make room": func(r *rapid.T) { s.Do(func() { s.room += rapid.IntRange(1, 3).Draw(r, "packets") }) },
			"unlink": func(r *rapid.T) {
				if all := slices.Concat(in, out); len(all) > 0 {
					x := all[rapid.IntRange(0, len(all)-1).Draw(r, "which")]
					if h.Unlink(&x.Transfer) {
						unlinked[x] = true
					}
				}
			},
		})
		for range 200 { // bring the rest; an empty packet ends a transfer
			in = append(in, submit(h, usbdev.Transfer{Endpoint: 0x83, Room: 512}, &ended))
		}
		for range in {
			s.give(0x83, nil)
			s.give(0x83, nil)
		}
		var came []byte
		for _, x := range ended {
			if unlinked[x] {
				r.Fatal("an unlinked transfer has ended")
			}
			came = append(came, x.Data...)
		}
		if !bytes.Equal(came, given) {
			r.Fatalf("%d bytes came of %d, or others", len(came), len(given))
		}
		s.Do(func() { s.room = 1 << 20 })
		for _, x := range out {
			if unlinked[x] {
				sent = append(sent, x.Data[:x.Actual]...)
			} else {
				sent = append(sent, x.Data...)
			}
		}
		if got := bytes.Join(s.got, nil); !bytes.Equal(got, sent) {
			r.Fatalf("%d bytes went of %d, or others", len(got), len(sent))
		}
	})
}

func TestPlug(t *testing.T) {
	s := newScript()
	h := s.attach(t)
	check.Fails(t, "a second host", check.Err(s.Attach()), usbdev.ErrBusy)
	waits := []*submitted{submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 9}, nil), submit(h, usbdev.Transfer{Endpoint: 0x04, Data: []byte{1}}, nil)}
	s.Unplug()
	<-h.Gone()
	for _, w := range append(waits, submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 9}, nil)) {
		if !w.ended.Load() || w.Status != usbdev.Gone {
			t.Errorf("%v, %v", w.ended.Load(), w.Status)
		}
	}
	check.Fails(t, "an unplugged device", check.Err(s.Attach()), usbdev.ErrUnplugged)
	s.Plug()
	h2 := s.attach(t)
	h.Close() // late, without effect
	if s.resets != 2 || !s.Attached() {
		t.Errorf("%d resets, attached %v", s.resets, s.Attached())
	}
	h2.Close()
	<-h2.Gone()
	s.attach(t)
}

// TestFaults runs in virtual time.
func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		h := s.attach(t)
		took := func(do func()) time.Duration {
			start := time.Now()
			do()
			return time.Since(start)
		}
		in := func() *submitted { return submit(h, usbdev.Transfer{Endpoint: 0x81, Room: 512}, nil) }
		s.give(0x81, []byte("x"), []byte("y"), []byte("z"))
		s.AnswerNAK(time.Second)
		x := in()
		if d := took(func() {
			time.Sleep(999 * time.Millisecond)
			synctest.Wait()
			if x.ended.Load() {
				t.Error("the endpoint was not quiet")
			}
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}); !x.ended.Load() || d != time.Second {
			t.Errorf("%v after %v", x.ended.Load(), d)
		}
		s.SetDelay(30 * time.Millisecond)
		check.Equal(t, "duration of a delayed request", took(func() { control(t, h, usbdev.Setup{Type: 0x80, Request: 0, Length: 2}) }), 30*time.Millisecond)
		y, z := in(), in()
		if !h.Unlink(&y.Transfer) {
			t.Error("a delayed transfer cannot be unlinked")
		}
		time.Sleep(30 * time.Millisecond)
		synctest.Wait()
		if !z.ended.Load() || string(z.Data) != "y" {
			t.Errorf("%v %q", z.ended.Load(), z.Data)
		}
		s.SetDelay(0)
		waits := in()
		s.Halt(0x81)
		if !waits.ended.Load() || waits.Status != usbdev.OK || string(waits.Data) != "z" {
			t.Errorf("%v %v", waits.ended.Load(), waits.Status)
		}
		if x := in(); !x.ended.Load() || x.Status != usbdev.Stalled {
			t.Errorf("at a halted endpoint: %v %v", x.ended.Load(), x.Status)
		}
		if status, _ := control(t, h, usbdev.Setup{Type: 0x82, Request: 0, Index: 0x81, Length: 2}); !bytes.Equal(status, []byte{1, 0}) {
			t.Errorf("status % x", status)
		}
		control(t, h, usbdev.Setup{Type: 2, Request: 1, Index: 0x81})
		if x := in(); x.ended.Load() {
			t.Errorf("after CLEAR_FEATURE: %v", x.Status)
		}
		check.Equal(t, "stalls", s.Counts().Stalls, 1)
	})
}
