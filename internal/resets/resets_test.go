package resets_test

import (
	"testing"

	"github.com/stafflink/lmmc/internal/resets"
)

func TestLow(t *testing.T) {
	for name, want := range map[string]bool{
		"rst": false, "reset": false, "i_reset": false, "wb_rst_i": false, "RST": false, "rst_i": false, "rst_in": false, "tx_rst": false, "srst": false, "rst_sync": false,
		"in_rst": false, "gen_reset": false, "clear": false,
		"rst_n": true, "rst_ni": true, "resetn": true, "PRESETn": true, "aresetn": true, "S_AXI_ARESETN": true, "i_reset_n": true, "nrst": true, "n_rst": true, "nreset": true,
		"rst_n_i": true, "reset_n_i": true, "rstn_i": true, "aresetn_i": true, "resetn_in": true, "sys_nrst": true, "wb_nrst_i": true, "i_nreset": true, "clrn": true,
	} {
		if got := resets.Low(name); got != want {
			t.Errorf("%s acts at 0: %v, want %v", name, got, want)
		}
	}
}
