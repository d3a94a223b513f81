package soak

import (
	"cmp"
	"fmt"
	"math"

	"github.com/stafflink/lmmc/internal/try"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
	"github.com/stafflink/lmmc/verilator"
)

// disturb plans faults for the next symbol times, and lets those happen now that take the whole link.
func (r *run) disturb(symbols int) {
	r.planned(symbols)
	due := func(kind bool) bool {
		return kind && r.plans.Chance(-math.Expm1(float64(symbols)*math.Log1p(-r.rate)))
	}
	if due(r.fault.unplug) {
		r.outage()
	}
	if due(r.fault.restart) {
		if r.plans.Bool() {
			r.rest() // what an end has counted dies with it
		}
		which := testbench.Pick(r.plans, [2]bool{true, false}, [2]bool{false, true}, [2]bool{true, true})
		r.restart(which, r.plans.Between(2, 500))
		r.faultsEnded(0, 1)
	}
	if due(r.fault.stall) {
		r.stall()
	}
}

// planned draws faults of symbols, or of bits on a line that carries them one by one.
func (r *run) planned(symbols int) {
	if r.fault.jitter {
		r.jitter(symbols)
		return
	}
	if r.fault.plan == nil {
		return
	}
	rates := r.fault.plan(r.rate)
	rates.Width, rates.Symbols = r.link.width, uint64(symbols)
	perSymbol := r.link.symbol / r.link.bit // bits
	if perSymbol > 1 {
		rates.Symbols *= uint64(perSymbol)
		for _, rate := range []*float64{&rates.Drop, &rates.Duplicate, &rates.Burst, &rates.Stuck} {
			*rate /= float64(perSymbol)
		}
		rates.BurstLength, rates.StuckLength = 16*perSymbol, 64*perSymbol
	}
	r.turns++
	for wire := range 2 {
		plan := testbench.GenerateFaults(r.plans.Split(fmt.Sprintf("turn %d wire %d", r.turns, wire)), rates)
		for i := range plan {
			if k := plan[i].Kind; k == testbench.FaultDrop {
				plan[i].Count *= uint64(perSymbol)
			}
		}
		ends := r.inject(wire, plan)
		r.injected += uint64(len(plan))
		r.flows[wire].faultEnded(ends...)
	}
}

// jitter repeats samples, never two in a row: where there is an edge, it comes a clock late.
func (r *run) jitter(symbols int) {
	for i, wire := range r.wires {
		var late []verilator.Fault
		start := wire.Stats().Samples
		next := &r.late[i]
		for *next = max(*next, start); *next < start+uint64(symbols*r.link.symbol); *next++ {
			if r.plans.Chance(r.rate) {
				late = append(late, verilator.Fault{Kind: verilator.Repeat, At: *next})
				*next++
			}
		}
		try.OK(wire.Inject(late...))
	}
}

// faultsEnded notes a fault of the traffic from some ends that is over now.
func (r *run) faultsEnded(senders ...int) {
	for _, i := range senders {
		r.injected++
		r.flows[i].faultEnded(r.ends[1-i].now())
	}
}

// outage takes the cable out, one way or both.
func (r *run) outage() {
	wires := testbench.Pick(r.plans, []int{0, 1}, []int{0, 1}, []int{0}, []int{1})
	open := testbench.Pick(r.plans, r.link.idle, 0, 1<<r.link.width-1)
	for _, w := range wires {
		r.unplug(w, open)
	}
	symbols := r.plans.Between(1, 4000)
	if r.plans.Chance(1.0 / 32) { // all retries run out
		retry := cmp.Or(r.link.timers["RETRY"], linkproto.DefaultRetry)
		symbols = retry*linkproto.DefaultRetryLimit + r.plans.IntN(retry)
	}
	r.pause(symbols)
	for _, w := range wires {
		r.plug(w)
	}
	r.faultsEnded(wires...)
}

// pause lets symbol times pass, with traffic.
func (r *run) pause(symbols int) {
	for ; symbols > 0; symbols -= 500 {
		r.offer(math.MaxInt)
		r.step(min(symbols, 500))
	}
}

// stall makes an end's host stop reading for a while.
func (r *run) stall() {
	i := r.plans.IntN(2)
	r.ends[i].read(false)
	r.pause(r.plans.Between(1, 10_000))
	r.ends[i].read(true)
	r.faultsEnded(1 - i)
}

// restart makes ends start again, and lets them be dead for some symbol times or longer.
func (r *run) restart(which [2]bool, symbols int) {
	for i, dies := range which {
		if !dies {
			continue
		}
		out, in := r.flows[i], r.flows[1-i]
		// What the end has not been acknowledged for, and what it has acknowledged and its host has not read, may go with it.
		out.allowLoss(out.base+r.ends[i].released(), out.end(), reported)
		in.deaths += r.ends[i].committed() - r.read[i]
		in.allowLoss(in.next, in.base+r.ends[1-i].released(), died)
		in.dying = true
		r.ends[i].die()
	}
	for n := symbols; n > 0; n -= 500 {
		r.step(min(n, 500))
	}
	for i, dies := range which {
		for dies && !r.ends[i].reborn() {
			r.step(20)
		}
		if dies {
			r.flows[i].base = r.flows[i].end()
			r.flows[i].dying = false
			r.read[i] = 0
			r.accounts[i] = r.account(i)
		}
	}
}
