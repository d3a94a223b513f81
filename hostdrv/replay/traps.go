package replay

import (
	"bytes"
	"fmt"

	"github.com/stafflink/lmmc/linkproto"
)

// stand is how a link stands between two RESUMEs: at a trap, or not yet. A trap is counted once, however often it is told: the cable of the
// recorded host may have lost the first TRAP, and that of the replay does not.
type stand struct {
	told  bool   // by a TRAP
	raw   []byte // which
	asked bool   // to tell again, by RETRAP
	owed  bool   // and has not done so
	since uint64 // tick of the RESUME before
}

// lateTicks is how long after a packet a trap at it has been told for certain.
const lateTicks = 4 * settleTicks

// resumes notes that a step is sent which is about a trap.
func (j *judge) resumes(s *step) {
	switch stood := &j.stood[s.packet.Via]; {
	case s.packet.Type == linkproto.TypeResume:
		*stood = stand{}
	case s.packet.Type == linkproto.TypeRetrap:
		stood.owed = stood.told
	}
}

// retraps reports whether a step made the recorded NI tell a trap again, as far as that is known.
func (s *step) retraps() bool {
	return s.packet.Type == linkproto.TypeRetrap && (s.answer == nil || s.answer.packet.Status == linkproto.StatusOK)
}

// trap takes a TRAP of the target.
func (j *judge) trap(p *linkproto.Packet, raw []byte, steps int) {
	stood := &j.stood[p.Via]
	if stood.owed {
		stood.owed = false
		if !sameTrap(stood.raw, raw) {
			j.diverge(Divergence{Step: steps, What: fmt.Sprintf("link %d of the target told another trap than before", p.Via), Target: raw})
		}
		return
	}
	stood.told, stood.raw = true, bytes.Clone(raw)
	list := j.script.traps[p.Via]
	n := j.seen.traps[p.Via]
	j.seen.traps[p.Via]++
	if n < len(list) {
		j.compared++
		if same := bytes.Equal(list[n].raw, raw); !same && !(list[n].again && sameTrap(raw, list[n].raw)) {
			j.diverge(Divergence{Step: steps, Tick: list[n].at, What: fmt.Sprintf("link %d trapped at something else", p.Via), Recorded: list[n].raw, Target: raw})
		}
		return
	}
	// The recording may have ended, or lost the trap, before it could be told.
	if j.script.restarts == 0 && steps > 0 && j.script.end-min(j.script.steps[steps-1].End, j.script.end) > lateTicks {
		j.diverge(Divergence{Step: steps, Tick: j.script.end, What: fmt.Sprintf("link %d of the target trapped, and the recorded one did not", p.Via), Target: raw})
	}
}

// sameTrap reports whether the second TRAP tells the first one again: a CONNECT without its params.
func sameTrap(first, again []byte) bool {
	a, aOK := trapAt(first)
	b, bOK := trapAt(again)
	return aOK && bOK && a.Type == b.Type && a.Frame == b.Frame && a.Port == b.Port && (a.Type == linkproto.TypePage || len(b.Data) == 0)
}

// trapAt is what a link has trapped at.
func trapAt(raw []byte) (at linkproto.Packet, ok bool) {
	var p linkproto.Packet
	return at, p.Decode(raw) == nil && at.Decode(p.Data) == nil
}
