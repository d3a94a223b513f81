package golden

import (
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench/model"
)

// candidate is a case that something may be, and whether it is.
type candidate struct {
	bin   string
	holds bool
}

// firstOf names the first candidate that holds; the last must.
func firstOf(all []candidate) string {
	for _, c := range all[:len(all)-1] {
		if c.holds {
			return c.bin
		}
	}
	return all[len(all)-1].bin
}

// judge names the cases that a packet is one of, by what the model did with it.
func (p *Player) judge(o model.Observation) {
	j := judge{Player: p, o: o, kind: linkproto.Type(o.Packet[0] & (1<<linkproto.TypeBits - 1)), length: len(o.Packet) - linkproto.HeaderBytes}
	if info := j.kind.Info(); info != nil {
		j.info = *info
	}
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
	o         model.Observation
	kind      linkproto.Type
	info      linkproto.TypeInfo // of kind; zero if there is none
	length    int                // behind the header
	p         linkproto.Packet
	malformed error
}

func (j *judge) hit(point, bin string) { j.out.judged = append(j.out.judged, event{point, bin}) }

func (j *judge) hitFirst(point string, all []candidate) { j.hit(point, firstOf(all)) }

// size names a number of bytes up to a page.
func (j *judge) size(n int) string {
	return firstOf([]candidate{
		{"nothing", n == 0}, {"1 byte", n == 1}, {"a whole page", n == j.Params.PageBytes}, {"odd", n%2 == 1}, {"even", true}})
}

func (j *judge) write() {
	page, n, offset := j.Params.PageBytes, len(j.p.Data), int(j.p.Addr)%j.Params.PageBytes
	if j.o.Outcome == model.Written {
		j.hit("write carried out, size", j.size(n))
		j.hitFirst("write carried out, place", []candidate{
			{"the whole page", n == page}, {"from the page's begin", offset == 0}, {"to the page's end", offset+n == page}, {"inside", true}})
		switch {
		case n == 1 && offset == 0:
			j.hit(rareValue, "write of a page's first byte alone")
		case n == 1 && offset == page-1:
			j.hit(rareValue, "write of a page's last byte alone")
		}
		return
	}
	j.hitFirst("write denied", []candidate{
		{"frame not valid", j.o.Outcome == model.Closed}, {"frame of another link", j.o.Outcome == model.Foreign}, {j.astray(n), true}})
	if n == 0 {
		j.hit("write denied", "nothing to write")
	}
}

// astray says why a range is not within one page that exists.
func (j *judge) astray(n int) string {
	page, end, addr := j.Params.PageBytes, uint64(j.Params.BufferBytes()), uint64(j.p.Addr)
	return firstOf([]candidate{
		{"far away, low bits right", addr >= end+uint64(page)}, {"just behind the buffer", addr >= end},
		{"longer than a page", n > page}, {"across the page's end", true}})
}

func (j *judge) dropped() {
	write, page, connect := j.kind == linkproto.TypeWrite, j.kind == linkproto.TypePage, j.kind == linkproto.TypeConnect
	least := j.info.MinLength()
	j.hitFirst("link packet dropped", []candidate{
		{j.kind.String() + " with via", j.p.Via != 0 && (write || page || connect)},
		{"WRITE without whole address", write},
		{"PAGE too short", page && j.length < least},
		{"PAGE too long", page && j.length > least},
		{"PAGE of the first frame that is not", page && int(j.p.Frame) == j.Params.Frames},
		{"PAGE of a frame that is not", page},
		{"CONNECT too short", connect && j.length < least},
		{"CONNECT with too many params", connect && j.malformed != nil},
		{"CONNECT whose TRAP is too long", connect},
		{"type 0", j.kind == 0},
		{"type unknown", j.info.Name == ""},
		{"a request", j.info.Dir == linkproto.ToNI},
		{"an answer", j.info.Dir == linkproto.ToHost},
		{"type reserved", true},
	})
}

