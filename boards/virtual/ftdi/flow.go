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

// Fill of the buffer for the host at which the chip stops the far end, and lets it continue. The data sheet gives no numbers.
const (
	stopAt = buffer * 7 / 8
	goAt   = buffer / 2
)

// Lines are the modem lines that the far end drives; the boards leave them open.
type Lines struct{ CTS, DSR, Ring, Carrier bool }

// status returns them as in a packet's first byte.
func (l Lines) status() (b byte) {
	for i, on := range [4]bool{l.CTS, l.DSR, l.Ring, l.Carrier} {
		if on {
			b |= 0x10 << i
		}
	}
	return b
}

// flow is the flow control of a channel's serial line. Its zero value is none.
type flow struct {
	kind      byte
	xon, xoff byte
	modem     byte   // what the host has set
	lines     Lines  // of the far end
	held      bool   // XOFF has come from there
	full      bool   // there is little room for more from there
	pending   []byte // XON or XOFF to send
}

func (f *flow) set(kind, xon, xoff byte) {
	*f = flow{kind: kind, xon: xon, xoff: xoff, modem: f.modem, lines: f.lines}
}

// maySend reports whether flow control permits sending the host's data.
func (f *flow) maySend() bool {
	return !f.held && (f.kind&flowRTS == 0 || f.lines.CTS) && (f.kind&flowDTR == 0 || f.lines.DSR)
}

// consume handles XON and XOFF, which do not go to the host.
func (f *flow) consume(c character, input chan struct{}) bool {
	if f.kind&flowXOFF == 0 || c.errors != 0 || c.b != f.xon && c.b != f.xoff {
		return false
	}
	f.held = c.b != f.xon
	signal(input)
	return true
}

// setFill reacts to the fill of the buffer for the host.
func (f *flow) setFill(n int, input chan struct{}) {
	was := f.full
	f.full = n >= stopAt || f.full && n > goAt
	if f.full == was || f.kind&flowXOFF == 0 {
		return
	}
	f.pending = append(f.pending, f.xon)
	if f.full {
		f.pending[len(f.pending)-1] = f.xoff
	}
	signal(input)
}

// takePending returns the flow control characters to send.
func (f *flow) takePending() (characters []byte) {
	characters, f.pending = f.pending, nil
	return characters
}

// SetLines sets the modem lines, all of which are off at first.
func (u *UART) SetLines(l Lines) {
	u.channel.device.Do(func() {
		if u.channel.line == u {
			u.channel.flow.lines = l
			signal(u.channel.input)
		}
	})
}

// Ready returns the levels of the chip's RTS and DTR: as the host has set them, or by the room in the buffer if they control the flow.
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
