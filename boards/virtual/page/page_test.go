package page_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/stafflink/lmmc/boards/bitstream"
	"github.com/stafflink/lmmc/boards/bitstream/bitstreamtest"
	"github.com/stafflink/lmmc/boards/virtual"
	"github.com/stafflink/lmmc/boards/virtual/page"
	"github.com/stafflink/lmmc/hostdrv"
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

// TestBrowser runs the page in a browser, wide and narrow, and checks its content.
func TestBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the page is not run")
	}
	good, bad := board(t, "hx8k", "V1", "8k"), board(t, "icebreaker", "<b>2", "8k")
	linked := shows(t, "icebreaker", "V3", hostdrv.StatusProbe{Clocks: 1234, Alive: true, Links: []hostdrv.LinkView{
		{Up: true, Life: 0xABCDEF01}, {Stop: true, Life: 4}, {},
	}})
	host := check.Must(good.Device().Attach())(t)
	defer host.Close()
	mux := http.NewServeMux()
	mux.Handle("/", page.Handler([]*virtual.Board{good, bad, linked}, false))
	// The page lies in frames, since a window cannot be as narrow as a telephone.
	mux.HandleFunc("/outer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!DOCTYPE html><iframe style="border:0;width:390px;height:900px" src="/"></iframe><iframe style="border:0;width:1400px;height:900px" src="/"></iframe>
<script>
function look() {
	const found = Array.from(frames, f => {
		const d = f.document, says = [...d.querySelectorAll("output")].map(e => e.textContent).join();
		if (d.querySelector("#state").textContent === "live" && says === ",,") {
			d.querySelectorAll("form").forEach((form, i) => { form.elements.fault.value = ["rain", "stall", "delay=0s"][i]; form.requestSubmit(); });
			return null;
		}
		if (!says.match(/^virtual: no such fault.*,stall: it has happened,delay=0s: it has happened$/s)) return null;
		if (d.querySelectorAll("section").length !== 3 || d.querySelector("#state").textContent !== "live") return null;
		return { width: f.innerWidth, wide: d.documentElement.scrollWidth, says: [...d.querySelectorAll("h2, .what, .leds, .link-table tr, .image")].map(e => e.textContent),
			lights: [...d.querySelectorAll(".board")].map(e => [...e.querySelectorAll(".light.on")].map(l => l.classList.length > 2 ? l.classList[l.classList.length - 2] : "link").join()),
			used: d.querySelectorAll(".flash .used").length, rows: d.querySelectorAll(".counts tr").length, lit: d.querySelectorAll(".led.on").length, bold: d.querySelectorAll("b").length };
	});
	if (found.includes(null)) setTimeout(look, 100); else fetch("/found", { method: "POST", body: JSON.stringify(found) });
}
setTimeout(look, 100);
</script>`))
	})
	posted := make(chan []byte, 1)
	mux.HandleFunc("POST /found", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- body
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", server.URL+"/outer")
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) } // so that it leaves nothing behind that writes into its folder
	run.WaitDelay = 10 * time.Second
	check.Fatal(t, run.Start())
	var text []byte
	select {
	case text = <-posted:
	case <-ctx.Done():
	}
	cancel()
	_ = run.Wait()
	if text == nil {
		t.Fatal("chromium: the page shows no boards")
	}
	var found []struct {
		Width, Wide, Used, Rows, Bold, Lit int
		Says, Lights                       []string
	}
	if err := json.Unmarshal(text, &found); err != nil || len(found) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for i, width := range []int{390, 1400} {
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
