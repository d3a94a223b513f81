package topology

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestDraw holds that boxes of all shapes stand apart, and in the picture.
func TestDraw(t *testing.T) {
	for _, c := range []struct {
		shape string
		size  []int
		links int
	}{
		{"line", []int{40}, 1}, {"ring", []int{12}, 2}, {"mesh", []int{5, 4}, 1}, {"mesh", []int{3, 4, 3}, 1}, {"mesh", []int{2, 2, 2, 2}, 1},
		{"torus", []int{4, 4}, 1}, {"torus", []int{3, 3, 3}, 1}, {"star", []int{16}, 1}, {"star", []int{2}, 7}, {"tree", []int{3, 3}, 1},
		{"fat-tree", []int{2, 4}, 1}, {"fat-tree", []int{4, 3}, 1}, {"hyper-crossbar", []int{4, 4}, 1}, {"hyper-crossbar", []int{9, 9}, 2},
		{"hyper-crossbar", []int{3, 3, 3}, 1}, {"hyper-crossbar", []int{9, 3, 3}, 2}, {"hyper-crossbar", []int{16, 16, 10}, 1}, {"fat-tree", []int{4, 4}, 1},
		{"torus", []int{16, 16}, 1},
	} {
		t.Run(fmt.Sprint(c.shape, c.size), func(t *testing.T) {
			made := check.Must(Generate(c.shape, c.size, c.links))(t)
			text := drawn(t, made)
			check.Contains(t, "title", check.XML(t, text), c.shape, counted(made.Count(NI), "network interface"), "each cable: 1 lane, latency 1 clock")
			if boxes := apartAndInside(t, text); len(made.Nodes) <= maxDrawn {
				check.Equal(t, "boxes", boxes, len(made.Nodes))
				check.Equal(t, "cables", strings.Count(text, `class="cable"`), len(made.Cables))
			}
		})
	}
}

func drawn(t *testing.T, of *Topology) string {
	t.Helper()
	var b strings.Builder
	check.Fatal(t, of.Draw(&b))
	return b.String()
}

// apartAndInside returns how many boxes there are.
func apartAndInside(t *testing.T, text string) int {
	number := func(s string) float64 { return check.Must(strconv.ParseFloat(s, 64))(t) }
	view := regexp.MustCompile(`viewBox="0 0 (\S+) (\S+)"`).FindStringSubmatch(text)
	var boxes [][4]float64
	for _, m := range regexp.MustCompile(`<rect x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"`).FindAllStringSubmatch(text, -1) {
		x, y := number(m[1]), number(m[2])
		b := [4]float64{x, y, x + number(m[3]), y + number(m[4])}
		if x < 0 || y < 0 || b[2] > number(view[1]) || b[3] > number(view[2]) {
			t.Errorf("box %v is not in the picture of %v", b, view[1:])
		}
		for _, o := range boxes {
			if b[0] < o[2] && o[0] < b[2] && b[1] < o[3] && o[1] < b[3] {
				t.Errorf("boxes %v and %v overlap", b, o)
			}
		}
		boxes = append(boxes, b)
	}
	return len(boxes)
}

func TestDrawLists(t *testing.T) {
	pair := drawn(t, check.Must(ReadFile("testdata/pair.toml"))(t))
	check.Equal(t, "boxes", apartAndInside(t, pair), 3)
	check.Contains(t, "drawing", check.XML(t, pair), "network: 2 network interfaces, 1 switch, 2 cables", "cables differ", "right: id 2, 2 ports, serial:/dev/ttyUSB0",
		"middle:8 - right:2: 4 lanes, latency 50 clocks, bit error rate 1e-09")
	more := check.Must(Read(strings.NewReader("topology = \"mesh\"\nsize = [2, 2]\n[[node]]\nname = \"n0\"\nports = 3\n[[node]]\nname = \"x\"\nkind = \"ni\"\n[[cable]]\nfrom = \"x:1\"\nto = \"n0:3\"")))(t)
	check.Equal(t, "boxes", apartAndInside(t, drawn(t, more)), 5)
	alone := &Topology{Default: plainLink, Nodes: []Node{{Name: "a", ID: 1, Ports: 1}}}
	check.Contains(t, "drawing", drawn(t, alone), "1 network interface, 0 cables", "no cables")
	check.Fails(t, "nothing", (&Topology{Default: plainLink}).Draw(&strings.Builder{}), nil, "no nodes")
}

func TestSummary(t *testing.T) {
	large := check.Must(Generate("hyper-crossbar", []int{16, 16, 10}, 1))(t)
	check.Contains(t, "drawing", check.XML(t, drawn(t, large)), "2,560 network interfaces\n", "160 switches\n", "across dimension 1", "256 switches\n", "10 ports each", "2,560 cables")
	torus := check.Must(Generate("torus", []int{16, 16}, 1))(t)
	check.Contains(t, "drawing", drawn(t, torus), "512 cables among them")
}
