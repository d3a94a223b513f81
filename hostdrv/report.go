package hostdrv

import (
	"context"
	"time"
)

// Report is how an NI is at one moment.
type Report struct {
	Identity Identity      `json:"identity"`
	Now      time.Duration `json:"now_ns"`           // of the target's time, since the NI was opened
	Links    []LinkReport  `json:"links"`            // the host port first
	Cable    Counters      `json:"cable"`            // of the host's own end of its cable
	Tables   *Tables       `json:"tables,omitempty"` // of its node; nil if the report is the NI's own
}

// LinkReport is how a link is.
type LinkReport struct {
	Status   LinkStatus `json:"status"`
	Counters Counters   `json:"counters"`
	// What the driver has sent by the link and the NI not yet freed: packets of Identity.Window, and bytes of Identity.ReplayBytes.
	Packets int `json:"packets"`
	Bytes   int `json:"bytes"`
}

// Report asks the NI how it is.
func (n *NI) Report(ctx context.Context) (r Report, err error) {
	r = Report{Identity: n.identity, Links: make([]LinkReport, n.identity.Links+1)}
	for link := range r.Links {
		l := &r.Links[link]
		if l.Status, err = n.LinkStatus(ctx, link); err == nil {
			l.Counters, err = n.Counters(ctx, link)
		}
		if err != nil {
			return r, err
		}
	}
	r.Now, r.Cable = n.Now(), n.CableCounters()
	n.lock()
	defer n.unlock()
	for i := range r.Links[1:] {
		r.Links[i+1].Packets, r.Links[i+1].Bytes = n.core.Queue(i + 1).Pending()
	}
	return r, nil
}
