package live_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/browsertest"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster/live"
)

// looks uses the page: the first window cuts a cable by a click on the drawing, and the second points at nodes.
const looks = `const step = [0, 0], says = [[], []];
function look(f, i) {
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
}`

// TestBrowser runs the page in a browser, wide and narrow, uses it and checks its content.
func TestBrowser(t *testing.T) {
	n := begin(t, 3, live.Options{Traffic: 35})
	type found struct {
		Width, Wide, Cut, Down, Load, Boxes, Cells, Bold int
		Title, Traffic                                   string
		Says                                             []string
	}
	have := browsertest.Look[found](t, n.Handler(false), looks)
	for i, width := range browsertest.Widths {
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
