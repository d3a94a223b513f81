package soak

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// Case is one cell of the campaign: a kind of link, a kind of fault, and how often it comes.
type Case struct {
	// Link is one of Links.
	Link string `json:"link"`
	// Fault is one of Faults.
	Fault string `json:"fault"`
	// Rate is the probability that a fault begins, for each bit with flip and for each symbol otherwise; 0 with none.
	Rate float64 `json:"rate"`
}

func (c Case) String() string { return c.Link + " " + c.Fault + " " + c.RateText() }

// RateText is the rate as it is printed and may be given again.
func (c Case) RateText() string {
	if c.Rate == 0 {
		return "0"
	}
	return strconv.FormatFloat(c.Rate, 'e', -1, 64)
}

// link is a kind of link, all of it in clocks.
type link struct {
	name, doc string
	phy       int // parameter PHY of module link_end
	width     int // bits of the line
	bit       int // clocks a bit; 1 on a line that carries whole symbols
	symbol    int // clocks a symbol
	idle      uint64
	ppm       int            // by how much the two clocks differ at most
	latency   [2]int         // of the cable
	symbols   int            // symbol times of a run
	timers    map[string]int // parameters of link_endpoint that are not the defaults
	words     int            // WORD_TIMERs that a restart takes longer, since words are lost while the PHY finds the borders of symbols
	host      bool           // the second end is flowctl's, in Go
	net       bool           // it is no link, but a network
	virtual   bool           // over which hosts have virtual links
	offload   bool           // which most network interfaces carry out
	barriers  bool           // whose routers carry out barriers of all hosts
	rtl       bool           // whose network interfaces are RTL, and which has all faults at once and at its own rates
	rates     []float64
}

// A line is sampled some 50 times a symbol: shorter timers keep what follows from them in proportion.
var lineTimers = map[string]int{"ACK_DELAY": 128, "WORD_TIMER": 512, "RETRY": 2048}

var links = []link{
	{name: "direct", doc: "two ends in Verilog, phy_direct: a symbol a clock", width: 9, bit: 1, symbol: 1, idle: uint64(linkproto.SymIdle),
		latency: [2]int{4, 100}, symbols: 700_000},
	{name: "serial", doc: "two ends in Verilog, phy_serial: 8b/10b, five clocks a bit, clocks up to 1000 ppm apart", phy: 1, width: 1, bit: 5, symbol: 50,
		ppm: 1000, latency: [2]int{4, 300}, symbols: 20_000, timers: lineTimers, words: 2},
	{name: "uart", doc: "two ends in Verilog, phy_uart: five clocks a bit, clocks up to 1 % apart", phy: 2, width: 1, bit: 5, symbol: 50, idle: 1,
		ppm: 10_000, latency: [2]int{4, 300}, symbols: 20_000, timers: lineTimers, words: 2},
	{name: "host", doc: "one end in Verilog, the other in Go, as between a network interface and its host", width: 9, bit: 1, symbol: 1,
		idle: uint64(linkproto.SymIdle), symbols: 500_000, host: true},
	{name: "net", doc: "a network of switches and network interfaces, all models in Go: star, tree, fat tree, hyper-crossbar, mesh or ring", symbol: 1, symbols: 150_000, net: true},
	{name: "vl", doc: "virtual links between the hosts of such a network: packets come once and in order, or are reported", symbol: 1, symbols: 150_000, net: true, virtual: true},
	{name: "vl-ni", doc: "the same, but most network interfaces carry out the virtual links", symbol: 1, symbols: 150_000, net: true, virtual: true, offload: true},
	{name: "barrier", doc: "barriers of all hosts by the routers of such a network, under packets: nobody leaves one before all have entered it, and all leave it", symbol: 1, symbols: 150_000,
		net: true, barriers: true},
	{name: "net-rtl", doc: "a network whose network interfaces are RTL, and whose switches are models: ring, mesh, star or hyper-crossbar", symbol: 1,
		symbols: 30_000, net: true, rtl: true, rates: []float64{1e-4}},
	{name: "barrier-rtl", doc: "the same with network interfaces in RTL, as of net-rtl", symbol: 1, symbols: 30_000, net: true, barriers: true, rtl: true, rates: []float64{1e-4}},
	{name: "vl-rtl", doc: "virtual links over such a network, most of which network interfaces in RTL carry out", symbol: 1,
		symbols: 60_000, net: true, virtual: true, offload: true, rtl: true, rates: []float64{1e-4}},
}

// fault is a kind of fault. Planned faults hit symbols or bits of a wire; the others are things done to the whole link.
type fault struct {
	name, doc string
	rates     []float64
	plan      func(rate float64) testbench.FaultRates
	net       bool // it is for networks
	link      bool // it is for links
	unplug    bool // the cable is taken out, both ways
	pull      bool // a switch is
	lanes     bool // single lanes of cables are cut, one or both ways, or damage what they carry
	restart   bool // an end starts again, or both do
	stall     bool // a reader stops reading
	jitter    bool // edges come late; on lines that carry bits
	clean     bool // nothing happens to the symbols: no counter of an error may move
	words     int  // WORD_TIMERs within which a fault has to be recovered from, as nothing else disturbs the link; 0 for no limit
}

