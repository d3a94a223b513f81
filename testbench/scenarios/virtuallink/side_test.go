package virtuallink

import (
	"fmt"
	"testing"
)

// A ROUTE without a packet that says what one with a packet says near it may be missing on one side; nothing else may.
func TestDiffers(t *testing.T) {
	const word, packet, other = "060e00020001000000010002000e57f4a7", "064b0002000100000001010200043a00c02f", "060e00020001000000010003000e57f4a7"
	type at struct {
		clock int
		text  string
	}
	for _, c := range []struct {
		name       string
		rtl, model []at
		same       bool
	}{
		{"the same", []at{{100, word}, {2000, packet}}, []at{{160, word}, {2000, packet}}, true},
		{"near one side's packet, not the other's", []at{{960, word}, {1850, packet}}, []at{{864, word}, {1850, packet}}, true},
		{"with the packet on one side", []at{{100, word}, {400, packet}}, []at{{120, packet}}, true},
		{"behind the packet on one side", []at{{100, packet}}, []at{{100, packet}, {700, word}}, true},
		{"far from the packet", []at{{2000, packet}}, []at{{100, word}, {2000, packet}}, false},
		{"says something else", []at{{100, packet}}, []at{{100, packet}, {200, other}}, false},
		{"late", []at{{100, packet}, {3000, packet}}, []at{{100, packet}, {1000, packet}}, false},
		{"a packet is missing", []at{{100, word}}, []at{{100, word}, {200, packet}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			who := toFar(1, 2, 0)
			side := func(all []at) *side {
				s := &side{said: map[string][]saying{}, before: map[string]int{}, latest: map[string]string{}}
				for _, a := range all {
					s.clock = a.clock
					s.say(who, a.text)
				}
				return s
			}
			if err := side(c.rtl).differs(side(c.model), nil); (err == nil) != c.same {
				t.Error(fmt.Sprint(err), ", want same: ", c.same)
			}
		})
	}
	s := &side{said: map[string][]saying{}, before: map[string]int{}, latest: map[string]string{}}
	model := &side{said: map[string][]saying{}}
	s.say("ROUTEs", packet)
	s.forget()
	s.clock = 450
	s.say("ROUTEs", word)
	if err := s.differs(model, nil); err == nil {
		t.Error("what is no ROUTE by a virtual link may be missing")
	}
	s.forget()
	who := toFar(1, 2, 0)
	s.say(who, packet)
	s.forget()
	s.clock += 450
	s.say(who, word)
	if err := s.differs(model, nil); err != nil {
		t.Errorf("behind a packet of the step before: %v", err)
	}
}
