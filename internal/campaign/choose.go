package campaign

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Choose returns the one of this name or, if there is none, all whose names match it as a regular expression; "" matches all. The error says
// what they are, and lists the names.
func Choose[T any](what string, all []T, name func(T) string, filter string) ([]T, error) {
	if i := slices.IndexFunc(all, func(x T) bool { return name(x) == filter }); i >= 0 {
		return all[i : i+1], nil
	}
	pattern, err := regexp.Compile(filter)
	if err != nil {
		return nil, fmt.Errorf("filter: %w", err)
	}
	var chosen []T
	var names []string
	for _, x := range all {
		if names = append(names, name(x)); pattern.MatchString(name(x)) {
			chosen = append(chosen, x)
		}
	}
	if chosen == nil {
		return nil, fmt.Errorf("no %s matches %q; there are: %s", what, filter, strings.Join(names, ", "))
	}
	return chosen, nil
}
