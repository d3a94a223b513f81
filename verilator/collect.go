package verilator

import (
	"fmt"
	"maps"
	"os"
	"sync"
)

// Collector sums up the coverage of many models by place in the source: instances of a module count together, whatever their
// parameters. The zero value works; it is safe for goroutines side by side, each with its own models.
type Collector struct {
	mutex sync.Mutex
	sum   map[Point]uint64
	early map[*Model]map[Point]uint64
}

// Start says that a model is out of reset: signals that have toggled until now only left the random values that they had at the beginning, and
// are not counted. It needs Design.Coverage.
func (c *Collector) Start(m *Model) error {
	early, err := counts(m)
	if err != nil {
		return err
	}
	maps.DeleteFunc(early, func(p Point, _ uint64) bool { return p.Kind != "toggle" })
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.early == nil {
		c.early = map[*Model]map[Point]uint64{}
	}
	c.early[m] = early
	return nil
}

// Add adds what a model has reached, at the end of its life. It needs Design.Coverage.
func (c *Collector) Add(m *Model) error {
	own, err := counts(m)
	if err != nil {
		return err
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.sum == nil {
		c.sum = map[Point]uint64{}
	}
	for p, n := range own {
		n -= c.early[m][p]
		p.Hierarchy = ""
		c.sum[p] += n
	}
	delete(c.early, m)
	return nil
}

// counts reads the coverage of one model.
func counts(m *Model) (map[Point]uint64, error) {
	f, err := os.CreateTemp("", "lmmc-coverage-")
	if err != nil {
		return nil, fmt.Errorf("verilator: coverage: %w", err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := m.Coverage(f.Name()); err != nil {
		return nil, err
	}
	own := map[Point]uint64{}
	if err := addCoverage(own, f); err != nil {
		return nil, fmt.Errorf("verilator: coverage of model %s: %w", m.name, err)
	}
	return own, nil
}

// Points returns the sum, sorted by place. Hierarchy is empty.
func (c *Collector) Points() Points {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return sorted(c.sum)
}
