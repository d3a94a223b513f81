package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/stafflink/lmmc/internal/check"
)

// documents reads what users read, by path from the root.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names := check.Must(filepath.Glob("../../doc/*.md"))(t)
	boards := check.Must(filepath.Glob("../../boards/*/README.md"))(t)
	texts := map[string]string{}
	for _, name := range slices.Concat(names, boards, []string{"../../README.md", "../../CONTRIBUTING.md", "../../boards/README.md"}) {
		text := check.Must(os.ReadFile(name))(t)
		texts[name] = string(text)
	}
	return texts
}

var heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)

// anchors are what links into a document may name.
func anchors(text string) (names []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		names = append(names, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1]))
	}
	return names
}

// TestLinks: links lead to files and headings that there are.
func TestLinks(t *testing.T) {
	texts := documents(t)
	link := regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			target := name
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(name), m[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if into := texts[target]; m[2] != "" && !slices.Contains(anchors(into), m[2]) {
				t.Errorf("%s: no heading %s in %s", name, m[2], target)
			}
		}
	}
}

// TestCommandsInDocuments: documents name commands, flags and make targets that there are, and doc/commands.md names all of them.
func TestCommandsInDocuments(t *testing.T) {
	app := newApp(nil, nil, fakes())
	makefile := check.Must(os.ReadFile("../../Makefile"))(t)
	code := regexp.MustCompile("(?m)`[^`\n]+`|^    .*$")
	call := regexp.MustCompile(`\blmmc ([a-z]+)((?: [^|;&]*)?)`)
	flag := regexp.MustCompile(`(?:^| )(--[a-z][a-z-]*)`)
	target := regexp.MustCompile(`\bmake ([a-z]+)\b`)
	for name, text := range documents(t) {
		for _, piece := range code.FindAllString(text, -1) {
			piece = strings.Trim(piece, "`")
			for _, m := range call.FindAllStringSubmatch(piece, -1) {
				command := app.Command(m[1])
				if command == nil {
					t.Errorf("%s: %q: no command %s", name, piece, m[1])
					continue
				}
				rest, _, _ := strings.Cut(m[2], " # ")
				rest, _, _ = strings.Cut(rest, " -- ") // behind which a program's arguments are
				if len(command.Subcommands) > 0 && strings.TrimSpace(rest) != "" {
					words := append([]string{"lmmc", command.Name}, strings.Fields(rest)...)
					if command, _ = commandOf(app, words); command.Name != words[2] {
						t.Errorf("%s: %q: no command %s %s", name, piece, words[1], words[2])
					}
				}
				for _, f := range flag.FindAllStringSubmatch(rest, -1) {
					if command.Name != guestName && !slices.Contains(flagNames(command.Flags), f[1]) && f[1] != "--help" {
						t.Errorf("%s: %q: %s has no flag %s", name, piece, m[1], f[1])
					}
				}
			}
			for _, m := range target.FindAllStringSubmatch(piece, -1) {
				check.Contains(t, fmt.Sprintf("Makefile, for %q of %s", piece, name), string(makefile), "\n"+m[1]+":")
			}
		}
	}
	table := documents(t)["../../doc/commands.md"]
	for _, c := range app.VisibleCommands() {
		names := append([]string{c.Name}, collect(c.Subcommands, func(below *cli.Command) string { return c.Name + " " + below.Name })...)
		for _, name := range names {
			if name != "help" && !strings.Contains(table, "`lmmc "+name) {
				t.Errorf("doc/commands.md does not name lmmc %s", name)
			}
		}
	}
}

// TestParagraphs: no paragraph has more than five sentences, or more than 650 characters.
func TestParagraphs(t *testing.T) {
	sentence := regexp.MustCompile(`[.?!][)"*]?(?:\s|$)`)
	prose := regexp.MustCompile("^[\\pL*`\"(\\[]")
	for name, text := range documents(t) {
		if strings.HasSuffix(name, "/protocol.md") { // generated; its tables and rules are exact
			continue
		}
		text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
		text = strings.ReplaceAll(text, "\n- ", "\n\n") // an item of a list counts as a paragraph
		for p := range strings.SplitSeq(text, "\n\n") {
			p = strings.TrimLeft(p, "\n")
			if !prose.MatchString(p) || strings.HasPrefix(p, "| ") {
				continue
			}
			if n := len(sentence.FindAllString(p, -1)); n > 5 || len(p) > 650 {
				t.Errorf("%s: a paragraph of %d sentences and %d characters: %.60s…", name, n, len(p), p)
			}
		}
	}
}
