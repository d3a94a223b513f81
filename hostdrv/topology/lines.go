package topology

import (
	"strings"

	"github.com/BurntSushi/toml"
)

// lines says on which line of a TOML text a key stands. The library tells that for errors of syntax only.
type lines map[place]int

// findLines goes through a text that the library has read. A key of a table is found behind its header; one in braces is not, and counts as where
// its table is.
func findLines(text string) lines {
	found := lines{}
	here := place{}
	count := map[string]int{}
	line := 1
	for text != "" {
		statement, rest := cutStatement(text)
		word := strings.TrimLeft(statement, " \t\r\n\uFEFF")
		at := line + strings.Count(statement[:len(statement)-len(word)], "\n")
		switch name := key(strings.TrimLeft(word, "[ \t")); {
		case word == "" || word[0] == '#':
		case strings.HasPrefix(word, "[["):
			here = place{table: name, n: count[name]}
			count[name]++
			found[here] = at
			found.first(place{key: name}, at)
		case word[0] == '[':
			here = place{table: name, n: count[name]}
			found.first(place{key: name}, at)
		default:
			p := here
			p.key = name
			found.first(p, at)
		}
		line += strings.Count(statement, "\n")
		text = rest
	}
	return found
}

func (l lines) first(p place, line int) {
	if _, known := l[p]; !known {
		l[p] = line
	}
}

// of is the line of a key, or else of its table, or of the first table of this name; 0 if there is none.
func (l lines) of(p place) int {
	for _, p := range []place{p, {table: p.table, n: p.n}, {key: p.table}} {
		if line := l[p]; line > 0 {
			return line
		}
	}
	return 0
}

// key is the first part of the dotted key that a text begins with.
func key(text string) string {
	end := strings.IndexAny(text, ".=] \t\r\n")
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		if end = strings.IndexByte(text[1:], text[0]) + 2; end < 2 {
			end = len(text)
		}
	}
	if end < 0 {
		end = len(text)
	}
	var unquoted map[string]int
	if _, err := toml.Decode(text[:end]+"=0", &unquoted); err == nil {
		for name := range unquoted {
			return name
		}
	}
	return text[:end]
}

// cutStatement cuts after the newline that ends the first statement: one that is not in a string or in brackets.
func cutStatement(text string) (statement, rest string) {
	depth, begun := 0, false
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case '\n':
			if begun && depth <= 0 {
				return text[:i+1], text[i+1:]
			}
		case '#':
			if end := strings.IndexByte(text[i:], '\n'); end >= 0 {
				i += end
				begun = begun || depth == 0
				continue
			}
			return text, ""
		case '"', '\'':
			i += stringLength(text[i:])
			begun = true
			continue
		case '[', '{':
			depth++
			begun = true
		case ']', '}':
			depth--
		case ' ', '\t', '\r':
		default:
			begun = true
		}
		i++
	}
	return text, ""
}

// stringLength is the length of the string that a text begins with.
func stringLength(text string) int {
	quote := text[:1]
	if strings.HasPrefix(text, strings.Repeat(quote, 3)) {
		quote = text[:3]
	}
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(text[i:], quote):
			end := i + len(quote)
			for range 2 { // more quotes may stand before the closing ones
				if len(quote) == 3 && end < len(text) && text[end] == quote[0] {
					end++
				}
			}
			return end
		}
	}
	return len(text)
}
