package testbench

import (
	"cmp"
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

// record asks for what a wave after the fact needs, and returns Config.Record for the model: 0 when there can be none,
// as checkpoints and coverage exclude each other.
func (c *Config) record(d *verilator.Design) uint64 {
	if c.Wave == WaveNever || d.Coverage || wavesOff() {
		return 0
	}
	if d.Timing { // which excludes checkpoints: its wave is written from the start, or not at all
		d.Trace = d.Trace || c.Wave == WaveAlways
		return 0
	}
	d.Trace, d.Checkpoint = true, true
	return c.WaveCycles
}

// scopes are what waves show, for a model that may leave one.
func (c *Config) scopes(traceable bool) []string {
	if !traceable {
		return nil
	}
	return c.WaveScopes
}

// wavesOff is WaveNever for all benches of a process.
func wavesOff() bool { return os.Getenv("LMMC_WAVES") == "off" }

// keepWave writes the wave if there is a reason to.
func (b *Bench) keepWave() {
	if b.config.Wave == WaveAlways || b.config.Wave == WaveOnFailure && b.Failed() {
		_, b.waveErr = b.DumpWaves()
	}
}

// DumpWaves writes the waves of the last stretch now, one an instance, and returns the files. Instances that were not
// recorded, because of WaveNever, LMMC_WAVES=off or for the sake of coverage, have none.
func (b *Bench) DumpWaves() ([]string, error) {
	if wavesOff() {
		return nil, nil
	}
	b.waves = nil
	for _, i := range b.instances {
		path, err := i.traced, error(nil)
		switch {
		case i.recorded:
			if path, err = i.wavePath(); err == nil {
				_, err = i.model.DumpWave(path, i.laneTexts()...)
			}
		case path != "":
			i.traced, err = "", i.model.StopTrace()
		default:
			continue
		}
		if err != nil {
			return b.waves, fmt.Errorf("testbench: wave: %w", err)
		}
		b.waves = append(b.waves, path)
	}
	return b.waves, nil
}

// wavePath is the file of an instance's wave, in a folder that it makes.
func (i *Instance) wavePath() (string, error) {
	c := i.bench.config
	dir, err := filepath.Abs(cmp.Or(c.WaveDir, os.Getenv("LMMC_WAVES"), filepath.Join(os.TempDir(), "lmmc-waves")))
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s-%d", fileName(c.Name), c.Seed)
	if i.name != "" {
		name += "-" + fileName(i.name)
	}
	return filepath.Join(dir, name+".fst"), os.MkdirAll(dir, 0o777)
}

// traceFromStart begins the wave of a design that cannot be recorded.
func (i *Instance) traceFromStart() (err error) {
	if i.traced, err = i.wavePath(); err == nil {
		err = i.model.Trace(i.traced)
	}
	return err
}

// Waves returns the files that waves were written to last.
func (b *Bench) Waves() []string { return b.waves }

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
