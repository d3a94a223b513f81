// Package proofs lists the formal proofs of the network interface's modules. `lmmc prove` and the tests of this package make them.
//
// The properties of a module stand beside it, in MODULE.formal.v: either a part of the module that is included in it under
// `ifdef FORMAL, or, where modules are proven together or by their ports alone, a module MODULE_formal around it.
//
// Widths and depths are small: a deeper memory or a wider word adds no state that control logic reads, and each proof follows
// an item that the solver chooses from one end to the other.
package proofs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stafflink/lmmc/rtl"
	"github.com/stafflink/lmmc/testbench/prove"
)

type params = map[string]string

// All lists the proofs. Their files are those of a tree like rtl/, to be found in dir: see Extract.
func All(dir string) []prove.Proof {
	all := slices.Concat(common(), phy(), link(), ni(), net())
	for i := range all {
		all[i].Dir = dir
		all[i].Files = slices.Insert(all[i].Files, 0, "linkproto.vh")
	}
	return all
}

// Choose returns the proofs with the given names, in the order of all; all of them without names. A name may leave out what follows
// its last hyphen, and then stands for all sizes.
func Choose(all []prove.Proof, names ...string) ([]prove.Proof, error) {
	if len(names) == 0 {
		return all, nil
	}
	is := func(p prove.Proof, name string) bool { return p.Name == name || strings.HasPrefix(p.Name, name+"-") }
	for _, name := range names {
		if !slices.ContainsFunc(all, func(p prove.Proof) bool { return is(p, name) }) {
			var have []string
			for _, p := range all {
				have = append(have, p.Name)
			}
			return nil, fmt.Errorf("there is no proof %q; there are: %s", name, strings.Join(have, ", "))
		}
	}
	var chosen []prove.Proof
	for _, p := range all {
		if slices.ContainsFunc(names, func(name string) bool { return is(p, name) }) {
			chosen = append(chosen, p)
		}
	}
	return chosen, nil
}

// Extract writes the modules that this program was built with into dir, and returns their proofs.
func Extract(dir string) ([]prove.Proof, error) {
	if err := os.CopyFS(dir, rtl.FS); err != nil {
		return nil, fmt.Errorf("proofs: %w", err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("proofs: %w", err)
	}
	return All(dir), nil
}
