package soak

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/results"
)

// detectors are the counters by which ends of a link notice faults.
var detectors = []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
	linkproto.CntBadWord, linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntStops}

// Report is what a campaign found: what lmmc soak prints with --json, and keeps as results "soak".
type Report struct {
	// Stamp is filled in by who keeps the report.
	Stamp results.Stamp `json:"stamp"`
	// Seed is that of the first round; the following ones count up.
	Seed uint64 `json:"seed"`
	// Rounds is how many rounds were begun, a run of each case in each.
	Rounds int `json:"rounds"`
	// Runs and Packets are those of all rows together.
	Runs    uint64 `json:"runs"`
	Packets uint64 `json:"packets"`
	// Cached counts the runs that were run before, and whose result was kept.
	Cached uint64 `json:"cached"`
	// Failed counts the runs that found something wrong.
	Failed int `json:"failed"`
	// Seconds is how long the campaign took.
	Seconds float64 `json:"seconds"`
	// Rows has a row for each case.
	Rows []Row `json:"rows"`
	// Failures tells of the runs that failed.
	Failures []Failure `json:"failures"`
}

// Row is what came out of the runs of a case.
type Row struct {
	Case
	Runs    uint64 `json:"runs"`
	Packets uint64 `json:"packets"` // delivered, in both directions
	Bytes   uint64 `json:"bytes"`   // of these packets
	// Barriers are those that all hosts have left.
	Barriers uint64 `json:"barriers,omitempty"`
	Cycles   uint64 `json:"cycles"` // clocks simulated
	// SymbolCycles is how many clocks a symbol takes.
	SymbolCycles int `json:"symbol_cycles"`
	// Injected counts faults; one that hits both directions counts twice.
	Injected uint64 `json:"injected"`
	// Detected sums up Counters, those of both ends by which they notice faults, by name. One fault may be noticed several times or, when
	// it hits an idle symbol or something that was to be dropped anyway, not at all.
	Detected uint64            `json:"detected"`
	Counters map[string]uint64 `json:"counters"`
	// Recovered counts faults after whose end a packet arrived in its direction, good and in order.
	Recovered uint64 `json:"recovered"`
	// RecoverP50, RecoverP99 and RecoverMax are clocks of the receiver from the end of a fault to the end of that packet.
	RecoverP50 uint64 `json:"recover_p50"`
	RecoverP99 uint64 `json:"recover_p99"`
	RecoverMax uint64 `json:"recover_max"`
	// Reported counts packets that did not arrive because the link or an end started again, and that were reported so.
	Reported uint64 `json:"reported"`
	// Lost, Wrong and Wedged count the runs that found a packet missing without a report; one duplicated, out of order or damaged, or a
	// counter that is wrong; and a link that did not come back. A run ends with the first such finding.
	Lost   uint64 `json:"lost"`
	Wrong  uint64 `json:"wrong"`
	Wedged uint64 `json:"wedged"`

	recovery histogram
}

// Failure is a run that failed.
type Failure struct {
	Case
	Seed  uint64 `json:"seed"`
	Error string `json:"error"`
	Wave  string `json:"wave"`  // "" for none
	Again string `json:"again"` // the command that repeats the run
}

// add takes a run into its row.
func (row *Row) add(x Row, recovery histogram) {
	row.Runs += x.Runs
	row.Packets += x.Packets
	row.Bytes += x.Bytes
	row.Cycles += x.Cycles
	row.Injected += x.Injected
	row.Detected += x.Detected
	row.Recovered += x.Recovered
	row.Reported += x.Reported
	row.Barriers += x.Barriers
	for name, n := range x.Counters {
		row.Counters[name] += n
	}
	row.recovery.merge(recovery)
	row.Lost += x.Lost
	row.Wrong += x.Wrong
	row.Wedged += x.Wedged
}

// close works out what only all runs together show.
func (row *Row) close() {
	q := row.recovery.quantiles(0.5, 0.99, 1)
	row.RecoverP50, row.RecoverP99, row.RecoverMax = q[0], q[1], q[2]
}
