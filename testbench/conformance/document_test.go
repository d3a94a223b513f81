package conformance_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
)

var update = flag.Bool("update", false, "write the table of cases in doc/conformance.md anew")

const docs = "../../doc"

// TestDocument holds that doc/conformance.md lists the cases and their notions, and that the sections that they refer to exist.
func TestDocument(t *testing.T) {
	name := filepath.Join(docs, "conformance.md")
	old := check.Must(os.ReadFile(name))(t)
	head, rest, ok := bytes.Cut(old, []byte("-update -->\n"))
	_, tail, ok2 := bytes.Cut(rest, []byte("<!-- end of cases -->"))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the cases", name)
	}
	var table strings.Builder
	table.WriteString("| case | requirement | notion | laid down in |\n|---|---|---|---|\n")
	for _, c := range conformance.Cases() {
		file, anchor, _ := strings.Cut(c.Source, "#")
		heading, ok := headings(t, file)[anchor]
		if !ok {
			t.Errorf("%s refers to %s, which is not there", c.Name, c.Source)
		}
		if c.Model != "" && !bytes.Contains(head, []byte("\n| "+c.Model+" | ")) {
			t.Errorf("%s does not say what the notion of %s is: %s", name, c.Name, c.Model)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | [%s](%s) |\n", c.Name, c.Requirement, cmp.Or(c.Model, "ours"), heading, c.Source)
	}
	current := string(head) + "-update -->\n" + table.String() + "<!-- end of cases -->" + string(tail)
	if *update {
		check.Fatal(t, os.WriteFile(name, []byte(current), 0o644))
	} else if current != string(old) {
		t.Errorf("%s is stale: go test ./testbench/conformance -run Document -update", name)
	}
}

var notInAnchors = regexp.MustCompile(`[^a-z0-9 -]`)

// headings are those of a document, by anchor.
func headings(t *testing.T, file string) map[string]string {
	text := check.Must(os.ReadFile(filepath.Join(docs, file)))(t)
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if mark, title, ok := strings.Cut(strings.TrimSpace(line), " "); ok && mark != "" && strings.Trim(mark, "#") == "" {
			all[strings.ReplaceAll(notInAnchors.ReplaceAllString(strings.ToLower(title), ""), " ", "-")] = title
		}
	}
	return all
}

// TestCases holds the habits for cases.
func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range conformance.Cases() {
		if !regexp.MustCompile(`^[a-z]+/[a-z-]+$`).MatchString(c.Name) || names[c.Name] {
			t.Errorf("%q: want a group and a name, of which there are no two", c.Name)
		}
		names[c.Name] = true
		if !strings.HasSuffix(c.Requirement, ".") {
			t.Errorf("%s: the requirement is no sentence: %q", c.Name, c.Requirement)
		}
	}
}
