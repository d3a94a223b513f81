package report

import (
	"context"
	"fmt"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

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

// TestRendered lets a browser lay the page out, wide and narrow, and asks it whether anything sticks out.
func TestRendered(t *testing.T) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the page is not rendered")
	}
	// The page lies in a frame, since a window cannot be made as narrow as a telephone.
	const probe = `<script>
const out = [...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, .hidden") && e.getBoundingClientRect().right > innerWidth + 0.5);
parent.document.documentElement.dataset.found = [innerWidth, document.documentElement.scrollWidth, out.map(e => e.tagName + "." + e.getAttribute("class")).join(" ")].join("|");
</script></body>`
	page := strings.Replace(write(t, full()), "</body>", probe, 1)
	for _, width := range []int{390, 1400} {
		outer := filepath.Join(t.TempDir(), "outer.html")
		frame := fmt.Sprintf(`<!DOCTYPE html><iframe style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>`, width, html.EscapeString(page))
		check.Fatal(t, os.WriteFile(outer, []byte(frame), 0o666))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+outer)
		dom, err := cmd.Output()
		if err != nil {
			t.Fatalf("chromium: %v", err)
		}
		found := regexp.MustCompile(`data-found="(\d+)\|(\d+)\|([^"]*)"`).FindSubmatch(dom)
		if found == nil {
			t.Fatalf("the page did not run the probe:\n%.500s", dom)
		}
		check.Equal(t, "width of the window", string(found[1]), strconv.Itoa(width))
		if string(found[2]) != string(found[1]) || len(found[3]) > 0 {
			t.Errorf("in a window of %s the page is %s wide; these stick out: %s", found[1], found[2], found[3])
		}
	}
}
