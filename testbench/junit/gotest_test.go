package junit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/junit"
)

const events = `{"ImportPath":"x/broken [x/broken.test]","Action":"build-output","Output":"broken.go:3:1: syntax error\n"}
{"ImportPath":"x/broken [x/broken.test]","Action":"build-fail"}
{"Time":"2026-01-01T10:00:00Z","Action":"fail","Package":"x/broken","Elapsed":0}
{"Time":"2026-01-01T10:00:00Z","Action":"start","Package":"x/good"}
{"Time":"2026-01-01T10:00:01Z","Action":"run","Package":"x/good","Test":"TestA"}
{"Time":"2026-01-01T10:00:01Z","Action":"output","Package":"x/good","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Time":"2026-01-01T10:00:02Z","Action":"output","Package":"x/good","Test":"TestA","Output":"--- PASS: TestA (1.00s)\n"}
{"Time":"2026-01-01T10:00:02Z","Action":"pass","Package":"x/good","Test":"TestA","Elapsed":1}
{"Time":"2026-01-01T10:00:02Z","Action":"output","Package":"x/good","Test":"TestB/case","Output":"    b_test.go:7: sum is 3\n"}
{"Time":"2026-01-01T10:00:02Z","Action":"output","Package":"x/good","Test":"TestB/case","Output":"    repeat: go test -seed 7\n"}
{"Time":"2026-01-01T10:00:03Z","Action":"fail","Package":"x/good","Test":"TestB/case","Elapsed":0.5}
{"Time":"2026-01-01T10:00:03Z","Action":"output","Package":"x/good","Test":"TestC","Output":"    c_test.go:3: LMMC_FOREIGN is not set\n"}
{"Time":"2026-01-01T10:00:03Z","Action":"skip","Package":"x/good","Test":"TestC","Elapsed":0}
{"Time":"2026-01-01T10:00:03Z","Action":"run","Package":"x/good","Test":"TestD"}
{"Time":"2026-01-01T10:00:04Z","Action":"output","Package":"x/good","Test":"TestD","Output":"panic: testbench: no clock edge\n"}
{"Time":"2026-01-01T10:00:05Z","Action":"fail","Package":"x/good","Elapsed":4}
`

func TestFromGoTest(t *testing.T) {
	suites, elapsed, err := junit.FromGoTest(strings.NewReader(events))
	check.Fatal(t, err)
	for i := range suites {
		for k := range suites[i].Cases {
			suites[i].Cases[k].Output = ""
		}
	}
	check.Equal(t, "elapsed", elapsed, 5*time.Second)
	check.Equal(t, "suites", suites, []junit.Suite{
		{Name: "x/broken", Cases: []junit.Case{{Class: "x/broken", Name: "package", Failure: "broken.go:3:1: syntax error"}}},
		{Name: "x/good", Cases: []junit.Case{
			{Class: "x/good", Name: "TestA", Elapsed: time.Second},
			{Class: "x/good", Name: "TestB/case", Elapsed: time.Second / 2, Failure: "b_test.go:7: sum is 3\n    repeat: go test -seed 7"},
			{Class: "x/good", Name: "TestC", Skipped: "c_test.go:3: LMMC_FOREIGN is not set"},
			{Class: "x/good", Name: "TestD", Failure: "panic: testbench: no clock edge"},
		}},
	})
	cut := `{"Time":"2026-01-01T10:00:00Z","Action":"start","Package":"x/whole"}
{"Time":"2026-01-01T10:00:01Z","Action":"pass","Package":"x/whole","Test":"TestA","Elapsed":1}
{"Time":"2026-01-01T10:00:01Z","Action":"pass","Package":"x/whole","Elapsed":1}
{"Time":"2026-01-01T10:00:02Z","Action":"start","Package":"x/cut"}
{"Time":"2026-01-01T10:00:03Z","Action":"pass","Package":"x/cut","Test":"TestA","Elapsed":1}
` // go test was killed
	suites, _, err = junit.FromGoTest(strings.NewReader(cut))
	check.Fatal(t, err)
	check.Equal(t, "suites of a run that was cut off", suites, []junit.Suite{
		{Name: "x/whole", Cases: []junit.Case{{Class: "x/whole", Name: "TestA", Elapsed: time.Second}}},
		{Name: "x/cut", Cases: []junit.Case{
			{Class: "x/cut", Name: "package", Failure: "did not end: go test ended before"},
			{Class: "x/cut", Name: "TestA", Elapsed: time.Second},
		}},
	})
	for _, text := range []string{"", "ok  	x/good	0.1s\n"} {
		_, _, err := junit.FromGoTest(strings.NewReader(text))
		check.Fails(t, text, err, nil, "want the output of go test -json")
	}
}
