package main

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/figures"
	"github.com/stafflink/lmmc/testbench/scenarios"
)

// TestLists holds what names must be like: they are file names, parts of commands and keys of reports.
func TestLists(t *testing.T) {
	seen := map[string]bool{}
	check := func(kind, name, doc string, form *regexp.Regexp) {
		if !form.MatchString(name) {
			t.Errorf("%s %q: name does not match %v", kind, name, form)
		}
		if seen[kind+name] {
			t.Errorf("%s %q: name is taken twice", kind, name)
		}
		seen[kind+name] = true
		if doc == "" {
			t.Errorf("%s %q: no Doc", kind, name)
		}
	}
	for _, s := range scenarios.All() {
		check("scenario", s.Name, s.Doc, regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`))
	}
	for _, f := range allFigures() {
		check("figure", f.Name, f.Doc, regexp.MustCompile(`^[a-z0-9]+(_[a-z0-9]+)*$`))
		if f.Better != "" && f.Better != figures.Higher && f.Better != figures.Lower {
			t.Errorf("figure %s: Better is %q", f.Name, f.Better)
		}
	}
}

// TestFiguresAreInDocument: doc/figures.md has a row for each figure, with its limit and its aim, and no others.
func TestFiguresAreInDocument(t *testing.T) {
	document := check.Must(os.ReadFile("../../doc/figures.md"))(t)
	rows := map[string][]string{}
	for _, line := range regexp.MustCompile("(?m)^\\| `(.*)$").FindAllStringSubmatch(string(document), -1) {
		cells := strings.Split(line[1], " | ")
		rows[strings.TrimSuffix(cells[0], "`")] = cells
	}
	for _, f := range allFigures() {
		cells := rows[f.Name]
		delete(rows, f.Name)
		if len(cells) < 6 {
			t.Errorf("doc/figures.md has no row of six cells for figure %s", f.Name)
			continue
		}
		for i, limit := range []*float64{f.Must, f.Aim} {
			shown, sign := cells[3+i], "≥"
			if f.Better == figures.Lower {
				sign = "≤"
			}
			value, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimPrefix(shown, sign+" "), ",", ""), 64)
			if limit == nil && shown != "-" || limit != nil && (err != nil || value != *limit) {
				t.Errorf("doc/figures.md shows %q as a limit of figure %s", shown, f.Name)
			}
		}
	}
	for name := range rows {
		t.Errorf("doc/figures.md shows figure %s, which there is not", name)
	}
}
