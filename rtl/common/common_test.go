package common_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/verilator"
)

type params = map[string]string

// open compiles module top of this folder and binds ports.
func open(t *testing.T, top string, p params, ports ...any) *verilator.Model {
	t.Helper()
	return openDesign(t, verilator.Design{
		Top: top, FS: rtl.FS, Sources: []string{"common/" + top + ".v"}, IncludeDirs: []string{"common"}, Params: p,
	}, ports...)
}

// openDesign compiles a design and binds ports.
func openDesign(t *testing.T, d verilator.Design, ports ...any) *verilator.Model {
	t.Helper()
	lib := check.Must(verilator.Build(t.Context(), d))(t)
	m := check.Must(lib.New(verilator.Config{Name: d.Top, Seed: 1}))(t)
	t.Cleanup(func() { m.Close() })
	for _, p := range ports {
		check.Fatal(t, m.Bind(p))
	}
	return m
}

// start is open for a module with one clock, and a reset if rst is not nil.
func start(t *testing.T, top string, p params, rst **bool, ports ...any) *verilator.Model {
	t.Helper()
	m := open(t, top, p, ports...)
	check.Must(m.Clock("clk", 10, 0))(t)
	if rst != nil {
		**rst = true
		step(t, m)
		step(t, m)
		**rst = false
	}
	return m
}

func step(t *testing.T, m *verilator.Model) {
	t.Helper()
	check.Fatal(t, m.Step())
}

// random is seeded from LMMC_SEED, else the same in every run; a test that fails prints the seed.
func random(t *testing.T) *rand.Rand {
	t.Helper()
	seed := uint64(1)
	if s := os.Getenv("LMMC_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatalf("LMMC_SEED: %v", err)
		}
		seed = n
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("repeat with LMMC_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// often is true in a share of p per cent.
func often(r *rand.Rand, p int) bool { return r.IntN(100) < p }
