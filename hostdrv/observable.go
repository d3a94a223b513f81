package hostdrv

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
	Up        bool
	Stop      bool  // it sends STOP
	Epoch     uint8 // 0 if it has sent none yet
	PeerEpoch uint8 // 0 if it does not know it
}
