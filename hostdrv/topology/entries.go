package topology

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stafflink/lmmc/internal/nearest"
	"github.com/stafflink/lmmc/internal/try"
)

// entry is a table of the file: its top, a [[node]] or a [[cable]]. Its methods end by package try, with an *Error.
type entry struct {
	at     place
	values map[string]any
	lines  lines
}

func (e *entry) failf(key, format string, args ...any) {
	p := e.at
	p.key = key
	try.OK(&Error{Text: fmt.Sprintf(format, args...), Line: e.lines.of(p)})
}

// only ends at a key that is none of these.
func (e *entry) only(keys ...string) {
	unknown := slices.DeleteFunc(slices.Sorted(maps.Keys(e.values)), func(key string) bool { return slices.Contains(keys, key) })
	if len(unknown) == 0 {
		return
	}
	line := func(key string) int { return e.lines.of(place{e.at.table, e.at.n, key}) }
	first := slices.MinFunc(unknown, func(a, b string) int { return cmp.Compare(line(a), line(b)) })
	e.failf(first, "unknown key %q%s; there are %s", first, nearest.Hint(first, keys), strings.Join(keys, ", "))
}

// value is what a key has, if it is there and of this type.
func value[V any](e *entry, key, want string) (v V, there bool) {
	given, there := e.values[key]
	v, right := given.(V)
	if there && !right {
		e.failf(key, "%s = %v: want %s", key, given, want)
	}
	return v, there
}

func (e *entry) text(key string, to *string) bool {
	v, there := value[string](e, key, "a text in quotes")
	if there {
		*to = v
	}
	return there
}

// whole takes a number that fits 32 bits; what is left of it is for Validate.
func (e *entry) whole(key string, to *int) bool {
	v, there := value[int64](e, key, "a whole number")
	if there {
		*to = int(min(max(v, math.MinInt32), math.MaxInt32))
	}
	return there
}

func (e *entry) rate(key string, to *float64) bool {
	if n, is := e.values[key].(int64); is {
		*to = float64(n)
		return true
	}
	v, there := value[float64](e, key, "a number")
	if there {
		*to = v
	}
	return there
}

// link takes what is said of a cable, and reports whether that says lanes.
func (e *entry) link(to *Link) (lanes bool) {
	lanes = e.whole("lanes", &to.Lanes)
	e.whole("latency", &to.Latency)
	e.rate("bit_error_rate", &to.BitErrorRate)
	return lanes
}

func (e *entry) size() (size []int) {
	const want = "a list of whole numbers, as in [16, 16, 10]"
	list, _ := value[[]any](e, "size", want)
	for _, v := range list {
		n, whole := v.(int64)
		if !whole {
			e.failf("size", "size has %v in it: want %s", v, want)
		}
		size = append(size, int(min(max(n, math.MinInt32), math.MaxInt32)))
	}
	return size
}

// tables are the entries of a list such as [[node]].
func (e *entry) tables(name string) (list []*entry) {
	want := fmt.Sprintf("tables, each headed [[%s]]", name)
	var maps []map[string]any
	switch v := e.values[name].(type) {
	case nil:
	case []map[string]any:
		maps = v
	case []any:
		for _, item := range v {
			m, is := item.(map[string]any)
			if !is {
				e.failf(name, "%s has %v in it: want %s", name, item, want)
			}
			maps = append(maps, m)
		}
	default:
		e.failf(name, "%s is a single table or value: want %s", name, want)
	}
	for i, m := range maps {
		list = append(list, &entry{at: place{table: name, n: i}, values: m, lines: e.lines})
	}
	return list
}

// end takes NAME:PORT.
func (e *entry) end(key string, nodes map[string]int) End {
	var text string
	if !e.text(key, &text) {
		e.failf(key, "the cable lacks %s: want %[1]s = \"NAME:PORT\"", key)
	}
	i := strings.LastIndexByte(text, ':')
	port, err := strconv.Atoi(text[i+1:])
	if i < 0 || err != nil {
		e.failf(key, "%s = %q: want the name of a node and a port, as in \"n0:1\"", key, text)
	}
	node, known := nodes[text[:i]]
	if !known {
		e.failf(key, "%s = %q: no node %s%s: add it by [[node]]", key, text, text[:i], nearest.Hint(text[:i], slices.Sorted(maps.Keys(nodes))))
	}
	return End{node, port}
}
