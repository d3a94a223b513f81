package testbench

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stafflink/lmmc/verilator"
)

// Wave says when a bench leaves a wave of its last stretch.
type Wave int

const (
	// WaveOnFailure leaves one when the bench has failed.
	WaveOnFailure Wave = iota
	// WaveAlways leaves one in any case.
	WaveAlways
	// WaveNever leaves none, and saves the cost of being able to: some compile time, and some speed.
	WaveNever
)

// record asks for what a wave after the fact needs, and returns Config.Record for the model.
func (c *Config) record(d *verilator.Design) uint64 {
	if c.Wave == WaveNever || d.Coverage {
		c.Wave = WaveNever
		return 0
	}
	d.Trace, d.Checkpoint = true, true
	return c.WaveCycles
}

// keepWave writes the wave if there is a reason to.
func (b *Bench) keepWave() {
	if b.config.Wave == WaveAlways || b.config.Wave == WaveOnFailure && b.Failed() {
		_, b.waveErr = b.DumpWave()
	}
}

// DumpWave writes the wave of the last stretch now and returns its file.
func (b *Bench) DumpWave() (string, error) {
	dir := b.config.WaveDir
	if dir == "" {
		dir = os.Getenv("LMMC_WAVES")
	}
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "lmmc-waves")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("testbench: wave: %w", err)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("testbench: wave: %w", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.fst", fileName(b.config.Name), b.config.Seed))
	if _, err := b.model.DumpWave(path); err != nil {
		return "", fmt.Errorf("testbench: wave: %w", err)
	}
	b.wave = path
	return path, nil
}

// WavePath returns the file that a wave was written to last; "" if none was.
func (b *Bench) WavePath() string { return b.wave }

// fileName replaces what does not belong into the name of a file.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-.=#", r):
			return r
		}
		return '_'
	}, s)
}
