package socket

import (
	"net/netip"
	"testing"
)

// TestResolve reads addresses.
func TestResolve(t *testing.T) {
	prefixes := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/64")}
	for text, want := range map[string]Addr{
		"2:80": {2, 80}, "node2:80": {2, 80}, "node2.cluster:80": {2, 80}, "node2.cluster.:80": {2, 80}, ":0": {9, 0}, "127.0.0.1:5": {9, 5}, "[::]:5": {9, 5}, "10.0.0.2:80": {2, 80}, "[fd00::3]:81": {3, 81}, "4095:65535": {4095, 65535},
		"2": {}, "2:": {}, "2:65536": {}, "2:http": {}, "0:1": {}, "4096:1": {}, "10.0.1.2:80": {}, "10.0.0.255:80": {}, "node:1": {}, "2.cluster:1": {}, "": {},
	} {
		if have, err := resolve(text, prefixes, 9); (err != nil) != (want == Addr{}) || err == nil && have != want {
			t.Errorf("%q: %v, %v; want %v", text, have, err, want)
		}
	}
}
