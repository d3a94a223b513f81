package testbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrUnsatisfied says that no values were found that keep all constraints.
var ErrUnsatisfied = errors.New("testbench: constraints not satisfied")

// Choice is a range of values, both ends included, and how often it is taken against others.
type Choice struct {
	Low, High int64
	// Times is the weight; 0 is as 1.
	Times int
}

// In is the range of the values from low to high.
func In(low, high int64) Choice { return Choice{low, high, 1} }

// Weight returns the range with a weight.
func (c Choice) Weight(times int) Choice { return Choice{c.Low, c.High, times} }

func (c Choice) size() uint64 { return uint64(c.High-c.Low) + 1 }

// Constraints draws the values of fields that depend on each other: first each field's range by weight, and a value of it; a value
// against which a constraint speaks is drawn again. So fields keep the distribution of their choices as far as constraints on them and on earlier
// fields allow: declare first what should not be bent. The zero value has no fields.
type Constraints struct {
	fields []*Field
	rules  []*rule
	drawn  int    // fields before it have a value
	stray  *Field // that a constraint has read though it has none
	draws  int
}

// Field is a number that Constraints draws.
type Field struct {
	set     *Constraints
	index   int
	name    string
	choices []Choice
	value   int64
}

// rule is a constraint.
type rule struct {
	name     string
	holds    func() bool
	fields   []*Field
	last     int // the last of them
	rejected int
}

// Field adds a field with its choices. It panics if there is none, or one that is empty or weighs less than nothing.
func (c *Constraints) Field(name string, choices ...Choice) *Field {
	f := &Field{set: c, index: len(c.fields), name: name, choices: slices.Clone(choices)}
	if len(choices) == 0 {
		panic("testbench: field " + name + " has no values to choose from")
	}
	for i, choice := range choices {
		if choice.Low > choice.High || choice.Times < 0 {
			panic(fmt.Sprintf("testbench: field %s: want a low end below the high one and a weight of 1 or more, not %d to %d with weight %d",
				name, choice.Low, choice.High, choice.Times))
		}
		f.choices[i].Times = max(choice.Times, 1)
	}
	c.fields = append(c.fields, f)
	return f
}

// Value returns what was drawn last.
func (f *Field) Value() int64 {
	if f.index >= f.set.drawn {
		f.set.stray = f
	}
	return f.value
}

// Int is Value as an int.
func (f *Field) Int() int { return int(f.Value()) }

// Require adds a constraint on fields, which it lists: holds must look at no others.
func (c *Constraints) Require(name string, holds func() bool, fields ...*Field) {
	r := &rule{name: name, holds: holds, fields: fields}
	for _, f := range fields {
		if f.set != c {
			panic("testbench: constraint " + name + ": field " + f.name + " belongs to other Constraints")
		}
		r.last = max(r.last, f.index)
	}
	if len(fields) == 0 {
		panic("testbench: constraint " + name + " lists no field")
	}
	c.rules = append(c.rules, r)
}

const (
	drawsAField  = 64      // before its values are gone through one by one
	mostListed   = 4096    // values that are
	mostDraws    = 1 << 20 // in all
	mostCombined = 1 << 16 // combinations of a constraint that are tried to show that it never holds
)

// Draw gives all fields new values. When it finds none that keep all constraints within a bounded number of draws it returns an error that wraps
// ErrUnsatisfied and names the constraint that speaks against them.
func (c *Constraints) Draw(r *Rand) error {
	for _, rule := range c.rules {
		rule.rejected = 0
	}
	c.draws, c.stray = 0, nil
	for i := 0; i < len(c.fields); {
		against := c.draw(r, i)
		switch {
		case c.stray != nil:
			c.drawn = len(c.fields)
			return fmt.Errorf("testbench: a constraint looks at field %s, which it does not list: list it in Require", c.stray.name)
		case against == nil:
			i++
			continue
		case c.draws > mostDraws:
			return c.unsatisfied()
		}
		// The latest earlier field of a constraint that is in the way is drawn again, and what comes after it.
		back := -1
		for _, rule := range against {
			for _, f := range rule.fields {
				if f.index < i {
					back = max(back, f.index)
				}
			}
		}
		if back < 0 {
			return c.unsatisfied()
		}
		i = back
	}
	c.drawn = len(c.fields)
	return nil
}

