package soak

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
)

// sendTen is a flow with ten packets under way.
func sendTen() (*flow, [][]byte) {
	f := &flow{name: "a to b", recovery: histogram{}}
	var packets [][]byte
	for i := range 10 {
		p := []byte{byte(i), 7, 7, byte(i)}
		packets = append(packets, p)
		f.send(p)
	}
	return f, packets
}

func TestFlowJudges(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for _, c := range []struct {
		name    string
		prepare func(*flow)
		arrive  []int // -1 is something else
		want    error
		says    string
		missing uint64
	}{
		{"all", nil, all, nil, "", 0},
		{"one is missing", nil, []int{0, 1, 3}, ErrLost, "packet 2 was not reported, and 3 came", 0},
		{"the last is missing", nil, all[:9], ErrLost, "packet 9 never came", 0},
		{"twice", nil, []int{0, 1, 1}, ErrOrder, "packet 1 came when 2 was due", 0},
		{"out of order", func(f *flow) { f.allowLoss(0, 2, reported) }, []int{2, 1}, ErrOrder, "", 2},
		{"damaged", nil, []int{0, -1}, ErrDamaged, "packet 1 has 3 bytes, 09 09 09", 0},
		{"too many", nil, append(slices.Clone(all), -1), ErrOrder, "nothing was under way", 0},
		{"reported", func(f *flow) { f.allowLoss(3, 6, reported) }, []int{0, 1, 2, 6, 7, 8, 9}, nil, "", 3},
		{"reported and delivered all the same", func(f *flow) { f.allowLoss(3, 6, reported) }, all, nil, "", 0},
		{"one more than reported", func(f *flow) { f.allowLoss(3, 6, reported) }, []int{0, 1, 2, 7}, ErrLost, "packet 6", 3},
		{"one before those reported", func(f *flow) { f.allowLoss(3, 6, reported) }, []int{0, 1, 6}, ErrLost, "packet 2", 0},
		{"died with its receiver", func(f *flow) { f.deaths = 2; f.allowLoss(0, 5, died) }, []int{2, 3, 4, 5, 6, 7, 8, 9}, nil, "", 2},
		{"more than its receiver had", func(f *flow) { f.deaths = 2; f.allowLoss(0, 5, died) }, []int{3}, ErrLost, "packet 2", 2},
		{"after its receiver had read again", func(f *flow) { f.deaths = 2; f.allowLoss(0, 5, died) }, []int{0, 2}, ErrLost, "packet 1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, packets := sendTen()
			if c.prepare != nil {
				c.prepare(f)
			}
			var err error
			for _, n := range c.arrive {
				p := []byte{9, 9, 9}
				if n >= 0 {
					p = slices.Clone(packets[n])
				}
				if err = f.arrive(p, 1, 4); err != nil {
					break
				}
			}
			if err == nil {
				err = f.finish()
			}
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %v that says %q", err, c.want, c.says)
			}
			check.Equal(t, "packets passed over", f.missing, c.missing)
		})
	}
}

func TestFlowRecovers(t *testing.T) {
	f, packets := sendTen()
	f.faultEnded(100, 90, 200)
	for i, at := range []uint64{50, 100, 150, 300} { // the second may have been on the wire when the faults came
		check.Fatal(t, f.arrive(packets[i], at, at+10))
	}
	want := histogram{110 - 90: 1, 160 - 100: 1, 310 - 200: 1}
	check.Equal(t, "recovery", f.recovery, want)
	check.Equal(t, "faults that are open", len(f.faults), 0)
}

func TestQuantiles(t *testing.T) {
	h, other := histogram{}, histogram{1000: 1}
	for v := range uint64(100) {
		h[v+1]++
	}
	check.Equal(t, "quantiles", h.quantiles(0.5, 0.99, 1), []uint64{50, 99, 100})
	h.merge(other)
	check.Equal(t, "values", h.count(), 101)
	check.Equal(t, "quantiles of both", h.quantiles(0, 0.5, 1), []uint64{1, 51, 1000})
	check.Equal(t, "quantiles of nothing", histogram(nil).quantiles(0.5, 1), []uint64{0, 0})
}
