package stimulus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stafflink/lmmc/internal/check"
	"github.com/stafflink/lmmc/linkproto"
	"github.com/stafflink/lmmc/testbench"
)

// A program that has been kept is the same when it is read again, whatever its rounds are.
func TestProgramsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "p.json")
	for seed := range uint64(len(Shapes)) {
		p := Draw(seed, Kinds, 5)
		check.Fatal(t, p.WriteFile(path))
		again, err := ReadFile(path)
		if diff := cmp.Diff(p, again, cmp.Transformer("bytes", func(p Packet) string { return string(p) })); err != nil || diff != "" {
			t.Errorf("seed %d: %v (-kept +read):\n%s", seed, err, diff)
		}
	}
}

func TestBadPrograms(t *testing.T) {
	good := check.Must(json.Marshal(Draw(1, Kinds, 2)))(t)
	for _, c := range []struct{ old, bad, want string }{
		{`"plain"`, `"plane"`, `no kind of round is called "plane"; there are: plain, `},
		{`"raw":"`, `"raw":"x`, "encoding/hex: invalid byte"},
		{`"bad_word"`, `"worse_word"`, `no counter is called "worse_word"`},
		{`"table":[`, `"table":[1,`, "the parameters say 2, 5 and 3"},
		{`"port":`, `"port":9`, "there are 3 ports"},
		{`"Frames":5`, `"Frames":0`, "are not complete"},
		{`{`, ``, "invalid character"},
	} {
		path := filepath.Join(t.TempDir(), "p.json")
		text := strings.Replace(string(good), c.old, c.bad, 1)
		if text == string(good) {
			t.Fatalf("no %s to replace", c.old)
		}
		check.Fatal(t, os.WriteFile(path, []byte(text), 0o666))
		check.Fails(t, c.bad, check.Err(ReadFile(path)), nil, c.want)
	}
}

func TestShrink(t *testing.T) {
	p := Draw(1, 2*Kinds, 10)
	victim := slices.IndexFunc(p.Rounds, func(r Round) bool { return r.Kind == Violate })
	packet, violation := p.Rounds[victim].Links[1].In[3], p.Rounds[victim].Violations[2][5]
	before, tries := p.Size(), 0
	small := Shrink(t.Context(), p, func(p Program) bool {
		tries++
		for _, r := range p.Rounds {
			if r.Number == victim && slices.ContainsFunc(r.Links[1].In, func(a Arrival) bool { return string(a.Raw) == string(packet.Raw) }) &&
				slices.ContainsFunc(r.Violations[2], func(v Violation) bool { return v.String() == violation.String() }) {
				return true
			}
		}
		return false
	})
	check.Equal(t, "shrunk", small.Size(), "1 rounds (violations), 1 packets, 1 violations")
	if tries > 200 {
		t.Errorf("%d tries", tries)
	}
	check.Equal(t, "the program itself", p.Size(), before)
}

// Every row can be drawn in every shape, ends outside frames and words, and moves the sequence on by the frames that it delivers.
func TestRules(t *testing.T) {
	names := map[string]bool{}
	rng := testbench.NewRand(1)
	for _, r := range slices.Concat(Rules, AtHost, Delivering, Restarting) {
		if names[r.Name] {
			t.Errorf("two rules are called %s", r.Name)
		}
		names[r.Name] = true
		for _, shape := range Shapes {
			site := Site{Params: shape.WithDefaults(), Legal: func() []byte { return RawPacket(linkproto.TypeWrite, 0, make([]byte, 8)) }}
			for range 50 {
				v := r.Draw(rng, site)
				state := State{Next: 7, Expected: 3, Life: linkproto.LifeOf(0x1234567, 2, 9), Key: linkproto.KeyOf(linkproto.LifeOf(0x7654321, 1, 5), linkproto.LifeOf(0x1234567, 2, 9))}
				line := v.Symbols(&state)
				if len(line) == 0 {
					t.Errorf("%s is nothing", r.Name)
				}
				if taken := state.Next - 7; uint32(taken) < v.Want[linkproto.CntRxPackets] || taken > 0 != slices.ContainsFunc(Delivering, func(d Rule) bool { return d.Name == r.Name }) {
					t.Errorf("%v moves the sequence on by %d", v, taken)
				}
				var again Violation
				if err := json.Unmarshal([]byte(v.String()), &again); err != nil || again.String() != v.String() {
					t.Errorf("%v is read as %v, %v", v, again, err)
				}
			}
		}
	}
}
