package live

import (
	_ "embed"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/testbench/cluster"
)

//go:embed page.html
var html []byte

// Shape is what a network is like, for good.
type Shape struct {
	Title  string       `json:"title"`
	Nodes  []ShapeNode  `json:"nodes"`
	Cables []ShapeCable `json:"cables"`
	SVG    string       `json:"svg,omitempty"` // a drawing, with the cables and nodes in their order, if there are few
}

// ShapeNode is a node.
type ShapeNode struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	ID     uint16 `json:"id"`
	Ports  int    `json:"ports"`
	Target string `json:"target,omitempty"` // of a network interface that is served
}

// ShapeCable is a cable.
type ShapeCable struct {
	Ends    [2]string `json:"ends"`
	Nodes   [2]int    `json:"nodes"`
	Lanes   int       `json:"lanes"`
	Latency int       `json:"latency"`
}

// State is how a network is now.
type State struct {
	cluster.Look
	Traffic int `json:"traffic"` // percent
}

// Shape describes the network.
func (n *Network) Shape() (s Shape, err error) {
	t := n.world.Cluster.Topology
	targets := map[int]string{}
	for i, h := range n.hosts {
		targets[n.world.Cluster.NIs[i].Node] = h.target
	}
	s.Title = t.Title()
	for i, node := range t.Nodes {
		s.Nodes = append(s.Nodes, ShapeNode{node.Name, node.Kind.String(), node.ID, node.Ports, targets[i]})
	}
	for _, c := range t.Cables {
		a, b := c.Ends[0], c.Ends[1]
		s.Cables = append(s.Cables, ShapeCable{[2]string{t.EndName(a), t.EndName(b)}, [2]int{a.Node, b.Node}, c.Lanes, c.Latency})
	}
	var b strings.Builder
	err = t.Draw(&b)
	s.SVG = b.String()
	return s, err
}

// State is how it is.
func (n *Network) State() State { return State{n.Look(), n.Traffic()} }

// Handler serves the page, and what it is made from. Unless it is for all, it answers only requests for a loopback address or name, so that a foreign page cannot
// read it by DNS rebinding, nor cut cables.
func (n *Network) Handler(all bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'")
		_, _ = w.Write(html) // the client may have disconnected
	})
	mux.HandleFunc("GET /network", func(w http.ResponseWriter, _ *http.Request) {
		shape, err := n.Shape()
		answer(w, shape, err)
	})
	mux.HandleFunc("GET /state", func(w http.ResponseWriter, _ *http.Request) { answer(w, n.State(), nil) })
	mux.HandleFunc("GET /drops", func(w http.ResponseWriter, r *http.Request) {
		drops, err := n.Drops(r.Context())
		answer(w, drops, err)
	})
	mux.HandleFunc("GET /nodes/{name}", func(w http.ResponseWriter, r *http.Request) {
		counts, err := n.Counts(r.Context(), r.PathValue("name"))
		answer(w, counts, err)
	})
	for path, cut := range map[string]bool{"POST /cables/{index}/cut": true, "POST /cables/{index}/restore": false} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			index, err := strconv.Atoi(r.PathValue("index"))
			lane, single := 0, r.FormValue("lane")
			if err == nil && single != "" {
				lane, err = strconv.Atoi(single)
			}
			switch {
			case err != nil:
			case single != "":
				err = n.CutLane(index, lane, cut)
			default:
				err = n.Cut(index, cut)
			}
			done(w, err)
		})
	}
	mux.HandleFunc("POST /traffic", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 16))
		percent := 0
		if err == nil {
			percent, err = strconv.Atoi(strings.TrimSpace(string(text)))
		}
		if err == nil {
			err = n.SetTraffic(percent)
		}
		done(w, err)
	})
	mux.HandleFunc("GET /cables/{name}/capture", n.serveCapture)
	own := http.NewCrossOriginProtection().Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !all && !local(r.Host) {
			http.Error(w, "ask for this page by localhost", http.StatusForbidden)
			return
		}
		own.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ListenControl makes the socket Control, at which Handler is to be served to programs of this user.
func (n *Network) ListenControl() (l *net.UnixListener, err error) {
	// Nobody may connect before it is this user's alone, so it is made in a folder of its own.
	private, err := os.MkdirTemp(n.options.Dir, ".lmmc-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	fresh := filepath.Join(private, "s")
	if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: fresh, Net: "unix"}); err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(fresh, 0o600); err == nil {
		err = os.Rename(fresh, filepath.Join(n.options.Dir, Control))
	}
	if err != nil {
		l.Close()
	}
	return l, err
}
