package lockstep_test

import (
	"errors"
	"net"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/lockstep"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo sends each host, a turn later, what it has sent. A turn takes longer by slow ticks.
type echo struct {
	turns  []int
	slow   int
	last   [2][]linkproto.Symbol
	failed error
	closed int
}

func (e *echo) Turn(n int, lines []lockstep.Line) (int, error) {
	e.turns = append(e.turns, n)
	for i := range lines {
		lines[i].In = e.last[i]
		e.last[i] = append([]linkproto.Symbol(nil), lines[i].Out...)
	}
	return n + e.slow, e.failed
}

func (e *echo) Close() error {
	e.closed++
	return nil
}

func exchange(t *testing.T, h *lockstep.Host, x hostdrv.Exchange) hostdrv.Exchange {
	t.Helper()
	check.Fatal(t, h.Exchange(&x))
	return x
}

func TestTurns(t *testing.T) {
	e := &echo{}
	w := lockstep.New(e, 2, 10, 40, 1e6)
	h := check.Must(w.Host(1))(t)
	x := exchange(t, h, hostdrv.Exchange{Out: make([]linkproto.Symbol, 25), Wait: 1})
	if !x.Taken || x.Ticks != 25 || len(x.In) != 0 {
		t.Errorf("a turn is as long as there is to send: %+v", x)
	}
	if x = exchange(t, h, hostdrv.Exchange{Wait: 1000}); x.Ticks != 10 || len(x.In) != 25 {
		t.Errorf("what arrives ends a wait: %+v", x)
	}
	if x = exchange(t, h, hostdrv.Exchange{Wait: 1000}); x.Ticks != 1000 {
		t.Errorf("nothing arrives: %+v", x)
	}
	h.Wake()
	if x = exchange(t, h, hostdrv.Exchange{Wait: 1000, Idle: true}); x.Ticks != 0 {
		t.Errorf("idle: time stands still until it is woken: %+v", x)
	}
	e.slow = 3
	if x = exchange(t, h, hostdrv.Exchange{Out: make([]linkproto.Symbol, 20), Wait: 1}); x.Ticks != 23 {
		t.Errorf("a line that takes longer: %+v", x)
	}
	check.Equal(t, "ticks", w.Ticks(), 1058)
	check.Fails(t, "more symbols than a turn has clocks", h.Exchange(&hostdrv.Exchange{Out: make([]linkproto.Symbol, 41), Wait: 1}), nil)
}

// TestEverybodyTakesPart holds that no turn takes place without a driver that is there, idle or not.
func TestEverybodyTakesPart(t *testing.T) {
	e := &echo{}
	w := lockstep.New(e, 2, 10, 10, 1e6)
	var hosts [2]*lockstep.Host
	for i := range hosts {
		hosts[i] = check.Must(w.Host(i))(t)
	}
	check.Fails(t, "a second driver of one NI", check.Err(w.Host(0)), nil)
	check.Fails(t, "a third NI", check.Err(w.Host(2)), nil)
	idle := make(chan hostdrv.Exchange)
	go func() {
		x := hostdrv.Exchange{Wait: 1, Idle: true}
		check.Error(t, hosts[1].Exchange(&x))
		idle <- x
	}()
	check.Equal(t, "ticks of the exchange", exchange(t, hosts[0], hostdrv.Exchange{Wait: 1}).Ticks, 10)
	check.Equal(t, "ticks of the idle one", (<-idle).Ticks, 10)
	check.Fatal(t, hosts[1].Close())
	exchange(t, hosts[0], hostdrv.Exchange{Wait: 1}) // nobody else is there now
	check.Fails(t, "after Close", hosts[1].Exchange(&hostdrv.Exchange{Wait: 1}), net.ErrClosed)
}

// TestWakeIsNotLost holds that a driver which is woken says what it sends before time goes on for the others.
func TestWakeIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lockstep.New(&echo{}, 2, 10, 10, 1e6)
		waits, idles := check.Must(w.Host(0))(t), check.Must(w.Host(1))(t)
		go func() {
			x := exchange(t, idles, hostdrv.Exchange{Wait: 1000, Idle: true})
			check.Equal(t, "ticks until it is awake", x.Ticks, 0)
			exchange(t, idles, hostdrv.Exchange{Out: make([]linkproto.Symbol, 1), Wait: 1000})
		}()
		synctest.Wait()
		idles.Wake()
		check.Equal(t, "ticks of the turn in which it sends", exchange(t, waits, hostdrv.Exchange{Wait: 1000}).Ticks, 10)
		synctest.Wait()
	})
}

// TestWork holds that time stands still while a program computes, and goes on when it has ended.
func TestWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lockstep.New(&echo{}, 2, 10, 10, 1e6)
		waits, works := check.Must(w.Host(0))(t), check.Must(w.Host(1))(t)
		over := works.Work()
		go exchange(t, waits, hostdrv.Exchange{Wait: 1})
		go exchange(t, works, hostdrv.Exchange{Wait: 1, Idle: true})
		synctest.Wait()
		check.Equal(t, "ticks while it computes", w.Ticks(), 0)
		over()
		synctest.Wait()
		check.Equal(t, "ticks after its end", w.Ticks(), 10)
		new(lockstep.Host).Work()() // of a closed host: nothing
	})
}

