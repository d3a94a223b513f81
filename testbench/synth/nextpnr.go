package synth

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Placement says what is placed and routed, and how.
type Placement struct {
	Target
	Netlist string   // a file of yosys's, JSON
	Options []string // of nextpnr-ice40 besides
	Pins    string   // a pin file (.pcf); "" leaves pins where they fall
	// Folder has run fill an empty folder for a seed, or returns one that was filled before by the same run.
	Folder func(ctx context.Context, seed int, run func(dir string) error) (dir string, err error)
}

// What a run leaves in its folder.
const (
	ReportName = "report.json"   // nextpnr's
	LogName    = "nextpnr.log"   // what it said
	AsciiName  = "bitstream.asc" // with Placement.Pins
)

// Placed is a run with what it used and its folder.
type Placed struct {
	Run
	Logic, Memories Use
	Dir             string
}

// atOnce is how many placers run at a time: more would take each other's memory bandwidth.
const atOnce = 2

// Run places and routes once for each seed. It calls done, unless nil, after each run, one call at a time. The results are in the order of
// the seeds. A clock that is missed is no error.
func (p Placement) Run(ctx context.Context, seeds []int, done func(Placed)) ([]Placed, error) {
	var mutex sync.Mutex
	placed := make([]Placed, len(seeds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, seed := range seeds {
		group.Go(func() error {
			one, err := p.place(ctx, seed)
			if err != nil {
				return err
			}
			mutex.Lock()
			defer mutex.Unlock()
			placed[i] = one
			if done != nil {
				done(one)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return placed, nil
}

// utilisation is a line of what nextpnr-ice40 says before it places: kind of cell, used, available.
var utilisation = regexp.MustCompile(`(?m)^Info:\s+(\w+):\s*(\d+)/\s*(\d+)\s+\d+%$`)

var kinds = map[string]string{"ICESTORM_LC": "logic cells", "ICESTORM_RAM": "block memories"}

// overfull lists the resources that a design exceeds, "" if none.
func overfull(log []byte) string {
	var list []string
	for _, m := range utilisation.FindAllSubmatch(log, -1) {
		used, _ := strconv.Atoi(string(m[2]))
		if available, _ := strconv.Atoi(string(m[3])); used > available {
			list = append(list, fmt.Sprintf("%d %s of %d", used, cmp.Or(kinds[string(m[1])], string(m[1])), available))
		}
	}
	return strings.Join(list, ", ")
}

// timing is the part of nextpnr's report that this package reads.
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

// place runs the placer and router once, unless it has been done.
func (p Placement) place(ctx context.Context, seed int) (Placed, error) {
	dir, err := p.Folder(ctx, seed, func(dir string) error {
		args := []string{"--" + p.Device, "--package", p.Package, "--freq", strconv.FormatFloat(p.MHz, 'g', -1, 64),
			"--seed", strconv.Itoa(seed), "--json", p.Netlist, "--report", filepath.Join(dir, ReportName), "--timing-allow-fail"}
		if p.Pins == "" {
			args = append(args, "--pcf-allow-unconstrained")
		} else {
			args = append(args, "--pcf", p.Pins, "--asc", filepath.Join(dir, AsciiName))
		}
		log, err := Tool(ctx, "", "nextpnr-ice40", append(args, p.Options...)...)
		if full := overfull(log); err != nil && full != "" {
			return fmt.Errorf("%w: it does not fit into the %s: it needs %s", ErrDesign, p.Device, full)
		}
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, LogName), log, 0o666)
	})
	if err != nil {
		return Placed{}, err
	}
	data, err := os.ReadFile(filepath.Join(dir, ReportName))
	if err != nil {
		return Placed{}, fmt.Errorf("synth: nextpnr-ice40 left no report: %w", err)
	}
	one, err := readTiming(data, seed)
	one.Dir = dir
	return one, err
}

func readTiming(data []byte, seed int) (Placed, error) {
	var t timing
	if err := json.Unmarshal(data, &t); err != nil {
		return Placed{}, fmt.Errorf("synth: report of nextpnr-ice40: %w", err)
	}
	if len(t.Fmax) != 1 {
		return Placed{}, fmt.Errorf("%w: it has %d clocks, want one", ErrDesign, len(t.Fmax))
	}
	p := Placed{Run: Run{Seed: seed}}
	clock := ""
	for name, f := range t.Fmax {
		clock, p.MHz = "posedge "+name, f.Achieved
	}
	for _, path := range t.CriticalPaths {
		if path.From != clock || path.To != clock {
			continue
		}
		for _, hop := range path.Path {
			to := cmp.Or(hop.Net, hop.To.Cell)
			p.Critical = append(p.Critical, Hop{Kind: hop.Type, Nanoseconds: hop.Delay, To: to, Signal: signal(to)})
		}
	}
	lc, ram := t.Utilization["ICESTORM_LC"], t.Utilization["ICESTORM_RAM"]
	p.Logic, p.Memories = Use{lc.Used, lc.Available}, Use{ram.Used, ram.Available}
	return p, nil
}

// signal is what a net or a cell was named for: yosys appends the cells that lead to it from a signal of the RTL, "sum_SB_DFF_Q_D", and
// nextpnr what it packed them into, "sum_SB_DFF_Q_D_SB_LUT4_O_LC".
func signal(name string) string {
	if strings.HasPrefix(name, "$") {
		return ""
	}
	name, _, _ = strings.Cut(name, "_SB_")
	return name
}
