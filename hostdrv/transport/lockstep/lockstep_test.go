package lockstep_test

import (
	"errors"
	"net"
	"testing"

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
	if c := w.Ticks(); c != 1058 {
		t.Errorf("%d ticks", c)
	}
	if err := h.Exchange(&hostdrv.Exchange{Out: make([]linkproto.Symbol, 41), Wait: 1}); err == nil {
		t.Error("more symbols than a turn has clocks were taken")
	}
}

// TestEverybodyTakesPart holds that no turn takes place without a driver that is there, idle or not.
func TestEverybodyTakesPart(t *testing.T) {
	e := &echo{}
	w := lockstep.New(e, 2, 10, 10, 1e6)
	var hosts [2]*lockstep.Host
	for i := range hosts {
		var err error
		if hosts[i], err = w.Host(i); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Host(0); err == nil {
		t.Error("two drivers have one NI")
	}
	if _, err := w.Host(2); err == nil {
		t.Error("there is no third NI")
	}
	idle := make(chan hostdrv.Exchange)
	go func() {
		x := hostdrv.Exchange{Wait: 1, Idle: true}
		check.Error(t, hosts[1].Exchange(&x))
		idle <- x
	}()
	if x := exchange(t, hosts[0], hostdrv.Exchange{Wait: 1}); x.Ticks != 10 {
		t.Errorf("%+v", x)
	}
	if x := <-idle; x.Ticks != 10 {
		t.Errorf("the idle one: %+v", x)
	}
	check.Fatal(t, hosts[1].Close())
	exchange(t, hosts[0], hostdrv.Exchange{Wait: 1}) // nobody else is there now
	if err := hosts[1].Exchange(&hostdrv.Exchange{Wait: 1}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestEnds(t *testing.T) {
	e := &echo{}
	w := lockstep.New(e, 1, 10, 10, 1e6)
	h := check.Must(w.Sole())(t)
	e.failed = errors.New("broken")
	if err := h.Exchange(&hostdrv.Exchange{Wait: 1}); !errors.Is(err, e.failed) {
		t.Errorf("a simulation that fails: %v", err)
	}
	for range 2 {
		if err := h.Close(); err != nil || e.closed != 1 {
			t.Errorf("%v, closed %d times", err, e.closed)
		}
	}
	if _, err := w.Host(0); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a host of a closed world: %v", err)
	}
	if err := w.Between(func() error { return nil }); !errors.Is(err, net.ErrClosed) {
		t.Errorf("between turns of a closed world: %v", err)
	}
}
