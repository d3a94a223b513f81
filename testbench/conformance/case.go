package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/stafflink/lmmc/internal/campaign"
	"github.com/stafflink/lmmc/internal/try"
)

// Case is a requirement and how it is checked.
type Case struct {
	// Name is a group, a slash, and what is checked of it; no two are equal.
	Name string
	// Requirement is what must hold, in one sentence.
	Requirement string
	// Model is the notion of link memory management based communication that the requirement belongs to; "" for none.
	Model string
	// Source is the section that lays it down: a file of doc/ and a heading's anchor.
	Source string

	run func(ctx context.Context, b *bench)
}

// The notions of the model of communication.
const (
	linkMemory   = "link memory"
	remoteWrite  = "remote write"
	ports        = "ports and system calls"
	pageFrames   = "frames managed by the sender"
	remotePaging = "remote paging"
	policies     = "write policies"
	waiting      = "two-phase waiting"
	protection   = "protection"
	staffLink    = "STAFF-Link: first in, first out, once"
)

// Cases returns all cases, in the order in which they run.
func Cases() []Case {
	return slices.Concat(identityCases, registerCases, bufferCases, writeCases, protectionCases, orderingCases, notifyCases,
		portCases, pagingCases, policyCases, waitCases, flowCases, cableCases, restartCases, networkCases, contextCases, performanceCases)
}

// ErrOptions is wrapped by errors about Options and CompareOptions.
var ErrOptions = errors.New("conformance")

// Choose returns the case of this name or, if there is none, those whose names match it as a regular expression; all for "".
func Choose(cases []Case, filter string) ([]Case, error) {
	chosen, err := campaign.Choose("case", cases, func(c Case) string { return c.Name }, filter)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	return chosen, nil
}

// skipped is why a case cannot be done on a target.
type skipped string

func (s skipped) Error() string { return string(s) }

// skipf ends a case that cannot be done.
func skipf(format string, args ...any) { try.OK(skipped(fmt.Sprintf(format, args...))) }
