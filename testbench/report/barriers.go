package report

import (
	"fmt"

	"github.com/stafflink/lmmc/testbench/cluster/barriers"
)

// barrierView is what lmmc net bench barriers or lmmc net logp found, drawn.
type barrierView struct {
	*barriers.Document
	Plots []*drawing
}

func (in Input) barrierViews() (views []barrierView) {
	for i, d := range []*barriers.Document{in.Barriers, in.LogP} {
		if d == nil {
			continue
		}
		v := barrierView{Document: d}
		for _, p := range d.Plots() {
			p.Name = fmt.Sprintf("%s-%d", p.Name, i) // unique on the page
			v.Plots = append(v.Plots, draw(p.SVG))
		}
		views = append(views, v)
	}
	return views
}
