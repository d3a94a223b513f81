package live_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/hostdrv/topology"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// until looks at a network until it is as wanted.
func until(t *testing.T, c *live.Client, wanted func(s *live.State) bool) live.State {
	t.Helper()
	for {
		s := check.Must(c.State(t.Context()))(t)
		if wanted(&s) {
			return s
		}
		time.Sleep(time.Millisecond)
	}
}

// TestClient looks at a network, cuts a cable of it and captures another, by the URL of its page and by its socket.
func TestClient(t *testing.T) {
	where := dir(t)
	n := begin(t, 3, live.Options{Dir: where, Traffic: 10})
	server := httptest.NewServer(n.Handler(false))
	t.Cleanup(server.Close)
	l := check.Must(n.ListenControl())(t)
	control := &http.Server{Handler: n.Handler(false)}
	served := check.Go(func() error { return control.Serve(l) })
	t.Cleanup(func() {
		check.Error(t, control.Close())
		check.Fails(t, "the end", <-served, http.ErrServerClosed)
	})
	ctx := t.Context()
	for i, place := range []string{server.URL, where} {
		c := live.NewClient(place)
		shape := check.Must(c.Shape(ctx))(t)
		check.Equal(t, "title", shape.Title, "star 3: 3 network interfaces, 1 switch, 3 cables")
		check.Equal(t, "nodes", shape.Nodes[1], live.ShapeNode{Name: "n1", Kind: "ni", ID: 2, Ports: 1, Target: "unix:" + where + "/n1"})
		check.Equal(t, "cables", shape.Cables[2], live.ShapeCable{Ends: [2]string{"n2:1", "s0:3"}, Nodes: [2]int{2, 3}, Lanes: 1, Latency: 1})
		check.Contains(t, "drawing", check.XML(t, shape.SVG), "n0", "s0")
		check.Equal(t, "percent", until(t, c, func(*live.State) bool { return true }).Traffic, 10*(1-i))

		check.Fatal(t, c.Cut(ctx, 0, true))
		until(t, c, func(s *live.State) bool { return s.Cables[0].Cut && !s.Cables[0].Ways[0].Up && !s.Cables[0].Ways[1].Up })
		check.Fatal(t, c.Cut(ctx, 0, false))
		until(t, c, func(s *live.State) bool { return !s.Cables[0].Cut && s.Cables[0].Ways[0].Up && s.Cables[0].Ways[1].Up })
		check.Contains(t, "error", c.Cut(ctx, 3, true).Error(), "no cable 3")

		check.Fatal(t, c.SetTraffic(ctx, 50))
		var file bytes.Buffer
		check.Fatal(t, c.Capture(ctx, "s0:2 - n1:1", false, 20_000, &file))
		if records := bytes.Count(file.Bytes(), binary.LittleEndian.AppendUint32(nil, 6)); records < 20 || !bytes.Contains(file.Bytes(), []byte("n1:1 - s0:2")) {
			t.Errorf("a capture has %d records in %d bytes", records, file.Len())
		}
		check.Contains(t, "error", c.Capture(ctx, "n9:1", false, 1, &file).Error(), "no cable", "n9:1")
		check.Fatal(t, c.SetTraffic(ctx, 0))
		check.Contains(t, "error", c.SetTraffic(ctx, 101).Error(), "0 to 100")

		counts := check.Must(c.Counts(ctx, "n1"))(t)
		var rx uint64
		for _, v := range counts.Counters {
			if v.Name == "link 1, rx_packets" {
				rx = v.Value
			}
		}
		if rx == 0 {
			t.Errorf("counters of n1: %+v", counts)
		}
		check.Equal(t, "drops", len(check.Must(c.Drops(ctx))(t)), 1)
		check.Equal(t, "counters of the switch", check.Must(c.Counts(ctx, "s0"))(t).Name, "s0")
		check.Contains(t, "error", check.Err(c.Counts(ctx, "n9")).Error(), "no node")
	}
	none := live.NewClient(where + "/none")
	check.Contains(t, "error", check.Err(none.State(ctx)).Error(), "lmmc net up")
	during, cancel := context.WithCancel(ctx)
	cancel()
	check.Fails(t, "a capture that is interrupted", live.NewClient(where).Capture(during, "n0:1", false, 0, &bytes.Buffer{}), context.Canceled)
}

// TestHosts refuses requests for foreign host names, unless the page is for all, and those from other pages.
func TestHosts(t *testing.T) {
	n := begin(t, 2, live.Options{})
	ask := func(all bool, method, path, host, site string) int {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("5"))
		r.Host = host
		r.Header.Set("Sec-Fetch-Site", site)
		n.Handler(all).ServeHTTP(w, r)
		return w.Code
	}
	for host, want := range map[string]int{"localhost": 200, "127.0.0.1:8080": 200, "[::1]:80": 200, "evil.example": 403, "10.1.1.1": 403, "": 403} {
		for _, path := range []string{"/", "/network", "/state", "/nodes/n0"} {
			check.Equal(t, fmt.Sprintf("code for %q%s", host, path), ask(false, "GET", path, host, "none"), want)
			check.Equal(t, fmt.Sprintf("code for all, %q%s", host, path), ask(true, "GET", path, host, "none"), 200)
		}
	}
	for _, c := range []struct {
		path, site string
		want       int
	}{
		{"/cables/1/cut", "same-origin", 204}, {"/cables/0/cut", "cross-site", 403}, {"/cables/x/cut", "none", 400}, {"/cables/2/restore", "none", 400},
		{"/cables/1/cut?lane=0", "none", 204}, {"/cables/1/cut?lane=1", "none", 400}, {"/cables/1/cut?lane=x", "none", 400},
		{"/traffic", "cross-site", 403}, {"/traffic", "none", 204}, {"/other", "none", 404},
	} {
		check.Equal(t, fmt.Sprintf("code for %s from %s", c.path, c.site), ask(false, "POST", c.path, "localhost", c.site), c.want)
	}
	check.Equal(t, "percent", n.Traffic(), 5)
	check.Equal(t, "cut", []bool{n.Look().Cables[0].Cut, n.Look().Cables[1].Cut}, []bool{false, true})
}

// TestLanes: a lane that is cut is left out, and taken again when it is whole; a capture has what goes over each lane.
func TestLanes(t *testing.T) {
	top := check.Must(topology.Generate("star", []int{2}, 1))(t)
	for i := range top.Cables {
		top.Cables[i].Lanes = 3
	}
	n := beginWith(t, cluster.Model, top, live.Options{Traffic: 60})
	server := httptest.NewServer(n.Handler(false))
	defer server.Close()
	c := live.NewClient(server.URL)
	check.Equal(t, "lanes", check.Must(c.Shape(t.Context()))(t).Cables[1].Lanes, 3)
	check.Fatal(t, c.CutLane(t.Context(), 0, 1, true))
	until(t, c, func(s *live.State) bool {
		return s.Cables[0].Open() == 2 && s.Cables[1].Open() == 3 && s.Cables[0].Ways[0].Lanes == 5
	})
	check.Fatal(t, c.CutLane(t.Context(), 0, 1, false))
	until(t, c, func(s *live.State) bool { return s.Cables[0].Open() == 3 })
	check.Contains(t, "error", c.CutLane(t.Context(), 0, 3, true).Error(), "no lane 3")
	var file bytes.Buffer
	check.Fatal(t, c.Capture(t.Context(), "n0:1", true, 20_000, &file))
	for lane := range 3 {
		check.Contains(t, "capture", file.String(), fmt.Sprintf("n0:1 lane %d - s0:1 lane %d", lane, lane))
	}
}
