package golden

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// judge names the cases that a packet is one of, by what the model did with it.
func (p *Player) judge(o model.Observation) {
	j := judge{Player: p, raw: o.Packet, o: o}
	j.malformed = j.p.Decode(o.Packet)
	switch o.Outcome {
	case model.Written, model.Astray, model.Closed, model.Foreign:
		j.write()
	case model.Malformed:
		j.dropped()
	case model.Trapped:
		j.trap()
	case model.Forwarded:
		j.forwarded()
	case model.Answered:
		j.answered()
	}
}

type judge struct {
	*Player
	raw       []byte
	o         model.Observation
	p         linkproto.Packet
	malformed error
}

func (j *judge) hit(point, bin string) { j.out.judged = append(j.out.judged, event{point, bin}) }

// size names a number of bytes up to a page.
func (j *judge) size(n int) string {
	switch {
	case n == 0:
		return "nothing"
	case n == 1:
		return "1 byte"
	case n == j.Params.PageBytes:
		return "a whole page"
	case n%2 == 1:
		return "odd"
	}
	return "even"
}

func (j *judge) write() {
	page, n, offset := j.Params.PageBytes, len(j.p.Data), int(j.p.Addr)%j.Params.PageBytes
	switch j.o.Outcome {
	case model.Astray:
		j.hit("write denied", j.astray(n))
	case model.Closed:
		j.hit("write denied", "frame not valid")
	case model.Foreign:
		j.hit("write denied", "frame of another link")
	default:
		j.hit("write carried out, size", j.size(n))
		switch {
		case n == page:
			j.hit("write carried out, place", "the whole page")
		case offset == 0:
			j.hit("write carried out, place", "from the page's begin")
		case offset+n == page:
			j.hit("write carried out, place", "to the page's end")
		default:
			j.hit("write carried out, place", "inside")
		}
		return
	}
	if n == 0 {
		j.hit("write denied", "nothing to write")
	}
}

// astray says why a range is not within one page that exists.
func (j *judge) astray(n int) string {
	page, end := j.Params.PageBytes, uint64(j.Params.BufferBytes())
	switch addr := uint64(j.p.Addr); {
	case addr >= end+uint64(page):
		return "far away, low bits right"
	case addr >= end:
		return "just behind the buffer"
	case n > page:
		return "longer than a page"
	}
	return "across the page's end"
}

func (j *judge) dropped() {
	point, length := "link packet dropped", len(j.raw)-linkproto.HeaderBytes
	kind := linkproto.Type(j.raw[0] & (1<<linkproto.TypeBits - 1))
	info := kind.Info()
	switch {
	case j.p.Via != 0 && (kind == linkproto.TypeWrite || kind == linkproto.TypePage || kind == linkproto.TypeConnect):
		j.hit(point, kind.String()+" with via")
	case kind == linkproto.TypeWrite:
		j.hit(point, "WRITE without whole address")
	case kind == linkproto.TypePage && length < info.MinLength():
		j.hit(point, "PAGE too short")
	case kind == linkproto.TypePage && length > info.MinLength():
		j.hit(point, "PAGE too long")
	case kind == linkproto.TypePage && int(j.p.Frame) == j.Params.Frames:
		j.hit(point, "PAGE of the first frame that is not")
	case kind == linkproto.TypePage:
		j.hit(point, "PAGE of a frame that is not")
	case kind == linkproto.TypeConnect && length < info.MinLength():
		j.hit(point, "CONNECT too short")
	case kind == linkproto.TypeConnect && j.malformed != nil:
		j.hit(point, "CONNECT with too many params")
	case kind == linkproto.TypeConnect:
		j.hit(point, "CONNECT whose TRAP is too long")
	case kind == 0:
		j.hit(point, "type 0")
	case info == nil:
		j.hit(point, "type unknown")
	case info.Dir == 0:
		j.hit(point, "type reserved")
	case info.Dir == linkproto.ToNI:
		j.hit(point, "a request")
	default:
		j.hit(point, "an answer")
	}
}

func (j *judge) trap() {
	most := min(linkproto.MaxParams, j.Params.MaxPacket()-2*linkproto.HeaderBytes-4)
	own := func() bool {
		entry := j.round.Table[j.p.Frame]
		return linkproto.FrameValid.Of(entry) == 1 && int(linkproto.FrameLink.Of(entry)) == j.o.Port
	}
	switch {
	case j.p.Type == linkproto.TypePage && own():
		j.hit("trap", "PAGE of an own frame")
	case j.p.Type == linkproto.TypePage:
		j.hit("trap", "PAGE of another frame")
	case len(j.p.Data) == 0:
		j.hit("trap", "CONNECT without params")
	case len(j.p.Data) == most:
		j.hit("trap", "CONNECT with most params")
	default:
		j.hit("trap", "CONNECT with params")
	}
}

