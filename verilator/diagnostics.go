package verilator

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var diagnosticLine = regexp.MustCompile(`^%(Error|Warning)(?:-([A-Z0-9_]+))?: (?:(.+?):(\d+):(?:(\d+):)? )?(.*)$`)

// recommendsTiming matches advice to use --timing, for which there is Design.Timing.
var recommendsTiming = regexp.MustCompile(`^(?:Use --timing or --no-timing to specify how (.*) should be handled|(.*) require --timing)$`)

// parseDiagnostics finds the messages in what Verilator printed; errors come first, otherwise the order is kept.
func parseDiagnostics(output string) []Diagnostic {
	var found []Diagnostic
	for line := range strings.Lines(output) {
		m := diagnosticLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || strings.HasPrefix(m[6], "Exiting due to") || strings.HasPrefix(m[6], "Command Failed") {
			continue
		}
		row, _ := strconv.Atoi(m[4])
		column, _ := strconv.Atoi(m[5])
		message := recommendsTiming.ReplaceAllString(m[6], "$1$2 need Design.Timing")
		found = append(found, Diagnostic{m[1], m[2], m[3], row, column, message})
	}
	slices.SortStableFunc(found, func(a, b Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
	return found
}
