package collective

// NewTwin is newTwin.
var NewTwin = newTwin
