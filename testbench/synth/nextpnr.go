package synth

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// placed is a run with what it used.
type placed struct {
	Run
	logic, memories Use
}

// timing is nextpnr's report, as far as it is read here.
type timing struct {
	Fmax map[string]struct {
		Achieved float64 `json:"achieved"`
	} `json:"fmax"`
	Utilization map[string]struct {
		Used      int `json:"used"`
		Available int `json:"available"`
	} `json:"utilization"`
	CriticalPaths []struct {
		From string `json:"from"`
		To   string `json:"to"`
		Path []struct {
			Delay float64 `json:"delay"`
			Type  string  `json:"type"`
			Net   string  `json:"net"`
			To    struct {
				Cell string `json:"cell"`
			} `json:"to"`
		} `json:"path"`
	} `json:"critical_paths"`
}

// place runs the placer and router once.
func place(ctx context.Context, dir, netlist string, target Target, seed int) (placed, error) {
	report := filepath.Join(dir, fmt.Sprintf("report-%d.json", seed))
	args := append([]string{"--" + target.Device, "--package", target.Package, "--freq", strconv.FormatFloat(target.MHz, 'g', -1, 64),
		"--seed", strconv.Itoa(seed), "--json", netlist, "--report", report, "--timing-allow-fail", "--pcf-allow-unconstrained"}, ForSpeed.Placement...)
	if _, err := tool(ctx, "nextpnr-ice40", args...); err != nil {
		return placed{}, err
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return placed{}, fmt.Errorf("synth: nextpnr-ice40 left no report: %w", err)
	}
	return readTiming(data, seed)
}

func readTiming(data []byte, seed int) (placed, error) {
	var t timing
	if err := json.Unmarshal(data, &t); err != nil {
		return placed{}, fmt.Errorf("synth: report of nextpnr-ice40: %w", err)
	}
	if len(t.Fmax) != 1 {
		return placed{}, fmt.Errorf("%w: it has %d clocks, want one", ErrDesign, len(t.Fmax))
	}
	p := placed{Run: Run{Seed: seed}}
	clock := ""
	for name, f := range t.Fmax {
		clock, p.MHz = "posedge "+name, f.Achieved
	}
	for _, path := range t.CriticalPaths {
		if path.From != clock || path.To != clock {
			continue
		}
		for _, hop := range path.Path {
			to := hop.Net
			if to == "" {
				to = hop.To.Cell
			}
			p.Critical = append(p.Critical, Hop{Kind: hop.Type, Nanoseconds: hop.Delay, To: to})
		}
	}
	lc, ram := t.Utilization["ICESTORM_LC"], t.Utilization["ICESTORM_RAM"]
	p.logic, p.memories = Use{lc.Used, lc.Available}, Use{ram.Used, ram.Available}
	return p, nil
}