func (j *judge) trap() {
	most := min(linkproto.MaxParams, j.Params.MaxPacket()-2*linkproto.HeaderBytes-4)
	entry := j.round.Table[j.p.Frame]
	own := linkproto.FrameValid.Of(entry) == 1 && int(linkproto.FrameLink.Of(entry)) == j.o.Port
	j.hitFirst("trap", []candidate{
		{"PAGE of an own frame", j.kind == linkproto.TypePage && own}, {"PAGE of another frame", j.kind == linkproto.TypePage},
		{"CONNECT without params", len(j.p.Data) == 0}, {"CONNECT with most params", len(j.p.Data) == most}, {"CONNECT with params", true}})
}

func (j *judge) forwarded() {
	j.hitFirst("forwarded", []candidate{{"type unknown", j.info.Name == ""}, {"type reserved", j.info.Dir&linkproto.OnLink == 0}, {j.kind.String(), true}})
	n := len(j.o.Packet)
	j.hitFirst("forwarded, size", []candidate{
		{"header only", j.length == 0}, {"the longest", n == j.Params.MaxPacket()}, {"short", n < j.Params.PageBytes/2}, {"long", true}})
}

// answered names the cases of a packet of the host that was carried out or refused.
func (j *judge) answered() {
	kind, status := j.kind, j.o.Status
	name := firstOf([]candidate{
		{kind.String(), kind >= linkproto.TypeRegRead && kind <= linkproto.TypeRetrap},
		{byLink, kind != 0 && kind < linkproto.TypeRegRead && j.p.Via != 0},
		{anyOther, true}})
	j.hit("request", name+", "+status.String())
	switch {
	case status == linkproto.StatusBadType:
		j.wrongType()
	case status == linkproto.StatusBadLength:
		j.hit("request of a wrong length", name+firstOf([]candidate{{" too short", j.length < j.info.MinLength()}, {" too long", true}}))
	case status == linkproto.StatusBadAddress:
		j.wrongAddress()
	case kind == linkproto.TypeResume || kind == linkproto.TypeRetrap && status != linkproto.StatusOK:
		j.aboutTrap()
	case kind == linkproto.TypeBufRead:
		j.hit("buffer read", j.size(int(j.p.Count)))
	case kind == linkproto.TypeBufWrite:
		j.hit("buffer written", j.size(len(j.p.Data)))
	case kind == linkproto.TypeRegRead:
		j.hit("register read", registerName(j.p.Reg))
	case kind == linkproto.TypeRegWrite && j.p.Reg >= linkproto.RegFrameTable:
		link := int(linkproto.FrameLink.Of(j.p.Value))
		j.hitFirst("frame table written", []candidate{
			{"not valid", linkproto.FrameValid.Of(j.p.Value) == 0}, {"a link that is not", link == 0 || link > j.Params.Links}, {"link", true}})
	}
}

// aboutTrap is for a RESUME, and for a RETRAP that was refused.
func (j *judge) aboutTrap() {
	via := int(j.p.Via)
	isLink := via > 0 && via <= j.Params.Links
	resume := j.kind == linkproto.TypeResume
	j.hitFirst(j.kind.String(), []candidate{
		{"of the host port", via == 0},
		{"of no link", !isLink},
		{"too early or too late", resume && j.isWild(via)},
		{"of a trap", resume && j.o.Status == linkproto.StatusOK},
		{"twice", resume && isLink && j.host.traps[via-1].raised > 0},
		{"of a link that has not trapped", true},
	})
}

func (j *judge) wrongType() {
	j.hitFirst("request of a wrong type", []candidate{
		{"type 0", j.kind == 0},
		{"a link's packet without via", j.kind < linkproto.TypeRegRead},
		{"an answer", j.info.Name != ""},
		{"unassigned below the answers", j.kind < linkproto.TypeRegData},
		{"unassigned above", true},
	})
}

func (j *judge) wrongAddress() {
	const point = "request of a wrong address"
	if j.kind == linkproto.TypeRegRead || j.kind == linkproto.TypeRegWrite {
		reg := j.p.Reg
		j.hitFirst(point, []candidate{
			{"register 0xFFFF", reg == 0xFFFF},
			{"register behind the frame table", reg >= linkproto.FrameReg(j.Params.Frames)},
			{"register behind the counters", reg == linkproto.CounterReg(j.Params.Links+1, 0)},
			{"register behind the status", reg == linkproto.LinkStatusReg(j.Params.Links+1)},
			{"register that is read only", true},
		})
		return
	}
	n := len(j.p.Data)
	if j.kind == linkproto.TypeBufRead {
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