var faults = []fault{
	{name: "none", doc: "no fault: nothing may be dropped or sent again", rates: []float64{0}, clean: true, link: true, net: true},
	{name: "jitter", doc: "edges of a line that come a clock, a fifth of a bit, late: nothing may go wrong", rates: []float64{0.5}, jitter: true, clean: true, link: true},
	{name: "flip", doc: "single wrong bits", rates: []float64{1e-6, 1e-5, 1e-4, 1e-3, 1e-2}, link: true,
		plan: func(r float64) testbench.FaultRates { return testbench.FaultRates{BitError: r} }},
	{name: "drop", doc: "symbols missing", rates: []float64{1e-4, 1e-3}, link: true,
		plan: func(r float64) testbench.FaultRates { return testbench.FaultRates{Drop: r} }},
	{name: "duplicate", doc: "symbols that arrive twice", rates: []float64{1e-4, 1e-3}, link: true,
		plan: func(r float64) testbench.FaultRates { return testbench.FaultRates{Duplicate: r} }},
	{name: "burst", doc: "noise for up to 16 symbols", rates: []float64{1e-4, 1e-3}, link: true,
		plan: func(r float64) testbench.FaultRates { return testbench.FaultRates{Burst: r} }},
	{name: "stuck", doc: "one value for up to 64 symbols", rates: []float64{1e-4}, link: true,
		plan: func(r float64) testbench.FaultRates { return testbench.FaultRates{Stuck: r} }},
	{name: "noise", doc: "single wrong bits on all cables of a network", rates: []float64{1e-5, 1e-4}, net: true},
	{name: "unplug", doc: "the cable out for up to 4,000 symbols, now and then for so long that the link starts again", rates: []float64{1e-4}, unplug: true,
		link: true, net: true},
	{name: "pull", doc: "a switch of a network pulled, with all its cables, or a network interface that forwards, and put back", rates: []float64{5e-5}, pull: true, net: true},
	{name: "lanes", doc: "cables of several lanes, of each of which one is cut, one or both ways, or damages every thousandth bit: nothing may be lost", rates: []float64{1e-4},
		lanes: true, net: true},
	{name: "restart", doc: "one end or both start again amid traffic; of barriers, a member's program does, and all make the group anew", rates: []float64{1e-4, 1e-3},
		restart: true, words: 1, link: true, net: true},
	{name: "stall", doc: "readers that stop for up to 10,000 symbols: nothing may be dropped", rates: []float64{1e-4}, stall: true, clean: true, words: 1,
		link: true, net: true},
	{name: "mixed", doc: "all of these at once", rates: []float64{1e-5}, unplug: true, pull: true, lanes: true, restart: true, stall: true, link: true, net: true,
		plan: func(r float64) testbench.FaultRates {
			return testbench.FaultRates{BitError: r, Drop: r, Duplicate: r, Burst: r, Stuck: r}
		}},
}

// Kind is a name that Options takes, and what it stands for.
type Kind struct{ Name, Doc string }

// Links lists the kinds of link.
func Links() (kinds []Kind) {
	for _, l := range links {
		kinds = append(kinds, Kind{l.name, l.doc})
	}
	return kinds
}

// Faults lists the kinds of fault.
func Faults() (kinds []Kind) {
	for _, f := range faults {
		kinds = append(kinds, Kind{f.name, f.doc})
	}
	return kinds
}

// cases are the cells that the options choose.
func (o Options) cases() ([]Case, error) {
	onLinks, err := choose("link", Links(), o.Links)
	if err != nil {
		return nil, err
	}
	kinds, err := choose("fault", Faults(), o.Faults)
	if err != nil {
		return nil, err
	}
	for _, r := range o.Rates {
		if !(r > 0 && r < 1) {
			return nil, fmt.Errorf("%w: rate %v: want more than 0 and less than 1", ErrOptions, r)
		}
	}
	var cases []Case
	for _, l := range onLinks {
		for _, k := range kinds {
			if links[l].net && o.RTL != "" { // networks are of the built-in modules
				continue
			}
			if f := faults[k]; f.jitter && links[l].bit == 1 || links[l].net && !f.net || !links[l].net && !f.link || links[l].rtl && f.name != "mixed" ||
				links[l].net && f.name == "restart" && !links[l].barriers {
				continue
			}
			rates := faults[k].rates
			if links[l].rates != nil {
				rates = links[l].rates
			}
			if len(o.Rates) > 0 && rates[0] > 0 {
				rates = o.Rates
			}
			for _, r := range rates {
				cases = append(cases, Case{links[l].name, faults[k].name, r})
			}
		}
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("%w: jitter is for lines that carry bits, serial and uart, noise and pull are for networks, restart for links and barriers, and these take no other modules: choose other links or faults", ErrOptions)
	}
	return cases, nil
}

// choose returns the places of names in a list, all of them if there are no names.
func choose(what string, all []Kind, names []string) (places []int, err error) {
	for i, k := range all {
		if len(names) == 0 || slices.Contains(names, k.Name) {
			places = append(places, i)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(k Kind) bool { return k.Name == name }) {
			var known []string
			for _, k := range all {
				known = append(known, k.Name)
			}
			return nil, fmt.Errorf("%w: there is no %s %q; there are: %s", ErrOptions, what, name, strings.Join(known, ", "))
		}
	}
	return places, nil
}

// kinds are a case's link and fault.
func (c Case) kinds() (l link, f fault, err error) {
	i := slices.IndexFunc(links, func(l link) bool { return l.name == c.Link })
	k := slices.IndexFunc(faults, func(f fault) bool { return f.name == c.Fault })
	if i < 0 || k < 0 {
		return l, f, fmt.Errorf("%w: there is no link %q or no fault %q", ErrOptions, c.Link, c.Fault)
	}
	return links[i], faults[k], nil
}
