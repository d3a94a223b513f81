package hostdrv_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/transport/pipe"
	_ "github.com/stafflink/lmmc/hostdrv/transport/tcp"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/drivertest"
)

// socket is where boards are plugged in, reached by TCP.
type socket struct {
	target string

	mu     sync.Mutex
	board  *network // nil while there is none
	conn   net.Conn // to it
	plan   []cut    // what becomes of the next connections, in order; those after them last
	broken int      // connections that broke by plan
}

// cut says how a connection ends.
type cut struct {
	after  int // bytes, of both directions
	refuse int // connections after it before one is accepted
}

// newSocket makes a socket until the test ends.
func newSocket(t *testing.T, board *network, plan ...cut) *socket {
	t.Helper()
	l := check.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &socket{target: "tcp:" + l.Addr().String(), board: board, plan: plan}
	var server sync.WaitGroup
	server.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if err := s.serve(conn); err != nil && !errors.Is(err, net.ErrClosed) { // by the end of the test
				t.Error(err)
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.plug(nil)
		server.Wait()
	})
	return s
}

func (s *socket) serve(conn net.Conn) error {
	s.mu.Lock()
	board := s.board
	var stream net.Conn = conn
	if len(s.plan) > 0 && s.plan[0].after <= 0 { // the last one has broken
		if s.plan[0].refuse--; s.plan[0].refuse >= 0 {
			board = nil
		} else {
			s.plan = s.plan[1:]
		}
	}
	if len(s.plan) > 0 && board != nil {
		stream = &breaking{conn, s}
	}
	s.conn = conn
	s.mu.Unlock()
	if board == nil {
		return conn.Close()
	}
	host, err := board.Host(0)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	return pipe.Bridge(context.Background(), stream, host)
}

// plug pulls out the board that is there and plugs in another, or nil for none.
func (s *socket) plug(board *network) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.board = board
	if s.conn != nil {
		s.conn.Close()
	}
}

// breaking is a connection that breaks according to plan.
type breaking struct {
	net.Conn
	socket *socket
}

// carry says how many of n bytes pass.
func (b *breaking) carry(n int) int {
	s := b.socket
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.plan[0]
	if c.after <= 0 {
		return 0
	}
	passed := min(n, c.after)
	if c.after -= passed; c.after == 0 {
		s.broken++
	}
	return passed
}

func (b *breaking) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	if passed := b.carry(n); passed < n {
		return passed, errors.Join(net.ErrClosed, b.Close())
	}
	return n, err
}

func (b *breaking) Write(p []byte) (int, error) {
	passed := b.carry(len(p))
	n, err := b.Conn.Write(p[:passed])
	if passed < len(p) {
		return n, errors.Join(err, net.ErrClosed, b.Close())
	}
	return n, err
}

// TestReopen pulls the board out and plugs it in again at random moments. Each write puts its number in a place of its own, so what has
// arrived can be counted and must be what the driver says: all but the lost, and all that Sync has acknowledged.
func TestReopen(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			replug(t, seed)
		})
	}
}

func replug(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 31))
	board := models(t, loop)
	var plan []cut
	for range 1 + rng.IntN(4) {
		plan = append(plan, cut{1 + rng.IntN(3000), rng.IntN(3)})
	}
	plan[0].after += 1500 // what opening takes
	socket := newSocket(t, board, plan...)
	ctx := t.Context()
	n, err := hostdrv.Open(ctx, socket.target, hostdrv.Options{Reopen: time.Hour, Seed: 1 + seed})
	check.Fatal(t, err)
	defer func() { n.Close() }()
	check.Fatal(t, errors.Join(n.SetFrame(ctx, 0, hostdrv.FrameEntry{Link: 2}), n.SetFrame(ctx, 1, hostdrv.FrameEntry{Link: 1})))
	const places = 32 // of each link
	var lost [2]uint64
	var wrote, safe [2]int // writes, and of them those that were acknowledged, or reported as lost
	sync := func(i int) error {
		err := n.Sync(ctx, 1+i)
		if loss, lossy := errors.AsType[*hostdrv.LossError](err); lossy {
			lost[i] += loss.Lost
			return nil
		} else if err == nil && lost[i] == 0 {
			safe[i] = wrote[i]
		}
		return err
	}
	work := func() error {
		for wrote[0]+wrote[1] < 2*places {
			i := rng.IntN(2)
			if wrote[i] == places {
				i = 1 - i
			}
			data := binary.LittleEndian.AppendUint32(nil, uint32(1+wrote[i]))
			if err := n.Write(ctx, 1+i, i*small.PageBytes+4*wrote[i], data); err != nil {
				return err
			}
			wrote[i]++
			switch rng.IntN(6) {
			case 0:
				if err := sync(rng.IntN(2)); err != nil {
					return err
				}
			case 1:
				value := rng.Uint32()
				if err := drivertest.NoRestart(n.WriteRegister(ctx, linkproto.RegScratch, value)); err != nil {
					return err
				}
				if v, err := n.ReadRegister(ctx, linkproto.RegScratch); err != nil || v != value {
					return errors.Join(fmt.Errorf("a register holds %#x, want %#x", v, value), err)
				}
			}
		}
		return errors.Join(sync(0), sync(1))
	}
	err = work()
	uncertain := errors.Is(err, hostdrv.ErrUncertain)
	if err != nil && !uncertain {
		t.Fatal(err)
	}
	if restarts := int(n.CableCounters()[linkproto.CntRestarts]); restarts < socket.cuts() {
		t.Errorf("the cable was cut %d times, and its link started again %d times", socket.cuts(), restarts)
	}
	if uncertain {
		if socket.cuts() < 2 {
			t.Errorf("one cut is enough for %v", err)
		}
		n.Close()
		n = check.Must(hostdrv.Open(ctx, socket.target, hostdrv.Options{Reopen: time.Hour}))(t)
	}
	have := make([]byte, 2*small.PageBytes)
	check.Fatal(t, n.ReadBuffer(ctx, have, 0))
	for i := range lost {
		missing := uint64(0)
		for place := range wrote[i] {
			if v := binary.LittleEndian.Uint32(have[i*small.PageBytes+4*place:]); v != uint32(1+place) {
				missing++
				if place < safe[i] {
					t.Errorf("link %d: write %d was acknowledged and is not there", 1+i, place)
				}
			}
		}
		if !uncertain && missing != lost[i] {
			t.Errorf("link %d: %d writes are missing and %d were reported", 1+i, missing, lost[i])
		}
	}
	t.Logf("%d cuts, lost %v, uncertain: %v", socket.cuts(), lost, uncertain)
}