func (j *judge) forwarded() {
	kind := linkproto.Type(j.raw[0] & (1<<linkproto.TypeBits - 1))
	switch info := kind.Info(); {
	case info == nil:
		j.hit("forwarded", "type unknown")
	case info.Dir == 0:
		j.hit("forwarded", "type reserved")
	default:
		j.hit("forwarded", kind.String())
	}
	switch n := len(j.raw); {
	case n == linkproto.HeaderBytes:
		j.hit("forwarded, size", "header only")
	case n == j.Params.MaxPacket():
		j.hit("forwarded, size", "the longest")
	case n < j.Params.PageBytes/2:
		j.hit("forwarded, size", "short")
	default:
		j.hit("forwarded, size", "long")
	}
}

// answered names the cases of a packet of the host that was carried out or refused.
func (j *judge) answered() {
	kind, status := linkproto.Type(j.raw[0]&(1<<linkproto.TypeBits-1)), j.o.Status
	name := another
	switch {
	case kind >= linkproto.TypeRegRead && kind <= linkproto.TypeRetrap:
		name = kind.String()
	case kind != 0 && kind < linkproto.TypeRegRead && j.p.Via != 0:
		name = byLink
	}
	j.hit("request", name+", "+status.String())
	switch {
	case status == linkproto.StatusBadType:
		j.wrongType(kind)
	case status == linkproto.StatusBadLength:
		how := " too long"
		if len(j.raw)-linkproto.HeaderBytes < kind.Info().MinLength() {
			how = " too short"
		}
		j.hit("request of a wrong length", name+how)
	case status == linkproto.StatusBadAddress:
		j.wrongAddress()
	case kind == linkproto.TypeResume:
		j.resume(status)
	case kind == linkproto.TypeRetrap:
		j.retrap(status)
	case kind == linkproto.TypeBufRead:
		j.hit("buffer read", j.size(int(j.p.Count)))
	case kind == linkproto.TypeBufWrite:
		j.hit("buffer written", j.size(len(j.p.Data)))
	case kind == linkproto.TypeRegRead:
		j.hit("register read", registerName(j.p.Reg))
	case kind == linkproto.TypeRegWrite && j.p.Reg >= linkproto.RegFrameTable:
		link := int(linkproto.FrameLink.Of(j.p.Value))
		switch {
		case linkproto.FrameValid.Of(j.p.Value) == 0:
			j.hit("frame table written", "not valid")
		case link == 0 || link > j.Params.Links:
			j.hit("frame table written", "a link that is not")
		default:
			j.hit("frame table written", "link")
		}
	}
}

func (j *judge) resume(status linkproto.Status) {
	via := int(j.p.Via)
	switch {
	case via == 0:
		j.hit("RESUME", "of the host port")
	case via > j.Params.Links:
		j.hit("RESUME", "of no link")
	case j.isWild(via):
		j.hit("RESUME", "too early or too late")
	case status == linkproto.StatusOK:
		j.hit("RESUME", "of a trap")
	case j.host.traps[via-1].raised > 0:
		j.hit("RESUME", "twice")
	default:
		j.hit("RESUME", "of a link that has not trapped")
	}
}

func (j *judge) retrap(status linkproto.Status) {
	via := int(j.p.Via)
	switch {
	case via == 0:
		j.hit("RETRAP", "of the host port")
	case via > j.Params.Links:
		j.hit("RETRAP", "of no link")
	case status == linkproto.StatusNotTrapped:
		j.hit("RETRAP", "of a link that has not trapped")
	}
}

func (j *judge) wrongType(kind linkproto.Type) {
	point := "request of a wrong type"
	switch {
	case kind == 0:
		j.hit(point, "type 0")
	case kind < linkproto.TypeRegRead:
		j.hit(point, "a link's packet without via")
	case kind.Info() != nil:
		j.hit(point, "an answer")
	case kind < linkproto.TypeRegData:
		j.hit(point, "unassigned below the answers")
	default:
		j.hit(point, "unassigned above")
	}
}

func (j *judge) wrongAddress() {
	point, n := "request of a wrong address", len(j.p.Data)
	switch j.p.Type {
	case linkproto.TypeRegRead, linkproto.TypeRegWrite:
		switch reg := j.p.Reg; {
		case reg == 0xFFFF:
			j.hit(point, "register 0xFFFF")
		case reg >= linkproto.FrameReg(j.Params.Frames):
			j.hit(point, "register behind the frame table")
		case reg == linkproto.CounterReg(j.Params.Links+1, 0):
			j.hit(point, "register behind the counters")
		case reg == linkproto.LinkStatusReg(j.Params.Links+1):
			j.hit(point, "register behind the status")
		default:
			j.hit(point, "register that is read only")
		}
		return
	case linkproto.TypeBufRead:
		n = int(j.p.Count)
	}
	where := j.astray(n)
	j.hit(point, where)
	if n == 0 && where == "just behind the buffer" {
		j.hit(point, "nothing, behind the buffer")
	}
}

// registerName is the register's row in the tables.
func registerName(r linkproto.Reg) string {
	name := ""
	for _, info := range linkproto.Registers {
		if r >= info.Reg {
			name = info.Name
		}
	}
	return name
}
