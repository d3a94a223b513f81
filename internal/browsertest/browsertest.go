// Package browsertest runs pages in a browser, for tests.
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
)

// Widths are those of the windows that a page is shown in: a telephone's and a desk's.
var Widths = [2]int{390, 1400}

// outer holds the page in frames, since a window cannot be made as narrow as a telephone.
const outer = `<!DOCTYPE html>%s<script>
%s
function ask() {
	const found = Array.from(frames, look);
	if (found.includes(null)) setTimeout(ask, 100); else fetch("/found", { method: "POST", body: JSON.stringify(found) });
}
setTimeout(ask, 100);
</script>`

// patience is how long a page may take to show what a test looks for. A browser takes seconds, and minutes on a busy machine.
const patience = 5 * time.Minute

// Look shows the page at / in two windows, and calls the script's function look(window, i) for both, again and again, until neither answers null. It
// returns the answers. Without a browser the test is skipped.
func Look[T any](t *testing.T, page http.Handler, script string) (found [len(Widths)]T) {
	t.Helper()
	browser, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed: the page is not run")
	}
	var windows strings.Builder
	for _, width := range Widths {
		fmt.Fprintf(&windows, `<iframe style="border:0;width:%dpx;height:900px" src="/"></iframe>`, width)
	}
	mux := http.NewServeMux()
	mux.Handle("/", page)
	mux.HandleFunc("/outer", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, outer, &windows, script)
	})
	posted := make(chan []byte, 1)
	mux.HandleFunc("POST /found", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- body
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	run := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-port=0", server.URL+"/outer")
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.WaitDelay = 10 * time.Second
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	check.Fatal(t, run.Start())
	var text []byte
	select {
	case text = <-posted:
	case <-ctx.Done():
	}
	cancel()
	_ = run.Wait()
	// What it has started may go on for a moment, and write into its folder.
	for end := time.Now().Add(run.WaitDelay); syscall.Kill(-run.Process.Pid, syscall.SIGKILL) == nil && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if text == nil {
		t.Fatalf("the page does not show what this looks for:\n%s", script)
	}
	check.Fatal(t, json.Unmarshal(text, &found))
	return found
}
