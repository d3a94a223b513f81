package bus

import (
	"testing"

	"github.com/stafflink/lmmc/internal/resets"
)

// A reset is found by what resets are called, with the level at which it acts.
func TestResetNames(t *testing.T) {
	for name, low := range map[string]bool{
		"rst": false, "reset": false, "i_reset": false, "i_rst": false, "wb_rst_i": false, "RST": false, "rst_i": false, "tx_rst": false, "srst": false,
		"rst_n": true, "rst_ni": true, "resetn": true, "PRESETn": true, "aresetn": true, "S_AXI_ARESETN": true, "i_reset_n": true, "nrst": true, "reset_n_i": true,
		"rstn_i": true, "aresetn_i": true, "rst_n_in": true, "sys_nrst": true, "rst_in": false,
	} {
		if !resetName.MatchString(name) {
			t.Errorf("%s is not taken for a reset", name)
		}
		if got := resets.Low(name); got != low {
			t.Errorf("%s acts at 0: %v, want %v", name, got, low)
		}
	}
	for _, name := range []string{"first", "restart", "burst", "rst_count", "clk", "i_rstrobe", "preset_value"} {
		if resetName.MatchString(name) {
			t.Errorf("%s is taken for a reset", name)
		}
	}
}
