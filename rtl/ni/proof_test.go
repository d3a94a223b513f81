package ni_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/testbench/prove"
)

// The proofs of this folder. Page and frames are few, since what is proven is about order, not about sizes; packets are of any length.
func proofs(dir string) []prove.Proof {
	in := func(name string) string { return filepath.Join(dir, name) }
	return []prove.Proof{
		{Top: "ni_trap", Params: params{"LINK": "5", "FRAMES": "5", "MAX_PACKET": "72"}, Depth: 3, Unroll: true,
			Files: []string{in("linkproto.vh"), in("ni_trap.v")}},
		{Top: "ni_link_in", Params: params{"PAGE_BYTES": "64", "ADDR_WIDTH": "8"}, Depth: 3, Unroll: true,
			Files: []string{in("linkproto.vh"), in("ni_link_in.v"), in("ni_page_writer.v")}},
		{Top: "ni_trace", Params: params{"PORTS": "3", "DEPTH": "4"}, Depth: 4, Unroll: true,
			Files: []string{in("linkproto.vh"), in("ni_trace.v"), in("ni_trace_port.v"), in("ram_sdp.v")}},
	}
}

// copies puts the sources of the proofs in a folder, changed as a mutant says.
func copies(t *testing.T, module, old, new string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"../linkproto.vh", "ni_trap.v", "ni_trap.formal.v", "ni_link_in.v", "ni_link_in.formal.v", "ni_page_writer.v",
		"ni_trace.v", "ni_trace.formal.v", "ni_trace_port.v", "../common/ram_sdp.v"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(raw)
		if name == module+".v" {
			if text = strings.Replace(text, old, new, 1); text == string(raw) {
				t.Fatalf("%s does not hold %q", name, old)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestProofs(t *testing.T) {
	for _, p := range proofs(copies(t, "", "", "")) {
		t.Run(p.Top, func(t *testing.T) { prove.Run(t, p) })
	}
}

// Each change of a module must be refuted by its proof.
func TestProofsKillMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute: run without -short")
	}
	for _, m := range []struct{ module, old, new string }{
		{"ni_trap", "quiet && !hold", "quiet"},
		{"ni_trap", "quiet && !hold", "!hold"},
		{"ni_trap", "if (resume) hold <= 1'b0", "hold <= 1'b0"},
		{"ni_trap", "if (resume) hold <= 1'b0", ""},
		{"ni_trap", "hold  <= 1'b1;\n", ""},
		{"ni_trap", "state == PASS && !traps", "!traps"},
		{"ni_trap", "state == PASS && !traps", "state == PASS"},
		{"ni_trap", "(state == REST && s_valid)", "state == REST"},
		{"ni_trap", "(state == REST && t_ready)", "state == REST"},
		{"ni_trap", "state == REST && s_last", "s_last"},
		{"ni_trap", "{head, trap_length,", "{head, length,"},
		{"ni_trap", "{s_data, head[39:8]}", "{head[31:0], s_data}"},
		{"ni_trap", "index == 3'd7", "index == 3'd6"},
		{"ni_trap", "head[39:24] < FRAMES", "head[39:24] <= FRAMES"},
		{"ni_trap", "length == `LP_PAGE_MIN_LENGTH &&", ""},
		{"ni_trap", "length <= CONNECT_MOST[15:0]", "length <= 68"},
		{"ni_trap", "good ? REPORT : DROP", "REPORT"},
		{"ni_trap", "if (take) begins <= s_last", "begins <= s_last"},
		{"ni_link_in", "CHECK: if (!hold)", "CHECK: if (1'b1)"},
		{"ni_link_in", "&& writer_idle && !note;", "&& !note;"},
		{"ni_link_in", "&& writer_idle && !note;", "&& writer_idle;"},
		{"ni_link_in", "state == HEAD && index == 3'd0", "state == HEAD || index == 3'd0"},
		{"ni_trace", "if (valid[turn]) from = turn;", ""},
		{"ni_trace", "now - {28'd0, age}", "now"},
		{"ni_trace", "ready && running;", "ready;"},
		{"ni_trace", "if (at_once) running <= 1'b0;", ""},
		{"ni_trace", "!triggered && (write ? fits : asked)", "(write ? fits : asked)"},
		{"ni_trace", "(write ? fits : asked)", "(fits || asked)"},
		{"ni_trace", "&& trigger_ports[port]", ""},
		{"ni_trace", ".wr_addr(count[AW-1:0])", ".wr_addr(mark[AW-1:0])"},
		{"ni_trace_port", "!valid || take", "1'b1"},
		{"ni_trace_port", "gap    <= lost", "gap    <= ev_lost"},
		{"ni_trace_port", "now - 4'd1", "now"},
		{"ni_trace_port", "else if (room)       zero_due <= 1'b0", "else zero_due <= 1'b0"},
		{"ni_trace_port", "lost  <= lost && !any && !zero_due", "lost  <= lost && !any"},
		{"ni_trace_port", "if (room) begin\n            events", "begin\n            events"},
	} {
		t.Run(m.module+","+m.old, func(t *testing.T) {
			for _, p := range proofs(copies(t, m.module, m.old, m.new)) {
				if p.Top != strings.TrimSuffix(m.module, "_port") {
					continue
				}
				if err := prove.Check(t.Context(), t.TempDir(), p); !errors.Is(err, prove.ErrRefuted) {
					t.Errorf("%q instead of %q survives: %v", m.new, m.old, err)
				}
			}
		})
	}
}
