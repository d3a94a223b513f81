// Package resets knows what inputs for resets are called.
package resets

import "regexp"

var low = regexp.MustCompile(`(?i)(_n|rstn|resetn|clrn|clearn)(_?i|_in)?$|(^|_)n_?(rst|reset)`)

// Low reports whether a reset acts at 0, by its name: rst_n, rst_ni, rstn_i, aresetn, nreset, sys_nrst and the like.
func Low(port string) bool { return low.MatchString(port) }
