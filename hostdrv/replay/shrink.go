package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/hostdrv/record"
	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
)

// ErrAgree says that target and reference do the same with what the host sent, so there is nothing to shrink.
var ErrAgree = errors.New("replay: the target and the reference do the same")

// Opener opens a target anew.
type Opener func(ctx context.Context) (hostdrv.Transport, error)

// Shrinker looks for a short session in which a target differs from a reference. What a host sent is cut down; what a network interface
// should say to the rest is asked of the reference, each time, since the recorded answers are no longer right when something before
// them is missing.
type Shrinker struct {
	Target, Reference Opener
	Name              string                      // of the reference, for the recording
	Progress          func(packets, attempts int) // nil: nobody wants to know
}

// quietTicks is how long the target says nothing before a step that waited for more than answers.
const quietTicks = 1 << 12

// Shrink returns the recording of the shortest session found, made with the reference, and what its replay on the target finds.
func (s Shrinker) Shrink(ctx context.Context, session *record.Session) ([]byte, Result, error) {
	if s.Target == nil || s.Reference == nil {
		return nil, Result{}, errors.New("replay: a Shrinker needs a Target and a Reference")
	}
	steps := newScript(session).steps
	names := named(steps)
	best, found, err := s.attempt(ctx, names, steps)
	if err != nil {
		return nil, found, err
	}
	if found.Divergence == nil {
		return nil, found, ErrAgree
	}
	attempts := 1
	steps = upTo(found, names, steps)
	for size := (len(steps) + 1) / 2; size > 0; {
		shorter := false
		for at := 0; at < len(steps); {
			if s.Progress != nil {
				s.Progress(len(steps), attempts)
			}
			less := slices.Delete(slices.Clone(steps), at, min(at+size, len(steps)))
			recording, result, err := s.attempt(ctx, names, less)
			attempts++
			switch {
			case err != nil:
				return best, found, err
			case result.Divergence != nil:
				best, found, shorter = recording, result, true
				steps = upTo(result, names, less)
			default:
				at += size
			}
		}
		switch {
		case size > 1:
			size /= 2
		case !shorter:
			size = 0
		}
	}
	// Without what comes after the divergence.
	recording, result, err := s.attempt(ctx, names, steps)
	if err == nil && result.Divergence != nil {
		best, found = recording, result
	}
	return best, found, err
}

// upTo returns the steps up to a divergence, before which the recording has names as well.
func upTo(r Result, names []linkproto.Packet, steps []step) []step {
	return steps[:max(r.Divergence.Step-len(names), 0)]
}

// attempt runs names and steps on the reference and what was recorded there on the target.
func (s Shrinker) attempt(ctx context.Context, names []linkproto.Packet, steps []step) ([]byte, Result, error) {
	var file bytes.Buffer
	if err := s.refer(ctx, names, steps, &file); err != nil {
		return nil, Result{}, fmt.Errorf("%w (reference %s)", err, s.Name)
	}
	sessions, err := record.Read(bytes.NewReader(file.Bytes()))
	if err != nil {
		return nil, Result{}, err
	}
	t, err := s.Target(ctx)
	if err != nil {
		return nil, Result{}, err
	}
	result, err := Run(ctx, sessions[0], t)
	return file.Bytes(), result, errors.Join(err, t.Close())
}

// refer sends names and steps to the reference. What a step waited for may be among what was cut away, so each waits for the answers to the
// requests before it, and for quiet.
func (s Shrinker) refer(ctx context.Context, names []linkproto.Packet, steps []step, file *bytes.Buffer) (err error) {
	t, err := s.Reference(ctx)
	if err != nil {
		return err
	}
	recorder := record.New(file)
	t = recorder.Wrap(t, record.Header{Target: s.Name})
	defer func() { err = errors.Join(err, t.Close(), recorder.Close()) }()
	p, err := newPlayer(ctx, t)
	if err != nil {
		return err
	}
	defer p.stop()
	answers := 0
	p.hear = func(raw []byte) {
		if linkproto.Type(raw[0]&(1<<linkproto.TypeBits-1)) <= linkproto.TypeDone {
			answers++
		}
	}
	return try.Run(func() {
		p.comeUp()
		p.prepare(names)
		var asked []int // the places of the requests sent, in the session
		for i := range steps {
			step := &steps[i]
			due := sort.SearchInts(asked, step.needs.answers)
			p.until(settleTicks, func() bool { return answers >= due })
			if step.other {
				p.until(quietTicks, func() bool { return false })
			}
			if step.place >= 0 {
				asked = append(asked, step.place)
			}
			p.pause(step.pause)
			p.send(step.Raw)
		}
		p.pause(settleTicks)
	})
}