// source sends the first host a symbol in each tick, until it has sent so many.
type source struct{ left int }

func (s *source) Turn(n int, lines []lockstep.Line) (int, error) {
	lines[0].In = make([]linkproto.Symbol, min(n, s.left))
	s.left -= len(lines[0].In)
	return n, nil
}

func (s *source) Close() error { return nil }

// TestGather holds that what comes without a gap comes together, up to its end, up to so many ticks, and while nobody is woken.
func TestGather(t *testing.T) {
	s := &source{}
	w := lockstep.New(s, 2, 10, 10, 1e6)
	w.Gather(40)
	h := check.Must(w.Host(0))(t)
	for _, test := range []struct{ sent, ticks, received int }{{0, 1000, 0}, {5, 10, 5}, {25, 30, 25}, {70, 40, 40}, {30, 40, 30}} {
		s.left = test.sent
		x := exchange(t, h, hostdrv.Exchange{Wait: 1000})
		check.Equal(t, "ticks and symbols", [2]int{x.Ticks, len(x.In)}, [2]int{test.ticks, test.received})
	}
	s.left = 40
	check.Equal(t, "ticks when one sends", exchange(t, h, hostdrv.Exchange{Out: make([]linkproto.Symbol, 1), Wait: 1000}).Ticks, 10)
}

// TestPatient holds that who only lets time pass returns when its time has passed, when it is woken, and when it is closed, and not after the turns of others.
func TestPatient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := lockstep.New(&echo{}, 2, 10, 10, 1e6)
		driver, patient := check.Must(w.Host(0))(t), check.Must(w.Host(1))(t)
		patient.Patient()
		ticks := make(chan int, 1)
		waits := func(idle bool) {
			x := hostdrv.Exchange{Wait: 30, Idle: idle}
			check.Error(t, patient.Exchange(&x))
			ticks <- x.Ticks
		}
		go waits(false)
		for range 3 {
			exchange(t, driver, hostdrv.Exchange{Out: make([]linkproto.Symbol, 1), Wait: 30})
		}
		synctest.Wait()
		check.Equal(t, "ticks of the patient one", <-ticks, 30)
		for _, idle := range []bool{true, false} {
			go waits(idle)
			synctest.Wait()
			if idle {
				exchange(t, driver, hostdrv.Exchange{Out: make([]linkproto.Symbol, 1), Wait: 30})
			}
			patient.Wake()
			go exchange(t, driver, hostdrv.Exchange{Wait: 10, Idle: true})
			synctest.Wait()
			check.Equal(t, "ticks until it is woken", <-ticks, 10)
			patient.Wake()
			patient.Exchange(&hostdrv.Exchange{Wait: 10, Idle: true}) // takes what is left of it
			driver.Wake()
			synctest.Wait()
		}
		check.Fatal(t, driver.Close())
		ended := make(chan error)
		go func() { ended <- patient.Exchange(&hostdrv.Exchange{Wait: 30, Idle: true}) }()
		synctest.Wait()
		check.Fatal(t, patient.Close())
		check.Fails(t, "after Close", <-ended, net.ErrClosed)
	})
}

// TestEvery: what happens every so many ticks does so at its time, again and again, and the world fails with it.
func TestEvery(t *testing.T) {
	w := lockstep.New(&echo{}, 1, 10, 10, 1e6)
	h := check.Must(w.Sole())(t)
	var at []uint64
	passed, broken := uint64(0), errors.New("broken")
	w.Every(25, func() error {
		if len(at) == 3 {
			return broken
		}
		at = append(at, passed)
		return nil
	})
	for ; passed < 110; passed += 10 {
		check.Fatal(t, h.Exchange(&hostdrv.Exchange{Wait: 1}))
	}
	check.Equal(t, "begin of the turns behind which it happens", at, []uint64{20, 50, 80})
	check.Fails(t, "the fourth time", h.Exchange(&hostdrv.Exchange{Wait: 1}), broken)
	check.Error(t, h.Close())
}

func TestEnds(t *testing.T) {
	e := &echo{}
	w := lockstep.New(e, 1, 10, 10, 1e6)
	h := check.Must(w.Sole())(t)
	e.failed = errors.New("broken")
	check.Fails(t, "a simulation that fails", h.Exchange(&hostdrv.Exchange{Wait: 1}), e.failed)
	for range 2 {
		if err := h.Close(); err != nil || e.closed != 1 {
			t.Errorf("%v, closed %d times", err, e.closed)
		}
	}
	check.Fails(t, "a host of a closed world", check.Err(w.Host(0)), net.ErrClosed)
	check.Fails(t, "between turns of a closed world", w.Between(func() error { return nil }), net.ErrClosed)
}
