package topology

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stafflink/lmmc/internal/check"
)

func TestRead(t *testing.T) {
	have := check.Must(ReadFile("testdata/pair.toml"))(t)
	check.Equal(t, "topology", have, &Topology{
		Rung: "rtl", Routing: "up-down", Default: Link{Lanes: 2, Latency: 5},
		Nodes: []Node{
			{Kind: NI, Name: "left", ID: 7, Ports: 1},
			{Kind: Switch, Name: "middle", ID: 1, Ports: 8},
			{Kind: NI, Name: "right", ID: 2, Ports: 2, Lanes: 4, Rung: "serial:/dev/ttyUSB0"},
		},
		Cables: []Cable{
			{Ends: [2]End{{0, 1}, {1, 3}}, Link: Link{Lanes: 2, Latency: 5}},
			{Ends: [2]End{{1, 8}, {2, 2}}, Link: Link{Lanes: 4, Latency: 50, BitErrorRate: 1e-9}},
		},
	})
	star := check.Must(Read(strings.NewReader("topology = \"star\"\nsize = [2]\n[[cable]]\nfrom = \"s0:2\"\nto = \"n1:1\"\nlatency = 9")))(t)
	check.Equal(t, "changed cable", star.Cables[1], Cable{Ends: [2]End{{1, 1}, {2, 2}}, Link: Link{Lanes: 1, Latency: 9}})
}

