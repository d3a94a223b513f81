package proofs

import "github.com/stafflink/lmmc/testbench/prove"

func common() []prove.Proof {
	const (
		ordered   = "order, no loss, no overflow, `used` exact"
		shown     = "words on trial are shown as they come, in order; a rollback takes them all back, and says so; `m_sure` is never early"
		committed = "only committed words come out, in order, once; rollback takes back all of a packet; `used` exact"
	)
	fifo := func(module, depth, properties string, parts ...string) prove.Proof {
		return prove.Proof{
			Name: module + "-" + depth, Properties: properties, Top: module, Params: params{"WIDTH": "2", "DEPTH": depth}, Depth: 3,
			Files: append([]string{"common/" + module + ".v", "common/ram_sdp.v"}, parts...),
		}
	}
	early := func(depth string) prove.Proof {
		p := fifo("fifo_commit", depth, shown)
		p.Name, p.Params["EARLY"] = "fifo_commit_early-"+depth, "1"
		return p
	}
	spaced := fifo("fifo_commit", "4", committed)
	spaced.Name, spaced.Params["SPACED"], spaced.Params["APART"] = "fifo_commit_spaced-4", "1", "1"
	apart := fifo("fifo_commit", "4", committed)
	apart.Name, apart.Params["APART"] = "fifo_commit_apart-4", "1"
	arbiter := func(n string) prove.Proof {
		return prove.Proof{
			Name: "arbiter_rr-" + n, Properties: "one grant, held for the packet, served within N-1 packets of others",
			Top: "arbiter_rr", Params: params{"N": n}, Depth: 4, Files: []string{"common/arbiter_rr.v"},
		}
	}
	return []prove.Proof{
		fifo("fifo_sync", "4", ordered),
		fifo("fifo_sync", "8", ordered),
		fifo("fifo_commit", "4", committed), fifo("fifo_commit", "8", committed),
		early("4"), early("8"), spaced, apart,
		{
			Name: "skid_buffer", Properties: "order, no loss, stable while stalled",
			Top: "skid_buffer", Params: params{"WIDTH": "2"}, Depth: 3, Files: []string{"common/skid_buffer.v"},
		},
		{
			Name: "pass_buffer", Properties: "order, no loss, stable while stalled",
			Top: "pass_buffer", Params: params{"WIDTH": "2"}, Depth: 3, Files: []string{"common/pass_buffer.v"},
		},
		arbiter("2"), arbiter("3"), arbiter("4"),
		{
			Name: "counter_bank", Properties: "every event counted once, reads exact, words beside the counters stay",
			Top: "counter_bank", Params: params{"N": "4", "SLOW": "6"}, Files: []string{"common/counter_bank.v", "common/ram_sdp.v"},
			Depth: 14, // more than the clocks between two visits of a word, so the schedule is part of the step
		},
		{
			Name: "pulse_tally", Properties: "a pulse for each bit that has come, while no more than 2^BITS-1 wait",
			Top: "pulse_tally", Params: params{"N": "3"}, Depth: 2, Files: []string{"common/pulse_tally.v"},
		},
		{
			Name: "fifo_async", Properties: "order, no loss, between any two clocks; pointers cross one bit at a time",
			Top: "fifo_async", Params: params{"WIDTH": "1", "DEPTH": "4"}, Depth: 2, Clocks: true,
			Files: []string{"common/fifo_async.v", "common/ram_2clk.v", "common/sync_bit.v"},
		},
	}
}

func phy() []prove.Proof {
	return []prove.Proof{{
		Name: "enc_8b10b", Properties: "the decoder undoes the encoder; disparity stays at ±1; at most five equal bits in a row; no comma outside a K28.5",
		Top: "enc_8b10b", Depth: 4, Files: []string{"phy/enc_8b10b.v", "phy/dec_8b10b.v"},
	}}
}
