package hostdrv

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/linkproto"
)

// Transport carries symbols between the driver and the host port of one NI, and has the target's time. It may lose and damage
// symbols; the link layer corrects that. The driver calls Exchange from one goroutine; Wake and Close may be called from any, at any
// time and more than once.
type Transport interface {
	// Exchange sends and receives, and lets time pass. It returns when it has taken x.Out, when something has arrived, when x.Wait
	// ticks have passed, or soon after Wake. An error means that the target is gone for good.
	Exchange(x *Exchange) error
	// Wake makes the Exchange in progress, or else the next one, return soon.
	Wake()
	// Timing does not change.
	Timing() Timing
	// Close gives the target free and makes Exchange return an error.
	Close() error
}

// Resetter is what a Transport also is that can reset its NI, as if the power had failed. Drivers see it as any other reset.
type Resetter interface{ Reset() error }

// Exchange is what goes in and out of Transport.Exchange.
type Exchange struct {
	Out  []linkproto.Symbol // to send, in order; at most Timing.Burst
	Wait int                // return after so many ticks at the latest; more than 0
	Idle bool               // nobody waits for the target: a simulation may stand still until Wake
	// Patient says that who waits does so for what others do, for however long, and Owed that something is to be answered or acknowledged: where programs go by real time
	// a simulation may take it slowly.
	Patient, Owed bool
	// Look, unless nil, reports whether a program has asked for something in memory that it shares with the driver, and may soon, as it was told of something: it is for a
	// simulation that rests, before it sleeps. The last time that is said, and from then on the driver is told, and calls Wake.
	Look func(last bool) bool

	Taken bool               // set: Out is on its way, as a whole, and its memory is free again; otherwise none of it was sent
	In    []linkproto.Symbol // set: what has arrived; valid until the next call
	Ticks int                // set: how many ticks have passed
	Away  bool               // set: the target is away, and may come back (Options.Reopen)
}

// Timing says how a target's time runs. A tick is the time that one symbol takes on the host's cable.
type Timing struct {
	TicksPerSecond float64 // of the target's time
	Burst          int     // most symbols in one Exchange
	LinkTimeout    int     // ticks after which a link that is not up is given up, unless Options say otherwise
	AckCoalesce    int     // ticks for which an acknowledgement waits for something to go with, since each Out has its price; 0 where it has none
	VirtualTime    bool    // time stands still in an idle Exchange
	Rests          bool    // and while programs of other processes may want the processor
}

// Opener opens a target for Open. The URL is the target's: its scheme is the one registered.
type Opener func(ctx context.Context, target *url.URL) (Transport, error)

var (
	openersMu sync.Mutex
	openers   = map[string]Opener{}
)

// Register makes targets with a scheme known to Open. Transport packages call it when they are imported. It panics if the scheme is
// taken.
func Register(scheme string, open Opener) {
	openersMu.Lock()
	defer openersMu.Unlock()
	if openers[scheme] != nil {
		panic("two transports for " + scheme + ":")
	}
	openers[scheme] = open
}

// Schemes lists the schemes that Open knows.
func Schemes() []string {
	openersMu.Lock()
	defer openersMu.Unlock()
	return slices.Sorted(maps.Keys(openers))
}

// Dial opens a target's transport without looking at what is behind it. Errors about the target's text wrap ErrTarget.
func Dial(ctx context.Context, target string) (Transport, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrTarget, target, err)
	}
	openersMu.Lock()
	open := openers[u.Scheme]
	openersMu.Unlock()
	if u.Scheme == SharedScheme {
		return nil, fmt.Errorf("%w %q: it is an NI that another process serves, which has ports (OpenNode; lmmc connect, accept, ports, info, top, trace) and is not to be had as a whole", ErrTarget, target)
	}
	if open == nil {
		return nil, fmt.Errorf("%w %q: want one that begins with %s; a program knows those whose packages it imports",
			ErrTarget, target, strings.Join(Schemes(), ":, ")+":")
	}
	t, err := open(ctx, u)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", target, err)
	}
	return t, nil
}

// Ints sets integers from the query of a target's URL, such as "?links=2". A name that is not in values, that comes twice, or whose
// value is no positive number is an error that wraps ErrTarget.
func Ints(target *url.URL, values map[string]*int) error {
	query, err := url.ParseQuery(target.RawQuery)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTarget, err)
	}
	for name, given := range query {
		v := values[name]
		if v == nil {
			names := slices.Sorted(maps.Keys(values))
			return fmt.Errorf("%w: no option %q%s; there are %s", ErrTarget, name, nearest.Hint(name, names), strings.Join(names, ", "))
		}
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 1 || len(given) > 1 {
			return fmt.Errorf("%w: option %s=%s: want one positive number", ErrTarget, name, strings.Join(given, ","))
		}
		*v = n
	}
	return nil
}

// Observable is what a Transport to a simulated NI also is that shows the NI from outside, as a board does, without a driver.
type Observable interface {
	// Watch begins to observe; call it before the first Exchange, since earlier symbols are not seen. An error says why it cannot.
	Watch() error
	// Probe returns the present status, after Watch. It does not wait for the simulation.
	Probe() StatusProbe
}

// StatusProbe is what a board shows of its NI.
type StatusProbe struct {
	Clocks uint64     // of the NI since Watch
	Alive  bool       // changes every 2**25 clocks
	Host   bool       // the host's line was not quiet in the present 2**22 clocks
	Link   bool       // nor was some link's
	Links  []LinkView // in their order
}

// LinkView is what an NI has sent last about its end of a link.
type LinkView struct {
	Up   bool
	Stop bool           // it sends STOP
	Life linkproto.Life // 0 if it has told none yet
}
