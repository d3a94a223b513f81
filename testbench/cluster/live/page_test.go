package live_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// frames hold the page, as a window cannot be as narrow as a telephone, and use it: the first cuts a cable by a click on the drawing, and the
// second points at nodes.
const frames = `<!DOCTYPE html><iframe style="border:0;width:390px;height:900px" src="/"></iframe><iframe style="border:0;width:1400px;height:900px" src="/"></iframe>
<script>
const step = [0, 0], says = [[], []];
function look() {
	const found = Array.from(frames, (f, i) => {
		const d = f.document, at = s => [...d.querySelectorAll(s)], text = s => at(s).map(e => e.textContent);
		if (!d.querySelector("#state")?.textContent.startsWith("live") || at(".half").length !== 6) return null;
		const point = s => d.querySelector(s).dispatchEvent(new PointerEvent("pointerenter"));
		const states = text("#cables tbody td:nth-child(2)").join();
		if (step[i] === 0) {
			if (i === 0) { point(".cable"); d.querySelector(".cable").dispatchEvent(new MouseEvent("click")); } else point(".box.ni");
			step[i] = 1;
		}
		if (states !== "cut,up,up" || !text("#details h2")[0] || !text("#details td").length) return null;
		if (i === 1 && step[i] === 1) {
			says[i].push(...text("#details h2, #details th, #details td"));
			point(".box.switch");
			step[i] = 2;
		}
		if (i === 1 && text("#details h2")[0] !== "s0") return null;
		says[i].push(...text("#details h2, #details thead th, #details tbody tr:first-child"));
		return { width: f.innerWidth, wide: d.documentElement.scrollWidth, says: says[i], cut: at(".wire.cut").length, down: at(".half.down").length,
			load: at('.half[class*="load"]').length, boxes: at(".box").length, title: text("#title")[0], traffic: d.querySelector("#traffic").value,
			cells: at("#cables tbody td").length, bold: at("b").length };
	});
	if (found.includes(null)) setTimeout(look, 100); else fetch("/found", { method: "POST", body: JSON.stringify(found) });
}
setTimeout(look, 100);
</script>`

// TestBrowser runs the page in a browser, wide and narrow, uses it and checks its content.
func TestBrowser(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the page is not run")
	}
	n := begin(t, 3, live.Options{Traffic: 35})
	mux := http.NewServeMux()
	mux.Handle("/", n.Handler(false))
	mux.HandleFunc("/outer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(frames))
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
		t.Fatal("chromium: the page does not show the network, or does not cut its cable")
	}
	type found struct {
		Width, Wide, Cut, Down, Load, Boxes, Cells, Bold int
		Title, Traffic                                   string
		Says                                             []string
	}
	var have []found
	if err := json.Unmarshal(text, &have); err != nil || len(have) != 2 {
		t.Fatalf("%v: %s", err, text)
	}
	for i, width := range []int{390, 1400} {
		says := have[i].Says
		have[i].Says = nil
		check.Equal(t, "the page", have[i], found{Width: width, Wide: width, Cut: 1, Down: 2, Load: 4, Boxes: 4, Cells: 3 * 8,
			Title: "star 3: 3 network interfaces, 1 switch, 3 cables", Traffic: "35"})
		want := [][]string{{"n0:1 - s0:1", "n0:1 →", "s0:1 →"}, {"n0", "network interface", "number", "link 1, rx_packets", "s0", "kindswitch"}}[i]
		for _, part := range want {
			if !slices.Contains(says, part) {
				t.Errorf("in a window of %d it says %q, want %q", width, strings.Join(says, "|"), part)
			}
		}
	}
	check.Equal(t, "cut", n.Look().Cables[0].Cut, true)
}
