package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/soak"
	"github.com/stafflink/lmmc/testbench/suite"
)

// thousands writes 1234567 as 1,234,567, for any integer.
func thousands(n any) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent writes a share with three digits or so.
func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'f', 1, 64) + " %"
}

// micro writes clocks at 125 MHz as µs.
func micro(clocks float64) string { return strconv.FormatFloat(clocks/barriers.Clock, 'f', 2, 64) }

func date(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// short cuts a hash down to what tells it apart.
func short(hash string) string { return hash[:min(len(hash), 12)] }

// amount writes a value of a figure without its unit; if it has none it is a share.
func amount(v float64, unit string) string {
	switch {
	case unit == "":
		return percent(v)
	case math.Abs(v) >= 1000 && math.Abs(v) < 1e15:
		return thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

func figureValue(f figures.FigureDocument) string {
	if f.Value == nil {
		return "–"
	}
	return strings.TrimSpace(amount(*f.Value, f.Unit) + " " + f.Unit)
}

// bound writes a limit with its direction.
func bound(f figures.FigureDocument, v *float64) string {
	switch {
	case v == nil:
		return "–"
	case f.Better == figures.Lower:
		return "≤ " + amount(*v, f.Unit)
	}
	return "≥ " + amount(*v, f.Unit)
}

// seeds writes which seeds a scenario ran with.
func seeds(s suite.ScenarioDocument) string {
	switch s.Seeds {
	case 0:
		return "–"
	case 1:
		return fmt.Sprint(s.FirstSeed)
	}
	return fmt.Sprintf("%d–%d", s.FirstSeed, s.FirstSeed+uint64(s.Seeds)-1)
}

// scheme is the class of a figure's verdict.
func scheme(f figures.FigureDocument, quick bool) string {
	switch {
	case f.Verdict == figures.Pass:
		return "passed"
	case f.Verdict == figures.AimMissed, tolerated(f, quick):
		return "near"
	}
	return "failed"
}

// tolerated reports whether a figure misses what it must in a short run, in which a busy machine can spoil a rate.
func tolerated(f figures.FigureDocument, quick bool) bool {
	return f.Verdict == figures.Miss && f.Timed && quick
}

// passing are the scenarios that have passed or, with no, those that have not.
func passing(yes bool, all []suite.ScenarioDocument) []suite.ScenarioDocument {
	return slices.DeleteFunc(slices.Clone(all), func(s suite.ScenarioDocument) bool { return (s.Seeds > 0 && s.Failed == 0) != yes })
}

// tally writes how much was reached.
func tally(t suite.Tally) string {
	if t.All == 0 {
		return "–"
	}
	return fmt.Sprintf("%s of %s", thousands(t.Hit), thousands(t.All))
}

// sourceLine is a line of an excerpt.
type sourceLine struct {
	Number int
	Text   string
	Missed bool
}

// excerpt numbers the lines around a hole. Where the code of an else that nobody wrote was not reached, or bits did not toggle, the line of the hole
// is marked.
func excerpt(h suite.Hole) []sourceLine {
	var list []sourceLine
	for i, text := range h.Source {
		n := h.First + i
		missed := slices.Contains(h.Missed, n) || len(h.Missed) == 0 && n == h.Line
		list = append(list, sourceLine{n, strings.ReplaceAll(text, "\t", "    "), missed})
	}
	return list
}

// elapsed writes seconds.
func elapsed(seconds float64) string {
	if seconds < 10 {
		return fmt.Sprintf("%.1f s", seconds)
	}
	return fmt.Sprintf("%.0f s", seconds)
}

// code sets what stands between backquotes as code.
func code(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = template.HTMLEscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String())
}

// cases writes how many cases of a point came up.
func cases(p testbench.CoveragePoint) string {
	hit, bins, excluded := countCases([]testbench.CoveragePoint{p})
	if excluded > 0 {
		return fmt.Sprintf("%d of %d, %d impossible", hit, bins, excluded)
	}
	return fmt.Sprintf("%d of %d", hit, bins)
}

// rate writes the rate of a fault.
func rate(r soak.Row) string {
	if r.Rate == 0 {
		return "–"
	}
	return strings.ReplaceAll(r.RateText(), "e-0", "e-")
}

// clean reports whether a case found nothing wrong.
func clean(r soak.Row) bool { return r.Lost+r.Wrong+r.Wedged == 0 }
