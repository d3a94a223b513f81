package main

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

func TestSummary(t *testing.T) {
	for _, test := range []struct {
		name, in string
		ok       bool
		contains []string
		last     string
	}{
		{
			name: "all well, subtests instead of their parent",
			in: `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestA/one"}
{"Action":"run","Package":"m/a","Test":"TestA/two/x"}
{"Action":"pass","Package":"m/a","Test":"TestA/one"}
{"Action":"pass","Package":"m/a","Test":"TestA/two/x"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Output":"ok m/a"}
{"Action":"pass","Package":"m/a","Elapsed":1.25}
{"Action":"start","Package":"m/none"}
{"Action":"skip","Package":"m/none"}`,
			ok: true, contains: []string{"ok\tm/a\t1.2s\n"}, last: "2 passed, 0 failed",
		},
		{
			name: "a failing subtest counts once, and what it said is shown",
			in: `{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestA/one"}
{"Action":"output","Package":"m/a","Test":"TestA/one","Output":"a_test.go:7: byte differs\n"}
{"Action":"fail","Package":"m/a","Test":"TestA/one"}
{"Action":"fail","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestB"}
{"Action":"pass","Package":"m/a","Test":"TestB"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.1s\n"}
{"Action":"fail","Package":"m/a"}`,
			contains: []string{"--- FAIL: m/a TestA/one\na_test.go:7: byte differs", "FAIL\tm/a\t0.1s"}, last: "1 passed, 1 failed",
		},
		{
			name: "a parent that fails by itself counts",
			in: `{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestA/one"}
{"Action":"pass","Package":"m/a","Test":"TestA/one"}
{"Action":"fail","Package":"m/a","Test":"TestA"}
{"Action":"fail","Package":"m/a"}`,
			last: "1 passed, 1 failed",
		},
		{
			name: "skipped tests are named with their reason",
			in: `{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:3: no yosys\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestB"}
{"Action":"pass","Package":"m/a","Test":"TestB"}
{"Action":"pass","Package":"m/a"}`,
			ok: true, contains: []string{"--- SKIP: m/a TestA\n    a_test.go:3: no yosys\nok"}, last: "1 passed, 0 failed, 1 skipped",
		},
		{
			name: "a package that does not compile",
			in: `{"ImportPath":"m/a [m/a.test]","Action":"build-output","Output":"./a.go:3:1: syntax error\n"}
{"ImportPath":"m/a [m/a.test]","Action":"build-fail"}
{"Action":"start","Package":"m/a"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a [build failed]\n"}
{"Action":"fail","Package":"m/a","FailedBuild":"m/a [m/a.test]"}`,
			contains: []string{"./a.go:3:1: syntax error", "[build failed]"}, last: "0 passed, 1 failed",
		},
		{
			name: "a test that never ends, as the process dies",
			in: `{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"run","Package":"m/a","Test":"TestB"}
{"Action":"output","Package":"m/a","Test":"TestB","Output":"panic: out of range\n"}
{"Action":"fail","Package":"m/a"}`,
			contains: []string{"--- NOT ENDED: m/a TestB\npanic: out of range"}, last: "1 passed, 1 failed",
		},
		{
			name: "a stream that is cut off",
			in: `{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
not JSON`,
			contains: []string{"not JSON\n", "FAIL\tm/a\tno result"}, last: "1 passed, 1 failed",
		},
		{name: "nothing at all", in: "", last: "0 passed, 1 failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			s := newSummary(&b)
			check.Fatal(t, s.read(strings.NewReader(test.in)))
			check.Equal(t, "all is well", s.finish(), test.ok)
			out := b.String()
			check.Contains(t, "summary", out, test.contains...)
			lines := strings.Split(strings.TrimRight(out, "\n"), "\n")
			if !check.Equal(t, "last line", lines[len(lines)-1], test.last) {
				t.Log(out)
			}
		})
	}
}
