package verilator

// #include "runtime/call.h"
import "C"

import (
	"fmt"
	"strconv"
	"strings"
	"unsafe"

	"github.com/stafflink/lmmc/internal/nearest"
)

const allLevels = 99

// chooseWaves tells the model which scopes a trace shows.
func (m *Model) chooseWaves(waves []string) error {
	m.waves = waves
	if len(waves) > 0 && !m.lib.design.Trace {
		return fmt.Errorf("%w: Config.Waves needs Design.Trace (%s)", ErrNotBuilt, m.lib.design.Top)
	}
	for _, wave := range waves {
		path, text, limited := strings.Cut(wave, ":")
		levels := allLevels
		if limited {
			var err error
			if levels, err = strconv.Atoi(text); err != nil || levels < 1 {
				return fmt.Errorf("verilator: Config.Waves %q: want a scope, or scope:levels with levels from 1", wave)
			}
		}
		paths, err := m.lib.scopesLike(path)
		if err != nil {
			return err
		}
		for _, path := range paths {
			name := C.CString(strings.ReplaceAll(strings.TrimSuffix(m.lib.root+"."+path, "."), ".", " "))
			C.lm_trace_scope(m.lib.engine, m.c, C.int(levels), name)
			C.free(unsafe.Pointer(name))
		}
	}
	return nil
}

// scopesLike finds the scopes that a pattern means; the pattern itself when the hierarchy is not known.
func (l *Library) scopesLike(pattern string) (paths []string, err error) {
	if l.scopes == nil {
		if wildcard(pattern) {
			return nil, fmt.Errorf("verilator: Config.Waves %q: a pattern needs the hierarchy, which is known of a design with Design.Public", pattern)
		}
		return []string{pattern}, nil
	}
	var all []string
	for _, s := range l.scopes {
		if all = append(all, s.Path); matches(pattern).MatchString(s.Path) {
			paths = append(paths, s.Path)
		}
	}
	if paths == nil {
		return nil, fmt.Errorf("%w: Config.Waves %q: %s has no such scope%s; it has %s", ErrPort, pattern, l.design.Top, nearest.Hint(pattern, all), list(all[1:]))
	}
	return paths, nil
}

// noWaves says that Config.Waves means nothing that could be shown.
func (m *Model) noWaves() error {
	return fmt.Errorf("%w: Config.Waves %q: %s has no such scopes; paths begin below it, and inside generate blocks they have the index, as in g_row[0].u_leaf", ErrPort, m.waves, m.lib.design.Top)
}
