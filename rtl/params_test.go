package rtl_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
)

// TestParamsRefused: what no network interface has is refused before a tool sees it, and the text says what there is.
func TestParamsRefused(t *testing.T) {
	for want, p := range map[string]rtl.Params{
		"PHY 1 on the host port": {HostPHY: rtl.Serial}, "WIDTH 2": {Width: 2}, "want 1 to 8": {Lanes: 9}, "want one link, the network": {Links: 2, Router: 2},
		"with barriers": {Barriers: true}, "injectors, links of 2 lanes": {Inject: true, Lanes: 2}, "a host port of 2 and": {Inject: true, HostLanes: 2},
		"receive buffer of 64 bytes: want more":      {Router: 1, Virtual: 2, Contexts: 1, Frames: 1, PageBytes: 64},
		"a router of 3: want one lane and no router": {Inject: true, Links: 1, Router: 3},
	} {
		_, err := p.Verilog()
		if err == nil {
			t.Errorf("%+v is taken, want an error with %q", p, want)
			continue
		}
		check.Contains(t, "error", err.Error(), want)
	}
}
