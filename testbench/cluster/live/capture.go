package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/stafflink/lmmc/hostdrv/capture"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/cluster"
)

// Tap writes what goes over a cable to w, as pcapng, from now on until it is stopped, which tells the first error of writing. With all that is also the link state words that
// repeat the one before. Writes come from where the cluster runs, which waits for them. The cluster is watched.
func Tap(c *cluster.Cluster, cable int, all bool, w io.Writer) (stop func() error, err error) {
	writer, out := begin(c, cable, all, w)
	end, err := c.Listen(cable, func(way, lane int, clock uint64, s linkproto.Symbol) { out[lane].Symbol(way == 1, s, clock) })
	if err != nil {
		return nil, err
	}
	return func() error {
		end()
		return writer.Err()
	}, nil
}

// begin begins a capture of a cable, with an interface for each lane.
func begin(c *cluster.Cluster, cable int, all bool, w io.Writer) (*capture.Writer, []*capture.Cable) {
	of := c.Topology.Cables[cable]
	writer := capture.NewWriter(w)
	lanes := make([]*capture.Cable, of.Lanes)
	for lane := range lanes {
		suffix := ""
		if of.Lanes > 1 {
			suffix = fmt.Sprint(" lane ", lane)
		}
		lanes[lane] = writer.Between(c.Topology.EndName(of.Ends[0])+suffix, c.Topology.EndName(of.Ends[1])+suffix, all)
	}
	return writer, lanes
}

// queue is what waits to be written of a capture by one who must not hold up the network.
type queue struct {
	mu      sync.Mutex
	waiting []heard
	over    bool // too much has waited
	news    chan struct{}
}

// heard is a symbol on a cable.
type heard struct {
	way    int
	lane   int
	clock  uint64
	symbol linkproto.Symbol
}

// mostWaiting is how many symbols a queue holds.
const mostWaiting = 1 << 22

func (q *queue) put(way, lane int, clock uint64, s linkproto.Symbol) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over = q.over || len(q.waiting) >= mostWaiting; q.over {
		return
	}
	q.waiting = append(q.waiting, heard{way, lane, clock, s})
	select {
	case q.news <- struct{}{}:
	default:
	}
}

func (q *queue) take() (list []heard, over bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.waiting = q.waiting, nil
	return list, q.over
}

// capture is Tap without holding up the network, until so many clocks have passed since the first symbol, unless that is 0, or ctx ends, or w is too slow.
func (n *Network) capture(ctx context.Context, cable int, all bool, clocks uint64, w io.Writer) error {
	q := &queue{news: make(chan struct{}, 1)}
	writer, out := begin(n.world.Cluster, cable, all, w)
	stop, err := n.world.Cluster.Listen(cable, q.put)
	if err != nil {
		return err
	}
	defer stop()
	for first := uint64(0); ; {
		select {
		case <-q.news:
		case <-ctx.Done():
			return ctx.Err()
		}
		list, over := q.take()
		for _, h := range list {
			if first == 0 {
				first = h.clock
			}
			if clocks > 0 && h.clock-first >= clocks {
				return writer.Err()
			}
			out[h.lane].Symbol(h.way == 1, h.symbol, h.clock)
		}
		if over {
			return fmt.Errorf("live: more than %d symbols of a capture wait to be written", mostWaiting)
		}
		if err := writer.Err(); err != nil {
			return err
		}
	}
}

// serveCapture sends a capture until the client has gone.
func (n *Network) serveCapture(w http.ResponseWriter, r *http.Request) {
	cable, err := n.world.Cluster.CableNamed(r.PathValue("name"))
	clocks := uint64(0)
	if text := r.FormValue("clocks"); err == nil && text != "" {
		clocks, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/x-pcapng")
	if err := n.capture(r.Context(), cable, r.FormValue("all") == "1", clocks, flushed{w}); err != nil {
		panic(http.ErrAbortHandler) // so that the client knows that there is more
	}
}

// flushed sends each block of a capture at once.
type flushed struct{ http.ResponseWriter }

func (f flushed) Write(b []byte) (int, error) {
	n, err := f.ResponseWriter.Write(b)
	if err == nil {
		err = http.NewResponseController(f.ResponseWriter).Flush()
	}
	return n, err
}
