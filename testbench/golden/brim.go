package golden

import "github.com/stafflink/lmmc/linkproto"

// rareValue is the point of what is at a limit or wraps.
const rareValue = "rare value"

// rareValues are its bins.
func rareValues() (bins []string) {
	for _, what := range []happening{wraps, longest, nearly} {
		for _, w := range whose {
			bins = append(bins, what.String()+w)
		}
	}
	return append(bins, "write of a page's first byte alone", "write of a page's last byte alone",
		"queue full to the last byte", "queue full but for a byte", "queue of WINDOW packets", "queue of WINDOW packets but for one",
		"epoch of a link wraps")
}

// brim lets the host fill a link's queue to its limits, and one short of them, before its peer is heard.
func (p *Player) brim(link int) {
	c, credit, out := p.cables[link], &p.host.credit[link-1], p.round.Links[link-1].Out
	for _, n := range p.round.Batches {
		c.silent = true
		until := p.host.out[link-1] + n
		p.run(1_000_000, "a batch to be sent", func() {
			for p.host.out[link-1] < until && p.forward(link, out[p.host.out[link-1]]) {
				continue
			}
		}, func() bool { return p.host.out[link-1] == until && p.Ports[0].Link.Queued() == 0 })
		packets := credit.SentPackets - credit.FreedPackets
		for _, c := range []candidate{
			{"queue full to the last byte", credit.Outstanding() == p.Params.ReplayBytes}, {"queue full but for a byte", credit.Outstanding() == p.Params.ReplayBytes-1},
			{"queue of WINDOW packets", packets == linkproto.MaxWindow}, {"queue of WINDOW packets but for one", packets == linkproto.MaxWindow-1},
		} {
			if c.holds {
				p.out.hit(rareValue, c.bin)
			}
		}
		c.silent = false
		p.run(1_000_000, "the queue to be empty", nothing, func() bool { return credit.FreedPackets == credit.SentPackets })
	}
}
