package ftdi

// Kinds of flow control, of requestFlow.
const (
	flowRTS  = 1 << 0 // by RTS and CTS
	flowDTR  = 1 << 1 // by DTR and DSR
	flowXOFF = 1 << 2 // by two characters
)

// Lines that the host sets by requestModem.
const (
	modemDTR = 1
	modemRTS = 2
)

// How full the buffer for the host is when the chip asks the far end to stop, and to go on. The data sheet does not say.
const (
	stopAt = buffer * 7 / 8
	goAt   = buffer / 2
)

// Lines are those beside the data of a serial line that the far end drives. On the boards nobody does.
type Lines struct{ CTS, DSR, Ring, Carrier bool }

// status is how a packet's first byte has them.
func (l Lines) status() (b byte) {
	for i, on := range [4]bool{l.CTS, l.DSR, l.Ring, l.Carrier} {
		if on {
			b |= 0x10 << i
		}
	}
	return b
}

// flow is how the ends of a channel's serial line stop each other. Its zero value is none.
type flow struct {
	kind      byte
	xon, xoff byte
	modem     byte   // what the host has set
	lines     Lines  // of the far end
	held      bool   // XOFF has come from there
	full      bool   // there is little room for more from there
	say       []byte // XON or XOFF for there
}

func (f *flow) set(kind, xon, xoff byte) {
	*f = flow{kind: kind, xon: xon, xoff: xoff, modem: f.modem, lines: f.lines}
}

// goes says whether what the host has sent may go on.
func (f *flow) goes() bool {
	return !f.held && (f.kind&flowRTS == 0 || f.lines.CTS) && (f.kind&flowDTR == 0 || f.lines.DSR)
}

// heeds takes characters that are not for the host.
func (f *flow) heeds(c character, input chan struct{}) bool {
	if f.kind&flowXOFF == 0 || c.errors != 0 || c.b != f.xon && c.b != f.xoff {
		return false
	}
	f.held = c.b != f.xon
	signal(input)
	return true
}

// fill is told how full the buffer for the host is.
func (f *flow) fill(n int, input chan struct{}) {
	was := f.full
	f.full = n >= stopAt || f.full && n > goAt
	if f.full == was || f.kind&flowXOFF == 0 {
		return
	}
	f.say = append(f.say, f.xon)
	if f.full {
		f.say[len(f.say)-1] = f.xoff
	}
	signal(input)
}

// own is what the chip itself has to send.
func (f *flow) own() (say []byte) {
	say, f.say = f.say, nil
	return say
}

// SetLines changes what is at the lines beside the data, of which none is on at first.
func (u *UART) SetLines(l Lines) {
	u.channel.device.Do(func() {
		if u.channel.line == u {
			u.channel.flow.lines = l
			signal(u.channel.input)
		}
	})
}

// Ready is what the chip drives its own lines with: what the host has set, or whether there is room if they control the flow.
func (u *UART) Ready() (rts, dtr bool) {
	u.channel.device.Do(func() {
		f := &u.channel.flow
		on := func(line, kind byte) bool {
			if f.kind&kind != 0 {
				return !f.full
			}
			return f.modem&line != 0
		}
		rts, dtr = on(modemRTS, flowRTS), on(modemDTR, flowDTR)
	})
	return rts, dtr
}