func (s *socket) cuts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.broken
}

// TestReopenOther plugs in what was reset meanwhile, or is another network interface.
func TestReopenOther(t *testing.T) {
	for _, c := range []struct {
		name  string
		other func(t *testing.T, board *network) *network
		want  error
	}{
		{"reset", func(t *testing.T, board *network) *network {
			check.Fatal(t, board.reset(0))
			return board
		}, hostdrv.ErrReset},
		{"same kind", func(t *testing.T, _ *network) *network { return models(t, loop) }, hostdrv.ErrReset},
		{"other kind", func(t *testing.T, _ *network) *network {
			p := loop
			p.frames = 4
			return models(t, p)
		}, hostdrv.ErrIdentity},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			board := models(t, loop)
			s := newSocket(t, board)
			n, err := hostdrv.Open(t.Context(), s.target, hostdrv.Options{Reopen: time.Hour})
			check.Fatal(t, err)
			defer n.Close()
			s.plug(nil)
			s.plug(c.other(t, board))
			_, err = n.ReadRegister(t.Context(), linkproto.RegMagic)
			for err == nil { // it may have been read before the board was away
				_, err = n.ReadRegister(t.Context(), linkproto.RegMagic)
			}
			check.Fails(t, "error of the read", err, c.want)
			var identity *hostdrv.IdentityError
			if errors.As(err, &identity) && (!identity.Replaced || len(identity.Mismatches) != 1 || identity.Mismatches[0] != hostdrv.Mismatch{Field: "FRAMES", Have: "4", Want: "8"}) {
				t.Errorf("%+v", identity)
			}
		})
	}
}

// TestReopenInVain pulls the board out for good: what waits goes on waiting until its own time is up, the NI is closed, or nobody looks
// for the board any more.
func TestReopenInVain(t *testing.T) {
	open := func(within time.Duration) *hostdrv.NI {
		s := newSocket(t, models(t, loop))
		n := check.Must(hostdrv.Open(t.Context(), s.target, hostdrv.Options{Reopen: within, LinkTimeout: time.Second}))(t)
		s.plug(nil)
		return n
	}
	read := func(ctx context.Context, n *hostdrv.NI) (err error) {
		for err == nil {
			_, err = n.ReadRegister(ctx, linkproto.RegMagic)
		}
		return err
	}

	n := open(time.Second)
	check.Fails(t, "read when nobody looks any more", read(t.Context(), n), hostdrv.ErrGone)
	<-n.Done()
	check.Error(t, n.Close())

	n = open(time.Hour)
	ctx, cancel := n.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	check.Fails(t, "read with a limit in the target's time", read(ctx, n), context.DeadlineExceeded)
	var reader sync.WaitGroup
	reader.Go(func() {
		check.Fails(t, "read after Close", read(t.Context(), n), hostdrv.ErrClosed)
	})
	check.Error(t, n.Close())
	reader.Wait()

	host := check.Must(models(t, loop).Host(0))(t)
	check.Fails(t, "New with Reopen", check.Err(hostdrv.New(t.Context(), host, hostdrv.Options{Reopen: time.Second})), nil)
}
