package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// troubled are two looks at a network of two network interfaces on a switch: one cable is cut, and the switch drops packets.
func troubled() netSample {
	shape := live.Shape{Title: "star 2", Nodes: []live.ShapeNode{{Name: "n0", Kind: "ni"}, {Name: "n1", Kind: "ni"}, {Name: "s0", Kind: "switch"}}, Cables: []live.ShapeCable{
		{Ends: [2]string{"n0:1", "s0:1"}, Nodes: [2]int{0, 2}}, {Ends: [2]string{"n1:1", "s0:2"}, Nodes: [2]int{1, 2}},
	}}
	look := func(clocks, symbols, stopped, frames, again, lost uint64, cut bool) live.State {
		there := cluster.WayLook{Up: true, Symbols: symbols, Frames: frames, Again: again, Underway: 3}
		back := cluster.WayLook{Up: true, Stop: true, Stopped: stopped, Symbols: symbols / 2}
		return live.State{Traffic: 20, Look: cluster.Look{
			Clocks: clocks, Switches: []cluster.SwitchLook{{Node: 2, Lost: lost, Late: 1}},
			Cables: []cluster.CableLook{{Ways: [2]cluster.WayLook{there, back}}, {Cut: cut}},
		}}
	}
	return sampledNet("d", shape, look(1000, 0, 0, 10, 0, 5, false), look(11_000, 5000, 1000, 30, 2, 2005, true), 2*time.Second)
}

func TestNetTopView(t *testing.T) {
	s := troubled()
	want := `d   star 2   11,000 clocks, 5,000 a second   traffic 20 %

node         kind           in       out      STOP  under way   down    dropped
n0           ni         25.0 %    50.0 %     0.0 %          3      0          -
n1           ni          0.0 %     0.0 %     0.0 %          0      0          -
s0           switch     50.0 %    25.0 %    10.0 %          0      0      2,006

cable                      state     there      back      STOP      STOP     frames sent again
n0:1 - s0:1                up       50.0 %    25.0 %     0.0 %    10.0 %         20          2
n1:1 - s0:2                cut       0.0 %     0.0 %     0.0 %     0.0 %          0          0`
	check.Equal(t, "view", new(topView).renderNet(&s, ""), want)
	styled := (&topView{styled: true, height: 11}).renderNet(&s, "last")
	check.Contains(t, "view", styled, red+"s0", red+"n0:1 - s0:1", red+"n1:1 - s0:2", dim+"last")
	if strings.Contains(styled, "n1  ") || strings.Count(styled, "\n") > 10 {
		t.Errorf("in 11 lines, without the node that does least:\n%s", styled)
	}
}

// TestNetTopOtherNetwork: another network is served at the place meanwhile, a smaller one or one that has just begun.
func TestNetTopOtherNetwork(t *testing.T) {
	cables := make([]cluster.CableLook, 2)
	first := live.State{Look: cluster.Look{Clocks: 1000, Cables: cables, Switches: []cluster.SwitchLook{{Node: 2}}}}
	for name, now := range map[string]cluster.Look{
		"fewer cables":   {Clocks: 2000, Cables: cables[:1], Switches: first.Switches},
		"more switches":  {Clocks: 2000, Cables: cables, Switches: make([]cluster.SwitchLook, 2)},
		"other switches": {Clocks: 2000, Cables: cables, Switches: []cluster.SwitchLook{{Node: 3}}},
		"began anew":     {Clocks: 10, Cables: cables, Switches: first.Switches},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			check.Error(t, json.NewEncoder(w).Encode(live.State{Look: now}))
		}))
		w := &netWatcher{place: "d", client: live.NewClient(server.URL), before: first, shape: live.Shape{
			Nodes: make([]live.ShapeNode, 3), Cables: []live.ShapeCable{{Nodes: [2]int{0, 2}}, {Nodes: [2]int{1, 2}}},
		}}
		check.Fails(t, name, check.Err(w.sample(t.Context())), nil, "d: another network")
		server.Close()
	}
}

func TestNetTopModel(t *testing.T) {
	s := troubled()
	m := tea.Model(topModel[netSample]{watching: &watching[netSample]{name: "d", render: (*topView).renderNet}, ctx: t.Context()})
	send := func(msg tea.Msg) (again bool) {
		var then tea.Cmd
		m, then = m.Update(msg)
		return then != nil
	}
	view := func() string { return m.View().Content }
	check.Contains(t, "view", view(), "looking")
	send(tea.WindowSizeMsg{Height: 24})
	check.Equal(t, "looks again", send(&s), true)
	check.Contains(t, "view", view(), "star 2", "q quit")
	send(tea.KeyPressMsg{Code: tea.KeySpace})
	other := s
	other.title = "other"
	check.Equal(t, "looks again", send(&other), true)
	check.Contains(t, "paused view", view(), "star 2", "paused")
	gone := errors.New("gone")
	check.Equal(t, "ends", send(gone), true)
	check.Equal(t, "error", m.(topModel[netSample]).failed, gone)
}

func TestNetCableState(t *testing.T) {
	look := func(there, back uint8) (c cluster.CableLook) {
		c.Ways = [2]cluster.WayLook{{Up: there != 0, Lanes: there}, {Up: back != 0, Lanes: back}}
		return c
	}
	for _, c := range []struct {
		look  cluster.CableLook
		lanes int
		want  string
	}{{look(1, 1), 1, "up"}, {look(0, 1), 1, "down"}, {look(15, 15), 4, "up"}, {look(13, 7), 4, "up 2/4"}, {cluster.CableLook{Cut: true}, 4, "cut"}} {
		check.Equal(t, "state", netCableState(c.look, c.lanes), c.want)
	}
}
