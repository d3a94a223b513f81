package testbench_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench"
)

// writes is the coverage of writes to memory, and its two quantities and their cross.
func writes() (c *testbench.Coverage, size, end, both *testbench.Point) {
	c = new(testbench.Coverage)
	size = c.Point("size", testbench.Value("one", 1), testbench.Range("few", 2, 7), testbench.Range("many", 8, 64))
	end = c.Point("page end", testbench.Value("inside", 0), testbench.Value("at", 1))
	both = c.Cross("size at page end", size, end).Without("a single byte has no end", "one x at")
	return c, size, end, both
}

func TestCoverageCounts(t *testing.T) {
	c, size, end, both := writes()
	for _, w := range [][2]int64{{1, 0}, {3, 0}, {3, 1}, {5, 0}} {
		size.Sample(w[0])
		end.Sample(w[1])
		both.SampleCross()
	}
	if size.Sample(65) || both.SampleCross() {
		t.Error("a value outside all bins was counted")
	}
	check.Equal(t, "few x inside", both.Hits("few x inside"), 2)
	check.Equal(t, "unhit", c.Unhit(), []string{"size: many", "size at page end: many x inside", "size at page end: many x at"})
	check.Equal(t, "ratio", c.Ratio(), 7.0/10)
}

func TestCoverageMerges(t *testing.T) {
	a, size, _, _ := writes()
	size.Sample(1)
	b, size, _, _ := writes()
	size.Sample(1)
	size.Sample(9)
	check.Fatal(t, a.Merge(b))
	data, err := json.Marshal(a)
	if want := `{"name":"size","bins":[{"name":"one","hits":2},{"name":"few","hits":0},{"name":"many","hits":1}],"excluded":[]}`; err != nil ||
		!strings.Contains(string(data), want) || !strings.Contains(string(data), `"excluded":[{"name":"one x at","reason":"a single byte has no end"}]`) {
		t.Errorf("got %s, %v", data, err)
	}
	var other testbench.Coverage
	other.Point("colour", testbench.Values(1, 2)...)
	check.Fails(t, "merging with something else", a.Merge(&other), nil, "colour")
}

func TestCoverageTellsOfTheImpossible(t *testing.T) {
	c, size, end, both := writes()
	size.Hit("one")
	if end.Hit("inside"); both.SampleCross() && len(c.Impossible()) > 0 {
		t.Errorf("impossible: %v", c.Impossible())
	}
	if end.Hit("at"); !both.SampleCross() {
		t.Error("a bin hit by name counts for no cross")
	}
	check.Equal(t, "impossible", c.Impossible(), []string{"size at page end: one x at"})
	defer func() {
		if recover() == nil {
			t.Error("a bin that there is not was hit")
		}
	}()
	size.Hit("huge")
}

func ExampleCoverage() {
	var c testbench.Coverage
	kind := c.Point("packet", testbench.Values(1, 2, 3)...)
	length := c.Point("length", testbench.Value("empty", 0), testbench.Range("short", 1, 8))
	both := c.Cross("packet of length", kind, length).Without("type 3 has a body", "3 x empty")
	for _, packet := range [][2]int64{{1, 0}, {1, 5}, {2, 8}} {
		kind.Sample(packet[0])
		length.Sample(packet[1])
		both.SampleCross()
	}
	c.WriteText(os.Stdout)
	fmt.Println(strings.Join(c.Unhit(), ", "))
	// Output:
	// packet: 2 of 3
	//          2  1
	//          1  2
	//          0  3
	// length: 2 of 2
	//          1  empty
	//          2  short
	// packet of length: 3 of 5
	//          1  1 x empty
	//          1  1 x short
	//          0  2 x empty
	//          1  2 x short
	//          0  3 x short
	// packet: 3, packet of length: 2 x empty, packet of length: 3 x short
}
