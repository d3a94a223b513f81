package linkproto

// MaxLanes is how many lanes a link may have.
const MaxLanes = 8

// Rules of a link of several lanes, in symbol times if nothing else is said.
const (
	// LaneSkew bounds by how much longer symbols take over one lane than over another, with a round trip.
	LaneSkew = 256
	// LaneSilentTimers is how many WORD_TIMERs without a good word have a lane left out.
	LaneSilentTimers = 2
	// LaneTrialTimers is for how many WORD_TIMERs a lane that was left out must be good before it is taken again. It doubles each time, up to
	// LaneTrialDoublings times.
	LaneTrialTimers    = 4
	LaneTrialDoublings = 4
	// LaneFault is by how much a damaged frame or word raises a lane's score, which each good one lowers by one; at LaneFaults it is left out.
	LaneFault  = 8
	LaneFaults = 32
	// LaneTold is how many frames that have arrived are told at once, even between frame symbols.
	LaneTold = 16
)
