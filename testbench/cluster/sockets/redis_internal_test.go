package sockets

import (
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// TestRedisRates reads what redis-benchmark 7 and those before it print.
func TestRedisRates(t *testing.T) {
	for name, test := range map[string]struct {
		text, fails string
	}{
		"7":       {"\"test\",\"rps\",\"avg_latency_ms\"\n\"SET\",\"100.5\",\"1\"\n\"GET\",\"200\",\"1\"\n", ""},
		"6":       {"\"SET\",\"100.5\"\n\"GET\",\"200\"\n", ""},
		"one":     {"\"SET\",\"100.5\"\n", "no rates of SET and GET"},
		"nothing": {"", "no rates of SET and GET"},
		"text":    {"\"SET\",\"many\"\n\"GET\",\"200\"\n", "many"},
	} {
		set, get, err := redisRates(strings.NewReader(test.text))
		switch {
		case test.fails != "":
			check.Fails(t, name, err, nil, test.fails)
		case err != nil || set != 100.5 || get != 200:
			t.Errorf("%s: %v, %v, %v", name, set, get, err)
		}
	}
}
