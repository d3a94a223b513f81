package rtl_test

import (
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
)

// variants are parameter values that lint looks at besides the defaults: the edges of what is allowed.
var variants = map[string][]string{
	"arbiter_rr":     {"-GN=1", "-GN=3", "-GN=8"},
	"beat_bytes":     {"-GWIDTH=1", "-GWIDTH=8"},
	"beat_pack":      {"-GWIDTH=1", "-GWIDTH=2", "-GWIDTH=8"},
	"cdr_oversample": {"-GOVERSAMPLE=3 -GVOTES=2", "-GOVERSAMPLE=4", "-GOVERSAMPLE=16 -GVOTES=16"},
	"counter_bank":   {"-GN=1", "-GN=4", "-GN=5", "-GN=128"},
	"fifo_async":     {"-GDEPTH=4", "-GWIDTH=1"},
	"fifo_commit":    {"-GDEPTH=4", "-GWIDTH=1", "-GEARLY=1", "-GSPACED=1"},
	"fifo_sync":      {"-GDEPTH=4", "-GWIDTH=1"},
	"lane_framer":    {"-GWIDTH=1", "-GWIDTH=8"},
	"lane_rx":        {"-GWIDTH=1", "-GWIDTH=8"},
	"link_endpoint":  {"-GWIDTH=4", "-GWIDTH=8 -GEARLY=1"},
	"link_lanes":     {"-GLANES=2 -GWIDTH=4"},
	"link_mux":       {"-GLANES=8 -GLANE=7", "-GBARRIER=1"},
	"link_split":     {"-GBARRIER=1"},
	"link_peer":      {"-GLANES=8"},
	"link_replay":    {"-GWIDTH=4", "-GWIDTH=8", "-GWIDTH=8 -GREAD=8"},
	"link_trunk":     {"-GLANES=2 -GWIDTH=1", "-GLANES=8 -GWIDTH=8 -GPORT=0 -GROUTES=1", "-GLANES=3 -GBARRIER=1"},
	"link_rx":        {"-GEARLY=1", "-GEARLY=2", "-GSPACED=1", "-GWIDTH=4", "-GWIDTH=8 -GEARLY=1", "-GWIDTH=8 -GEARLY=2"},
	"ni_answer":      {"-GWIDTH=4 -GHOLD_BYTES=64", "-GWIDTH=8"},
	"ni_beat_writer": {"-GWIDTH=4"},
	"ni_bounds":      {"-GPAGE_BYTES=64", "-GPAGE_BYTES=8192"},
	"ni_buffer":      {"-GWORD=8", "-GWORD=8 -GBANKS=2", "-GWORD=8 -GBANKS=2 -GPROMPT=1"},
	"ni_compose":     {"-GN=1", "-GN=10"},
	"ni_core": {"-GLINKS=7 -GFRAMES=256 -GPAGE_BYTES=256", "-GLINKS=2 -GFRAMES=5 -GPAGE_BYTES=64 -GREPLAY_BYTES=128 -GRX_BYTES=512",
		"-GFRAMES=1 -GPAGE_BYTES=64", "-GPAGE_BYTES=8192 -GREPLAY_BYTES=16384 -GRX_BYTES=16384",
		"-GTRACE=256", "-GINJECT=1 -GLINKS=3", "-GTRACE=8192 -GINJECT=1 -GLINKS=7", "-GWIDTH=4", "-GWIDTH=8 -GLINKS=7 -GFRAMES=256 -GPAGE_BYTES=256", "-GROUTES=1 -GLINKS=2",
		"-GROUTER=1", "-GROUTER=16 -GWIDTH=8 -GTRACE=256 -GINJECT=1", "-GROUTER=2 -GVIRTUAL=10", "-GROUTER=1 -GVIRTUAL=2 -GVL_SLOTS=4 -GPAGE_BYTES=64",
		"-GROUTER=1 -GVIRTUAL=2 -GCONTEXTS=1 -GFRAMES=2 -GPAGE_BYTES=64",
		"-GROUTER=1 -GVIRTUAL=2 -GCONTEXTS=8 -GFRAMES=256 -GPAGE_BYTES=8192 -GREPLAY_BYTES=16384 -GRX_BYTES=16384", "-GROUTER=2 -GVIRTUAL=10 -GWIDTH=4", "-GROUTER=2 -GVIRTUAL=3 -GWIDTH=8 -GLANES=8",
		"-GLANES=3 -GHOST_LANES=4 -GLINKS=2 -GWIDTH=4"},
	"ni_host_in":   {"-GWIDTH=4", "-GWIDTH=8 -GWORD=8"},
	"ni_link_in":   {"-GWIDTH=4", "-GWIDTH=8 -GWORD=8"},
	"ni_regs":      {"-GWIDTH=4", "-GLANES=2"},
	"ni_reply":     {"-GWORD=8"},
	"ni_debug":     {"-GTRACE=256", "-GINJECT=1 -GLINKS=3", "-GTRACE=8192 -GINJECT=1 -GLINKS=7"},
	"ni_trace":     {"-GPORTS=8 -GDEPTH=1024", "-GPORTS=3 -GDEPTH=2"},
	"ni_lines":     {"-GLINK_PHY=1 -GLINKS=2", "-GHOST_PHY=2 -GLINK_PHY=2 -GLINKS=7 -GFRAMES=24 -GPAGE_BYTES=256", "-GHOST_PHY=2", "-GHOST_PHY=2 -GLINK_PHY=1 -GROUTER=3", "-GLINK_PHY=1 -GLANES=8 -GLINKS=2"},
	"phy_serial":   {"-GOVERSAMPLE=3 -GCOMMA_EVERY=64", "-GOVERSAMPLE=4", "-GOVERSAMPLE=8"},
	"net_input":    {"-GN=17 -GSLOTS=2", "-GWIDTH=4", "-GWIDTH=8"},
	"ni_direct":    {"-GROUTER=3", "-GROUTER=2 -GLANES=4 -GWIDTH=4", "-GLANES=8 -GHOST_LANES=8 -GWIDTH=8 -GPAGE_BYTES=2048 -GREPLAY_BYTES=32768 -GRX_BYTES=32768"},
	"net_direct":   {"-GLANES=4 -GWIDTH=4", "-GSERIAL=4'd5"},
	"ni_network":   {"-GROUTER=1", "-GROUTER=16 -GWIDTH=8"},
	"net_local":    {"-GWIDTH=4 -GREPLAY_BYTES=128 -GMAX_PACKET=89", "-GWIDTH=8"},
	"net_links":    {"-GPORTS=1", "-GPORTS=16 -GWIDTH=8 -GEARLY=0"},
	"net_match":    {"-GN=2", "-GN=17"},
	"net_manage":   {"-GPORTS=1", "-GWIDTH=4 -GPATIENCE=16", "-GPORTS=16 -GWIDTH=8"},
	"net_regs":     {"-GPORTS=1 -GLANES=2", "-GPORTS=7", "-GPORTS=16 -GWIDTH=8"},
	"net_switch":   {"-GPORTS=2 -GWIDTH=4", "-GPORTS=16 -GWIDTH=8"},
	"net_vl":       {"-GVIRTUAL=10 -GSLOTS=256", "-GVIRTUAL=2 -GSLOTS=4 -GMAX_PACKET=72 -GWINDOW=127"},
	"net_vl_bytes": {"-GWIDTH=1", "-GWIDTH=8"},
	"net_table":    {"-GN=17", "-GN=3 -GNODES=64 -GGROUPS=2"},
	"ni_notify":    {"-GFRAMES=1", "-GLINKS=7 -GFRAMES=24 -GPAGE_BYTES=256", "-GLINKS=3 -GFRAMES=256 -GPAGE_BYTES=8192"},
	"ni_port":      {"-GROUTER=2", "-GLINK=7 -GINJECT=1", "-GWIDTH=4", "-GWIDTH=8 -GWORD=8"},
	"ni_trap":      {"-GFRAMES=1 -GMAX_PACKET=72", "-GFRAMES=256 -GLINK=7", "-GWIDTH=4", "-GWIDTH=8"},
	"ram_bytes":    {"-GWIDTH=1", "-GWIDTH=8", "-GWIDTH=8 -GREAD=8"},
	"ram_sdp":      {"-GDEPTH=2", "-GWIDTH=32 -GWORD_BYTES=4"},
	"reset_sync":   {"-GSTRETCH=256"},
	"skid_buffer":  {"-GWIDTH=1"},
	"trunk_issue":  {"-GLANES=2", "-GLANES=8"},
	"trunk_order":  {"-GLANES=2 -GWIDTH=1", "-GLANES=8 -GWIDTH=8"},
	"trunk_state":  {"-GLANES=2 -GSILENCE=0", "-GLANES=8"},
}

