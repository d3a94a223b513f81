package cluster

// Patience is how many clocks an answer or a link may take.
var Patience = &patience
