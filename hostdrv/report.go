package hostdrv

import (
	"cmp"
	"context"
	"slices"
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

// Tables are the tables of a node as they are at one moment.
type Tables struct {
	Ports  []PortEntry      `json:"ports"`
	Send   []SendFrameEntry `json:"send_frames"`    // frames of the peers, which this node manages
	Frames []RecvFrameEntry `json:"receive_frames"` // of the own receive buffer, managed by the peers
	Stats  NodeStats        `json:"stats"`
}

// PortEntry is a port.
type PortEntry struct {
	Port      uint32 `json:"port"`
	Link      int    `json:"link"`
	Direction string `json:"direction"`
	State     string `json:"state"`
	Policy    string `json:"policy,omitempty"` // of a send port
	Frame     int    `json:"frame"`            // that holds its page, of the receiver's buffer; -1 if it is out
	Unsent    int    `json:"unsent,omitempty"` // bytes written late and not flushed
}

// SendFrameEntry is a frame of a peer's receive buffer.
type SendFrameEntry struct {
	Link  int    `json:"link"`
	Frame int    `json:"frame"`
	Port  uint32 `json:"port"` // whose page it holds; 0 for none
}

// RecvFrameEntry is a frame of the own receive buffer.
type RecvFrameEntry struct {
	Frame int    `json:"frame"`
	Link  int    `json:"link"` // whose peer may write it; 0 for none
	Port  uint32 `json:"port"` // whose page it holds; 0 for none, or while pages change
}

func (node *localNode) tables() Tables {
	node.lock()
	defer node.unlock()
	t := Tables{Stats: node.stats}
	t.Stats.Retraps = node.core.Retraps()
	t.Stats.Datagrams, t.Stats.Undelivered = node.delivered, node.undelivered
	for _, l := range node.links {
		for _, ports := range l.ports {
			for _, p := range ports {
				t.Ports = append(t.Ports, p.entry())
			}
		}
		for _, f := range l.frames {
			t.Send = append(t.Send, SendFrameEntry{l.link, f.number, f.port.number()})
		}
	}
	slices.SortFunc(t.Ports, func(a, b PortEntry) int {
		return cmp.Or(a.Link-b.Link, cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Port, b.Port))
	})
	for _, f := range node.frames {
		e := RecvFrameEntry{Frame: f.index, Port: f.port.number()}
		if f.link != nil {
			e.Link = f.link.link
		}
		t.Frames = append(t.Frames, e)
	}
	return t
}

// number is the port's, 0 for none.
func (p *localPort) number() uint32 {
	if p == nil {
		return 0
	}
	return p.id
}

func (p *localPort) entry() PortEntry {
	e := PortEntry{Port: p.id, Link: p.link.link, Direction: p.direction.String(), State: p.state.String(), Frame: -1}
	if p.direction == Send {
		e.Policy = p.front.policy.String()
		if p.frame >= 0 {
			e.Frame = p.link.frames[p.frame].number
		}
		if p.front.late != nil {
			e.Unsent = p.front.late.Unsent()
		}
	} else if p.in != nil {
		e.Frame = p.in.index
	}
	return e
}
