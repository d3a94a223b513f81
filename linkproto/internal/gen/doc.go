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
	Funcs(template.FuncMap{"fields": docFields}).Parse(docText))

// doc makes the description of the protocol.
func doc() []byte {
	var out bytes.Buffer
	err := docTemplate.Execute(&out, map[string]any{
		"Version":     lp.Version,
		"Symbols":     lp.Symbols[:],
		"Kinds":       lp.Kinds[:],
		"Types":       lp.Types[:],
		"Statuses":    lp.Statuses[:],
		"Registers":   lp.Registers[:],
		"Counters":    lp.Counters[:],
		"TraceRegs":   lp.TraceRegs[:],
		"TraceEvents": lp.TraceEvents[:],
		"InjectRegs":  lp.InjectRegs[:],
		"NumCounters": lp.NumCounters,
		"Fields":      docFieldTable(),
		"Bits":        docBits(),
		"Esc":         lp.ESC,
		"MinPacket":   lp.MinPacket,
		"CRCBytes":    lp.CRCBytes,
		"PacketExtra": lp.PacketExtra,
		"WordSymbols": lp.WordSymbols,
		"AckDelay":    lp.DefaultAckDelay,
		"WordTimer":   lp.DefaultWordTimer,
		"Retry":       lp.DefaultRetry,
		"RetryLimit":  lp.DefaultRetryLimit,
		"MaxWindow":   lp.MaxWindow,
		"SeqBits":     lp.SeqBits,
		"HeaderBytes": lp.HeaderBytes,
		"TagNone":     lp.TagNone,
		"Magic":       lp.Magic,
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

func docWidth(f lp.Field) string {
	switch {
	case f.Bytes > 0:
		return fmt.Sprintf("u%d", 8*f.Bytes)
	case f.Max > 0:
		return fmt.Sprintf("(up to %d bytes)", f.Max)
	}
	return "(the rest)"
}

// docField is a row of the table of fields: what a field means, and in which types if not in all that have it.
type docField struct {
	Types, Name, Bytes, Doc string
}

// docFieldTable lists the fields once for each meaning.
func docFieldTable() []docField {
	var rows []docField
	row := map[string]int{}
	for _, t := range lp.Types {
		for _, f := range t.Fields {
			key := f.Name + f.Doc
			if i, seen := row[key]; seen {
				rows[i].Types += ", " + t.Name
				continue
			}
			row[key] = len(rows)
			bytes := fmt.Sprint(f.Bytes)
			if f.Bytes == 0 {
				bytes = "rest"
			}
			rows = append(rows, docField{t.Name, f.Name, bytes, f.Doc})
		}
	}
	return rows
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
	add("FRAME_TABLE", lp.FrameFields[:])
	add("CONTROL", lp.ControlFields[:])
	add("TRACE CONTROL", lp.TraceControlFields[:])
	add("TRACE PORTS", lp.TracePortsFields[:])
	add("TRACE_RING, word 1", lp.TraceWordFields[:])
	add("INJECT CONTROL", lp.InjectControlFields[:])
	add("INJECT LENGTHS", lp.InjectLengthFields[:])
	return rows
}
