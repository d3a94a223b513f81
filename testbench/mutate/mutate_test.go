package mutate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/mutate"
)

// rewriter makes this program the one that puts mutants into designs.
const rewriter = "rewrite-for-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == rewriter {
		if err := mutate.Rewrite(context.Background(), os.Args[2:], os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && (os.Args[1] == "sim" || os.Args[1] == "prove") {
		pretend(os.Args[2:])
	}
	os.Exit(m.Run())
}

func options(t *testing.T) mutate.Options {
	self := check.Must(os.Executable())(t)
	return mutate.Options{Root: "testdata/lib", Rewriter: []string{self, rewriter}, Count: 1000, Seed: 1}
}

// run returns a report and its survivors by name.
func run(t *testing.T, o mutate.Options) (mutate.Report, map[string]mutate.Survivor) {
	t.Helper()
	report := check.Must(mutate.Run(t.Context(), o))(t)
	survivors := map[string]mutate.Survivor{}
	for _, s := range report.Survivors {
		survivors[s.Mutant] = s
	}
	return report, survivors
}

// All mutants of an adder: the sum is tested, half of what there is to say about the parity is tested one level up, and what feeds a
// condition that never holds is proved to change nothing.
func TestRun(t *testing.T) {
	report, survivors := run(t, options(t))
	if report.Tried != report.Killed+report.Equivalent+report.Survived || report.Killed < 100 || report.Equivalent == 0 {
		t.Errorf("%+v", report)
	}
	for name, s := range survivors {
		even := strings.Contains(name, "u_adder:sum[0]") || strings.Contains(name, "cnot1[0]") || strings.Contains(name, "odd[0]=const0")
		if s.Module == "twice" && even {
			continue // twice anything is even
		}
		if !strings.Contains(name, "(odd)") {
			t.Errorf("survives: %s (%s: %s)", name, s.Place(), s.Source)
		}
		if s.Module != "adder" || s.File != "testdata/lib/part/adder.v" || !strings.Contains(s.Again, "'"+name+"'") {
			t.Errorf("%+v", s)
		}
	}
	if len(survivors) == 0 {
		t.Error("nobody tests that an odd sum is called odd, and all mutants are killed")
	}
	stages := map[string]mutate.Stage{}
	for _, s := range report.Stages {
		stages[s.Name] = s
	}
	if stages["module tests"].Killed == 0 || stages["other tests"].Killed == 0 || stages[mutate.ProofStage].Killed != report.Equivalent {
		t.Errorf("%+v", report.Stages)
	}

	// One of them alone has the same fate, and the same number of mutants comes with the same seed.
	for name := range survivors {
		m := check.Must(mutate.ParseMutant(name))(t)
		o := options(t)
		o.Only = []mutate.Mutant{m}
		if again, _ := run(t, o); again.Survived != 1 || again.Tried != 1 {
			t.Errorf("%s alone: %+v", name, again)
		}
		break
	}
	o := options(t)
	o.Count, o.Modules = 12, []string{"adder"}
	o.Store = t.TempDir()
	first, _ := run(t, o)
	second, _ := run(t, o) // those that survive are tried again
	if first.Tried != 12 || fmt.Sprint(first.Survivors) != fmt.Sprint(second.Survivors) || first.Killed != second.Killed || first.Equivalent != second.Equivalent {
		t.Errorf("%+v, then %+v", first, second)
	}
	if first.Cached != 0 || second.Cached != second.Killed+second.Equivalent || second.Cached == 0 {
		t.Errorf("%d cached, then %d", first.Cached, second.Cached)
	}
}

