package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/stafflink/lmmc/hostdrv"
	"github.com/stafflink/lmmc/linkproto"
)

// topSample is how a target is, and what has happened since a while before.
type topSample struct {
	Target string         `json:"target"`
	Wall   time.Duration  `json:"wall_ns"` // since the look before, of real time
	Time   time.Duration  `json:"time_ns"` // and of the target's
	Rates  topRates       `json:"per_second"`
	Now    hostdrv.Report `json:"now"`

	before hostdrv.Report
}

// topRates are changes in a second of the target's time.
type topRates struct {
	Links   []map[string]float64 `json:"links"` // the host port first: by counter, those that have changed
	PageIns float64              `json:"page_ins"`
	PageOut float64              `json:"page_outs"`
	Refresh float64              `json:"refreshes"`
}

// sampled compares two looks at a target, real time apart.
func sampled(target string, before, now hostdrv.Report, wall time.Duration) topSample {
	s := topSample{Target: target, Wall: wall, Time: now.Now - before.Now, Now: now, before: before}
	for link := range now.Links {
		rates := map[string]float64{}
		for c := range linkproto.Counter(linkproto.NumCounters) {
			if n := s.change(link, c); n != 0 {
				rates[c.String()] = s.perSecond(uint64(n))
			}
		}
		s.Rates.Links = append(s.Rates.Links, rates)
	}
	if now.Tables != nil && before.Tables != nil {
		is, was := now.Tables.Stats, before.Tables.Stats
		s.Rates.PageIns = s.perSecond(is.PageIns - was.PageIns)
		s.Rates.PageOut = s.perSecond(is.PageOuts - was.PageOuts)
		s.Rates.Refresh = s.perSecond(is.Refreshes - was.Refreshes)
	}
	return s
}

// change is how far a counter has gone, which wraps.
func (s *topSample) change(link int, c linkproto.Counter) uint32 {
	return s.Now.Links[link].Counters[c] - s.before.Links[link].Counters[c]
}

func (s *topSample) perSecond(n uint64) float64 {
	if s.Time <= 0 {
		return 0
	}
	return float64(n) / s.Time.Seconds()
}

// Styles of a terminal.
const (
	bold  = "\x1b[1m"
	dim   = "\x1b[2m"
	red   = "\x1b[31m"
	plain = "\x1b[m"
)

// topView writes samples for people.
type topView struct {
	styled bool
	height int // lines that there are; 0: as many as are wanted
	lines  []string
}

func (v *topView) add(style, format string, args ...any) {
	line := strings.TrimRight(fmt.Sprintf(format, args...), " ")
	if v.styled && style != "" && line != "" {
		line = style + line + plain
	}
	v.lines = append(v.lines, line)
}

// render writes a sample, with a last line of its own.
func (v *topView) render(s *topSample, last string) string {
	v.lines = nil
	id := s.Now.Identity
	v.add(bold, "%s   links %d, frames %d of %s bytes   time %v%s", s.Target, id.Links, id.Frames, thousands(uint64(id.PageBytes)), s.Now.Now.Round(time.Microsecond), s.pace())
	v.add("", "")
	v.links(s)
	v.errors(s)
	v.paging(s)
	room := v.height - 2
	if v.height > 0 && len(v.lines) > room {
		v.lines = v.lines[:max(room, 0)]
	}
	if last != "" {
		v.add("", "")
		v.add(dim, "%s", last)
	}
	return strings.Join(v.lines, "\n")
}

// pace tells how fast the target's time passes, if that is not as on the wall.
func (s *topSample) pace() string {
	if s.Wall <= 0 {
		return ""
	}
	switch pace := s.Time.Seconds() / s.Wall.Seconds(); {
	case s.Time == 0:
		return ", stands still"
	case pace < 0.9 || pace > 1.1:
		return fmt.Sprintf(", %s %% of real time", number(100*pace))
	}
	return ""
}

// trouble are the counters of what should not be.
var trouble = []linkproto.Counter{linkproto.CntRxCRC, linkproto.CntRxDup, linkproto.CntRxGap, linkproto.CntRxOverrun, linkproto.CntRxStray,
	linkproto.CntBadWord, linkproto.CntReplays, linkproto.CntRetries, linkproto.CntRestarts, linkproto.CntLostPackets, linkproto.CntBadPacket, linkproto.CntDenied, linkproto.CntNoSpace}

