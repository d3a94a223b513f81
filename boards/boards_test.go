package boards

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stafflink/lmmc/internal/check"
)

// board is a folder like those beside this file, with a line of board.toml replaced.
func board(t *testing.T, old, new string) fstest.MapFS {
	t.Helper()
	text := check.Must(os.ReadFile("hx8k/board.toml"))(t)
	if !strings.Contains(string(text), old) {
		t.Fatalf("board.toml of hx8k has no %q", old)
	}
	return fstest.MapFS{
		"mine/board.toml": {Data: []byte(strings.Replace(string(text), old, new, 1))},
		"mine/top.v":      {Data: []byte("module top; endmodule\n")},
		"common/x.v":      {Data: []byte("module x; endmodule\n")},
	}
}

func TestAll(t *testing.T) {
	all := check.Must(All())(t)
	folders, err := fs.Glob(os.DirFS("."), "*/board.toml")
	if err != nil || len(folders) == 0 || len(folders) != len(all) {
		t.Fatalf("%d boards in %d folders, %v", len(all), len(folders), err)
	}
	for _, b := range all {
		for _, c := range b.Configs() {
			if c.About == "" {
				t.Errorf("%s does not say what it is", c)
			}
			if found, err := Find(all, c.String()); err != nil || found != c {
				t.Errorf("%s: %v, %v", c, found, err)
			}
		}
		if found, err := Find(all, b.Name); err != nil || found != b.Configs()[0] {
			t.Errorf("%s: %v, %v", b.Name, found, err)
		}
	}
}

// The picture in a board's README has the pins that the bitstream has.
func TestWiringPictures(t *testing.T) {
	all := check.Must(All())(t)
	for _, b := range all {
		readme, err := os.ReadFile(path.Join(b.Name, "README.md"))
		if err != nil || !strings.Contains(string(readme), "](wiring.svg)") {
			t.Errorf("README.md of %s does not show wiring.svg: %v", b.Name, err)
		}
		picture, err := os.ReadFile(path.Join(b.Name, "wiring.svg"))
		if err != nil {
			t.Error(err)
			continue
		}
		words := strings.Fields(strings.ReplaceAll(check.XML(t, string(picture)), ",", " "))
		for _, port := range []string{portHostRx, portHostTx, portLinkRx, portLinkTx} {
			for _, ball := range b.Pins[port] {
				if !slices.Contains(words, ball) {
					t.Errorf("wiring.svg of %s does not show pin %s, %s", b.Name, ball, port)
				}
			}
		}
	}
}

func TestFindRefuses(t *testing.T) {
	all := check.Must(LoadAll(board(t, "", "")))(t)
	for name, says := range map[string]string{"yours": "there are mine", "mine/two": "it has one-link", "": "there are mine"} {
		check.Fails(t, name, check.Err(Find(all, name)), ErrUnknown, says)
	}
}

func TestBadBoards(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`title `, `titel `, "titel"},
		{`"hx8k"`, `"hx9k"`, "ice40/hx9k"},
		{`package = "ct256"`, ``, "fpga.package"},
		{`"iceprog"`, `"iceprogg"`, `programmer is "iceprogg": want one of ["iceprog" "openFPGALoader"]`},
		{`vendor  = 0x0403`, ``, "usb.vendor"},
		{`mhz = 12.0 `, `mhz = 0.0 `, "oscillator"},
		{`mhz = 12.0 `, `mhz = 3.0 `, "no PLL"},
		{`"one-link"`, `"no-link"`, "default"},
		{`host_rx = "B10"`, ``, "pins.host_rx"},
		{`clk     = "J3"`, `clk = ["J3", "J4"]`, "want one pin"},
		{`clk     = "J3"`, `clk = 3`, "name of a ball"},
		{`"B12"`, `"B10"`, "pin B10 is used twice, by host_rx[0] and host_tx[0]"},
		{`"C16", "F16"`, ``, "pins.link_tx has 0 pins: 1 links"},
		{`links  = 1`, `links = 0`, "links = 0: want 1 to 7"},
		{`links  = 1`, `links = 3`, "pins.link_tx has 2 pins: 3 links need 3"},
		{`frames = 4`, `frames = 257`, "frames"},
		{`page   = 1024`, `page = 1000`, "page = 1000: want a power of two"},
		{`replay = 2048`, `replay = 1024`, "replay"},
		{`replay = 2048`, `replay = 65536`, "replay = 65536: want a power of two from 1032 to 32768"},
		{`rx     = 2048`, `rx = 3000`, "rx"},
		{"page   = 1024\nreplay = 2048\nrx     = 2048", "page = 256\nreplay = 512\nrx = 512", "rx = 512: want a power of two from 536 to 65536"},
		{"routes = true\nframes = 4\npage   = 512\nreplay = 1024\nrx     = 1024", "routes = true\nframes = 4\npage = 256\nreplay = 512\nrx = 512",
			"rx = 512: want a power of two from 553 to 65536"},
		{`links  = 1`, "links = 1\noversample = 2", "oversample"},
		{`frames = 4`, `frames = 16`, "need 55 blocks and a hx8k has 32"},
		{"routes = true\nframes = 4", "routes = true\nframes = 16", "need 37 blocks and a hx8k has 32"},
		{`mhz    = 120.0`, `mhz = 121.0`, "nearest is 121.5"},
		{`baud   = 12_000_000`, `baud = 32_000_000`, "clocks a bit"},
		{`baud   = 12_000_000`, `baud = 16_000_000`, "16000000 is not possible"},
		{`baud   = 12_000_000`, `baud = 29_600_000`, "4 clocks a bit give 30000000, more than 1 % off"},
	} {
		check.Fails(t, c.old+" -> "+c.new, check.Err(LoadAll(board(t, c.old, c.new))), ErrBoard, c.says)
	}
	without := board(t, "", "")
	delete(without, "mine/top.v")
	check.Fails(t, "without top.v", check.Err(LoadAll(without)), ErrBoard, "top.v")
}

func TestWiring(t *testing.T) {
	all := check.Must(LoadAll(board(t, "", "")))(t)
	w := all[0].Configs()[0].Wiring()
	if w["clk"] != "J3" || w["link_tx"] != "C16" || w["led[7]"] != "C3" || len(w) != 3+2+8 {
		t.Errorf("%v", w)
	}
}

// The settings are those that icepll prints for the same clocks.
func TestPLL(t *testing.T) {
	for _, c := range []struct {
		in, want, got            float64
		divr, divf, divq, filter int
	}{
		{12, 84, 84, 0, 55, 3, 1},
		{12, 36, 36, 0, 47, 4, 1},
		{100, 125, 125, 0, 9, 3, 5},
		{48, 48, 48, 0, 15, 4, 4},
	} {
		got, p := ice40PLL(c.in, c.want)
		made := c.in / float64(p["PLL_DIVR"]+1) * float64(p["PLL_DIVF"]+1) / float64(int(1)<<p["PLL_DIVQ"])
		if got != c.got || made != got || p["PLL_DIVR"] != c.divr || p["PLL_DIVF"] != c.divf || p["PLL_DIVQ"] != c.divq || p["PLL_FILTER"] != c.filter {
			t.Errorf("%g of %g: %g, %g, %v", c.want, c.in, got, made, p)
		}
	}
	if got, p := ecp5PLL(25, 125); got != 125 || 25*p["PLL_DIVF"]/p["PLL_DIVI"] != 125 || 125*p["PLL_DIVO"] < 400 || 125*p["PLL_DIVO"] > 800 {
		t.Errorf("%g, %v", got, p)
	}
}
