package lockstep_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

// TestRest counts the ticks that pass in a second of real time while two drivers wait, by how they do. The bubble's clock goes on only while the simulation rests: where it does
// not, the driver waits for so many ticks.
func TestRest(t *testing.T) {
	const most, wanted = 2 * time.Millisecond, 1 << 20
	for _, test := range []struct {
		name          string
		patient, owed bool
		busy          bool
		rests         int // -1: again and again
	}{
		{"patient", true, false, false, -1},
		{"owed", true, true, false, 1},
		{"hurried", false, false, false, 0},
		{"busy", true, false, true, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &echo{}
				w := lockstep.New(e, 2, 64, 128, 1e6)
				w.Rest(most, 256, func() bool { return test.busy })
				waits, idles := check.Must(w.Host(0))(t), check.Must(w.Host(1))(t)
				wait := func(h *lockstep.Host, x hostdrv.Exchange, left int) (ended chan bool) {
					ended = make(chan bool)
					go func() {
						defer close(ended)
						for x.Wait = left; x.Wait > 0 && h.Exchange(&x) == nil; x.Wait -= x.Ticks {
						}
					}()
					return ended
				}
				begun := time.Now()
				idle := wait(idles, hostdrv.Exchange{Idle: true, Patient: true}, 1<<40)
				ended := wait(waits, hostdrv.Exchange{Patient: test.patient, Owed: test.owed}, wanted)
				if test.rests < 0 {
					time.Sleep(time.Second)
					synctest.Wait()
					check.Fatal(t, w.Close())
					if ticks, rests := w.Ticks(), uint64(time.Second/most); ticks > 512*rests+512 || ticks < 256*rests {
						t.Errorf("%d ticks in a second, want about 512 for each of %d rests", ticks, rests)
					}
				}
				<-ended
				if rested := time.Since(begun); test.rests >= 0 && rested != time.Duration(test.rests)*most {
					t.Errorf("rested for %v, want %d times %v", rested, test.rests, most)
				}
				check.Error(t, w.Close())
				<-idle
			})
		})
	}
}

// TestRestEnds holds that a rest ends at once when somebody wants something: a driver that is woken, one that comes, one that goes, who wants to change something, and the end.
func TestRestEnds(t *testing.T) {
	for name, want := range map[string]func(*testing.T, *lockstep.World, *lockstep.Host){
		"woken": func(_ *testing.T, _ *lockstep.World, h *lockstep.Host) { h.Wake() },
		"works": func(_ *testing.T, _ *lockstep.World, h *lockstep.Host) { h.Work()() },
		"between": func(t *testing.T, w *lockstep.World, _ *lockstep.Host) {
			check.Error(t, w.Between(func() error { return nil }))
		},
		"goes": func(t *testing.T, _ *lockstep.World, h *lockstep.Host) { check.Error(t, h.Close()) },
		"ends": func(t *testing.T, w *lockstep.World, _ *lockstep.Host) { check.Error(t, w.Close()) },
		"comes": func(t *testing.T, w *lockstep.World, _ *lockstep.Host) {
			check.Fatal(t, check.Must(w.Host(1))(t).Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := lockstep.New(&echo{}, 2, 64, 128, 1e6)
				w.Rest(time.Hour, 0, func() bool { return false })
				h := check.Must(w.Host(0))(t)
				begun, returned := time.Now(), 0
				go func() {
					for ; h.Exchange(&hostdrv.Exchange{Wait: 1 << 20, Patient: true}) == nil; returned++ {
					}
				}()
				synctest.Wait()
				before := returned
				want(t, w, h)
				synctest.Wait()
				if name == "woken" && returned == before {
					t.Error("it was not woken")
				}
				if took := time.Since(begun); took != 0 {
					t.Errorf("it took %v", took)
				}
				check.Error(t, w.Close())
			})
		})
	}
}

// TestAskedWhenConcerned holds that in a world that rests a driver to which nothing comes takes no part in each turn of another one, and hears of all ticks.
func TestAskedWhenConcerned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lockstep.New(&echo{}, 2, 64, 128, 1e6)
		w.Rest(time.Hour, 0, func() bool { return true })
		sends, waits := check.Must(w.Host(0))(t), check.Must(w.Host(1))(t)
		asked, heard := 0, uint64(0)
		go func() {
			for x := (hostdrv.Exchange{Wait: 1 << 20}); waits.Exchange(&x) == nil; asked++ {
				heard += uint64(x.Ticks)
			}
		}()
		synctest.Wait()
		for range 100 {
			exchange(t, sends, hostdrv.Exchange{Out: make([]linkproto.Symbol, 1), Wait: 1})
			synctest.Wait()
		}
		ticks := w.Ticks()
		waits.Wake()
		exchange(t, sends, hostdrv.Exchange{Wait: 1})
		synctest.Wait()
		check.Equal(t, "ticks", heard, w.Ticks())
		check.Equal(t, "times it was asked", asked, int(ticks/512)+1)
		check.Error(t, w.Close())
	})
}
