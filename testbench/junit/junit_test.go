package junit_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/junit"
)

func TestWrite(t *testing.T) {
	var b strings.Builder
	check.Fatal(t, junit.Write(&b, 1500*time.Millisecond, junit.Suite{Name: "s", Cases: []junit.Case{
		{Class: "c", Name: "good", Elapsed: time.Second},
		{Class: "c", Name: "bad", Elapsed: time.Second, Failure: "byte <5> \x1b[1mdiffers\nwant 1", Output: "a & b\n\x00c"},
		{Class: "c", Name: "not done", Skipped: "no cable"},
	}}))
	type text struct {
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
	type Counts struct { // embedded, so exported
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Skipped  int    `xml:"skipped,attr"`
		Time     string `xml:"time,attr"`
	}
	var back struct {
		Counts
		Suites []struct {
			Counts
			Cases []struct {
				Failure *text  `xml:"failure"`
				Skipped *text  `xml:"skipped"`
				Output  string `xml:"system-out"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal([]byte(b.String()), &back); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if back.Counts != (Counts{3, 1, 1, "1.500"}) || len(back.Suites) != 1 || back.Suites[0].Counts != (Counts{3, 1, 1, "2.000"}) {
		t.Fatalf("read back %+v", back)
	}
	cases := back.Suites[0].Cases
	if cases[0].Failure != nil || cases[0].Skipped != nil {
		t.Errorf("the good one read back %+v", cases[0])
	}
	if f := cases[1].Failure; f == nil || f.Message != "byte <5> [1mdiffers" || !strings.Contains(f.Text, "want 1") || cases[1].Output != "a & b\nc" {
		t.Errorf("the bad one read back %+v", cases[1])
	}
	if s := cases[2].Skipped; s == nil || s.Message != "no cable" {
		t.Errorf("the third read back %+v", cases[2])
	}
}
