package prove

import (
	"errors"

	"github.com/stafflink/lmmc/testbench/results"
)

// Document is what `lmmc prove` found, as it prints and keeps it.
type Document struct {
	Stamp   results.Stamp   `json:"stamp"`
	Proved  int             `json:"proved"`
	Failed  int             `json:"failed"`
	Cached  int             `json:"cached"`  // of those proved, before this run
	Seconds float64         `json:"seconds"` // from the first proof's beginning to the last one's end
	Proofs  []DocumentProof `json:"proofs"`
}

// DocumentProof is one proof of a Document.
type DocumentProof struct {
	Module     string   `json:"module"` // the proof's name
	Properties string   `json:"properties"`
	Method     Method   `json:"method"`
	Depth      int      `json:"depth"` // steps; 0 for reachability, which has none
	Seconds    float64  `json:"seconds"`
	Result     string   `json:"result"` // "proved", "refuted", or "failed": neither was found
	Cached     bool     `json:"cached"` // it was proved before, and nothing that it follows from has changed
	Error      string   `json:"error"`
	Where      []string `json:"where"` // assertions that the counterexample breaks, as file:line
	Trace      string   `json:"trace"` // the counterexample, a VCD file
}

// NewDocument describes results that were found in so many seconds.
func NewDocument(stamp results.Stamp, seconds float64, all []Result) Document {
	d := Document{Stamp: stamp, Seconds: seconds, Proofs: []DocumentProof{}}
	for _, r := range all {
		p := DocumentProof{
			Module: r.Name, Properties: r.Properties, Method: r.method(), Depth: r.Depth, Seconds: r.Elapsed.Seconds(), Result: "proved", Cached: r.Cached, Where: []string{},
		}
		if r.Cached {
			d.Cached++
		}
		if r.Err == nil {
			d.Proved++
		} else {
			d.Failed++
			p.Result, p.Error = "failed", r.Err.Error()
			if refuted := new(Refutation); errors.As(r.Err, &refuted) {
				p.Result, p.Where, p.Trace = "refuted", refuted.Where, refuted.Trace
			}
		}
		d.Proofs = append(d.Proofs, p)
	}
	return d
}
