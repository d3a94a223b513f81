package report

import (
	"io"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/browsertest"
	"github.com/stafflink/lmmc/internal/check"
)

var colour = regexp.MustCompile(`--([\w-]+): #([0-9a-f]{6});`)

// palette reads the colours of a scheme.
func palette(t *testing.T, css string) map[string]string {
	t.Helper()
	colours := map[string]string{}
	for _, m := range colour.FindAllStringSubmatch(css, -1) {
		colours[m[1]] = m[2]
	}
	if len(colours) == 0 {
		t.Fatal("no colours")
	}
	return colours
}

// luminance is that of WCAG 2.
func luminance(hex string) float64 {
	v, _ := strconv.ParseUint(hex, 16, 32)
	linear := func(shift uint) float64 {
		c := float64(v>>shift&0xFF) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast computes the contrast of what is read (4.5 and more, WCAG AA) and of what is only seen (3 and more), in both schemes.
func TestContrast(t *testing.T) {
	css := check.Must(files.ReadFile("style.css"))(t)
	light, dark, found := strings.Cut(string(css), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there is no dark scheme")
	}
	dark, _, _ = strings.Cut(dark, "* {")
	schemes := map[string]map[string]string{"light": palette(t, light), "dark": palette(t, dark)}
	check.Equal(t, "colours in the light and the dark scheme", len(schemes["light"]), len(schemes["dark"]))
	read := [][2]string{{"soft", "bg"}, {"soft", "panel"}, {"soft", "t-cut"}, {"ink", "bg"}, {"ink", "panel"}, {"ink", "t-cut"}, {"link", "bg"},
		{"passed", "bg"}, {"failed", "bg"}, {"near", "bg"}, {"missing", "bg"}, {"t-mark", "bg"}, {"t-mark", "t-cut"},
		{"t-ink", "t-frame"}, {"t-ink", "t-word"}, {"t-ink", "t-level"}, {"t-ink", "t-event"}, {"t-ink", "t-fault"}}
	seen := [][2]string{{"c0", "bg"}, {"c1", "bg"}, {"c2", "bg"}, {"c3", "bg"}, {"t-edge", "bg"}}
	for name, c := range schemes {
		check := func(pairs [][2]string, least float64) {
			for _, p := range pairs {
				if c[p[0]] == "" || c[p[1]] == "" {
					t.Errorf("%s: %v are not both defined", name, p)
				} else if have := contrast(c[p[0]], c[p[1]]); have < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, want %v", name, p[0], p[1], have, least)
				}
			}
		}
		check(read, 4.5)
		check(seen, 3)
	}
	if have := contrast("000000", "ffffff"); math.Abs(have-21) > 1e-9 {
		t.Errorf("black on white has a contrast of %v, want 21", have)
	}
}

// sticksOut tells what of the page sticks out of its window.
const sticksOut = `function look(f) {
	if (f.document.readyState !== "complete" || !f.document.body) return null;
	const out = [...f.document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, .hidden") && e.getBoundingClientRect().right > f.innerWidth + 0.5);
	return { width: f.innerWidth, wide: f.document.documentElement.scrollWidth, out: out.map(e => e.tagName + "." + e.getAttribute("class")) };
}`

// TestRendered lets a browser lay the page out, wide and narrow, and asks it whether anything sticks out.
func TestRendered(t *testing.T) {
	page := write(t, full())
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, page) })
	found := browsertest.Look[struct {
		Width, Wide int
		Out         []string
	}](t, handler, sticksOut)
	for i, width := range browsertest.Widths {
		if f := found[i]; f.Width != width || f.Wide != width || len(f.Out) > 0 {
			t.Errorf("in a window of %d, want %d, the page is %d wide; these stick out: %q", f.Width, width, f.Wide, f.Out)
		}
	}
}
