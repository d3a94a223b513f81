package barriers_test

import (
	"testing"

	"github.com/stafflink/lmmc/hostdrv/collective"
	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/testbench/cluster"
	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// TestPredict compares with the formula of the paper on MCD, whose parameters are these, in µs.
func TestPredict(t *testing.T) {
	mcd := barriers.LogP{Send: 3, Latency: 17.5, Receive: 9.5}
	check.Equal(t, "shuffle exchange", mcd.Predict(collective.Algorithms[0], 32, 0), 5*(3+17.5+9.5))
	if have := mcd.Predict(collective.Algorithms[1], 32, 0); have <= 5*30 || have > 10*30 {
		t.Errorf("a tree of 5 phases up and 5 down: %v", have)
	}
}

// TestRun: on models, where a switch takes no time, predictions are exact but for the quanta of time.
func TestRun(t *testing.T) {
	d := check.Must(barriers.Run(t.Context(), cluster.Model, []int{2, 8}, 5, 1, func(what string) { t.Log(what) }))(t)
	t.Logf("%+v", d.Models)
	for _, m := range d.Points {
		t.Logf("%+v: %.2f", m, m.Error())
		if m.Least > m.Mean || m.Mean > m.Most || m.Most > 2*m.Mean || m.Mean < 100 || m.Error() > 0.05 {
			t.Error("that cannot be")
		}
	}
}