// Every module is clean under Verilator's warnings, and Icarus reads it too.
func TestLint(t *testing.T) {
	for _, tool := range []string{"verilator", "iverilog"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s not found (apt install verilator iverilog): %v", tool, err)
		}
	}
	files, names := modules()
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, variant := range append([]string{""}, variants[name]...) {
				args := append(strings.Fields("--lint-only -Wall -fno-const-bit-op-tree -I. -y common -y phy -y link -y ni -y net --top-module "+name+" "+variant), files[i])
				if out, err := exec.CommandContext(t.Context(), "verilator", args...).CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("verilator %s: %v\n%s", strings.Join(args, " "), err, out)
				}
			}
			args := append(strings.Fields("-g2005-sv -Wall -Wno-timescale -I. -tnull -s "+name), files...)
			if out, err := exec.CommandContext(t.Context(), "iverilog", args...).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("iverilog %s: %v\n%s", name, err, out)
			}
		})
	}
}

const columns = 140

// Lines fit on a screen, and names are declared before they are used, which no tool asks for.
func TestText(t *testing.T) {
	files, err := fs.Glob(rtl.FS, "*/*.v")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		text := check.Must(fs.ReadFile(rtl.FS, name))(t)
		for i, line := range strings.Split(string(text), "\n") {
			if len([]rune(line)) > columns {
				t.Errorf("%s:%d: %d columns, want %d at most", name, i+1, len([]rune(line)), columns)
			}
		}
		for _, use := range undeclared(string(text)) {
			t.Errorf("%s:%s", name, use)
		}
	}
}

