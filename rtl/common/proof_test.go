package common_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/testbench/prove"
)

type params = map[string]string

// The proofs of this folder. They are narrow and shallow: the pointers and counters that can go wrong do
// so at any depth of a power of two, data is moved without being looked at, and the solver chooses
// which word is followed.
var proofs = []prove.Proof{
	{Top: "fifo_sync", Params: params{"WIDTH": "2", "DEPTH": "4"}, Depth: 3},
	{Top: "fifo_sync", Params: params{"WIDTH": "2", "DEPTH": "8"}, Depth: 3},
	{Top: "fifo_commit", Params: params{"WIDTH": "2", "DEPTH": "4"}, Depth: 3},
	{Top: "fifo_commit", Params: params{"WIDTH": "2", "DEPTH": "8"}, Depth: 3},
	{Top: "skid_buffer", Params: params{"WIDTH": "2"}, Depth: 3},
	{Top: "arbiter_rr", Params: params{"N": "3"}, Depth: 4},
	{Top: "arbiter_rr", Params: params{"N": "2"}, Depth: 4},
	{Top: "arbiter_rr", Params: params{"N": "4"}, Depth: 4},
	// Depth is more than the clocks between two visits of a word, so the schedule is part of the step.
	{Top: "counter_bank", Params: params{"N": "4"}, Depth: 14},
	fifoAsync,
}

// prepare names the sources of a proof: the module and its parts, from dir.
func prepare(t *testing.T, p prove.Proof, dir string) prove.Proof {
	t.Helper()
	for _, m := range append([]string{p.Top}, parts[p.Top]...) {
		p.Files = append(p.Files, filepath.Join(dir, m+".v"))
	}
	return p
}

var parts = map[string][]string{
	"fifo_sync":    {"ram_sdp"},
	"fifo_commit":  {"ram_sdp"},
	"counter_bank": {"ram_sdp"},
	"fifo_async":   {"ram_2clk", "sync_bit"},
}

func name(p prove.Proof) string {
	s := p.Top
	for _, k := range slices.Sorted(maps.Keys(p.Params)) {
		s += "," + k + "=" + p.Params[k]
	}
	return s
}

func TestProofs(t *testing.T) {
	for _, p := range proofs {
		t.Run(name(p), func(t *testing.T) {
			prove.Run(t, prepare(t, p, "."))
		})
	}
}

// Each change of a module must be refuted by its proof.
func TestProofsKillMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute: run without -short")
	}
	mutants := []struct{ top, old, new string }{
		{"fifo_sync", "used == ONE && !pop", "used == ONE"},
		{"fifo_sync", "!used[AW]", "used < DEPTH - 1"},
		{"fifo_sync", ".rd_addr(rp_n)", ".rd_addr(rp)"},
		{"fifo_sync", ".wr_data(s_data)", ".wr_data({s_data[0], s_data[1]})"},
		{"fifo_sync", "{{AW-1{1'b0}}, push}", "{{AW-1{1'b0}}, s_valid}"},
		{"fifo_sync", "rp      <= rp_n", "rp      <= rp"},
		{"fifo_commit", "rollback ? cp : wp_n", "rollback ? cp : wp + 1'b1"},
		{"fifo_commit", "rollback ? cp : wp_n", "wp_n"},
		{"fifo_commit", "rollback ? kept_n : used_n", "rollback ? kept : used_n"},
		{"fifo_commit", "publish ? used_n : kept_n", "publish ? used : kept_n"},
		{"fifo_commit", "publish ? written : committed", "committed"},
		{"fifo_commit", "publish ? written : committed", "written"},
		{"fifo_commit", "if (publish) cp <= wp_n", "if (publish) cp <= wp"},
		{"fifo_commit", "commit && !rollback", "commit"},
		{"fifo_commit", "&& !overflow", ""},
		{"fifo_commit", "&& !(wr_en && full)", ""},
		{"fifo_commit", "wr_en && !full", "wr_en"},
		{"fifo_commit", "!rollback && (overflow", "(overflow"},
		{"fifo_commit", ".wr_en(write)", ".wr_en(wr_en)"},
		{"skid_buffer", "m_ready || !m_valid", "m_ready"},
		{"skid_buffer", "if (s_ready) aside", "if (s_valid) aside"},
		{"skid_buffer", "s_ready ? s_data : aside", "s_data"},
		{"skid_buffer", "s_valid || !s_ready", "s_valid"},
		{"skid_buffer", "move || (s_ready && !s_valid)", "move"},
		{"arbiter_rr", "request & ~grant", "request"},
		{"arbiter_rr", "wanting & behind", "wanting"},
		{"arbiter_rr", "behind <= after", "behind <= behind"},
		{"arbiter_rr", "grant == 0 || last", "last"},
		{"arbiter_rr", "lowest(first) : lowest(wanting)", "lowest(wanting) : lowest(wanting)"},
		{"counter_bank", "now3 < word3", "now3 <= word3"},
		{"counter_bank", "go[2] && !clash", "go[2]"},
		{"counter_bank", "addr2 <= addr1", "addr2 <= walk"},
		{"counter_bank", "rd_en && turn == 0", "rd_en"},
		{"counter_bank", "SLOTS + SLOTS / 7 + 10", "SLOTS"},
		{"fifo_async", "wp_gray <= gray(wp_n)", "wp_gray <= wp_n"},
		{"fifo_async", "{2'b11, {AW-1{1'b0}}}", "{2'b10, {AW-1{1'b0}}}"},
		{"fifo_async", "s_valid && s_ready", "s_valid"},
		{"fifo_async", ".rd_addr(rp_n[AW-1:0])", ".rd_addr(rp[AW-1:0])"},
		{"fifo_async", "gray(rp_n) != wp_seen", "gray(rp) != wp_seen"},
	}
	for _, m := range mutants {
		t.Run(m.top+","+m.old, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range append(parts[m.top], m.top, m.top+".formal") {
				text, err := os.ReadFile(f + ".v")
				if err != nil {
					t.Fatal(err)
				}
				if f == m.top {
					changed := strings.Replace(string(text), m.old, m.new, 1)
					if changed == string(text) {
						t.Fatalf("%s.v does not hold %q", f, m.old)
					}
					text = []byte(changed)
				}
				if err := os.WriteFile(filepath.Join(dir, f+".v"), text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			i := slices.IndexFunc(proofs, func(p prove.Proof) bool { return p.Top == m.top })
			if err := prove.Check(t.Context(), t.TempDir(), prepare(t, proofs[i], dir)); !errors.Is(err, prove.ErrRefuted) {
				t.Errorf("%q instead of %q survives: %v", m.new, m.old, err)
			}
		})
	}
}

// Two clocks: bounded. See fifo_async.formal.v.
var fifoAsync = prove.Proof{
	Top: "fifo_async", Params: params{"WIDTH": "1", "DEPTH": "4"}, Mode: prove.Bounded, Depth: 16, Clocks: true,
}
