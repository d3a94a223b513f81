package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	lp "github.com/stafflink/lmmc/linkproto"
)

//go:embed protocol.md.tmpl
var docText string

var docTemplate = template.Must(template.New("protocol.md").Funcs(functions).
	Funcs(template.FuncMap{"fields": docFields, "nodefields": docNodeFields}).Parse(docText))

// doc makes the description of the protocol.
func doc() []byte {
	var out bytes.Buffer
	err := docTemplate.Execute(&out, map[string]any{
		"Version":        lp.Version,
		"Symbols":        lp.Symbols[:],
		"Kinds":          lp.Kinds[:],
		"Types":          lp.Types[:],
		"Statuses":       lp.Statuses[:],
		"Registers":      lp.Registers[:],
		"Counters":       lp.Counters[:],
		"RouterCounters": lp.RouterCounters[:],
		"VLRegs":         lp.VLRegs[:],
		"BarrierRegs":    lp.BarrierRegs[:],
		"ContextRegs":    lp.ContextRegs[:],
		"ContextFaults":  lp.ContextFaults[:], "CompletionStatuses": lp.CompletionStatuses[:],
		"MaxRingSize": lp.MaxRingSize, "RingEntry": lp.RingEntry, "Rings": lp.RingsOf(1),
		"BarrierGroups": lp.BarrierGroups, "BarrierAgain": lp.DefaultBarrierAgain,
		"TraceRegs":      lp.TraceRegs[:],
		"TraceEvents":    lp.TraceEvents[:],
		"InjectRegs":     lp.InjectRegs[:],
		"NumCounters":    lp.NumCounters,
		"Fields":         docFieldTable(),
		"Bits":           docBits(),
		"Esc":            lp.ESC,
		"MinPacket":      lp.MinPacket,
		"CRCBytes":       lp.CRCBytes,
		"PacketExtra":    lp.PacketExtra,
		"WordSymbols":    lp.WordSymbols,
		"InitSymbols":    lp.InitSymbols,
		"LifeEpochShift": lp.LifeEpochShift,
		"VLSeqBits":      lp.VLSeqBits, "VLMaxWindow": lp.VLMaxWindow, "VLRetry": lp.DefaultVLRetry,
		"RouteDatagram": lp.RouteDatagram, "RouteExtra": lp.RouteExtra,
		"LifePortShift": lp.LifePortShift,
		"SilentTimers":  lp.SilentTimers,
		"AckDelay":      lp.DefaultAckDelay,
		"WordTimer":     lp.DefaultWordTimer,
		"MaxLanes":      lp.MaxLanes, "LaneSkew": lp.LaneSkew, "LaneSilentTimers": lp.LaneSilentTimers, "LaneTrialTimers": lp.LaneTrialTimers,
		"LaneTrialDoublings": lp.LaneTrialDoublings, "LaneFault": lp.LaneFault, "LaneFaults": lp.LaneFaults, "LaneTold": lp.LaneTold,
		"Retry":       lp.DefaultRetry,
		"RetryLimit":  lp.DefaultRetryLimit,
		"MaxWindow":   lp.MaxWindow,
		"SeqBits":     lp.SeqBits,
		"HeaderBytes": lp.HeaderBytes,
		"TagNone":     lp.TagNone,
		"Magic":       lp.Magic,
		"NodeKinds":   lp.NodeKinds[:],
		"NodeFields":  docNodeFieldTable(),
		"NodeVersion": lp.NodeVersion,
		"NodeText":    lp.MaxNodeText,
	})
	if err != nil {
		panic(err) // the template and its data are both in this program
	}
	return out.Bytes()
}

// docFields lists a type's fields with their widths.
func docFields(t lp.TypeInfo) string {
	var parts []string
	for _, f := range t.Fields {
		parts = append(parts, fmt.Sprintf("%s %s", f.Name, docWidth(f)))
	}
	return strings.Join(parts, ", ")
}

func docWidth(f lp.Field) string { return docSize(f.Bytes, f.Max) }

func docSize(bytes, most int) string {
	switch {
	case bytes > 0:
		return fmt.Sprintf("u%d", 8*bytes)
	case most > 0:
		return fmt.Sprintf("(up to %d bytes)", most)
	}
	return "(the rest)"
}

// docNodeFields lists the fields of a message between nodes.
func docNodeFields(k lp.NodeKindInfo) string {
	var parts []string
	for _, f := range k.Fields {
		parts = append(parts, fmt.Sprintf("%s %s", f.Name, docSize(f.Bytes, int(f.Max))))
	}
	return strings.Join(parts, "; ")
}

// docField is a row of the table of fields: what a field means, and in which types if not in all that have it.
type docField struct {
	Types, Name, Bytes, Doc string
}

// docFieldRows are rows of a table of fields, each meaning once.
type docFieldRows struct {
	rows []docField
	row  map[string]int
}

func (r *docFieldRows) add(of, name string, bytes int, doc string) {
	if r.row == nil {
		r.row = map[string]int{}
	}
	key := name + doc
	if i, seen := r.row[key]; seen {
		r.rows[i].Types += ", " + of
		return
	}
	r.row[key] = len(r.rows)
	width := fmt.Sprint(bytes)
	if bytes == 0 {
		width = "rest"
	}
	r.rows = append(r.rows, docField{of, name, width, doc})
}

func docFieldTable() []docField {
	var r docFieldRows
	for _, t := range lp.Types {
		for _, f := range t.Fields {
			r.add(t.Name, f.Name, f.Bytes, f.Doc)
		}
	}
	return r.rows
}

func docNodeFieldTable() []docField {
	var r docFieldRows
	for _, k := range lp.NodeKinds {
		for _, f := range k.Fields {
			r.add(k.Name, f.Name, f.Bytes, f.Doc)
		}
	}
	return r.rows
}

// docBit is a row of the table of register fields.
type docBit struct {
	Register, Range, Name, Doc string
}

func docBits() []docBit {
	var rows []docBit
	add := func(register string, fields []lp.Bits) {
		for _, b := range fields {
			bits := fmt.Sprint(b.Lo)
			if b.Bits > 1 {
				bits = fmt.Sprintf("%d:%d", b.Lo+b.Bits-1, b.Lo)
			}
			rows = append(rows, docBit{register, bits, b.Name, b.Doc})
		}
	}
	add("FEATURES", lp.Features[:])
	add("LINK_STATUS", lp.StatusFields[:])
	add("PEER", lp.PeerFields[:])
	add("FRAME_TABLE", lp.FrameFields[:])
	add("ROUTE_TABLE", lp.RouteTableFields[:])
	add("BARRIER MEMBERS", lp.BarrierMembersFields[:])
	add("BARRIER PHASE", lp.BarrierPhaseFields[:])
	add("VL PEER", lp.VLPeerFields[:])
	add("VL STATUS", lp.VLStatusFields[:])
	add("VL COUNTS", lp.VLCountsFields[:])
	add("CONTEXT REGION", lp.ContextRegionFields[:])
	add("CONTEXT STATUS", lp.ContextStatusFields[:])
	add("CONTROL", lp.ControlFields[:])
	add("TRACE CONTROL", lp.TraceControlFields[:])
	add("TRACE PORTS", lp.TracePortsFields[:])
	add("TRACE_RING, word 1", lp.TraceWordFields[:])
	add("INJECT CONTROL", lp.InjectControlFields[:])
	add("INJECT LENGTHS", lp.InjectLengthFields[:])
	return rows
}