func TestReadRefuses(t *testing.T) {
	const two = "[[node]]\nname = \"a\"\nkind = \"ni\"\n[[node]]\nname = \"b\"\nkind = \"ni\"\n" // 6 lines
	const joined = two + "[[cable]]\nfrom = \"a:1\"\nto = \"b:1\"\n"                             // 9 lines
	const star = "topology = \"star\"\nsize = [4]\n"
	for _, c := range []struct {
		name, text string
		line       int
		want       string
	}{
		{"nothing", "", 1, "it has no nodes"},
		{"syntax", "topology = \"star\"\nsize = [4\nlinks = 2", 3, ""},
		{"unknown key", star + "# lanes\nlatncy = 3", 4, `unknown key "latncy" (did you mean latency?)`},
		{"unknown key of a node", two + "[[node]]\nname = \"c\"\nkidn = \"ni\"", 9, "did you mean kind?"},
		{"unknown key of a cable", two + "[[cable]]\nfrom = \"a:1\"\nto = \"b:1\"\nlane = 3", 10, "did you mean lanes?"},
		{"unknown table", joined + "\n[[cables]]", 11, "did you mean cable?"},
		{"single table", "[node]\nname = \"a\"", 1, "each headed [[node]]"},
		{"list of values", "\nnode = [3]", 2, "node has 3 in it"},
		{"unknown topology", "\ntopology = \"rings\"\nsize = [3]", 2, "did you mean ring?"},
		{"no size", "topology = \"ring\"", 1, "has no size"},
		{"size alone", "\nsize = [3]", 2, "name it"},
		{"links alone", "\nlinks = 3", 2, "name it"},
		{"size of text", "topology = \"ring\"\nsize = \"3\"", 2, "want a list of whole numbers"},
		{"size of fractions", "topology = \"ring\"\nsize = [\n3.5]", 2, "size has 3.5 in it"},
		{"size that does not fit", "topology = \"star\"\nlinks = 1\nsize = [4, 4]", 3, "size 4x4 does not fit"},
		{"too many nodes", "topology = \"mesh\"\n\nsize = [64, 64]", 3, "more than 4095 nodes"},
		{"too large for a switch", "topology = \"star\"\n\nsize = [17]", 3, "at most 16"},
		{"negative size", "topology = \"star\"\nsize = [-3]", 2, "takes numbers of 2"},
		{"unknown node", two + "[[cable]]\nfrom = \"a:1\"\nto = \"bb:1\"", 9, "no node bb (did you mean b?)"},
		{"no port", two + "[[cable]]\nfrom = \"a\"\nto = \"b:1\"", 8, `as in "n0:1"`},
		{"no end", two + "[[cable]]\nfrom = \"a:1\"", 7, "lacks to"},
		{"port used twice", joined + "[[cable]]\nfrom = \"b:2\"\nto = \"a:1\"", 12, "port a:1 is taken by cable a:1 - b:1"},
		{"port of a shape used twice", star + "[[node]]\nname = \"x\"\nkind = \"ni\"\n[[cable]]\nfrom = \"x:1\"\nto = \"s0:4\"", 8, "port s0:4 is taken"},
		{"same port", two + "[[cable]]\nfrom = \"a:1\"\nto = \"a:1\"", 9, "both ends are in the same port"},
		{"same node", two + "[[cable]]\nfrom = \"a:1\"\nto = \"a:2\"", 9, "both ends are at node a"},
		{"cable twice", joined + "[[cable]]\nfrom = \"b:1\"\nto = \"a:1\"", 11, "listed on line 7 already"},
		{"port out of range", two + "[[cable]]\nfrom = \"a:8\"\nto = \"b:1\"", 8, "node a has ports 1 to 7"},
		{"port beyond those stated", star + "[[node]]\nname = \"s0\"\nports = 3", 4, "node s0 has ports 1 to 3"},
		{"port 0", two + "[[cable]]\nfrom = \"a:0\"\nto = \"b:1\"", 8, "node a has ports 1"},
		{"ports", star + "[[node]]\nname = \"s0\"\nports = 17", 5, "a switch has 2 to 16"},
		{"no ports", star + "[[node]]\nname = \"s0\"\nports = 0", 5, "a switch has 2 to 16"},
		{"lanes differ", star + "[[node]]\nname = \"n1\"\nlanes = 2\n[[node]]\nname = \"s0\"\nlanes = 3", 4, "node n1 has lanes = 2 and node s0 has lanes = 3"},
		{"lanes of a cable differ", star + "[[node]]\nname = \"n1\"\nlanes = 2\n[[cable]]\nfrom = \"n1:1\"\nto = \"s0:2\"\nlanes = 3", 9, "but node n1 says lanes = 2"},
		{"lanes", star + "lanes = 9", 3, "want 1 to 8"},
		{"no lanes", star + "[[node]]\nname = \"n1\"\nlanes = 0", 5, "want 1 to 8"},
		{"lanes of text", star + "lanes = \"4\"", 3, "lanes = 4: want a whole number"},
		{"disconnected", two, 5, "no way leads from node a to node b"},
		{"two of a name", joined + "[[node]]\nname = \"a\"", 11, "listed on line 1 already"},
		{"two of an id", star + "[[node]]\nname = \"n2\"\nid = 5", 5, "nodes n2 and s0 have the same id 5"},
		{"id", star + "[[node]]\nname = \"n2\"\nid = 0xF000", 5, "want 1 to 4095"},
		{"no id", star + "[[node]]\nname = \"n2\"\nid = 0", 5, "want 1 to 4095"},
		{"no name", "[[node]]\nkind = \"ni\"", 1, "lacks a name"},
		{"name", "[[node]]\nname = \"a:b\"\nkind = \"ni\"", 2, "want a name of at most 32"},
		{"no kind", star + "[[node]]\nname = \"x\"", 4, "to add it, say kind"},
		{"kind", star + "[[node]]\nname = \"x\"\nkind = \"swich\"", 5, "did you mean switch?"},
		{"another kind", star + "[[node]]\nname = \"s0\"\nkind = \"ni\"", 5, "node s0 is a switch"},
		{"latency", star + "latency = -1", 3, "latency = -1: want 1 clock or more"},
		{"latency of a cable", joined + "latency = 0", 10, "want 1 clock or more"},
		{"error rate", star + "bit_error_rate = 1.5", 3, "0 to 1"},
		{"error rate of a cable", joined + "bit_error_rate = nan", 10, "0 to 1"},
		{"routing", star + "routing = \"updown\"", 3, "did you mean up-down?"},
		{"rung", star + "rung = \"rlt\"", 3, "did you mean rtl?"},
		{"rung of a node", star + "[[node]]\nname = \"n1\"\nrung = \"gates:\"", 5, "did you mean gates:BOARD?"},
		{"unprintable rung", star + "rung = \"tcp:\\u0001\"", 3, "cannot be printed"},
		{"a table of a node", "[[node]]\nname = \"a\"\n[node.more]\nx = 1", 1, `unknown key "more"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := check.Err(Read(strings.NewReader(c.text)))
			check.Fails(t, "Read", err, nil, c.want)
			if wrong := new(Error); errors.As(err, &wrong) {
				check.Equal(t, "line of "+wrong.Text, wrong.Line, c.line)
			}
		})
	}
}

func TestReadFileNamesIt(t *testing.T) {
	name := filepath.Join(t.TempDir(), "net.toml")
	check.Fatal(t, os.WriteFile(name, []byte("size = [3]"), 0o666))
	check.Fails(t, "ReadFile", check.Err(ReadFile(name)), nil, name+": line 1: ")
	check.Fails(t, "ReadFile", check.Err(ReadFile(name+"x")), os.ErrNotExist)
}

// TestLines has keys that are hard to find.
func TestLines(t *testing.T) {
	found := findLines(`# a = 1

a = """
c = 2
""""
'd e' = '''
[[t]]''' # [x
f = [ # [
  "]", ']', {g = 1},
]
"h".i = 2
[[t]] # first
a = 3

[[ t ]]
a = "\"" # "
b = 'x\'
[u]
a = 4
[[t]]`)
	for p, want := range (lines{
		{"", 0, "a"}: 3, {"", 0, "d e"}: 6, {"", 0, "f"}: 8, {"", 0, "h"}: 11, {"t", 0, ""}: 12, {"t", 0, "a"}: 13, {"t", 1, ""}: 15,
		{"t", 1, "a"}: 16, {"t", 1, "b"}: 17, {"", 0, "u"}: 18, {"u", 0, "a"}: 19, {"t", 2, ""}: 20, {"", 0, "c"}: 0, {"", 0, "g"}: 0,
	}) {
		check.Equal(t, p.table+" "+p.key, found[p], want)
	}
	check.Equal(t, "of a table's unknown key", found.of(place{"t", 1, "x"}), 15)
}

// TestRoundTrip writes any topology and reads it again.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyTopology(t)
		var text strings.Builder
		check.Fatal(t, want.Write(&text))
		t.Log(text.String())
		have := check.Must(Read(strings.NewReader(text.String())))(t)
		check.Equal(t, "topology", have, want)
	})
}

func anyTopology(t *rapid.T) *Topology {
	made := &Topology{Default: plainLink}
	if rapid.Bool().Draw(t, "shape") {
		s := rapid.SampledFrom(shapes).Draw(t, "of shape")
		size := rapid.SliceOfN(rapid.IntRange(3, 4), max(s.numbers, 1), max(s.numbers, 1)).Draw(t, "size")
		made = check.Must(Generate(s.Name, size, rapid.IntRange(1, 2).Draw(t, "links")))(t)
	}
	made.Routing = rapid.SampledFrom(append(Routings(), "")).Draw(t, "routing")
	made.Rung = rungs.Draw(t, "rung")
	made.Default = anyLink.Draw(t, "default")
	ids := rapid.Permutation([]uint16{3000, 3100, 3200, 3300, 3400, 3500, 3600, 4095}).Draw(t, "ids")
	for i := range made.Cables {
		made.Cables[i].Link = made.Default
	}
	for range rapid.IntRange(1, 4).Draw(t, "more") {
		at := len(made.Nodes)
		made.Nodes = append(made.Nodes, Node{Kind: Kind(rapid.IntRange(0, 1).Draw(t, "kind")), Name: "x" + string(rune('a'+at%26)), ID: ids[0], Ports: 7})
		ids = ids[1:]
		if at > 0 { // to the one before that has a port left
			used := map[End]bool{}
			for _, c := range made.Cables {
				used[c.Ends[0]], used[c.Ends[1]] = true, true
			}
			to := End{at - 1, made.Nodes[at-1].Ports}
			if used[to] {
				to.Port++
				made.Nodes[at-1].Ports++
			}
			made.Cables = append(made.Cables, Cable{Ends: [2]End{{at, 1}, to}, Link: anyLink.Draw(t, "link")})
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "changed") {
		n := &made.Nodes[rapid.IntRange(0, len(made.Nodes)-1).Draw(t, "node")]
		n.Rung, n.ID = rungs.Draw(t, "rung"), ids[0]
		ids = ids[1:]
		if len(made.Cables) > 0 {
			made.Cables[rapid.IntRange(0, len(made.Cables)-1).Draw(t, "cable")].Link = anyLink.Draw(t, "link")
		}
	}
	n := rapid.IntRange(0, len(made.Nodes)-1).Draw(t, "node with lanes")
	made.Nodes[n].Lanes = rapid.IntRange(1, MaxLanes).Draw(t, "lanes")
	for i := range made.Cables {
		if c := &made.Cables[i]; c.Ends[0].Node == n || c.Ends[1].Node == n {
			c.Lanes = made.Nodes[n].Lanes
		}
	}
	return made
}

var rungs = rapid.SampledFrom([]string{"", "rtl", "model", "gates:hx8k", "tcp:host:1", `serial:/dev/tty"é\`})

var anyLink = rapid.Custom(func(t *rapid.T) Link {
	return Link{rapid.IntRange(1, MaxLanes).Draw(t, "lanes"), rapid.IntRange(1, 100).Draw(t, "latency"), rapid.Float64Range(0, 1).Draw(t, "rate")}
})

func TestWriteRefuses(t *testing.T) {
	made := check.Must(Generate("ring", []int{4}, 1))(t)
	made.Cables = made.Cables[:3]
	check.Fails(t, "without a cable", made.Write(&strings.Builder{}), nil, `set Shape to ""`)
	made.Cables = made.Cables[:2]
	check.Fails(t, "in parts", made.Write(&strings.Builder{}), nil, "no way leads from node n0")
}

// FuzzRead reads anything: whatever is taken is written, and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte("topology = \"hyper-crossbar\"\nsize = [3, 4]\nlinks = 2\nlanes = 4\n[[cable]]\nfrom = \"n0:1\"\nto = \"s0:1\"\nlatency = 7"))
	f.Add([]byte("node = [{name = \"a\", kind = \"ni\"}, {name = \"b\", kind = \"switch\", ports = 3}]\ncable = [{from = \"a:1\", to = \"b:3\"}]"))
	f.Add(check.Must(os.ReadFile("testdata/pair.toml"))(f))
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := Read(strings.NewReader(string(text)))
		if err != nil {
			if wrong := new(Error); !errors.As(err, &wrong) || wrong.Line < 1 || wrong.Line > 1+strings.Count(string(text), "\n") {
				t.Fatalf("%v names no line of %q", err, text)
			}
			return
		}
		var again strings.Builder
		check.Fatal(t, read.Write(&again))
		check.Equal(t, "read again", check.Must(Read(strings.NewReader(again.String())))(t), read)
	})
}
