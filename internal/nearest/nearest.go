// Package nearest suggests the name that somebody meant who misspelt it.
package nearest

import (
	"fmt"
	"strings"
)

// Hint is " (did you mean X?)", where X is the one of names that is most like a name which is not among them; "" if none is like it.
func Hint(name string, names []string) string {
	name = strings.ToLower(name)
	best, least := "", (len(name)+1)/2+1 // half of it may be wrong
	for _, n := range names {
		d := distance(name, strings.ToLower(n))
		if name != "" && strings.HasPrefix(strings.ToLower(n), name) {
			d = 0
		}
		if d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
}

// distance is how many bytes have to be put in, taken out or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
