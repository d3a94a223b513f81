package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/testbench/results"
)

// CompareOptions say what Compare does. The zero value suits most.
type CompareOptions struct {
	// Seed determines the script; 0 means 1.
	Seed uint64
	// Steps is how long the script is; 0 means DefaultSteps.
	Steps int
	// Transcripts is the folder for recordings of what went over the two cables if they differ, for package hostdrv/replay; "" for none.
	Transcripts string
	// Progress is called after each step; nil for none.
	Progress func(done, total int)
}

// DefaultSteps is how long a script of Compare is unless said otherwise.
const DefaultSteps = 2000

// Comparison is what Compare found.
type Comparison struct {
	Stamp      results.Stamp       `json:"stamp"` // for the caller to fill
	Targets    [2]string           `json:"targets"`
	Identities [2]hostdrv.Identity `json:"identities"`
	// Ways are the cables that the script uses, Frames how many frames of the receive buffer: what both targets have.
	Ways   []string `json:"ways"`
	Frames int      `json:"frames"`
	Seed   uint64   `json:"seed"`
	Steps  int      `json:"steps"` // that were carried out on both
	// Divergence is where they first differ, nil if they do not.
	Divergence *Divergence `json:"divergence"`
	Seconds    float64     `json:"seconds"` // in wall-clock time
	Again      string      `json:"again"`   // the command that repeats it
}

// Divergence is the first step that came out differently on the two targets.
type Divergence struct {
	Step int    `json:"step"` // from 1
	Do   string `json:"do"`   // what was done
	What string `json:"what"` // differs
	// Transcript are the steps of both up to this one, which is the last.
	Transcript []Entry `json:"transcript"`
	// Recordings are the files of what went over the cables, "" if none were kept.
	Recordings [2]string `json:"recordings"`
}

// Entry is a step of a transcript.
type Entry struct {
	Step int       `json:"step"` // from 1
	Do   string    `json:"do"`
	Said [2]string `json:"said"` // by each target
}

// said is what a target answers to a step, and what it reports.
type said struct {
	text string
	data []byte // what was read; text has no more than a sum of it if there is much
	err  error  // other than that a request was refused
}

// Compare runs one script, chosen by a seed, on two targets step by step, and compares what they answer and report: values, bytes, refusals,
// traps, notifications, counts. When something happens does not matter: before anything is compared that depends on packets which are
// underway, both targets have carried them out. The script keeps to what both have: cables that go the same way, frames, registers; the
// pages must be of one size.
//
// That targets differ is no error. It returns one for wrong options, if a target cannot be opened, if targets have too little in common,
// if a step fails in the same way on both, and when ctx ends.
func Compare(ctx context.Context, targets [2]string, o CompareOptions) (c *Comparison, err error) {
	if o.Steps < 0 {
		return nil, fmt.Errorf("%w: a script of %d steps", ErrOptions, o.Steps)
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Seed == 0 {
		o.Seed = 1
	}
	start := time.Now()
	c = &Comparison{Targets: targets, Seed: o.Seed, Again: fmt.Sprintf("go run ./cmd/lmmc conform --diff --seed %d --steps %d '%s' '%s'", o.Seed, o.Steps, targets[0], targets[1])}
	var sides [2]*side
	defer func() {
		for i, s := range sides {
			if s == nil {
				continue
			}
			closed := s.close()
			if c != nil && c.Divergence == nil { // else the target may be gone
				err = errors.Join(err, closed)
			} else if c != nil && o.Transcripts != "" {
				c.Divergence.Recordings[i] = filepath.Join(o.Transcripts, fmt.Sprintf("diff-%d.rec", i+1))
				err = errors.Join(err, s.tape.keep(c.Divergence.Recordings[i]))
			}
		}
	}()
	for i, target := range targets {
		if sides[i], err = openSide(ctx, target, o.Seed); err != nil {
			return nil, err
		}
		c.Identities[i] = sides[i].id
	}
	shape, err := inCommon(sides)
	if err != nil {
		return nil, err
	}
	c.Frames = shape.frames
	for _, l := range shape.loops {
		c.Ways = append(c.Ways, Link{Link: l.via, Peer: l.at}.String())
	}
	err = c.run(ctx, sides, newScript(o.Seed, shape), o)
	c.Seconds = time.Since(start).Seconds()
	return c, err
}

// run carries out the script until the targets differ.
func (c *Comparison) run(ctx context.Context, sides [2]*side, script *script, o CompareOptions) error {
	var transcript []Entry
	for n := 1; n <= o.Steps; n++ {
		step := script.next()
		entry := Entry{Step: n, Do: step.do}
		var both [2]said
		for i, s := range sides {
			both[i] = s.carryOut(ctx, step)
			entry.Said[i] = both[i].text
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		transcript = append(transcript, entry)
		if what := both[0].differs(both[1]); what != "" {
			c.Divergence = &Divergence{Step: n, Do: step.do, What: what, Transcript: transcript}
			return nil
		}
		if both[0].err != nil {
			return fmt.Errorf("step %d, %s, fails on both targets: %w\nagain: %s", n, step.do, both[0].err, c.Again)
		}
		c.Steps = n
		if o.Progress != nil {
			o.Progress(n, o.Steps)
		}
	}
	return nil
}

// differs says how the targets differ, "" if they do not.
func (a said) differs(b said) string {
	switch {
	case (a.err == nil) != (b.err == nil), a.text != b.text && (a.data == nil || len(a.data) != len(b.data)):
		return fmt.Sprintf("%q and %q", a.text, b.text)
	case !bytes.Equal(a.data, b.data):
		i := 0
		for a.data[i] == b.data[i] {
			i++
		}
		return fmt.Sprintf("byte %d is %#02x and %#02x", i, a.data[i], b.data[i])
	}
	return ""
}
