package boards_test

import (
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/boards"
	"github.com/stafflink/lmmc/internal/check"
)

const ownBoard = `title = "mine"
programmer = "iceprog"
default = "main"
[design]
verilog = ["rtl/*.v"]
include = "rtl/lmmc"
check = "true"
[fpga]
family = "ice40"
device = "hx8k"
package = "ct256"
[usb]
vendor = 0x0403
product = 0x6010
[clock]
mhz = 12.0
[pins]
clk = "J3"
host_rx = "B10"
host_tx = "B12"
led = ["B5", "B4"]
[config.main]
mhz = 48.0
baud = 3_000_000
`

// project is a project of one board, in whose board.toml some texts are replaced.
func project(replace ...string) fstest.MapFS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"boards/hx8k/board.toml": file(strings.NewReplacer(replace...).Replace(ownBoard)), "boards/hx8k/top.v": file("module top; endmodule"),
		"rtl/a.v": file("module a; endmodule"), "rtl/a.formal.v": file("assert (0);"), "rtl/lmmc/x.vh": file("`define X"),
		"boards/other/board.toml": file("title = \"of the network interface\"\n"), // without a design: not the project's
	}
}

func TestProject(t *testing.T) {
	all := check.Must(boards.AllWith(project()))(t)
	c := check.Must(boards.Find(all, "hx8k"))(t)
	if c.Board.Design == nil || c.String() != "hx8k/main" || c.Divisor() != 16 {
		t.Fatalf("hx8k is %+v, not the project's", c)
	}
	check.Fatal(t, check.Err(boards.Find(all, "icebreaker/one-link"))) // built in
	files, order, include, err := c.Verilog()
	check.Fatal(t, err)
	if len(files) != 3 || strings.Join(order, " ") != "boards/hx8k/top.v rtl/a.v" || include != "rtl/lmmc" {
		t.Errorf("sources are %v, in order %v, include %s", maps.Keys(files), order, include)
	}
	params := check.Must(c.Parameters())(t)
	check.Equal(t, "HOST_DIVISOR", params["HOST_DIVISOR"], "16")
	check.Equal(t, "LINKS", params["LINKS"], "")

	// What the bitstream says is enough to simulate its bits.
	info := c.Info()
	back := check.Must(boards.FromInfo(&info))(t)
	if !info.Own() || !maps.Equal(back.Wiring(), c.Wiring()) || back.MHz != 48 || back.Divisor() != 16 || back.Board.FPGA != c.Board.FPGA {
		t.Errorf("the bitstream says %+v of %+v", back.Board, c.Board)
	}
	same := check.Must(boards.LoadProject(project()))(t)[0].Config["main"].Info()
	check.Equal(t, "hash", same.Hash, info.Hash)
	changed := project()
	changed["rtl/a.v"].Data = []byte("module a; wire b; endmodule")
	if other := check.Must(boards.LoadProject(changed))(t)[0].Config["main"].Info(); other.Hash == info.Hash {
		t.Error("the hash does not follow from the sources")
	}
	for what, spoil := range map[string]func(map[string]string){
		"mhz":     func(p map[string]string) { p["mhz"] = "fast" },
		"package": func(p map[string]string) { delete(p, "package") },
		"pins":    func(p map[string]string) { p["pins"] = "clk" },
		"a pin":   func(p map[string]string) { p["pins"] = strings.Replace(p["pins"], "led[1]", "led[9999999999]", 1) },
		"a gap":   func(p map[string]string) { p["pins"] = strings.Replace(p["pins"], "led[1]", "led[5]", 1) },
		"no clk":  func(p map[string]string) { p["pins"] = "host_rx:B10 host_tx:B12" },
	} {
		bad := c.Info()
		spoil(bad.Params)
		check.Fails(t, what, check.Err(boards.FromInfo(&bad)), nil, "bitstream")
	}
}

func TestProjectRefused(t *testing.T) {
	for what, test := range map[string]struct{ from, to, want string }{
		"no such source": {`"rtl/*.v"`, `"src/*.v"`, `design.verilog: "src/*.v" names no file of the project`},
		"outside":        {`"rtl/*.v"`, `"../*.v"`, `"../*.v" names no file`},
		"NI settings":    {"baud =", "links = 1\nbaud =", "it has settings of the network interface"},
		"clock":          {"48.0", "48.1", "the PLL cannot make that"},
		"baud":           {"3_000_000", "30_000_000", "want 4 to"},
		"no host":        {`host_tx = "B12"`, "", "pins.host_tx"},
		"twice":          {`"B10"`, `"B12"`, "pin B12 is used twice"},
		"unknown key":    {"include", "includes", "unknown key design.includes"},
	} {
		_, err := boards.LoadProject(project(test.from, test.to))
		check.Fails(t, what, err, boards.ErrBoard, "boards/hx8k", test.want)
	}
}
