package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"reflect"
	"slices"
	"text/template"

	lp "github.com/stafflink/lmmc/linkproto"
)

//go:embed lmmc.lua.tmpl
var luaText string

var luaTemplate = template.Must(template.New("lmmc.lua").Funcs(functions).Parse(luaText))

// functions are what templates call. Numbers pass through hex because fmt would write the name of one that has a name.
var functions = template.FuncMap{
	"hex": func(digits int, v any) string {
		return fmt.Sprintf("0x%0*X", digits, reflect.ValueOf(v).Convert(reflect.TypeFor[int]()).Int())
	},
	"register": func(base lp.Reg, i int) lp.Reg { return base + lp.Reg(i) },
}

// luaField is one kind of packet field, which several types may have.
type luaField struct {
	Name string
	Lua  string // constructor in ProtoField
	Args string // after the field's label
}

// lua makes the Wireshark dissector.
func lua() []byte {
	var out bytes.Buffer
	err := luaTemplate.Execute(&out, map[string]any{
		"Esc":            lp.ESC,
		"Symbols":        []lp.Symbol{lp.SymSOP & 0xFF, lp.SymEOP & 0xFF, lp.SymAbort & 0xFF, lp.SymLSW & 0xFF, lp.SymIdle & 0xFF},
		"Kinds":          lp.Kinds[:],
		"Statuses":       lp.Statuses[:],
		"Counters":       lp.Counters[:],
		"Registers":      lp.Registers[:],
		"Types":          lp.Types[:],
		"Fields":         luaFields(),
		"TypeMask":       1<<lp.TypeBits - 1,
		"ViaMask":        lp.MaxVia << lp.TypeBits,
		"ViaShift":       lp.TypeBits,
		"CRC32CPoly":     lp.CRC32CPoly,
		"CRC16Poly":      lp.CRC16Poly,
		"CRC16Init":      lp.CRC16Init,
		"HeaderBytes":    lp.HeaderBytes,
		"CRCBytes":       lp.CRCBytes,
		"FrameMin":       lp.SeqBytes + lp.MinPacket + lp.CRCBytes,
		"FrameTable":     lp.RegFrameTable,
		"CounterBase":    lp.RegCounters,
		"CounterStride":  lp.CounterStride,
		"RouterCounters": lp.RouterCounters[:],
		"RouterBase":     lp.RegRouterCounters,
		"RouterStride":   lp.NumRouterCounters,
		"PortStatus":     lp.RegPortStatus,
		"PortPeer":       lp.RegPortPeer,
		"PortCounters":   lp.RegPortCounters,
		"RouteTable":     lp.RegRouteTable,
		"GroupTable":     lp.RegGroupTable,
		"VL":             lp.RegVL,
		"VLRegs":         lp.VLRegs[:],
		"VLStride":       lp.VLStride,
		"Context":        lp.RegContext,
		"ContextRegs":    lp.ContextRegs[:],
		"ContextStride":  lp.ContextStride,
		"Barrier":        lp.RegBarrier,
		"BarrierRegs":    lp.BarrierRegs[:],
		"BarrierStride":  lp.BarrierStride,
		"BarrierGroups":  lp.BarrierGroups,
		"BarrierPhases":  1 << lp.BarrierBits,
		"RouterPorts":    lp.MaxPorts + 1,
		"LinkStatus":     lp.RegLinkStatus,
		"Peer":           lp.RegPeer,
		"MaxLinks":       lp.MaxLinks,
		"KindShift":      lp.WordKindShift,
		"KindInit":       int(lp.KindInit),
		"StopMask":       1 << lp.WordStopBit,
		"Reserved":       lp.WordReserved,
		"KindBarrier":    int(lp.KindBarrier),
		"WordBytes":      lp.WordSymbols - 1,
		"InitBytes":      lp.InitSymbols - 1,
		"InitVersion":    lp.InitVersionAt,
		"InitNode":       lp.InitNodeAt,
		"InitLife":       lp.InitLifeAt,
		"InitPage":       lp.InitPageAt,
		"InitLanes":      lp.InitLanesAt,
		"Version":        lp.Version,
		"Trace":          lp.RegTrace,
		"TraceRegs":      lp.TraceRegs[:],
		"TraceRing":      lp.RegTraceRing,
		"RouteFields":    lp.RouteFields,
		"RoutePath":      lp.RoutePathAt,
		"RouteDatagram":  lp.RouteDatagram,
		"VLInitBytes":    lp.VLInitBytes,
		"WordKindShift":  lp.WordKindShift,
		"WordStop":       1 << lp.WordStopBit,
		"Inject":         lp.RegInject,
		"InjectRegs":     lp.InjectRegs[:],
		"InjectStride":   lp.InjectStride,
		"NodeKinds":      lp.NodeKinds[:],
		"NodeFields":     nodeFields(),
		"NodeVersion":    lp.NodeVersion,
		"Events":         luaEvents(),
		"EventPortMask":  lp.TraceWordPort.In(1<<lp.TraceWordPort.Bits - 1),
		"EventLostMask":  lp.TraceWordLost.In(1),
		"EventPortShift": lp.TraceWordPort.Lo,
	})
	if err != nil {
		panic(err) // the template and its data are both in this program
	}
	return out.Bytes()
}

// luaEvent is an event of the trace buffer.
type luaEvent struct {
	Name string
	Mask uint32
}

func luaEvents() (events []luaEvent) {
	for e := range lp.TraceEvent(lp.NumTraceEvents) {
		events = append(events, luaEvent{e.String(), e.Bit()})
	}
	return events
}

// luaFieldList holds every field name once.
type luaFieldList []luaField

// add adds a field; rest is the constructor of one without a width.
func (l *luaFieldList) add(name string, bytes int, rest, args string) {
	if slices.ContainsFunc(*l, func(f luaField) bool { return f.Name == name }) {
		return
	}
	if bytes > 0 {
		rest = fmt.Sprintf("uint%d", 8*bytes)
	}
	*l = append(*l, luaField{name, rest, args})
}

// luaFields are those of the packet tables.
func luaFields() (list luaFieldList) {
	const hex = ", base.HEX"
	args := map[lp.FieldID]string{lp.FieldStatus: ", base.DEC, statuses", lp.FieldAddr: hex, lp.FieldReg: hex, lp.FieldValue: hex}
	for _, t := range lp.Types {
		for _, f := range t.Fields {
			list.add(f.Name, f.Bytes, "bytes", args[f.ID])
		}
	}
	return list
}

// nodeFields are those of the messages between nodes.
func nodeFields() (list luaFieldList) {
	const hex = ", base.HEX"
	args := map[lp.NodeFieldID]string{lp.NodeFieldRole: ", base.DEC, roles", lp.NodeFieldSession: hex, lp.NodeFieldFlags: hex, lp.NodeFieldEnds: hex}
	for _, k := range lp.NodeKinds {
		for _, f := range k.Fields {
			list.add(f.Name, f.Bytes, "string", args[f.ID])
		}
	}
	return list
}
