package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/page"
	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/internal/browsertest"
	"github.com/stafflink/lmmc/internal/check"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// board returns a board with an image for a device in its flash.
func board(t *testing.T, kind, serial string, device bitstream.Device) *virtual.Board {
	t.Helper()
	info := bitstream.Info{Board: kind, Config: "one", Hash: 0x12ab, Params: map[string]string{"mhz": "84", "baud": "12000000"}}
	b := check.Must(virtual.New(virtual.Config{Kind: kind, Serial: serial, Flash: bitstreamtest.Pack(t, device, info.Comment(), nil)}))(t)
	for s := b.Status(); !s.Done && s.Err == nil; s = b.Status() { // the FPGA takes its time to start
		time.Sleep(time.Millisecond)
	}
	return b
}

func ask(t *testing.T, h http.Handler, host, path string) *httptest.ResponseRecorder {
	t.Helper()
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host = host
	h.ServeHTTP(w, r)
	return w
}

// TestBoards shows a board with an image for its device, and one with an image for another device.
func TestBoards(t *testing.T) {
	good, bad := board(t, "hx8k", "V1", "8k"), board(t, "icebreaker", "", "8k")
	h := page.Handler([]*virtual.Board{good, bad}, false)
	look := func() (shown []page.Shown) {
		t.Helper()
		if err := json.Unmarshal(ask(t, h, "localhost:1", "/boards").Body.Bytes(), &shown); err != nil || len(shown) != 2 {
			t.Fatal(err, shown)
		}
		return shown
	}
	shown := look()
	if g := shown[0]; !g.Plugged || g.Attached || !g.Done || g.Error != "" || g.Baud != 12e6 || g.Kind != "hx8k" || g.Serial != "V1" ||
		!strings.HasPrefix(g.Design, "hx8k/one, RTL 00000000000012ab, ") || g.Flash.Image != g.Design || g.Flash.Bytes != 4<<20 {
		t.Errorf("%+v", g)
	}
	if b := shown[1]; b.Done || b.Error == "" || b.Design != "" {
		t.Errorf("%+v", b)
	}
	// The image has 135,100 bytes or so of the 65,536 in each part.
	if u := shown[0].Flash.Used; len(u) != 64 || u[0] == 0 || u[1] == 0 || u[2] == 0 || slices.Max(u[3:]) != 0 {
		t.Errorf("used: %v", u)
	}
	host := check.Must(good.Device().Attach())(t)
	defer host.Close()
	if g := look()[0]; !g.Attached || !slices.Contains(g.Counts, page.Count{Name: "USB, hosts so far", Value: 1}) {
		t.Errorf("attached: %+v", g)
	}
	good.Device().Unplug()
	if g := look()[0]; g.Plugged || g.Attached {
		t.Errorf("unplugged: %+v", g)
	}
}

