package conformance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/conformance"
)

// like is a model, shaped as broken targets are.
const like = "model:?links=3&frames=8&page=128&replay=512&rx=2048"

func compare(t *testing.T, a, b string, o conformance.CompareOptions) *conformance.Comparison {
	t.Helper()
	return check.Must(conformance.Compare(t.Context(), [2]string{a, b}, o))(t)
}

func agree(t *testing.T, a, b string, o conformance.CompareOptions) {
	t.Helper()
	c := compare(t, a, b, o)
	if d := c.Divergence; d != nil {
		for _, e := range d.Transcript[max(0, len(d.Transcript)-8):] {
			t.Logf("%d %s: %q and %q", e.Step, e.Do, e.Said[0], e.Said[1])
		}
		t.Errorf("%s and %s differ in step %d, %s: %s\nagain: %s", a, b, d.Step, d.Do, d.What, c.Again)
	}
	t.Logf("%d steps in %.1f s, %d frames, %q", c.Steps, c.Seconds, c.Frames, c.Ways)
}

// TestCompareEqual compares targets that differ in time, and in what a script does not use.
func TestCompareEqual(t *testing.T) {
	for seed := range uint64(5) {
		agree(t, like, like, conformance.CompareOptions{Seed: seed})
		agree(t, like, "broken:none", conformance.CompareOptions{Seed: seed})
		agree(t, "model:?links=3&frames=8&page=256", "model:?links=2&frames=5&page=256&replay=1024", conformance.CompareOptions{Seed: seed})
	}
}

func TestCompareRTL(t *testing.T) {
	agree(t, "rtl:?links=3&frames=8", "model:?links=3&frames=8", conformance.CompareOptions{Steps: 800})
	agree(t, "rtl:?links=3&frames=8&width=4", "model:?links=3&frames=8", conformance.CompareOptions{Steps: 200})
}

// TestCompareBroken compares targets that are broken in one way each with one that is not.
func TestCompareBroken(t *testing.T) {
	for _, f := range faults {
		if f.name == "none" || f.alike {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			o := conformance.CompareOptions{Steps: 3000, Transcripts: t.TempDir()}
			c, err := conformance.Compare(t.Context(), [2]string{like, "broken:" + f.name}, o)
			if err != nil { // so broken that it cannot be opened
				if !errors.Is(err, hostdrv.ErrProtocol) || !strings.HasPrefix(err.Error(), "broken:"+f.name) {
					t.Error(err)
				}
				return
			}
			d := c.Divergence
			if d == nil {
				t.Fatal("no difference was found")
			}
			t.Logf("step %d, %s: %s", d.Step, d.Do, d.What)
			last := d.Transcript[len(d.Transcript)-1]
			if len(d.Transcript) != d.Step || c.Steps != d.Step-1 || last.Step != d.Step || last.Do != d.Do {
				t.Errorf("differ in step %d of %d, the transcript has %d, last %+v", d.Step, c.Steps, len(d.Transcript), last)
			}
			for _, e := range d.Transcript[:d.Step-1] {
				if e.Said[0] != e.Said[1] {
					t.Errorf("they differ before: %+v", e)
				}
			}
			for _, name := range d.Recordings {
				if sessions, err := record.ReadFile(name); err != nil || len(sessions) != 1 {
					t.Errorf("a recording of %d sessions, %v", len(sessions), err)
				}
			}
			// The other way round, and again: it is the same step, and the same is said. A violation is told when it is seen, which may
			// be some steps sooner and with other counts; what was waited for when the time was up depends on the machine too.
			o.Transcripts = ""
			e := compare(t, "broken:"+f.name, like, o).Divergence
			if e == nil {
				t.Fatal("no difference was found the other way round")
			}
			now := e.Transcript[e.Step-1].Said[0]
			var same bool
			switch violated, late := hostdrv.ErrProtocol.Error(), context.DeadlineExceeded.Error(); {
			case strings.Contains(last.Said[1], violated):
				same = strings.Contains(now, violated)
			case strings.Contains(last.Said[1], late):
				same = e.Step == d.Step && strings.Contains(now, late)
			default:
				same = e.Step == d.Step && now == last.Said[1]
			}
			if !same {
				t.Errorf("the other way round: step %d, %s: %s", e.Step, e.Do, e.What)
			}
		})
	}
}

func TestCompareNothingInCommon(t *testing.T) {
	for _, x := range []struct{ a, b, want string }{
		{"model:?page=64", "model:?page=128", "pages of 64 and of 128 bytes"},
		{"model:?links=1", "model:?links=2", "no cable comes back to its network interface in the same way on both: [link 1 reaches itself]; [link 1 reaches link 2 link 2 reaches link 1]"},
		{"model:?frames=1", "model:", "1 and 4 frames"},
	} {
		err := check.Err(conformance.Compare(t.Context(), [2]string{x.a, x.b}, conformance.CompareOptions{}))
		check.Fails(t, x.a+" and "+x.b, err, conformance.ErrOptions, x.want)
	}
	err := check.Err(conformance.Compare(t.Context(), [2]string{like, "modem:"}, conformance.CompareOptions{}))
	check.Fails(t, "no such target", err, nil, "modem:")
}

// TestCompareAlikeBroken has two targets that fail in the same way: that is told, and not taken for agreement.
func TestCompareAlikeBroken(t *testing.T) {
	const target = "broken:resume-is-ignored"
	c, err := conformance.Compare(t.Context(), [2]string{target, target}, conformance.CompareOptions{})
	if err == nil || !strings.Contains(err.Error(), "fails on both targets") || c.Steps == 0 || c.Steps >= conformance.DefaultSteps {
		t.Errorf("after %d steps: %v", c.Steps, err)
	}
}

// TestScriptVaries holds that another seed is another script, and the same one the same.
func TestScriptVaries(t *testing.T) {
	script := func(seed uint64) (all []string) {
		c := compare(t, like, "broken:write-gets-lost", conformance.CompareOptions{Seed: seed})
		for _, e := range c.Divergence.Transcript {
			all = append(all, e.Do)
		}
		return all
	}
	if a, b := script(7), script(7); !slices.Equal(a, b) {
		t.Error("two runs with one seed differ")
	}
	if slices.Equal(script(7), script(8)) {
		t.Error("runs with different seeds are the same")
	}
}
