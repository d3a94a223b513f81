package stimulus

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench"
)

// Violation is what a rogue peer puts on a line once, between frames and words, and what the receiver must count of it. Numbers in it are
// relative to the state of the link.
type Violation struct {
	Rule string `json:"rule"`
	Line []Item `json:"line"`
	Want Counts `json:"want"`
}

// Item is a frame, words, or symbols, and what is done to them.
type Item struct {
	Frame *Frame `json:"frame,omitempty"`
	Words []Word `json:"words,omitempty"`
	// Symbols come by themselves.
	Symbols Line `json:"symbols,omitempty"`

	Flips  []Flip `json:"flips,omitempty"`
	Put    *Put   `json:"put,omitempty"`
	Cut    int    `json:"cut,omitempty"` // so many symbols are left; 0: all
	Inside *Word  `json:"inside,omitempty"`
	At     int    `json:"at,omitempty"` // where Inside is
}

// Frame is a frame with the CRC that is right for it.
type Frame struct {
	Ahead   int    `json:"ahead"`           // of the sequence number that the receiver expects
	Taken   bool   `json:"taken"`           // in sequence: the receiver expects the next one then
	Other   Life   `json:"other,omitempty"` // bits of the key that are wrong: as if for another life
	Payload Packet `json:"payload"`
}

// Word is a link state word with the check that is right for it.
type Word struct {
	Kind     linkproto.Kind `json:"kind"`
	Reserved uint8          `json:"reserved,omitempty"` // bits of its first byte
	Value    uint8          `json:"value,omitempty"`    // more than its sender expects; of an INIT, more than the protocol's version
	Other    Life           `json:"other,omitempty"`    // bits that are wrong: of an INIT, of its sender's life, else of the key, as if for another life
	// Of an INIT, besides:
	Page  uint8 `json:"page,omitempty"`
	Lanes uint8 `json:"lanes,omitempty"` // the byte that says what lanes there are
}

// Life is bits of a life. They are written in hexadecimal.
type Life linkproto.Life

// MarshalText writes the bits.
func (l Life) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%08x", uint32(l)), nil }

// UnmarshalText reads what MarshalText has written.
func (l *Life) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 32)
	*l = Life(n)
	return err
}

// Flip inverts bits of a symbol.
type Flip struct {
	At   int              `json:"at"`
	Bits linkproto.Symbol `json:"bits"`
}

// Put is a symbol in the place of another.
type Put struct {
	At     int              `json:"at"`
	Symbol linkproto.Symbol `json:"symbol"`
}

// State is that of a link at rest, as its rogue end knows it.
type State struct {
	Next     uint8          // sequence number that the receiver expects
	Expected uint8          // and the one that the rogue end would
	Life     linkproto.Life // of the rogue end
	Key      linkproto.Key  // of what the rogue end sends to the receiver
}

// Symbols returns the violation as it goes over a link, whose state it moves on.
func (v Violation) Symbols(s *State) (line []linkproto.Symbol) {
	for _, i := range v.Line {
		line = append(line, i.symbols(s)...)
	}
	return line
}

func (i Item) symbols(s *State) []linkproto.Symbol {
	line := slices.Clone([]linkproto.Symbol(i.Symbols))
	if i.Frame != nil {
		line = linkproto.AppendFrame(nil, s.Key^linkproto.Key(i.Frame.Other), s.Next+uint8(i.Frame.Ahead), i.Frame.Payload)
		if i.Frame.Taken {
			s.Next++
		}
	}
	for _, w := range i.Words {
		line = append(line, w.symbols(s)...)
	}
	for _, f := range i.Flips {
		line[f.At] ^= f.Bits
	}
	if i.Put != nil {
		line[i.Put.At] = i.Put.Symbol
	}
	if i.Cut > 0 {
		line = line[:i.Cut]
	}
	if i.Inside != nil {
		line = slices.Insert(line, i.At, i.Inside.symbols(s)...)
	}
	return line
}

func (w Word) symbols(s *State) []linkproto.Symbol {
	if w.Kind != linkproto.KindInit {
		return linkproto.AppendWord(nil, s.Key^linkproto.Key(w.Other), linkproto.Word{Kind: w.Kind, Group: w.Reserved, Value: s.Expected + w.Value})
	}
	body := []byte{byte(w.Kind)<<linkproto.WordKindShift | w.Reserved, linkproto.Version + w.Value, 0, 0}
	body = append(binary.LittleEndian.AppendUint32(body, uint32(s.Life)^uint32(w.Other)), w.Page, w.Lanes)
	line := []linkproto.Symbol{linkproto.SymLSW}
	for _, b := range binary.BigEndian.AppendUint16(body, linkproto.CRC16(body)) {
		line = append(line, linkproto.Data(b))
	}
	return line
}

// String is the violation as JSON.
func (v Violation) String() string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of it can be written
	}
	return string(text)
}

// Site is a link at which violations are drawn.
type Site struct {
	Params rtl.Params
	// Legal returns a packet that the receiver must carry out; nil if none may be delivered.
	Legal func() []byte
}