// TestBreaks injects faults into the right board, and refuses unknown faults and requests from other pages.
func TestBreaks(t *testing.T) {
	boards := []*virtual.Board{board(t, "hx8k", "V1", "8k"), board(t, "hx8k", "V2", "8k")}
	h := page.Handler(boards, false)
	post := func(number, fault, site string) (int, string) {
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/boards/"+number+"/faults", strings.NewReader(fault))
		r.Host = "localhost"
		r.Header.Set("Sec-Fetch-Site", site)
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, c := range []struct {
		number, fault, site string
		code                int
		says                string
	}{
		{"2", "power", "same-origin", 204, ""}, {"2", "unplug=1ms", "none", 204, ""}, {"1", "power", "cross-site", 403, "cross-origin"},
		{"1", "rain", "same-origin", 400, "there are delay"}, {"1", strings.Repeat("x", 2000), "none", 400, "too large"},
		{"0", "power", "none", 404, "from 1 to 2"}, {"3", "power", "none", 404, "from 1 to 2"}, {"x", "power", "none", 404, "from 1 to 2"},
	} {
		if code, text := post(c.number, c.fault, c.site); code != c.code || !strings.Contains(text, c.says) {
			t.Errorf("%.20s for board %s from %s: %d %s, want %d %s", c.fault, c.number, c.site, code, text, c.code, c.says)
		}
	}
	if a, b := boards[0].Device().Counts().Plugs, boards[1].Device().Counts().Plugs; a != 0 || b != 2 {
		t.Errorf("the boards were plugged in %d and %d times again", a, b)
	}
}

// TestHosts refuses requests for foreign host names, unless the page is for all.
func TestHosts(t *testing.T) {
	for host, want := range map[string]int{
		"localhost": 200, "localhost:80": 200, "127.0.0.1:8080": 200, "[::1]:80": 200,
		"evil.example": 403, "evil.example:80": 403, "10.1.1.1": 403, "localhost.evil.example": 403, "": 403,
	} {
		for _, path := range []string{"/", "/boards"} {
			check.Equal(t, fmt.Sprintf("code for %q%s", host, path), ask(t, page.Handler(nil, false), host, path).Code, want)
			check.Equal(t, fmt.Sprintf("code for all, %q%s", host, path), ask(t, page.Handler(nil, true), host, path).Code, 200)
		}
	}
	check.Equal(t, "code for another path", ask(t, page.Handler(nil, true), "localhost", "/other").Code, 404)
}

// looks causes a fault at each board, and tells what the page says once it shows the answers.
const looks = `function look(f) {
	const d = f.document, says = [...d.querySelectorAll("output")].map(e => e.textContent).join();
	if (d.querySelector("#state")?.textContent === "live" && says === ",,") {
		d.querySelectorAll("form").forEach((form, i) => { form.elements.fault.value = ["rain", "stall", "delay=0s"][i]; form.requestSubmit(); });
		return null;
	}
	if (!says.match(/^virtual: no such fault.*,stall: it has happened,delay=0s: it has happened$/s)) return null;
	if (d.querySelectorAll("section").length !== 3 || d.querySelector("#state").textContent !== "live") return null;
	return { width: f.innerWidth, wide: d.documentElement.scrollWidth, says: [...d.querySelectorAll("h2, .what, .leds, .link-table tr, .image")].map(e => e.textContent),
		lights: [...d.querySelectorAll(".board")].map(e => [...e.querySelectorAll(".light.on")].map(l => l.classList.length > 2 ? l.classList[l.classList.length - 2] : "link").join()),
		used: d.querySelectorAll(".flash .used").length, rows: d.querySelectorAll(".counts tr").length, lit: d.querySelectorAll(".led.on").length, bold: d.querySelectorAll("b").length };
}`

// TestBrowser runs the page in a browser, wide and narrow, and checks its content.
func TestBrowser(t *testing.T) {
	good, bad := board(t, "hx8k", "V1", "8k"), board(t, "icebreaker", "<b>2", "8k")
	linked := shows(t, "icebreaker", "V3", hostdrv.StatusProbe{Clocks: 1234, Alive: true, Links: []hostdrv.LinkView{
		{Up: true, Life: 0xABCDEF01}, {Stop: true, Life: 4}, {},
	}})
	host := check.Must(good.Device().Attach())(t)
	defer host.Close()
	found := browsertest.Look[struct {
		Width, Wide, Used, Rows, Bold, Lit int
		Says, Lights                       []string
	}](t, page.Handler([]*virtual.Board{good, bad, linked}, false), looks)
	for i, width := range browsertest.Widths {
		f := found[i]
		if f.Width != width || f.Wide != width {
			t.Errorf("in a window of %d, want %d, the page is %d wide", f.Width, width, f.Wide)
		}
		want := []string{
			"hx8k, serial number V1", "a host uses it; in the FPGA: hx8k/one, RTL 00000000000012ab", "none that can be looked at runs", "hx8k/one, RTL 00000000000012ab",
			"icebreaker, serial number <b>2", "plugged in, and no host uses it; the FPGA is not configured: ", "none that can be looked at runs", "icebreaker/one, RTL",
			"icebreaker, serial number V3", "plugged in, and no host uses it; in the FPGA: what the board began with", "green, alive (on)red, traffic (off)",
			"link 1upGOlife abcdef01", "link 2downSTOPlife 00000004", "link 3downGOlife not known", "no bitstream",
		}
		if !slices.EqualFunc(f.Says, want, strings.HasPrefix) {
			t.Errorf("it says %q, want %q", f.Says, want)
		}
		check.Equal(t, "elements made by a serial number", f.Bold, 0)
		check.Equal(t, "lights", f.Lights, []string{"power,done", "power", "power,done,link"})
		if f.Used != 4 || f.Rows != 3*len(page.Show(good).Counts)+1 || f.Lit != 1 {
			t.Errorf("%d parts of flashes are used, %d counters, %d leds are on", f.Used, f.Rows, f.Lit)
		}
	}
}
