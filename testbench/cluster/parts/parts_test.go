package parts_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/parts"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a ring of cells, each of which adds what its left neighbour was some clocks ago: the cells of a site, and what has come for the first of them.
type ring struct {
	part, parts, latency int
	cells                []uint64
	sent                 [][]uint64 // by cell: what it has sent that has not arrived
	out                  []uint64   // what the last one has sent since the last Take
	fail                 int        // clocks until it fails; 0: never
	closed               func()
}

func newRing(part, parts, cells, latency int) *ring {
	r := &ring{part: part, parts: parts, latency: latency}
	for i := range cells {
		r.cells = append(r.cells, uint64(part*cells+i+1))
		r.sent = append(r.sent, make([]uint64, latency))
	}
	return r
}

func (r *ring) step() {
	for i, c := range r.cells {
		next := i + 1
		if next < len(r.cells) {
			r.sent[next] = append(r.sent[next], c)
		} else if r.parts == 1 {
			r.sent[0] = append(r.sent[0], c)
		} else {
			r.out = append(r.out, c)
		}
	}
	for i := range r.cells {
		r.cells[i] = r.cells[i]*6364136223846793005 + r.sent[i][0]
		r.sent[i] = r.sent[i][1:]
	}
}

func (r *ring) Run(clocks int) error {
	for range clocks {
		if r.fail--; r.fail == 0 {
			return errors.New("this site has failed")
		}
		r.step()
	}
	return nil
}

func (r *ring) Lookahead() int { return r.latency }
func (r *ring) Peers() []int {
	all := []int{(r.part + r.parts - 1) % r.parts, (r.part + 1) % r.parts}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(p int) bool { return p == r.part })
}

func (r *ring) Take(part int, dst []uint64) []uint64 {
	if part == (r.part+1)%r.parts {
		dst = append(dst, r.out...)
		r.out = nil
	}
	return dst
}

func (r *ring) Put(part int, samples []uint64) error {
	if part == (r.part+r.parts-1)%r.parts {
		r.sent[0] = append(r.sent[0], samples...)
	}
	return nil
}

func (r *ring) Do(order []byte, clocks int, run func() error) ([]byte, error) {
	switch {
	case string(order) == "refuse":
		return nil, errors.New("refused")
	case clocks > 0:
		return nil, run()
	}
	return fmt.Append(nil, r.cells), nil
}

func (r *ring) Close() error {
	if r.closed != nil {
		r.closed()
	}
	return nil
}

// group starts workers in this process. What they end with is in errs when all have.
func group(t *testing.T, n int, site func(part int) (parts.Site, error)) (g *parts.Group, ended func() []error, err error) {
	var workers sync.WaitGroup
	errs := make([]error, n)
	g, err = parts.Start(t.Context(), "127.0.0.1:0", n, "v", []byte("setup"), func(address, token string) error {
		for i := range n {
			workers.Go(func() {
				errs[i] = parts.Work(context.Background(), address, token, "v", func(part, parts int, setup []byte) (parts.Site, error) {
					if parts != n || string(setup) != "setup" {
						return nil, errors.New("a worker is told something wrong")
					}
					return site(part)
				})
			})
		}
		return nil
	})
	return g, func() []error { workers.Wait(); return errs }, err
}

// The parts do what the whole does, whatever their number and their latency.
func TestSame(t *testing.T) {
	const cells = 12
	for _, latency := range []int{1, 7} {
		for _, n := range []int{1, 2, 3, 4} {
			whole := newRing(0, 1, cells, latency)
			check.Fatal(t, whole.Run(100))
			g, ended, err := group(t, n, func(part int) (parts.Site, error) { return newRing(part, n, cells/n, latency), nil })
			check.Fatal(t, err)
			for _, clocks := range []int{1, 60, 39} {
				_, err := g.Do(nil, clocks)
				check.Fatal(t, err)
			}
			answers := check.Must(g.Do(make([][]byte, n), 0))(t)
			have := ""
			for _, a := range answers {
				have += strings.Trim(string(a), "[]") + " "
			}
			check.Equal(t, fmt.Sprintf("%d parts, latency %d", n, latency), "["+strings.TrimSpace(have)+"]", fmt.Sprint(whole.cells))
			check.Fatal(t, g.Close())
			check.Fatal(t, errors.Join(ended()...))
		}
	}
}

// Whatever ends one part ends all, with an error that names the first.
func TestEnds(t *testing.T) {
	rings := make([]*ring, 3)
	site := func(part int) (parts.Site, error) {
		rings[part] = newRing(part, 3, 1, 2)
		return rings[part], nil
	}
	g, ended, err := group(t, 3, site)
	check.Fatal(t, err)
	rings[1].fail = 5
	_, err = g.Do(nil, 100)
	if !errors.Is(err, parts.ErrPart) {
		t.Fatalf("a site has failed: %v", err)
	}
	check.Contains(t, "error", err.Error(), "part 1 (process ", "this site has failed")
	if strings.Contains(err.Error(), "part 0") || strings.Contains(err.Error(), "part 2") {
		t.Errorf("the others are blamed too: %v", err)
	}
	check.Fatal(t, g.Close())
	if err := errors.Join(ended()...); err == nil {
		t.Error("no worker has an error")
	}

	_, ended, err = group(t, 2, func(part int) (parts.Site, error) {
		if part == 1 {
			return nil, errors.New("no site here")
		}
		return newRing(0, 1, 1, 1), nil
	})
	if err == nil {
		t.Fatal("a group starts without one of its sites")
	}
	check.Contains(t, "error", err.Error(), "part 1", "no site here")
	ended()

	g, ended, err = group(t, 2, func(part int) (parts.Site, error) { return newRing(part, 2, 1, 1), nil })
	check.Fatal(t, err)
	if _, err := g.Do([][]byte{nil, []byte("refuse")}, 0); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("an order is refused: %v", err)
	}
	g.Close()
	ended()
}

// A worker of another version is refused and told why; a stranger is not heard; a coordinator whose time is over ends.
func TestStrangers(t *testing.T) {
	var said error
	var workers sync.WaitGroup
	_, err := parts.Start(t.Context(), "127.0.0.1:0", 1, "new", nil, func(address, token string) error {
		stranger := check.Must(net.Dial("tcp", address))(t)
		stranger.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
		stranger.Close()
		workers.Go(func() { said = parts.Work(t.Context(), address, token, "old", nil) })
		return nil
	})
	workers.Wait()
	if err == nil {
		t.Fatal("a group of two versions starts")
	}
	check.Contains(t, "error", err.Error(), `version "old"`, `"new"`, "start the same program")
	check.Contains(t, "what the worker says", fmt.Sprint(said), "refused this worker", `"old"`)

	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(errors.New("the user has stopped it")) })
	_, err = parts.Start(ctx, "127.0.0.1:0", 2, "v", nil, func(string, string) error { return nil })
	check.Contains(t, "error", fmt.Sprint(err), "the user has stopped it")
	if _, err := parts.Start(t.Context(), "127.0.0.1:0", 1, "v", nil, func(string, string) error { return errors.New("nothing to launch") }); err == nil {
		t.Error("a group starts without a launcher")
	}
	if err := parts.Work(t.Context(), "127.0.0.1:1", "", "", nil); err == nil {
		t.Error("a worker works without a coordinator")
	}
}
