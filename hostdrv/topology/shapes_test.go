package topology

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape                 string
		size                  []int
		links                 int
		nis, switches, cables int
	}{
		{"line", []int{5}, 1, 5, 0, 4},
		{"ring", []int{5}, 1, 5, 0, 5},
		{"ring", []int{3}, 3, 3, 0, 9},
		{"mesh", []int{3, 4}, 1, 12, 0, 17},
		{"mesh", []int{2, 2, 2}, 2, 8, 0, 24},
		{"torus", []int{3, 4}, 1, 12, 0, 24},
		{"torus", []int{2, 4}, 1, 8, 0, 12},
		{"star", []int{16}, 1, 16, 1, 16},
		{"star", []int{8}, 2, 8, 1, 16},
		{"tree", []int{3, 2}, 1, 9, 4, 12},
		{"tree", []int{2, 3}, 2, 8, 7, 28},
		{"fat-tree", []int{4, 3}, 1, 64, 48, 192},
		{"fat-tree", []int{2, 1}, 1, 2, 1, 2},
		{"hyper-crossbar", []int{4, 3}, 1, 12, 7, 24},
		{"hyper-crossbar", []int{4, 4}, 2, 16, 8, 64},
		{"hyper-crossbar", []int{16, 16, 10}, 1, 2560, 576, 7680},
		{"hyper-crossbar", []int{16, 16, 10}, 2, 2560, 1152, 15360},
	} {
		t.Run(fmt.Sprintf("%s %v %d", c.shape, c.size, c.links), func(t *testing.T) {
			made := check.Must(Generate(c.shape, c.size, c.links))(t)
			check.Fatal(t, made.Validate())
			check.Equal(t, "NIs", made.Count(NI), c.nis)
			check.Equal(t, "switches", made.Count(Switch), c.switches)
			check.Equal(t, "cables", len(made.Cables), c.cables)
		})
	}
}

func TestNoShape(t *testing.T) {
	for _, c := range []struct {
		shape string
		size  []int
		links int
		want  string
	}{
		{"rign", []int{4}, 1, "did you mean ring?"},
		{"ring", []int{2}, 1, "takes numbers of 3 to 4095"},
		{"ring", []int{4, 4}, 1, "want NIs"},
		{"mesh", nil, 1, "want NIs in each dimension"},
		{"tree", []int{2}, 1, "want branches"},
		{"star", []int{17}, 1, "needs a switch with 17 ports"},
		{"mesh", []int{2, 2, 3}, 2, "needs an NI with 8 ports"},
		{"star", []int{4}, 0, "links = 0: want 1 to 16"},
		{"hyper-crossbar", []int{17, 2}, 1, "there are at most 16"},
		{"hyper-crossbar", []int{16, 16, 16}, 1, "more than 4095 nodes"},
		{"mesh", []int{4000, 4000, 4000, 4000, 4000, 4000}, 1, "more than 4095 nodes"},
		{"fat-tree", []int{4000, 4000}, 1, "more than 4095 nodes"},
		{"tree", []int{4095, 4095}, 1, "more than 4095 nodes"},
		{"fat-tree", []int{9, 2}, 1, "needs a switch with 18 ports"},
	} {
		check.Fails(t, fmt.Sprint(c.shape, c.size), check.Err(Generate(c.shape, c.size, c.links)), nil, c.want)
	}
}

// TestPlaces holds the cables of shapes to the places of the nodes that they connect.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SliceOfN(rapid.IntRange(2, 4), 1, 3).Draw(t, "size")
		shape := rapid.SampledFrom([]string{"mesh", "torus", "hyper-crossbar", "fat-tree"}).Draw(t, "shape")
		if shape == "fat-tree" {
			size = []int{size[0], len(size)}
		}
		made := check.Must(Generate(shape, size, 1))(t)
		for _, c := range made.Cables {
			a, b := made.Nodes[c.Ends[0].Node], made.Nodes[c.Ends[1].Node]
			if differ := apart(a.At, b.At); !rightly(shape, size, a, b, differ) {
				t.Errorf("cable %s joins %v and %v", made.CableName(c), a.At, b.At)
			}
		}
	})
}

func rightly(shape string, size []int, a, b Node, differ []int) bool {
	switch shape {
	case "hyper-crossbar":
		return len(differ) == 1 && a.Kind == NI && b.Kind == Switch && b.At[differ[0]] == Across
	case "fat-tree":
		level := a.At[0]
		if b.At[0] != level+1 {
			return false
		}
		if level == 0 {
			return len(apart(a.At[2:], b.At[1:])) == 0
		}
		return len(differ) == 1 || len(differ) == 2 && differ[1] == level
	}
	if len(differ) != 1 {
		return false
	}
	d := differ[0]
	step := b.At[d] - a.At[d]
	return step == 1 || shape == "torus" && step == 1-size[d]
}