func (v *topView) links(s *topSample) {
	id := s.Now.Identity
	v.add(bold, "%-5s %-22s %10s %10s %12s %12s %8s %9s  %s", "link", "state", "in/s", "out/s", "in", "out", "stops/s", "trouble", "underway")
	for link, l := range s.Now.Links {
		underway := ""
		if link > 0 {
			underway = fmt.Sprintf("%s %d of %d packets, %s of %s bytes", gauge(l.Packets, id.Window, l.Bytes, id.ReplayBytes),
				l.Packets, id.Window, thousands(uint64(l.Bytes)), thousands(uint64(id.ReplayBytes)))
		}
		rate := s.Rates.Links[link]
		sum, style := uint64(0), ""
		for _, c := range trouble {
			sum += uint64(l.Counters[c])
			if s.change(link, c) > 0 {
				style = red
			}
		}
		if !l.Status.Up {
			style = red
		}
		v.add(style, "%-5s %-22s %10s %10s %12s %12s %8s %9s  %s", portName(link), linkState(l.Status), number(rate["rx_packets"]), number(rate["tx_packets"]),
			thousands(uint64(l.Counters[linkproto.CntRxPackets])), thousands(uint64(l.Counters[linkproto.CntTxPackets])), number(rate["stops"]), thousands(sum), underway)
	}
}

// gauge draws how full a link's queue is, of packets or of bytes.
func gauge(packets, window, bytes, room int) string {
	const cells = 10
	full := 0
	if window > 0 && room > 0 {
		full = max(packets*cells/window, bytes*cells/room, min(packets, 1))
	}
	full = min(full, cells)
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", cells-full) + "]"
}

// errors lists what should not be, link by link, with what is new.
func (v *topView) errors(s *topSample) {
	for link, l := range s.Now.Links {
		var list []string
		style := ""
		for _, c := range trouble {
			if l.Counters[c] == 0 {
				continue
			}
			text := fmt.Sprintf("%v %s", c, thousands(uint64(l.Counters[c])))
			if n := s.change(link, c); n > 0 {
				text += fmt.Sprintf(" (+%s)", thousands(uint64(n)))
				style = red
			}
			list = append(list, text)
		}
		if len(list) > 0 {
			name := "host port"
			if link > 0 {
				name = fmt.Sprint("link ", link)
			}
			v.add(style, "%-10s %s", name, strings.Join(list, ", "))
		}
	}
	v.add("", "")
}

// paging shows ports and frames, if there is a node.
func (v *topView) paging(s *topSample) {
	t := s.Now.Tables
	if t == nil {
		v.add(dim, "no ports: opened for this alone, or in a network; lmmc serve and unix: show those of the programs that share it")
		return
	}
	sends, out, unsent := 0, 0, 0
	for _, p := range t.Ports {
		if p.Direction == hostdrv.Send.String() {
			sends++
		}
		if p.Frame < 0 {
			out++
		}
		unsent += p.Unsent
	}
	v.add("", "paging     %d send ports, %d receive ports, %d of them without a frame; %s bytes written late", sends, len(t.Ports)-sends, out, thousands(uint64(unsent)))
	v.add("", "           page-outs %s/s (%s), page-ins %s/s (%s), refreshes %s/s (%s)", number(s.Rates.PageOut), thousands(t.Stats.PageOuts),
		number(s.Rates.PageIns), thousands(t.Stats.PageIns), number(s.Rates.Refresh), thousands(t.Stats.Refreshes))
	v.frames("frames", len(t.Frames), func(i int) (int, uint32) { return t.Frames[i].Link, t.Frames[i].Port })
	v.frames("peers'", len(t.Send), func(i int) (int, uint32) { return t.Send[i].Link, t.Send[i].Port })
	if len(t.Ports) == 0 {
		return
	}
	v.add("", "")
	v.add(bold, "%10s %5s %-10s %-12s %-10s %6s %8s", "port", "link", "direction", "state", "policy", "frame", "unsent")
	for _, p := range t.Ports {
		frame := "out"
		if p.Frame >= 0 {
			frame = strconv.Itoa(p.Frame)
		}
		v.add("", "%10d %5d %-10s %-12s %-10s %6s %8s", p.Port, p.Link, p.Direction, p.State, p.Policy, frame, thousands(uint64(p.Unsent)))
	}
}

// frames shows whose pages frames hold, link by link: a dot for none.
func (v *topView) frames(name string, count int, at func(int) (link int, port uint32)) {
	const most = 16 // of a link
	text := map[int][]string{}
	var links []int
	for i := range count {
		link, port := at(i)
		if text[link] == nil {
			links = append(links, link)
		}
		cell := "."
		if port > 0 {
			cell = strconv.Itoa(int(port))
		}
		text[link] = append(text[link], cell)
	}
	for _, link := range links {
		cells, more := text[link], ""
		if len(cells) > most {
			cells, more = cells[:most], fmt.Sprintf(" … %d frames", len(cells))
		}
		v.add("", "%-10s link %d: %s%s", name, link, strings.Join(cells, " "), more)
		name = ""
	}
}
