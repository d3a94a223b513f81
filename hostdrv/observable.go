package hostdrv

// Observable is what a Transport to a simulated NI also is that shows the NI from outside, as a board does, to who has no driver for it.
type Observable interface {
	// Watch begins to look; call it before the first Exchange, since what has been said before is not known. An error says why that cannot be.
	Watch() error
	// Probe says what is to be seen, after Watch. It does not wait for the simulation.
	Probe() StatusProbe
}

// StatusProbe is what is to be seen of an NI.
type StatusProbe struct {
	Clocks uint64     // of the NI since Watch
	Alive  bool       // changes every 2**25 clocks
	Host   bool       // the host's line was not quiet in the present 2**22 clocks
	Link   bool       // nor was some link's
	Links  []LinkView // in their order
}

// LinkView is what an NI has said last of itself on a link.
type LinkView struct {
	Up        bool
	Stop      bool  // it says STOP
	Epoch     uint8 // 0 if it has said nothing yet
	PeerEpoch uint8 // 0 if it does not know it
}
