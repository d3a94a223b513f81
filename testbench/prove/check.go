package prove

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Check proves p, with its working files in dir, which must be empty. A counterexample stays there.
func Check(ctx context.Context, dir string, p Proof) error {
	return work{p, dir, true}.check(ctx)
}

// work is a proof that is being made in a folder.
type work struct {
	Proof
	dir    string
	traced bool // a refutation says which assertions fail, and has a counterexample
}

func (p work) check(ctx context.Context) error {
	if p.Name == "" {
		p.Name = p.Top
	}
	if err := p.valid(); err != nil {
		return err
	}
	for _, tool := range []string{"yosys", "yosys-smtbmc", "yosys-abc", "z3"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("prove %s: %w: %s (apt install yosys z3)", p.Name, ErrTool, tool)
		}
	}
	if p.Timeout == 0 {
		p.Timeout = 30 * time.Minute
	}
	from, err := filepath.Abs(p.Dir)
	if err != nil {
		return fmt.Errorf("prove %s: %w", p.Name, err)
	}
	if err := os.Symlink(from, filepath.Join(p.dir, filepath.Clean(sources))); err != nil {
		return fmt.Errorf("prove %s: %w", p.Name, err)
	}
	if out, err := p.run(ctx, "yosys", "-q", "-p", p.script()); err != nil {
		return fmt.Errorf("prove %s: yosys: %w\n%s", p.Name, err, out)
	}
	if p.method() == Reachability {
		return p.reach(ctx)
	}
	return p.induct(ctx)
}

const fromReset = "from reset" // a stage

// solve runs yosys-smtbmc, which says so when an assertion can fail.
func (p work) solve(ctx context.Context, stage string, args ...string) error {
	trace := filepath.Join(p.dir, "trace.vcd")
	args = append(args, "--unroll", "--noprogress", "-s", "z3", "--dump-vcd", trace, "model.smt2")
	out, err := p.run(ctx, "yosys-smtbmc", args...)
	if err == nil {
		return nil
	}
	if where := p.broken(out); where != nil {
		return &Refutation{Proof: p.Name, Stage: stage, Where: where, Trace: trace}
	}
	return fmt.Errorf("prove %s: %s: %w\n%s", p.Name, stage, err, out)
}

// reach runs yosys-abc, on one assertion after the other: each needs a part of the design only. What it finds against one is repeated
// by yosys-smtbmc, which knows the sources' names.
func (p work) reach(ctx context.Context) error {
	count, err := p.assertions()
	if err != nil {
		return fmt.Errorf("prove %s: %w", p.Name, err)
	}
	for i := range count {
		// fold makes the assumptions a part of each assertion. With -nc pdr generalizes clauses as Hassan, Bradley and Somenzi do ("Better
		// generalization in IC3", FMCAD 2013): the hardest assertion of link_rx_stop takes a quarter of the time, others about the same.
		script := fmt.Sprintf("read_aiger model.aig; fold; strash; cone -s -O %d; scorr; pdr -nc; write_cex -a model.aiw", i)
		out, err := p.run(ctx, "yosys-abc", "-q", script)
		switch {
		case err != nil:
			return fmt.Errorf("prove %s: yosys-abc: %w\n%s", p.Name, err, out)
		case bytes.Contains(out, []byte("Property proved.")):
			continue
		case !bytes.Contains(out, []byte(" was asserted in frame ")):
			return fmt.Errorf("prove %s: yosys-abc found neither a proof nor a counterexample\n%s", p.Name, out)
		}
		return p.refuted(ctx, fromReset, out, again...)
	}
	return nil
}

// refuted has yosys-smtbmc repeat what yosys-abc has refuted and told of in out. It never returns nil.
func (p work) refuted(ctx context.Context, stage string, out []byte, how ...string) error {
	if !p.traced {
		return &Refutation{Proof: p.Name, Stage: stage}
	}
	if err := p.solve(ctx, stage, how...); err != nil {
		return err
	}
	return fmt.Errorf("prove %s: %s: yosys-abc refutes it, and no assertion fails under yosys-smtbmc\n%s", p.Name, stage, out)
}

// again are the arguments with which yosys-smtbmc repeats the counterexample of yosys-abc.
var again = []string{"--aig-noheader", "--aig", "model"}

// induct runs yosys-abc on all assertions as one, of a Bounded proof without the step. It tells of a step that fails without saying how:
// yosys-smtbmc finds that anew.
func (p work) induct(ctx context.Context) error {
	abc := func(command string) ([]byte, error) {
		out, err := p.run(ctx, "yosys-abc", "-q", "read_aiger model.aig; fold; strash; orpos; "+command)
		if err != nil {
			err = fmt.Errorf("prove %s: yosys-abc: %w\n%s", p.Name, err, out)
		}
		return out, err
	}
	frames := p.Depth + 1 // one behind the steps
	out, err := abc(fmt.Sprintf("bmc3 -F %d; write_cex -a model.aiw", frames))
	switch {
	case err != nil:
		return err
	case bytes.Contains(out, []byte(" was asserted in frame ")):
		return p.refuted(ctx, fromReset, out, again...)
	case !bytes.Contains(out, fmt.Appendf(nil, "No output asserted in %d frames.", frames)):
		return fmt.Errorf("prove %s: yosys-abc did not check %d steps from reset\n%s", p.Name, p.Depth, out)
	case p.method() == Bounded:
		return nil
	}
	out, err = abc(fmt.Sprintf("ind -F %d", frames))
	if err != nil || bytes.Contains(out, []byte("Networks are equivalent.")) {
		return err
	}
	return p.refuted(ctx, "induction", out, "-i", "-t", strconv.Itoa(p.Depth))
}

// assertions reads from the header of the AIGER file (aig M I L O A B C J F) how many bad states it has.
func (p work) assertions() (int, error) {
	f, err := os.Open(filepath.Join(p.dir, "model.aig"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var unused, bad int
	if _, err := fmt.Fscanf(f, "aig %d %d %d %d %d %d", &unused, &unused, &unused, &unused, &unused, &bad); err != nil || bad == 0 {
		return 0, fmt.Errorf("model.aig does not say how many assertions it has: %v", err)
	}
	return bad, nil
}

var failedAssert = regexp.MustCompile(`Assert failed in \S+: (\S+?:\d+)`)

// broken lists the assertions that yosys-smtbmc reports as failed, named as in p.Files.
func (p work) broken(out []byte) []string {
	var where []string
	for _, m := range failedAssert.FindAllSubmatch(out, -1) {
		w := strings.TrimPrefix(string(m[1]), sources)
		if !slices.Contains(where, w) {
			where = append(where, w)
		}
	}
	return where
}

// run runs a tool and returns what it said, or why it did not finish in time.
func (p work) run(ctx context.Context, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("no answer in %v", p.Timeout))
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	defer own(cmd)()
	cmd.Dir = p.dir
	err := cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return out.Bytes(), err
}