var (
	// A token of Verilog; a name behind a dot or a backquote is not one of the file's.
	token      = regexp.MustCompile("(?s)//[^\n]*|/\\*.*?\\*/|\"[^\"\n]*\"|\\d*'\\w+|[.`$]?\\w+|\\\\\\S+|\\S|\n")
	identifier = regexp.MustCompile(`^([A-Za-z_]|\\)`)
	declares   = strings.Fields("input output inout wire reg integer genvar localparam parameter signed")
)

// undeclared lists the names that a file uses before it declares them.
func undeclared(text string) (uses []string) {
	used, declared := map[string]int{}, map[string]bool{}
	declaring, wanted, depth, line := false, false, 0, 1
	for _, word := range token.FindAllString(text, -1) {
		line += strings.Count(word, "\n")
		switch {
		case slices.Contains(declares, word):
			declaring, wanted, depth = true, true, 0
		case strings.Contains("([{", word):
			depth++
		case strings.Contains(")]}", word) && depth > 0:
			depth--
		case strings.Contains(");", word):
			declaring = false
		case depth == 0 && word == ",":
			wanted = true
		case depth == 0 && word == "=":
			wanted = false
		case !identifier.MatchString(word):
		case declaring && wanted && depth == 0:
			wanted = false
			if at, early := used[word]; early && !declared[word] {
				uses = append(uses, fmt.Sprintf("%d: %s is declared in line %d, behind its use", at, word, line))
			}
			declared[word] = true
		default:
			if _, before := used[word]; !before && !declared[word] {
				used[word] = line
			}
		}
	}
	return uses
}

func TestUndeclared(t *testing.T) {
	for text, want := range map[string]string{
		"wire a = b;\nreg [7:0] b;":                     "[1: b is declared in line 2, behind its use]",
		"wire [b:0] a;\nlocalparam c = 1, b = 2;":       "[1: b is declared in line 2, behind its use]",
		"u x (.a(p[c]));\n\nwire [c-1:0] d, p;\nreg c;": "[1: p is declared in line 3, behind its use 1: c is declared in line 4, behind its use]",
		"wire b; // c\nu x (.c(b), .d(`e + 8'hf));\nreg c, d, e, f, hf;\ninput g, input h;\nassign i = g + h;": "[]",
	} {
		check.Equal(t, fmt.Sprintf("%q", text), fmt.Sprint(undeclared(text)), want)
	}
}