// draw gives a field a value. It returns nil, or the constraints that speak against each that was tried.
func (c *Constraints) draw(r *Rand, i int) (against []*rule) {
	f := c.fields[i]
	c.drawn = i + 1
	for range drawsAField {
		f.value = f.any(r, f.choices)
		rejects := c.reject(i)
		if rejects == nil {
			return nil
		}
		if !slices.Contains(against, rejects) {
			against = append(against, rejects)
		}
	}
	if f.size() > mostListed {
		return against
	}
	var left []Choice
	values := map[int][]int64{}
	for _, choice := range f.choices {
		var keep []int64
		for f.value = choice.Low; ; f.value++ {
			if rejects := c.reject(i); rejects == nil {
				keep = append(keep, f.value)
			} else if !slices.Contains(against, rejects) {
				against = append(against, rejects)
			}
			if f.value == choice.High {
				break
			}
		}
		if keep != nil {
			values[len(left)] = keep
			left = append(left, choice)
		}
	}
	if left == nil {
		return against
	}
	n := weigh(r, left)
	f.value = values[n][r.IntN(len(values[n]))]
	return nil
}

// any draws a value of choices.
func (f *Field) any(r *Rand, choices []Choice) int64 {
	choice := choices[0]
	if len(choices) > 1 {
		choice = choices[weigh(r, choices)]
	}
	if size := choice.size(); size != 0 {
		return choice.Low + int64(r.Uint64N(size))
	}
	return int64(r.Uint64()) // all there are
}

func weigh(r *Rand, choices []Choice) int {
	weights := make([]int, len(choices))
	for i, choice := range choices {
		weights[i] = choice.Times
	}
	return r.Weighted(weights...)
}

// size is how many values a field has, or some number above mostListed.
func (f *Field) size() (n uint64) {
	for _, choice := range f.choices {
		if size := choice.size(); size == 0 || size > mostListed {
			return mostListed + 1
		} else if n += size; n > mostListed {
			return n
		}
	}
	return n
}

// reject returns the first constraint that a field's value breaks, of those that have all their fields then.
func (c *Constraints) reject(i int) *rule {
	c.draws++
	for _, rule := range c.rules {
		if rule.last == i && !rule.holds() {
			rule.rejected++
			return rule
		}
	}
	return nil
}

// unsatisfied names the constraint in the way.
func (c *Constraints) unsatisfied() error {
	worst := slices.MaxFunc(c.rules, func(a, b *rule) int { return a.rejected - b.rejected })
	for _, rule := range c.rules {
		if rule.rejected > 0 && c.impossible(rule) {
			return fmt.Errorf("%w: %q holds for no values of %s", ErrUnsatisfied, rule.name, describeFields(rule.fields))
		}
	}
	var others []string
	for _, rule := range c.rules {
		if rule != worst && rule.rejected > 0 {
			others = append(others, fmt.Sprintf("%q", rule.name))
		}
	}
	with := ""
	if others != nil {
		with = ", beside " + strings.Join(others, ", ")
	}
	return fmt.Errorf("%w: %q spoke against %d of %d draws of %s%s: they may contradict each other, or hold for too few values; narrow the fields' choices",
		ErrUnsatisfied, worst.name, worst.rejected, c.draws, describeFields(worst.fields), with)
}

func describeFields(fields []*Field) string {
	var all []string
	for _, f := range fields {
		var ranges []string
		for _, choice := range f.choices {
			ranges = append(ranges, fmt.Sprintf("%d to %d", choice.Low, choice.High))
		}
		all = append(all, f.name+" ("+strings.Join(ranges, ", ")+")")
	}
	return strings.Join(all, " and ")
}

// impossible reports that a constraint holds for none of the values of its fields, if these are few enough to try.
func (c *Constraints) impossible(r *rule) bool {
	combinations := uint64(1)
	for _, f := range r.fields {
		size := f.size()
		if size > mostListed || combinations*size > mostCombined {
			return false
		}
		combinations *= size
	}
	c.drawn = len(c.fields)
	for n := range combinations {
		for _, f := range r.fields {
			f.value = f.nth(n % f.size())
			n /= f.size()
		}
		if r.holds() {
			return false
		}
	}
	return true
}

// nth returns the value number n of all choices.
func (f *Field) nth(n uint64) int64 {
	for _, choice := range f.choices {
		if n < choice.size() {
			return choice.Low + int64(n)
		}
		n -= choice.size()
	}
	return 0
}
