package testbench_test

import (
	"bytes"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

var drawDebugger = flag.Bool("draw", false, "draw ../doc/debugger.svg anew")

// debugging is what is typed into Delve: it stops within a task, and steps over five clocks.
var debugging = []string{"config source-list-line-count 2", "break counter_test.go:22", "continue", "next", "next", "print *p.Count", "print task.name", "exit"}

// Delve stops inside a task and steps over its waits; the picture in doc/testbench.md is drawn from what it prints.
func TestDebugger(t *testing.T) {
	dlv, err := exec.LookPath("dlv")
	if err != nil {
		t.Skip("dlv is not installed: no debugger is tried (go install github.com/go-delve/delve/cmd/dlv@v1.26.0)")
	}
	cmd := exec.CommandContext(t.Context(), dlv, "test", "--allow-non-terminal-interactive=true", "--check-go-version=false", ".", "--", "-test.run", "^TestCounter$")
	cmd.Dir = "examples/counter"
	cmd.Stdin = strings.NewReader(strings.Join(debugging, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("dlv: %v\n%s", err, out)
	}
	said := strings.Split(string(bytes.TrimSpace(out)), "(dlv) ")[1:]
	if len(said) < len(debugging)-1 {
		t.Fatalf("dlv has answered %d commands of %d:\n%s", len(said), len(debugging), out)
	}
	for i, want := range map[int]string{1: "Breakpoint 1 set", 2: "func1() ./counter_test.go:22", 3: "func1() ./counter_test.go:23", 4: "func1() ./counter_test.go:24", 5: "5\n", 6: `"count"`} {
		if !strings.Contains(said[i], want) {
			t.Errorf("(dlv) %s: %s\nwant %s", debugging[i], said[i], want)
		}
	}
	if !*drawDebugger || t.Failed() {
		return
	}
	lines := []string{"$ dlv test . -- -test.run '^TestCounter$'"}
	for i, command := range debugging {
		lines = append(lines, "(dlv) "+command)
		if i < len(said) && i < len(debugging)-1 {
			for text := range strings.SplitSeq(strings.TrimSpace(strings.TrimSuffix(said[i], "(dlv)")), "\n") {
				text, _, _ = strings.Cut(text, " (hits")
				text, _, _ = strings.Cut(text, " (PC")
				if text != "" {
					lines = append(lines, text)
				}
			}
		}
	}
	check.Fatal(t, os.WriteFile("../doc/debugger.svg", terminal(lines), 0o666))
}

var colour = regexp.MustCompile("\x1b\\[(\\d*)m")

// terminal draws lines with colours of ECMA-48 as a terminal shows them.
func terminal(lines []string) []byte {
	const width, height = 910, 19
	palette := map[string]string{"30": "#888", "32": "#7ec699", "33": "#e5c07b", "34": "#61afef", "90": "#888", "95": "#888"}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="14">`+"\n", width, (len(lines)+1)*height)
	b.WriteString(`<rect width="100%" height="100%" rx="6" fill="#1e2127"/>` + "\n")
	for i, line := range lines {
		line = strings.ReplaceAll(line, "github.com/stafflink/lmmc/testbench/examples/", "")
		line = strings.ReplaceAll(line, "\t", "    ")
		fmt.Fprintf(&b, `<text x="12" y="%d" xml:space="preserve" fill="#dcdfe4">`, (i+1)*height)
		fill := ""
		for rest := line; rest != ""; {
			m := colour.FindStringSubmatchIndex(rest)
			if m == nil {
				m = []int{len(rest), len(rest), len(rest), len(rest)}
			}
			if text := html.EscapeString(rest[:m[0]]); fill != "" && text != "" {
				fmt.Fprintf(&b, `<tspan fill="%s">%s</tspan>`, fill, text)
			} else {
				b.WriteString(text)
			}
			fill, rest = palette[rest[m[2]:m[3]]], rest[m[1]:]
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
