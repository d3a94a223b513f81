package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

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

// The README's table of figures is that of a quick run; those that take long are named below it.
func TestFiguresAreInREADME(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range allFigures() {
		line := "\n    " + f.Name + " "
		if f.Long {
			line = "`" + f.Name + "`"
		}
		if !strings.Contains(string(readme), line) {
			t.Errorf("README.md does not show figure %s", f.Name)
		}
	}
}