func TestExplanations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "equivalent.txt")
	o := options(t)
	o.Modules, o.Explanations = []string{"adder"}, file
	explain := func(lines ...string) {
		check.Fatal(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o666))
	}
	explain("# nobody asks", "adder | odd <= a[0] ^ b[0]; | $xor(odd)@16-27:Y[*]=const0 | for this test", "",
		"adder | always @(posedge clk) begin | $dff(odd)@5:*[0-3]=const0 | for this test too",
		"adder | odd <= a[0] ^ b[0]; | $xor(odd)@16-26:*[*]=* | there is no such cell",
		"adder | always @(posedge clk) begin | $dff(odd):*[1-3]=* | there is no such bit")
	report, survivors := run(t, o)
	if report.Explained == 0 || len(report.Excused) != report.Explained || report.Excused[0].Reason == "" {
		t.Errorf("%+v", report)
	}
	for name := range survivors {
		if strings.Contains(name, "$xor(odd)") && strings.HasSuffix(name, "Y[0]=const0") || strings.Contains(name, "$dff(odd)") && strings.HasSuffix(name, "=const0") {
			t.Errorf("%s is explained and survives", name)
		}
	}
	// Trusted, they meet no test of another folder, and those that are not explained all the same.
	o.Trust = true
	trusting, alive := run(t, o)
	tried := func(r mutate.Report, name string) int {
		return r.Stages[slices.IndexFunc(r.Stages, func(s mutate.Stage) bool { return s.Name == name })].Tried
	}
	if trusting.Explained != report.Explained || fmt.Sprint(alive) != fmt.Sprint(survivors) ||
		tried(trusting, "other tests") != tried(report, "other tests")-report.Explained {
		t.Errorf("trusted: %+v; with all checks: %+v", trusting, report)
	}
	for _, c := range []struct {
		line string
		want error
	}{
		{"adder | sum <= a - b; | $sub:A[*]=* | gone", mutate.ErrStale},
		{"subtractor | sum <= a + b; | $add:A[*]=* | gone", mutate.ErrStale},
		{"adder | sum <= a + b; | $add:*[*]=* | not so", mutate.ErrWrong},
	} {
		explain(c.line)
		check.Fails(t, c.line, check.Err(mutate.Run(t.Context(), o)), c.want, file+":1")
	}
	explain("adder: the reason")
	check.Fails(t, "a line that is no explanation", check.Err(mutate.Run(t.Context(), o)), nil, "MODULE | SOURCE")
}

func TestMutantNames(t *testing.T) {
	for _, name := range []string{
		"link_rx/$eq@68.32-68.44:B[1]=const1", "link_rx/$dff(seq)@114.5-119.8#2:Q[7]=cnot1[3]", "link_rx/u_fifo:m_data[8]=inv",
		"ni_core/g_in[1].u_in:n_frame[6]=inv", "adder/$shiftx@0.0-0.0:A[12]=cnot0[0]", "ni_trap/$dff(g[3].x)@1.2-3.4:D[0]=const0",
	} {
		m, err := mutate.ParseMutant(name)
		if err != nil || m.Name() != name {
			t.Errorf("%s becomes %s, %v", name, m.Name(), err)
		}
	}
	for _, name := range []string{"", "adder", "adder/$add:A[0]=inv", "adder/$add@1.2-1.3:A[0]=cnot1", "adder/$add@1.2-1.3:A[0]=inv[2]", "adder/$add@1.2-1.3:A=inv"} {
		check.Fails(t, fmt.Sprintf("%q", name), check.Err(mutate.ParseMutant(name)), mutate.ErrName)
	}
}

func TestOptions(t *testing.T) {
	for _, change := range []func(*mutate.Options){
		func(o *mutate.Options) { o.Count = 0 },
		func(o *mutate.Options) { o.Count = 1 << 16 },
		func(o *mutate.Options) { o.Modules = []string{"subtractor"} },
		func(o *mutate.Options) {
			o.Only = []mutate.Mutant{{Module: "adder", Cell: mutate.Cell{Name: "u_none"}, Port: "a", Mode: "inv"}}
		},
	} {
		o := options(t)
		change(&o)
		check.Fails(t, fmt.Sprintf("%+v", o), check.Err(mutate.Run(t.Context(), o)), mutate.ErrOptions)
	}
	o := options(t)
	o.Modules = []string{"addre"}
	check.Fails(t, "a module that is misspelt", check.Err(mutate.Run(t.Context(), o)), mutate.ErrOptions, `"addre" in testdata/lib (did you mean adder?)`)
}

// The limits are those of the binomial distribution: 5 of 32 or more survive in 2.0 % of samples, 4 in 7.4 %; 63 of 1,000 in 3.8 %, 61 in 6.7 %.
func TestFallsShort(t *testing.T) {
	for _, c := range []struct {
		tried, survived int
		want            bool
	}{{0, 0, false}, {32, 4, false}, {32, 5, true}, {1000, 61, false}, {1000, 63, true}, {3, 3, true}, {1, 0, false}} {
		r := mutate.Report{Killed: c.tried - c.survived, Survived: c.survived}
		check.Equal(t, fmt.Sprintf("%d of %d survive", c.survived, c.tried), r.FallsShort(0.95), c.want)
	}
}