// Draw draws a violation of a rule.
func (r Rule) Draw(rng *testbench.Rand, at Site) Violation {
	v := Violation{Rule: r.Name, Want: Counts{}}
	rest := 0
	for _, p := range r.Line {
		item, behind := p.draw(rng, at)
		rest += behind
		v.Line = append(v.Line, item)
	}
	for c, n := range r.Want {
		if n == Rest {
			n = rest
		}
		v.Want[c] = uint32(n)
	}
	return v
}

// draw also returns how many symbols come behind what is wrong.
func (p Part) draw(rng *testbench.Rand, at Site) (i Item, rest int) {
	within := func(r Range) int { return rng.Between(r[0], r[1]) }
	other := func() Life { return Life(within(p.Epoch)<<linkproto.LifeEpochShift | within(p.Nonce)) }
	i.Symbols = slices.Clone(p.Symbols)
	for range within(p.Noise) {
		s := linkproto.Data(byte(rng.Uint32()))
		if rng.Chance(0.125) {
			s = linkproto.SymEOP
		}
		i.Symbols = append(i.Symbols, s)
	}
	rest = len(i.Symbols)
	size := len(i.Symbols)
	if p.Frame != "" {
		i.Frame = &Frame{Ahead: within(p.Ahead), Taken: p.Taken, Payload: p.Frame.draw(rng, at), Other: other()}
		size = len(i.Frame.Payload) + linkproto.FrameOverhead
		rest = max(len(i.Frame.Payload)-at.Params.MaxPacket(), 0)
	}
	if len(p.Kinds) > 0 {
		for range max(p.Times, 1) {
			w := Word{Kind: testbench.Pick(rng, p.Kinds...), Reserved: uint8(within(p.Reserved)), Value: uint8(within(p.Value)),
				Other: other()}
			size = linkproto.WordSymbols
			if w.Kind == linkproto.KindInit {
				w.Page, w.Lanes = uint8(bits.Len(uint(at.Params.PageBytes))-1+within(p.Page)), uint8(within(p.Lanes))
				size = linkproto.InitSymbols
			}
			i.Words = append(i.Words, w)
		}
	}
	if n := within(p.Flips); n > 0 {
		for _, k := range rng.Perm(size - 2)[:n] { // neither the first nor the last
			f := Flip{1 + k, linkproto.Symbol(rng.Between(1, 255))}
			if k == 0 && len(p.Kinds) > 0 { // another kind of word may have another length
				f.Bits = linkproto.Symbol(rng.Between(1, 1<<linkproto.WordKindShift-1))
			}
			i.Flips = append(i.Flips, f)
		}
	}
	if p.Kind != 0 {
		i.Flips = append(i.Flips, Flip{1, linkproto.Symbol(p.Kind) << linkproto.WordKindShift})
	}
	if len(p.Put) > 0 {
		i.Put = &Put{rng.Between(1, size-2), testbench.Pick(rng, p.Put...)}
		rest = size - 1 - i.Put.At
	}
	if p.Cut > 0 {
		i.Cut = rng.Between(1, size-p.Cut)
	}
	if p.Inside {
		i.Inside, i.At = &Word{Kind: linkproto.KindAck}, rng.Between(1, size-1)
	}
	return i, rest
}

// Counts says by how much counters go up.
type Counts map[linkproto.Counter]uint32

// Add adds up.
func (c Counts) Add(d Counts) {
	for k, n := range d {
		c[k] += n
	}
}

// MarshalJSON names the counters.
func (c Counts) MarshalJSON() ([]byte, error) {
	named := map[string]uint32{}
	for k, n := range c {
		named[k.String()] = n
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads what MarshalJSON has written.
func (c *Counts) UnmarshalJSON(text []byte) error {
	var named map[string]uint32
	if err := json.Unmarshal(text, &named); err != nil {
		return err
	}
	*c = Counts{}
	for name, n := range named {
		i := slices.IndexFunc(linkproto.Counters[:], func(x linkproto.CounterInfo) bool { return x.Name == name })
		if i < 0 {
			return fmt.Errorf("stimulus: no counter is called %q", name)
		}
		(*c)[linkproto.Counters[i].Counter] = n
	}
	return nil
}

// Line is symbols, which are written by their names, or in hexadecimal.
type Line []linkproto.Symbol

// MarshalText writes the symbols.
func (l Line) MarshalText() ([]byte, error) {
	var words []string
	for _, s := range l {
		words = append(words, fmt.Sprintf("%03X", uint16(s)))
	}
	return []byte(strings.Join(words, " ")), nil
}

// UnmarshalText reads what MarshalText has written.
func (l *Line) UnmarshalText(text []byte) error {
	*l = nil
	for word := range strings.FieldsSeq(string(text)) {
		var s uint16
		if _, err := fmt.Sscanf(word, "%X", &s); err != nil || s > 0x1FF {
			return fmt.Errorf("stimulus: %q is no symbol; want 000 to 1FF", word)
		}
		*l = append(*l, linkproto.Symbol(s))
	}
	return nil
}
